/* host/settings.c: keys, values, impossible pairs, and what a run's record says of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <jansson.h>

#include "host/settings.h"
#include "tests/unit/scratch.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Set "key=value" pairs separated by blanks. */
static void set_all(struct settings *s, const char *pairs)
{
	char copy[256], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", pairs);
	for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
		struct error e = { 0 };
		char *equals = strchr(p, '=');

		*equals = '\0';
		if (settings_set(s, p, equals + 1, "f", 1, &e))
			fail_msg("%s=%s: %s", p, equals + 1, e.text);
	}
}

static void defaults(void **state)
{
	struct settings s;

	(void)state;
	settings_default(&s);
	assert_int_equal(s.size, 268435456);
	assert_int_equal(s.queues, 1);
	assert_int_equal(s.poll_max_ns, -1);
	assert_int_equal(s.cache, CACHE_AUTO);
	assert_int_equal(s.io, IO_THREADS);
	assert_int_equal(s.ioeventfd, TOGGLE_UNSET);
	assert_null(settings_conflict(&s));
}

static void every_key_is_read_and_written(void **state)
{
	static const struct { const char *key, *value, *text; } rows[] = {
		{ "size", "64M", "64M" }, { "backend", "memory", "memory" }, { "path", "/var/tmp", "/var/tmp" },
		{ "latency_ns", "1000", "1000" }, { "filesystem", "xfs", "xfs" }, { "cache", "writethrough", "writethrough" }, { "io", "io_uring", "io_uring" },
		{ "ioeventfd", "off", "off" }, { "event_idx", "yes", "on" }, { "packed", "0", "off" },
		{ "iothread", "on", "on" }, { "poll_max_ns", "0", "0" }, { "queues", "4", "4" }, { "queue_size", "128", "128" },
		{ "model", "virtio-transitional", "virtio-transitional" }, { "vcpupin", "0,2-3", "0,2-3" },
		{ "iothreadpin", "1", "1" }, { "emulatorpin", "0", "0" }, { "inject_error", "read-error@77", "read-error@77" },
	};
	struct settings s, copy;
	struct text json = { 0 };
	json_t *object;
	size_t keys = 0;

	(void)state;
	settings_default(&s);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct error e = { 0 };
		struct text t = { 0 };

		assert_int_equal(settings_set(&s, rows[i].key, rows[i].value, "f", 1, &e), 0);
		settings_get(&s, rows[i].key, &t);
		assert_string_equal(text_get(&t), rows[i].text);
		text_free(&t);
	}
	while (settings_key(keys, NULL))
		keys++;
	assert_int_equal(keys, COUNT(rows));
	assert_int_equal(settings_copy(&copy, &s), 0);
	settings_free(&s);
	settings_json(&copy, &json);
	settings_free(&copy);
	object = json_loads(text_get(&json), 0, NULL);
	assert_non_null(object);
	assert_int_equal(json_object_size(object), COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(json_string_value(json_object_get(object, rows[i].key)), rows[i].text);
	json_decref(object);
	text_free(&json);
}

static void a_bad_value_names_place_key_and_what_is_allowed(void **state)
{
	static const struct { const char *key, *value, *allowed; } rows[] = {
		{ "size", "511", "from 512 to 1024T" }, { "size", "2000T", "from 512" }, { "size", "big", "a size such as" }, { "size", "", "a size" },
		{ "backend", "disk", "file, memory, null" }, { "latency_ns", "10000000001", "from 0 to 10000000000" },
		{ "filesystem", "zfs", "none, ext4, xfs" },
		{ "cache", "None", "auto, none, writeback, writethrough, directsync, unsafe" },
		{ "io", "uring", "threads, native, io_uring" }, { "ioeventfd", "maybe", "on or off" },
		{ "poll_max_ns", "-1", "from 0 to 1000000000" }, { "queues", "0", "from 1 to 64" },
		{ "queues", "65", "from 1 to 64" }, { "queue_size", "1", "from 2 to 1024" },
		{ "model", "virtio-blk", "virtio, virtio-transitional, virtio-non-transitional" },
		{ "vcpupin", "a", "host CPUs such as 0,2-3" }, { "inject_error", "read-error@", "read-error@SECTOR" },
		{ "inject_error", "write-error@-1", "write-error@SECTOR" }, { "inject_error", "flush-error@1", "none" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct settings s;
		struct error e = { 0 };
		char place[128];

		settings_default(&s);
		assert_int_equal(settings_set(&s, rows[i].key, rows[i].value, "my.ini", 7, &e), -1);
		assert_int_equal(e.status, STATUS_USAGE);
		snprintf(place, sizeof(place), "my.ini:7: %s = %s: expected ", rows[i].key, rows[i].value);
		holds(e.text, place);
		holds(e.text, rows[i].allowed);
		settings_free(&s);
	}
}

static void an_unknown_key_is_left_to_the_caller(void **state)
{
	struct settings s;
	struct error e = { 0 };

	(void)state;
	settings_default(&s);
	assert_int_equal(settings_set(&s, "ioeventf", "on", "f", 1, &e), 1);
	assert_int_equal(e.status, 0);
}

static void impossible_pairs_have_reasons(void **state)
{
	static const struct { const char *pairs, *reason; } rows[] = {
		{ "ioeventfd=off iothread=on", "ioeventfd = off cannot be combined with an iothread" },
		{ "latency_ns=1000", "latency_ns needs backend = null" },
		{ "backend=null latency_ns=1000", "latency_ns needs iothread = on" },
		{ "backend=null latency_ns=1000 iothread=off", "whole milliseconds" },
		{ "io=native cache=writeback", "io = native needs cache = none or directsync" },
		{ "io=native", "io = native needs" },
		{ "backend=memory cache=none", "tmpfs" },
		{ "backend=null inject_error=read-error@1", "inject_error needs another backend" },
		{ "backend=null path=/x", "path means nothing" },
		{ "backend=null filesystem=ext4", "filesystem needs backend = file or memory" },
		{ "backend=nbd", "needs path = /SOCKET" },
		{ "backend=nbd path=s.sock", "from the root on" },
		{ "backend=nbd path=/s filesystem=xfs", "filesystem needs backend = file or memory" },
		{ "backend=nbd path=/s io=native", "a socket" },
		{ "backend=nbd path=/s latency_ns=1 iothread=on", "latency_ns needs backend = null" },
		{ "size=7M filesystem=ext4", "8M at least" },
		{ "size=299M filesystem=xfs", "300M at least" },
		{ "queue_size=100", "power of two" },
		{ "poll_max_ns=0", "poll_max_ns is a property of an iothread" },
		{ "iothreadpin=1", "iothreadpin needs iothread = on" },
		{ "size=1048577", "multiple of 512" },
		{ "size=513", "multiple of 512" },
		{ "size=512 inject_error=read-error@1", "beyond the disk's end" },
		{ "size=1M inject_error=read-error@2048", "beyond the disk's end" },
	};
	static const char *const fine[] = {
		"ioeventfd=on iothread=on", "backend=null latency_ns=1000 iothread=on", "io=native cache=none",
		"io=native cache=directsync", "backend=memory cache=writeback", "queue_size=256", "iothread=on poll_max_ns=0",
		"size=1M inject_error=read-error@2047", "size=8M filesystem=ext4", "size=300M filesystem=xfs",
		"backend=memory filesystem=ext4", "size=512", "size=1536", "backend=nbd path=/s inject_error=read-error@1 iothread=on",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows) + COUNT(fine); i++) {
		const char *pairs = i < COUNT(rows) ? rows[i].pairs : fine[i - COUNT(rows)];
		struct settings s;
		const char *why;

		settings_default(&s);
		set_all(&s, pairs);
		why = settings_conflict(&s);
		if ((why != NULL) != (i < COUNT(rows)))
			fail_msg("%s: %s", pairs, why ? why : "was taken");
		if (why)
			holds(why, rows[i].reason);
		settings_free(&s);
	}
}

static void the_last_value_counts(void **state)
{
	struct settings s;
	struct text t = { 0 };

	(void)state;
	settings_default(&s);
	set_all(&s, "path=/a vcpupin=1 inject_error=read-error@5");
	set_all(&s, "path=/b vcpupin=2 inject_error=none");
	assert_string_equal(s.path, "/b");
	assert_string_equal(s.vcpupin, "2");
	settings_get(&s, "inject_error", &t);
	assert_string_equal(text_get(&t), "none");
	set_all(&s, "path=");
	assert_null(s.path);
	text_free(&t);
	settings_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(every_key_is_read_and_written),
		cmocka_unit_test(a_bad_value_names_place_key_and_what_is_allowed),
		cmocka_unit_test(an_unknown_key_is_left_to_the_caller),
		cmocka_unit_test(impossible_pairs_have_reasons),
		cmocka_unit_test(the_last_value_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
