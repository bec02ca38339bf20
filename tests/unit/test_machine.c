/* host/machine.c: keys, values, words and properties; and what domain.c and domain_verify_machine.c make of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "host/domain.h"
#include "host/machine.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void set(struct machine *m, const char *key, const char *value)
{
	struct error e = { 0 };

	if (machine_set(m, key, value, "f", 1, &e))
		fail_msg("%s = %s: %s", key, value, e.text);
}

static void every_key_is_read_and_written(void **state)
{
	static const struct { const char *key, *value, *text; } rows[] = {
		{ "emulator", "/opt/q", "/opt/q" }, { "firmware", "/bios", "/bios" }, { "machine", "pc-i440fx-7.2", "pc-i440fx-7.2" },
		{ "cpu", "max", "max" }, { "kernel", "/k", "/k" }, { "initrd", "/i", "/i" }, { "kernel_args", "a=b c", "a=b c" },
		{ "accel", "tcg", "tcg" }, { "vcpus", "2", "2" }, { "memory", "0x", NULL }, { "memory", "524288k", "512M" },
		{ "qemu_args", "-name 'a b'", "-name 'a b'" }, { "qemu.x-data", "7", "7" }, { "qemu.write-cache", "on", "on" },
	};
	struct machine m, copy;
	struct text json = { 0 };
	json_t *object;
	size_t keys = 0;
	const char *help;

	(void)state;
	machine_default(&m);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text t = { 0 };

		if (!rows[i].text) {
			struct error e = { 0 };

			assert_int_equal(machine_set(&m, rows[i].key, rows[i].value, "f", 7, &e), -1);
			assert_non_null(strstr(e.text, "f:7: memory = 0x: expected a size"));
			continue;
		}
		set(&m, rows[i].key, rows[i].value);
		machine_get(&m, rows[i].key, &t);
		assert_string_equal(text_get(&t), rows[i].text);
		text_free(&t);
	}
	assert_int_equal(machine_copy(&copy, &m), 0);
	assert_true(machine_same(&m, &copy));
	machine_json(&copy, &json);
	object = json_loads(text_get(&json), 0, NULL);
	assert_non_null(object);
	assert_int_equal(json_object_size(object), 13);
	assert_string_equal(json_string_value(json_object_get(object, "qemu.x-data")), "7");
	json_decref(object);
	/* the order in which properties were named is none of the machine's */
	set(&copy, "qemu.x-data", "");
	assert_false(machine_same(&m, &copy));
	set(&copy, "qemu.x-data", "7");
	assert_true(machine_same(&m, &copy));
	set(&copy, "kernel", "");
	assert_false(machine_same(&m, &copy));
	assert_int_equal(machine_set(&m, "ioeventfd", "on", "f", 1, NULL), 1);
	while (machine_key(keys, &help)) {
		assert_true(*help);
		keys++;
	}
	assert_int_equal(keys, 12);
	text_free(&json);
	machine_free(&m);
	machine_free(&copy);
}

static void words_are_cut(void **state)
{
	static const struct { const char *args; size_t count; const char *word[3]; } rows[] = {
		{ "", 0, { 0 } }, { "  ", 0, { 0 } }, { "a", 1, { "a" } }, { " -name  x\ty ", 3, { "-name", "x", "y" } },
		{ "-x 'a  b'\"c d\"", 2, { "-x", "a  bc d" } }, { "'' b", 2, { "", "b" } }, { "\"it's\"", 1, { "it's" } },
	};
	char **words;
	size_t n;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(machine_words(rows[i].args, &words, &n), 0);
		assert_int_equal(n, rows[i].count);
		for (size_t k = 0; k < n; k++)
			assert_string_equal(words[k], rows[i].word[k]);
		free(words);
	}
	assert_int_equal(machine_words("a 'b", &words, &n), -1);
	assert_int_equal(machine_words("\"", &words, &n), -1);
}

static void properties_have_types(void **state)
{
	static const struct { const char *value; enum property_type type; const char *plain; } rows[] = {
		{ "on", PROPERTY_BOOL, "true" }, { "false", PROPERTY_BOOL, "false" }, { "\"on\"", PROPERTY_STRING, "on" },
		{ "12", PROPERTY_UNSIGNED, "12" }, { "-3", PROPERTY_SIGNED, "-3" }, { "auto", PROPERTY_STRING, "auto" },
		{ "-", PROPERTY_STRING, "-" }, { "4k", PROPERTY_STRING, "4k" }, { "\"", PROPERTY_STRING, "\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text t = { 0 };

		assert_int_equal(machine_property_type(rows[i].value, &t), rows[i].type);
		assert_string_equal(text_get(&t), rows[i].plain);
		text_free(&t);
	}
}

static void conflicts(void **state)
{
	struct machine m;

	(void)state;
	machine_default(&m);
	assert_null(machine_conflict(&m));
	set(&m, "cpu", "host");
	assert_null(machine_conflict(&m)); /* auto: a wish for KVM */
	set(&m, "accel", "tcg");
	assert_non_null(strstr(machine_conflict(&m), "cpu = host"));
	set(&m, "cpu", "");
	set(&m, "machine", "isapc");
	assert_non_null(strstr(machine_conflict(&m), "microvm"));
	set(&m, "machine", "microvm");
	assert_null(machine_conflict(&m));
	machine_free(&m);
}

/* Written by hand after libvirt's documentation: what differs from a domain without any of the machine's keys. */
static const char golden[] =
	"  <os>\n"
	"    <type arch=\"x86_64\" machine=\"pc-q35-7.2\">hvm</type>\n"
	"    <loader readonly=\"yes\" type=\"rom\">/b&amp;ios</loader>\n"
	"    <kernel>/k</kernel>\n"
	"    <initrd>/i</initrd>\n"
	"    <cmdline>quiet</cmdline>\n"
	"  </os>\n";
static const char golden_cpu[] =
	"  <cpu mode=\"custom\" match=\"exact\" check=\"none\">\n"
	"    <model fallback=\"forbid\">EPYC</model>\n"
	"    <topology sockets=\"1\" cores=\"3\" threads=\"1\"/>\n"
	"  </cpu>\n";
static const char golden_qemu[] =
	"  <qemu:commandline>\n"
	"    <qemu:arg value=\"-name\"/>\n"
	"    <qemu:arg value=\"debug-threads=on,a b\"/>\n"
	"  </qemu:commandline>\n"
	"  <qemu:override>\n"
	"    <qemu:device alias=\"ua-disk0\">\n"
	"      <qemu:frontend>\n"
	"        <qemu:property name=\"indirect_desc\" type=\"bool\" value=\"false\"/>\n"
	"        <qemu:property name=\"disable-legacy\" type=\"string\" value=\"on\"/>\n"
	"        <qemu:property name=\"vectors\" type=\"unsigned\" value=\"2\"/>\n"
	"      </qemu:frontend>\n"
	"    </qemu:device>\n"
	"  </qemu:override>\n";

static void fill(struct machine *m)
{
	machine_default(m);
	set(m, "emulator", "/opt/qemu");
	set(m, "machine", "pc-q35-7.2");
	set(m, "firmware", "/b&ios");
	set(m, "cpu", "EPYC");
	set(m, "vcpus", "3");
	set(m, "memory", "512M");
	set(m, "kernel", "/my/kernel");
	set(m, "kernel_args", "a=1");
	set(m, "qemu_args", "-name 'debug-threads=on,a b'");
	set(m, "qemu.indirect_desc", "off");
	set(m, "qemu.disable-legacy", "\"on\"");
	set(m, "qemu.vectors", "2");
}

static void make(const struct machine *m, enum accel accel, struct text *xml)
{
	struct settings settings;
	struct domain_disk disk = { .settings = &settings, .source = "/d", .serial = "kb-disk0" };
	struct domain_spec spec = { .name = "kickbench-1", .machine = m, .accel = accel, .kernel = "/k", .initrd = "/i",
				    .cmdline = "quiet", .owner_pid = 1, .owner_started = 1, .disk = &disk, .ndisks = 1 };
	struct error e = { 0 };

	settings_default(&settings);
	settings.cache = CACHE_NONE;
	if (domain_xml(&spec, xml, &e))
		fail_msg("%s", e.text);
}

static void holds(const char *text, const char *piece)
{
	if (!strstr(text, piece))
		fail_msg("\"%s\" is not in \"%s\"", piece, text);
}

static void the_domain_has_every_key(void **state)
{
	struct machine m;
	struct text xml = { 0 };

	(void)state;
	fill(&m);
	make(&m, ACCEL_TCG, &xml);
	holds(text_get(&xml), golden);
	holds(text_get(&xml), golden_cpu);
	holds(text_get(&xml), golden_qemu);
	holds(text_get(&xml), "    <emulator>/opt/qemu</emulator>\n");
	holds(text_get(&xml), "  <memory unit=\"KiB\">524288</memory>\n");
	holds(text_get(&xml), "  <vcpu placement=\"static\">3</vcpu>\n");
	text_reset(&xml);
	set(&m, "cpu", "max");
	make(&m, ACCEL_KVM, &xml);
	holds(text_get(&xml), "<domain xmlns:qemu=\"http://libvirt.org/schemas/domain/qemu/1.0\" type=\"kvm\">");
	holds(text_get(&xml), "  <cpu mode=\"maximum\">\n");
	text_reset(&xml);
	machine_free(&m);
	machine_default(&m);
	make(&m, ACCEL_TCG, &xml);
	holds(text_get(&xml), "<type arch=\"x86_64\" machine=\"pc\">hvm</type>\n    <kernel>");
	assert_null(strstr(text_get(&xml), "<qemu:"));
	assert_null(strstr(text_get(&xml), "<emulator>"));
	text_free(&xml);
	machine_free(&m);
}

/* What an emulator that does everything as asked would answer. */
static struct domain_machine_evidence evidence(const struct machine *m)
{
	return (struct domain_machine_evidence){
		.asked = m, .accel = ACCEL_TCG, .kernel = "6.1.0-1", .qemu_version = "QEMU 10.0.13", .type = "pc-q35-7.2-machine",
		.cpu = "EPYC-v1-x86_64-cpu", .boot = "{\"kernel\":\"/k\",\"initrd\":\"/i\",\"append\":\"quiet a=1\"}",
		.guest_kernel = "6.1.0-1", .kvm = 0, .vcpus = 3, .memory = 512u << 20,
	};
}

#define QOM "{\"indirect_desc\":false,\"disable-legacy\":\"on\",\"vectors\":2}"

static json_t *verify(const struct domain_machine_evidence *have, const char *qom, const char *xml,
		      int mismatches)
{
	struct domain_evidence all = { .live_xml = xml, .qom = qom, .filesystem = -1, .machine = have };
	struct settings settings;
	struct text out = { 0 };
	json_t *root;
	int n;

	settings_default(&settings);
	n = domain_verify(&settings, 0, &all, &out);
	if (n != mismatches)
		fail_msg("%d mismatches, not %d: %s", n, mismatches, text_get(&out));
	root = json_loads(text_get(&out), 0, NULL);
	assert_non_null(root);
	text_free(&out);
	return root;
}

static const char *verified(const json_t *root, const char *key)
{
	const char *s = json_string_value(json_object_get(json_object_get(root, "verified"), key));

	return s ? s : "(not verified)";
}

static void all_in_force(void **state)
{
	struct machine m;
	struct domain_machine_evidence have;
	struct text xml = { 0 };
	json_t *root;

	(void)state;
	fill(&m);
	make(&m, ACCEL_TCG, &xml);
	have = evidence(&m);
	root = verify(&have, QOM, text_get(&xml), 0);
	assert_string_equal(verified(root, "emulator"), "/opt/qemu");
	assert_string_equal(verified(root, "qemu_version"), "QEMU 10.0.13");
	assert_string_equal(verified(root, "machine"), "pc-q35-7.2");
	assert_string_equal(verified(root, "cpu"), "EPYC-v1");
	assert_string_equal(verified(root, "accel"), "tcg");
	assert_string_equal(verified(root, "vcpus"), "3");
	assert_string_equal(verified(root, "memory"), "512M");
	assert_string_equal(verified(root, "kernel"), "6.1.0-1");
	assert_string_equal(verified(root, "kernel_args"), "a=1");
	assert_string_equal(verified(root, "firmware"), "/b&ios");
	assert_string_equal(verified(root, "qemu_args"), "-name 'debug-threads=on,a b'");
	assert_string_equal(verified(root, "qemu.indirect_desc"), "off");
	assert_string_equal(verified(root, "qemu.disable-legacy"), "on");
	assert_string_equal(verified(root, "qemu.vectors"), "2");
	json_decref(root);
	text_free(&xml);
	machine_free(&m);
}

/* One thing is another at a time: each is one mismatch. */
static void one_thing_is_not_as_asked(void **state)
{
	struct machine m;
	struct domain_machine_evidence right, have;
	struct text xml = { 0 };

	(void)state;
	fill(&m);
	make(&m, ACCEL_TCG, &xml);
	right = evidence(&m);
#define WRONG(change, qom) do { have = right; change; json_decref(verify(&have, qom, text_get(&xml), 1)); } while (0)
	WRONG(have.type = "pc-q35-7.1-machine", QOM);
	WRONG(have.cpu = "EPYC-Rome-x86_64-cpu", QOM);
	WRONG(have.kvm = 1, QOM);
	WRONG(have.vcpus = 2, QOM);
	WRONG(have.memory = 256u << 20, QOM);
	WRONG(have.guest_kernel = "6.1.0-2", QOM);
	WRONG(have.boot = "{\"append\":\"quiet\"}", QOM);
	WRONG((void)0, "{\"indirect_desc\":true,\"disable-legacy\":\"on\",\"vectors\":2}");
	WRONG((void)0, "{\"indirect_desc\":false,\"disable-legacy\":\"auto\",\"vectors\":2}");
	text_reset(&xml);
	machine_free(&m);
	machine_default(&m);
	make(&m, ACCEL_TCG, &xml); /* a domain without any of it */
	machine_free(&m);
	fill(&m);
	have = right = evidence(&m);
	json_decref(verify(&have, QOM, text_get(&xml), 2)); /* firmware and qemu_args; the emulator is not told */
	text_free(&xml);
	machine_free(&m);
}

static void nobody_can_say(void **state)
{
	struct machine m;
	struct domain_machine_evidence have;
	json_t *root;

	(void)state;
	fill(&m);
	have = (struct domain_machine_evidence){ .asked = &m, .accel = ACCEL_TCG, .kernel = "6.1.0-1", .kvm = -1 };
	root = verify(&have, NULL, NULL, 0);
	assert_int_equal(json_object_size(json_object_get(root, "verified")), 0);
	/* emulator machine cpu accel vcpus memory kernel kernel_args firmware qemu_args, three properties, and the disk's
	 * queues, io and backend */
	assert_int_equal(json_array_size(json_object_get(root, "unverified")), 13 + 3);
	json_decref(root);
	machine_free(&m);
}

/* "pc" and "q35" stand for the newest of their family. */
static void families(void **state)
{
	static const struct { const char *want, *have; int wrong; } rows[] = {
		{ "pc", "pc-i440fx-10.0-machine", 0 }, { "q35", "pc-q35-10.0-machine", 0 }, { "pc", "pc-q35-10.0-machine", 1 },
		{ "pc-i440fx-7.2", "pc-i440fx-7.2-machine", 0 }, { "q35", "pc-i440fx-7.2-machine", 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct machine m;
		struct domain_machine_evidence have;

		machine_default(&m);
		set(&m, "machine", rows[i].want);
		have = (struct domain_machine_evidence){ .asked = &m, .accel = ACCEL_TCG, .kvm = -1, .type = rows[i].have };
		json_decref(verify(&have, NULL, NULL, rows[i].wrong));
		machine_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_read_and_written), cmocka_unit_test(words_are_cut),
		cmocka_unit_test(properties_have_types), cmocka_unit_test(conflicts), cmocka_unit_test(the_domain_has_every_key),
		cmocka_unit_test(all_in_force), cmocka_unit_test(one_thing_is_not_as_asked), cmocka_unit_test(nobody_can_say),
		cmocka_unit_test(families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
