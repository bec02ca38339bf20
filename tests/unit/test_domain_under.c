/* What lies under a test disk for tests of drivers and devices: nodes, policies, and how the disk is offered. */
#include "tests/unit/domain_fixture.h"

/* The node of disk 0 as the command line has it; freed by the caller. */
static json_t *node_of(const struct fixture *f)
{
	json_t *node = json_loads(at(f, "/domain/q:commandline/q:arg[2]/@value"), 0, NULL);

	assert_non_null(node);
	return node;
}

static const char *word(const json_t *node, const char *key)
{
	return json_string_value(json_object_get(node, key));
}

#define PROPERTY(name) "/domain/q:override/q:device[@alias='ua-disk0']/q:frontend/q:property[@name='" name "']/@value"

static void nodes_upon_each_other(void **state)
{
	struct domain_under under = { .log = "/w.log", .log_sector = 4096, .policy = "enospace", .discard = true,
				      .rule = "{\"event\":\"flush_to_disk\",\"errno\":28}" };
	const json_t *logged, *file, *rules;
	struct fixture f;
	json_t *node;

	(void)state;
	setup(&f);
	set(&f, 0, "inject_error", "read-error@16");
	set(&f, 0, "cache", "directsync");
	f.disk[0].under = &under;
	make(&f);
	node = node_of(&f);
	assert_string_equal("blkdebug", word(node, "driver"));
	assert_string_equal("kickbench-disk0", word(node, "node-name"));
	rules = json_object_get(node, "inject-error");
	assert_int_equal(2, json_array_size(rules));
	assert_string_equal("read", word(json_array_get(rules, 0), "iotype"));
	assert_string_equal("flush_to_disk", word(json_array_get(rules, 1), "event"));
	logged = json_object_get(node, "image");
	assert_string_equal("blklogwrites", word(logged, "driver"));
	assert_null(word(logged, "node-name"));
	/* Each of them, or the first answers discards itself. */
	assert_string_equal("unmap", word(node, "discard"));
	assert_string_equal("unmap", word(logged, "discard"));
	assert_true(json_is_false(json_object_get(json_object_get(logged, "cache"), "no-flush")));
	assert_int_equal(4096, json_integer_value(json_object_get(logged, "log-sector-size")));
	assert_string_equal("/w.log", word(json_object_get(logged, "log"), "filename"));
	file = json_object_get(logged, "file");
	assert_string_equal("file", word(file, "driver"));
	assert_string_equal("/a.raw", word(file, "filename"));
	assert_string_equal("unmap", word(file, "discard"));
	assert_true(json_is_false(json_object_get(file, "read-only")));
	assert_string_equal("off", at(&f, PROPERTY("write-cache")));
	assert_string_equal("enospace", at(&f, DRIVER "/@error_policy"));
	assert_string_equal("report", at(&f, DRIVER "/@rerror_policy"));
	json_decref(node);
	teardown(&f);
}

/* What the disk does not flush is not in its log either, as if the log were not there. */
static void ignored_flushes(void **state)
{
	struct domain_under under = { .log = "/w.log", .log_sector = 512 };
	struct fixture f;
	json_t *node;

	(void)state;
	setup(&f);
	set(&f, 0, "cache", "unsafe");
	f.disk[0].under = &under;
	make(&f);
	node = node_of(&f);
	assert_string_equal("blklogwrites", word(node, "driver"));
	assert_true(json_is_true(json_object_get(json_object_get(node, "cache"), "no-flush")));
	assert_true(json_is_true(json_object_get(json_object_get(json_object_get(node, "file"), "cache"), "no-flush")));
	assert_string_equal("ignore", word(node, "discard"));
	json_decref(node);
	teardown(&f);
}

static void what_is_under_an_ordinary_disk(void **state)
{
	struct domain_under under = { .policy = "stop", .readonly = true, .discard = true };
	struct fixture f;

	(void)state;
	setup(&f);
	f.disk[0].under = &under;
	make(&f);
	assert_string_equal("/a.raw", at(&f, "/domain/devices/disk[readonly][driver[@discard='unmap'][@cache='none']]/source/@file"));
	assert_string_equal("stop", at(&f, DRIVER "/@error_policy"));
	assert_string_equal("stop", at(&f, DRIVER "/@rerror_policy"));
	assert_string_equal("0", at(&f, "count(//q:*)"));
	teardown(&f);
}

static void our_own_node_has_the_cache_mode(void **state)
{
	static const struct { const char *cache, *write_cache; bool direct, no_flush; } modes[] = {
		{ "none", "on", true, false }, { "writeback", "on", false, false }, { "writethrough", "off", false, false },
		{ "directsync", "off", true, false }, { "unsafe", "on", false, true },
	};
	struct domain_under under = { .rule = "{\"event\":\"none\"}", .readonly = true };
	char qom[128];
	struct error e = { 0 };
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		json_t *node, *cache, *root;

		setup(&f);
		f.disk[0].under = &under;
		set(&f, 0, "cache", modes[i].cache);
		make(&f);
		node = node_of(&f);
		cache = json_object_get(json_object_get(node, "image"), "cache");
		assert_int_equal(modes[i].direct, json_is_true(json_object_get(cache, "direct")));
		assert_int_equal(modes[i].no_flush, json_is_true(json_object_get(cache, "no-flush")));
		assert_true(json_is_true(json_object_get(node, "read-only")));
		assert_true(json_is_true(json_object_get(json_object_get(node, "image"), "read-only")));
		assert_string_equal(modes[i].write_cache, at(&f, PROPERTY("write-cache")));
		json_decref(node);
		snprintf(qom, sizeof(qom), "{\"drive\":\"kickbench-disk0\",\"write-cache\":\"%s\"}", modes[i].write_cache);
		root = verify(&f, &(struct domain_evidence){ .live_xml = text_get(&f.xml), .qom = qom }, 0);
		assert_string_equal(modes[i].cache, verified(root, "cache"));
		json_decref(root);
		teardown(&f);
	}
	/* the scenario's own property counts */
	setup(&f);
	f.disk[0].under = &under;
	assert_int_equal(0, machine_set(&f.machine, "qemu.write-cache", "\"auto\"", "test", 1, &e));
	make(&f);
	assert_string_equal("1", at(&f, "count(" PROPERTY("write-cache") ")"));
	assert_string_equal("auto", at(&f, PROPERTY("write-cache")));
	teardown(&f);
}

static void a_server_of_the_user(void **state)
{
	const char *ours = "{\"drive\":\"kickbench-disk0\",\"write-cache\":\"on\"}", *theirs = "{\"drive\":\"libvirt-1-format\"}";
	struct fixture f;
	json_t *node, *root;

	(void)state;
	setup(&f);
	set(&f, 0, "backend", "nbd");
	set(&f, 0, "path", "/run/a b.sock");
	set(&f, 0, "iothread", "on");
	f.disk[0].source = NULL;
	make(&f);
	node = node_of(&f);
	assert_string_equal("nbd", word(node, "driver"));
	assert_string_equal("unix", word(json_object_get(node, "server"), "type"));
	assert_string_equal("/run/a b.sock", word(json_object_get(node, "server"), "path"));
	assert_string_equal("kickbench-disk0", at(&f, PROPERTY("drive")));
	assert_string_equal("1", at(&f, DRIVER "/@iothread"));
	assert_string_equal("/k", at(&f, "/domain/devices/disk[readonly]/source/@file"));
	json_decref(node);
	root = verify(&f, &(struct domain_evidence){ .live_xml = text_get(&f.xml), .qom = ours }, 0);
	assert_string_equal("nbd", verified(root, "backend"));
	assert_string_equal("none", verified(root, "cache"));
	json_decref(root);
	json_decref(verify(&f, &(struct domain_evidence){ .live_xml = text_get(&f.xml), .qom = theirs }, 1));
	set(&f, 0, "inject_error", "read-error@3");
	make(&f);
	node = node_of(&f);
	assert_string_equal("nbd", word(json_object_get(node, "image"), "driver"));
	json_decref(node);
	teardown(&f);
}

static void what_cannot_be_under_a_disk(void **state)
{
	static const struct { struct domain_under under; const char *why; } bad[] = {
		{ { .log = "/w.log", .log_sector = 1024 }, "512 or 4096" },
		{ { .log = "/w.log", .log_sector = 512, .readonly = true }, "read only" },
		{ { .rule = "not JSON" }, "no JSON object" },
		{ { .policy = "ignore" }, "report, stop or enospace" },
	};
	struct fixture f;

	(void)state;
	setup(&f);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error e = { 0 };

		f.disk[0].under = &bad[i].under;
		assert_int_equal(-1, domain_xml(&f.spec, &f.xml, &e));
		assert_non_null(strstr(e.text, bad[i].why));
		assert_int_equal(0, f.xml.length);
	}
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ignored_flushes), cmocka_unit_test(nodes_upon_each_other),
		cmocka_unit_test(what_is_under_an_ordinary_disk),
		cmocka_unit_test(our_own_node_has_the_cache_mode),
		cmocka_unit_test(a_server_of_the_user),
		cmocka_unit_test(what_cannot_be_under_a_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
