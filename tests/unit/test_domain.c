/* The domain XML by XPath, key by key, and what verification makes of made-up evidence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/domain_fixture.h"

static void the_guest(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	make(&f);
	assert_string_equal("qemu", at(&f, "/domain/@type"));
	assert_string_equal("kickbench-1", at(&f, "/domain/name"));
	assert_string_equal("65536", at(&f, "/domain/memory[@unit='KiB']"));
	assert_string_equal("2", at(&f, "/domain/vcpu"));
	assert_string_equal("/k", at(&f, "/domain/os/kernel"));
	assert_string_equal("/i", at(&f, "/domain/os/initrd"));
	assert_string_equal("quiet", at(&f, "/domain/os/cmdline"));
	assert_string_equal("destroy", at(&f, "/domain/on_poweroff"));
	assert_string_equal("destroy", at(&f, "/domain/on_reboot"));
	assert_string_equal("destroy", at(&f, "/domain/on_crash"));
	assert_string_equal("2", at(&f, "count(/domain/devices/serial[@type='pty'])"));
	assert_string_equal("none", at(&f, "/domain/devices/memballoon/@model"));
	assert_string_equal("none", at(&f, "/domain/devices/controller[@type='usb']/@model"));
	assert_string_equal("0", at(&f, "count(//interface|//video|//graphics|//iothreads|//cputune|//q:*)"));
	f.spec.accel = ACCEL_KVM;
	f.spec.initrd = f.spec.cmdline = NULL;
	make(&f);
	assert_string_equal("kvm", at(&f, "/domain/@type"));
	assert_string_equal("host-passthrough", at(&f, "/domain/cpu/@mode"));
	assert_string_equal("0", at(&f, "count(/domain/os/initrd|/domain/os/cmdline|/domain/devices/emulator)"));
	teardown(&f);
}

static void each_key(void **state)
{
	static const struct { const char *key, *value, *path; } keys[] = {
		{ "cache", "directsync", DRIVER "[@cache='directsync']" },
		{ "io", "native", DRIVER "[@io='native']" },
		{ "io", "io_uring", DRIVER "[@io='io_uring']" },
		{ "ioeventfd", "off", DRIVER "[@ioeventfd='off']" },
		{ "ioeventfd", "on", DRIVER "[@ioeventfd='on']" },
		{ "event_idx", "off", DRIVER "[@event_idx='off']" },
		{ "packed", "on", DRIVER "[@packed='on']" },
		{ "queues", "4", DRIVER "[@queues='4']" },
		{ "queue_size", "128", DRIVER "[@queue_size='128']" },
		{ "iothread", "on", DRIVER "[@iothread='1'][/domain/iothreads='1']" },
		{ "model", "virtio-transitional", "/domain/devices/disk[@model='virtio-transitional']" },
		{ "model", "virtio-non-transitional", "/domain/devices/disk[@model='virtio-non-transitional']" },
		{ "vcpupin", "0,2-3", "/domain/cputune[vcpupin[@vcpu='0'][@cpuset='0,2-3']]/vcpupin[@vcpu='1']" },
		{ "emulatorpin", "1", "/domain/cputune/emulatorpin[@cpuset='1']" },
	};
	char count[256];

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct fixture f;

		setup(&f);
		set(&f, 0, keys[i].key, keys[i].value);
		make(&f);
		snprintf(count, sizeof(count), "count(%s)", keys[i].path);
		if (strcmp("1", at(&f, count)))
			fail_msg("%s = %s is not in %s", keys[i].key, keys[i].value, text_get(&f.xml));
		teardown(&f);
	}
}

static void unset_keys_are_absent(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	make(&f);
	assert_string_equal("0", at(&f, "count(" DRIVER "/@*[name()='event_idx' or name()='packed' or "
					"name()='iothread' or name()='queue_size'])"));
	assert_string_equal("1", at(&f, "string(" DRIVER "/@queues)"));
	teardown(&f);
}

static void two_disks(void **state)
{
	struct fixture f;
	struct text qmp = {0};
	struct error e = {0};

	(void)state;
	setup(&f);
	f.spec.ndisks = 2;
	set(&f, 1, "iothread", "on");
	set(&f, 1, "iothreadpin", "1");
	set(&f, 1, "poll_max_ns", "0");
	make(&f);
	assert_string_equal("/b.raw", at(&f, "/domain/devices/disk[target/@dev='vdb']/source/@file"));
	assert_string_equal("kb-1", at(&f, "/domain/devices/disk[target/@dev='vdb']/serial"));
	assert_string_equal("ua-disk1", at(&f, "/domain/devices/disk[target/@dev='vdb']/alias/@name"));
	assert_string_equal("1", at(&f, "/domain/devices/disk[target/@dev='vdb']/driver/@iothread"));
	assert_string_equal("", at(&f, "string(/domain/devices/disk[target/@dev='vda']/driver/@iothread)"));
	assert_string_equal("1", at(&f, "/domain/cputune/iothreadpin[@iothread='1']/@cpuset"));
	assert_string_not_equal(at(&f, "/domain/devices/disk[1]/address/@slot"), "0x04");
	assert_string_equal("0x04", at(&f, "/domain/devices/disk[2]/address/@slot"));
	assert_int_equal(0, domain_poll_command(&f.spec, 0, &qmp));
	assert_int_equal(1, domain_poll_command(&f.spec, 1, &qmp));
	assert_string_equal("{\"execute\":\"qom-set\",\"arguments\":{\"path\":\"/objects/iothread1\","
			    "\"property\":\"poll-max-ns\",\"value\":0}}", text_get(&qmp));
	set(&f, 1, "vcpupin", "1");
	assert_int_equal(-1, domain_xml(&f.spec, &f.xml, &e));
	assert_non_null(strstr(e.text, "vcpupin"));
	text_free(&qmp);
	teardown(&f);
}

static void markup_in_names(void **state)
{
	const char *evil = "/tmp/a <b> & 'c' \"d\" &amp; ]]> \xc3\xa4.raw";
	struct fixture f;
	struct error e = {0};

	(void)state;
	setup(&f);
	f.disk[0].source = f.spec.kernel = f.spec.cmdline = f.disk[0].serial = evil;
	make(&f);
	assert_string_equal(evil, at(&f, "/domain/os/kernel"));
	assert_string_equal(evil, at(&f, "/domain/os/cmdline"));
	assert_string_equal(evil, at(&f, "/domain/devices/disk/source/@file"));
	assert_string_equal(evil, at(&f, "/domain/devices/disk/serial"));
	set(&f, 0, "inject_error", "read-error@2048"); /* the same through JSON inside an attribute */
	make(&f);
	{
		json_t *node = json_loads(at(&f, "/domain/q:commandline/q:arg[2]/@value"), 0, NULL);

		assert_non_null(node);
		assert_string_equal(evil, json_string_value(json_object_get(json_object_get(node, "image"), "filename")));
		json_decref(node);
	}
	f.spec.cmdline = "bad \xff";
	assert_int_equal(-1, domain_xml(&f.spec, &f.xml, &e));
	assert_non_null(strstr(e.text, "UTF-8"));
	error_clear(&e);
	f.spec.cmdline = "bad \x01";
	assert_int_equal(-1, domain_xml(&f.spec, &f.xml, &e));
	teardown(&f);
}

static void nodes_of_our_own(void **state)
{
	struct fixture f;
	json_t *node, *rule;

	(void)state;
	setup(&f);
	set(&f, 0, "backend", "null");
	set(&f, 0, "latency_ns", "1000000");
	f.disk[0].source = NULL;
	make(&f);
	assert_string_equal("/k", at(&f, "/domain/devices/disk[readonly]/source/@file"));
	assert_string_equal("-blockdev", at(&f, "/domain/q:commandline/q:arg[1]/@value"));
	node = json_loads(at(&f, "/domain/q:commandline/q:arg[2]/@value"), 0, NULL);
	assert_string_equal("null-co", json_string_value(json_object_get(node, "driver")));
	assert_int_equal(1 << 20, json_integer_value(json_object_get(node, "size")));
	assert_int_equal(1000000, json_integer_value(json_object_get(node, "latency-ns")));
	assert_string_equal(json_string_value(json_object_get(node, "node-name")),
			    at(&f, "/domain/q:override/q:device[@alias='ua-disk0']/q:frontend/"
				   "q:property[@name='drive'][@type='string']/@value"));
	json_decref(node);
	teardown(&f);
	setup(&f);
	set(&f, 0, "inject_error", "write-error@16");
	make(&f);
	node = json_loads(at(&f, "/domain/q:commandline/q:arg[2]/@value"), 0, NULL);
	rule = json_array_get(json_object_get(node, "inject-error"), 0);
	assert_string_equal("blkdebug", json_string_value(json_object_get(node, "driver")));
	assert_string_equal("write", json_string_value(json_object_get(rule, "iotype")));
	assert_int_equal(16, json_integer_value(json_object_get(rule, "sector")));
	assert_int_equal(5, json_integer_value(json_object_get(rule, "errno")));
	assert_true(json_is_true(json_object_get(json_object_get(json_object_get(node, "image"), "cache"), "direct")));
	json_decref(node);
	teardown(&f);
}

static void owner(void **state)
{
	char host[DOMAIN_HOST_SIZE];
	struct fixture f;
	long pid = 0;
	uint64_t started = 0;

	(void)state;
	setup(&f);
	make(&f);
	assert_int_equal(0, domain_owner(text_get(&f.xml), host, &pid, &started));
	assert_string_equal(host, "h&1");
	assert_int_equal(77, pid);
	assert_true(started == 123456789012);
	assert_int_equal(-1, domain_owner("<domain><name>kickbench-x</name></domain>", host, &pid, &started));
	assert_int_equal(-1, domain_owner("<domain><metadata><owner pid='1' started='2'/></metadata></domain>", host, &pid, &started));
	assert_int_equal(-1, domain_owner("no XML", host, &pid, &started));
	teardown(&f);
}

static const char some_features[] =
	"{\"return\":{\"guest-features\":{\"transports\":[\"VIRTIO_RING_F_EVENT_IDX: Used & avail. event fields enabled\","
	"\"VIRTIO_F_VERSION_1: Device compliant\"],\"dev-features\":[\"VIRTIO_BLK_F_FLUSH: Flush command supported\"]},"
	"\"host-features\":{\"transports\":[\"VIRTIO_F_RING_PACKED: offered only\"]}}}";

static bool unverified(const json_t *root, const char *key)
{
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(root, "unverified"), i, item)
		if (!strcmp(json_string_value(item), key))
			return true;
	return false;
}

static void the_file_system_is_seen(void **state)
{
	struct domain_evidence have = {.filesystem = FILESYSTEM_XFS};
	struct fixture f;
	json_t *root;

	(void)state;
	setup(&f);
	root = verify(&f, &have, 0); /* none was asked for: nothing is said */
	assert_string_equal(verified(root, "filesystem"), "(not verified)");
	assert_false(unverified(root, "filesystem"));
	json_decref(root);
	set(&f, 0, "filesystem", "xfs");
	root = verify(&f, &have, 0);
	assert_string_equal(verified(root, "filesystem"), "xfs");
	json_decref(root);
	have.filesystem = FILESYSTEM_EXT4;
	json_decref(verify(&f, &have, 1));
	have.filesystem = -1;
	root = verify(&f, &have, 0);
	assert_true(unverified(root, "filesystem"));
	json_decref(root);
}

static void all_in_force(void **state)
{
	struct fixture f;
	json_t *root;

	(void)state;
	setup(&f);
	set(&f, 0, "ioeventfd", "on");
	set(&f, 0, "event_idx", "on");
	set(&f, 0, "packed", "off");
	set(&f, 0, "iothread", "on");
	set(&f, 0, "poll_max_ns", "0");
	set(&f, 0, "vcpupin", "0,1");
	make(&f);
	root = verify(&f, &(struct domain_evidence){
		.live_xml = text_get(&f.xml),
		.qom = "{\"ioeventfd\":true,\"num-queues\":1,\"queue-size\":256,\"iothread\":\"/objects/iothread1\","
		       "\"drive\":\"libvirt-1-format\"}",
		.virtio_status = some_features, .iothread = "{\"poll-max-ns\":0}" }, 0);
	assert_string_equal("on", verified(root, "ioeventfd"));
	assert_string_equal("on", verified(root, "event_idx"));
	assert_string_equal("off", verified(root, "packed")); /* offered, not negotiated */
	assert_string_equal("1", verified(root, "queues"));
	assert_string_equal("256", verified(root, "queue_size")); /* not asked for, but known */
	assert_string_equal("on", verified(root, "iothread"));
	assert_string_equal("0", verified(root, "poll_max_ns"));
	assert_string_equal("none", verified(root, "cache"));
	assert_string_equal("threads", verified(root, "io"));
	assert_string_equal("file", verified(root, "backend"));
	assert_string_equal("0,1", verified(root, "vcpupin"));
	assert_int_equal(0, json_array_size(json_object_get(root, "unverified")));
	assert_int_equal(3, json_array_size(json_object_get(root, "features")));
	assert_string_equal("VIRTIO_RING_F_EVENT_IDX", json_string_value(json_array_get(json_object_get(root, "features"), 0)));
	json_decref(root);
	teardown(&f);
}

static void everything_else_than_asked(void **state)
{
	struct fixture f, other;
	json_t *root;

	(void)state;
	setup(&f);
	setup(&other);
	make(&other); /* a domain without any of it */
	set(&f, 0, "ioeventfd", "off");
	set(&f, 0, "event_idx", "off");
	set(&f, 0, "packed", "on");
	set(&f, 0, "queues", "4");
	set(&f, 0, "iothread", "on");
	set(&f, 0, "poll_max_ns", "5");
	set(&f, 0, "model", "virtio-non-transitional");
	set(&f, 0, "cache", "writeback");
	set(&f, 0, "emulatorpin", "1");
	set(&f, 0, "inject_error", "read-error@1");
	root = verify(&f, &(struct domain_evidence){
		.live_xml = text_get(&other.xml),
		.qom = "{\"ioeventfd\":true,\"num-queues\":1,\"queue-size\":256,\"iothread\":\"\",\"drive\":\"libvirt-1-format\","
		       "\"type\":\"virtio-blk-pci\"}",
		.virtio_status = some_features, .iothread = "{\"poll-max-ns\":32768}" }, 10);
	json_decref(root);
	teardown(&f);
	teardown(&other);
}

/* Replies of QEMU 7.2 about a device with 4 queues, event_idx and packed: what it offers, and what the driver took. */
#define OFFERED \
	"\"host-features\":{\"transports\":[\"VIRTIO_RING_F_EVENT_IDX: Used & avail. event fields enabled\"," \
	"\"VIRTIO_RING_F_INDIRECT_DESC: Indirect descriptors supported\",\"VIRTIO_F_VERSION_1: Device compliant with v1 spec (legacy)\"," \
	"\"VIRTIO_F_RING_PACKED: Device supports packed virtqueue layout\"],\"dev-features\":[" \
	"\"VIRTIO_BLK_F_MQ: Multiqueue supported\",\"VIRTIO_BLK_F_FLUSH: Flush command supported\"]}"
#define TAKEN(transports, device) \
	"{\"return\":{\"name\":\"virtio-blk\",\"num-vqs\":4," OFFERED ",\"guest-features\":{\"transports\":[" transports "]," \
	"\"dev-features\":[" device "]},\"backend-features\":{\"transports\":[],\"dev-features\":[]}}}"
#define EVENT_IDX "\"VIRTIO_RING_F_EVENT_IDX: Used & avail. event fields enabled\""
#define PACKED "\"VIRTIO_F_RING_PACKED: Device supports packed virtqueue layout\""
#define VERSION_1 "\"VIRTIO_F_VERSION_1: Device compliant with v1 spec (legacy)\""
#define MQ "\"VIRTIO_BLK_F_MQ: Multiqueue supported\""

/* What is said of a key that is in no force, "" when it is. */
static const char *instead(const json_t *root, const char *key)
{
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(root, "mismatch"), i, item)
		if (!strcmp(json_string_value(json_object_get(item, "key")), key))
			return json_string_value(json_object_get(item, "have"));
	return "";
}

/* Only what was negotiated is in force, whatever the device has; what is missing is named. */
static void what_the_driver_leaves_out(void **state)
{
	static const char four[] = "{\"num-queues\":4}";
	struct fixture f;
	json_t *root;

	(void)state;
	setup(&f);
	set(&f, 0, "event_idx", "on");
	set(&f, 0, "packed", "on");
	set(&f, 0, "queues", "4");
	root = verify(&f, &(struct domain_evidence){ .qom = four, .virtio_status = TAKEN(EVENT_IDX "," VERSION_1 "," PACKED, MQ) }, 0);
	assert_string_equal(verified(root, "event_idx"), "on");
	assert_string_equal(verified(root, "packed"), "on");
	assert_string_equal(verified(root, "queues"), "4");
	json_decref(root);
	root = verify(&f, &(struct domain_evidence){ .qom = four, .virtio_status = TAKEN(VERSION_1, "") }, 3); /* as on the BSDs */
	assert_string_equal(instead(root, "event_idx"), "off: the guest's driver did not negotiate VIRTIO_RING_F_EVENT_IDX");
	assert_string_equal(instead(root, "packed"), "off: the guest's driver did not negotiate VIRTIO_F_RING_PACKED");
	assert_string_equal(instead(root, "queues"), "1: the guest's driver did not negotiate VIRTIO_BLK_F_MQ");
	json_decref(root);
	root = verify(&f, &(struct domain_evidence){ .qom = four, .virtio_status = some_features }, 2);
	assert_string_equal(instead(root, "packed"), "off: the guest's driver did not negotiate VIRTIO_F_RING_PACKED");
	assert_string_equal(instead(root, "queues"), "1: the device does not offer VIRTIO_BLK_F_MQ");
	json_decref(root);
	root = verify(&f, &(struct domain_evidence){ .qom = four }, 0); /* nobody can tell */
	assert_true(unverified(root, "event_idx") && unverified(root, "packed") && unverified(root, "queues"));
	json_decref(root);
	root = verify(&f, &(struct domain_evidence){ .qom = "{\"num-queues\":2}", .virtio_status = TAKEN(EVENT_IDX "," PACKED, MQ) }, 1);
	assert_string_equal(instead(root, "queues"), "2");
	json_decref(root);
	set(&f, 0, "event_idx", "off");
	set(&f, 0, "packed", "off");
	set(&f, 0, "queues", "1");
	root = verify(&f, &(struct domain_evidence){ .qom = "{\"num-queues\":1}", .virtio_status = TAKEN(VERSION_1, "") }, 0);
	assert_string_equal(verified(root, "queues"), "1"); /* one needs no feature */
	json_decref(root);
	root = verify(&f, &(struct domain_evidence){ .virtio_status = TAKEN(EVENT_IDX "," PACKED, MQ) }, 2);
	assert_string_equal(instead(root, "event_idx"), "on");
	json_decref(root);
	teardown(&f);
}

static void null_backend(void **state)
{
	const char *ours = "{\"drive\":\"kickbench-disk0\"}", *theirs = "{\"drive\":\"libvirt-1-format\"}";
	struct fixture f;
	json_t *root;

	(void)state;
	setup(&f);
	set(&f, 0, "backend", "null");
	set(&f, 0, "latency_ns", "1000000");
	make(&f);
	root = verify(&f, &(struct domain_evidence){ .live_xml = text_get(&f.xml), .qom = ours }, 0);
	assert_string_equal("null", verified(root, "backend"));
	assert_string_equal("1000000", verified(root, "latency_ns"));
	json_decref(root);
	/* the override did not take: the device stands on the stand-in */
	json_decref(verify(&f, &(struct domain_evidence){ .live_xml = text_get(&f.xml), .qom = theirs }, 1));
	f.settings[0].latency_ns = 2000000;
	json_decref(verify(&f, &(struct domain_evidence){ .live_xml = text_get(&f.xml), .qom = ours }, 1));
	teardown(&f);
}

static void no_evidence(void **state)
{
	struct fixture f;
	json_t *root;

	(void)state;
	setup(&f);
	set(&f, 0, "ioeventfd", "on");
	set(&f, 0, "event_idx", "off");
	set(&f, 0, "iothread", "on");
	set(&f, 0, "poll_max_ns", "0");
	set(&f, 0, "vcpupin", "0");
	root = verify(&f, &(struct domain_evidence){ .virtio_status = "{\"return\":{}}", .qom = "garbage" }, 0);
	assert_int_equal(0, json_object_size(json_object_get(root, "verified")));
	assert_true(unverified(root, "ioeventfd"));
	assert_true(unverified(root, "event_idx"));
	assert_true(unverified(root, "queues"));
	assert_true(unverified(root, "iothread"));
	assert_true(unverified(root, "poll_max_ns"));
	assert_true(unverified(root, "cache"));
	assert_true(unverified(root, "vcpupin"));
	assert_false(unverified(root, "packed")); /* not asked for */
	json_decref(root);
	teardown(&f);
}

/* A disk image: its disks come first for the guest's PCI, and it is started from the first; the test disk keeps its names. */
static void test_disk_image(void **state)
{
	static const struct domain_extra extra[] = {
		{ "/o&1.qcow2", "qcow2", "kb-system", false }, { "/k.tar", "raw", "kb-kickio", true },
	};
	struct error e = {0};
	struct fixture f;

	(void)state;
	setup(&f);
	f.spec.kernel = f.spec.initrd = f.spec.cmdline = NULL;
	assert_int_equal(domain_xml(&f.spec, &f.xml, &e), -1);
	assert_non_null(strstr(e.text, "has no kernel"));
	f.spec.extra = extra;
	f.spec.nextra = 2;
	f.spec.stand_in = "/stand-in";
	make(&f);
	assert_string_equal(at(&f, "count(/domain/os/kernel)"), "0");
	assert_string_equal(at(&f, "string(//disk[serial='kb-system']/source/@file)"), "/o&1.qcow2");
	assert_string_equal(at(&f, "string(//disk[serial='kb-system']/driver/@type)"), "qcow2");
	assert_string_equal(at(&f, "string(//disk[serial='kb-system']/boot/@order)"), "1");
	assert_string_equal(at(&f, "string(//disk[serial='kb-system']/address/@slot)"), "0x03");
	assert_string_equal(at(&f, "count(//disk[serial='kb-system']/readonly)"), "0");
	assert_string_equal(at(&f, "string(//disk[serial='kb-kickio']/address/@slot)"), "0x04");
	assert_string_equal(at(&f, "count(//disk[serial='kb-kickio']/readonly)"), "1");
	assert_string_equal(at(&f, "string(//disk[serial='kb-0']/address/@slot)"), "0x05");
	assert_string_equal(at(&f, "string(//disk[serial='kb-0']/target/@dev)"), "vda");
	assert_string_equal(at(&f, "count(//boot)"), "1");
	set(&f, 0, "backend", "null");
	make(&f);
	assert_string_equal(at(&f, "string(//disk[serial='kb-0']/source/@file)"), "/stand-in");
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disk_image),
		cmocka_unit_test(the_guest),
		cmocka_unit_test(each_key),
		cmocka_unit_test(unset_keys_are_absent),
		cmocka_unit_test(two_disks),
		cmocka_unit_test(markup_in_names),
		cmocka_unit_test(nodes_of_our_own),
		cmocka_unit_test(owner),
		cmocka_unit_test(the_file_system_is_seen),
		cmocka_unit_test(all_in_force),
		cmocka_unit_test(everything_else_than_asked),
		cmocka_unit_test(what_the_driver_leaves_out),
		cmocka_unit_test(null_backend),
		cmocka_unit_test(no_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
