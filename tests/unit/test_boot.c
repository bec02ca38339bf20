/* From the start of a guest to its hello: which of its disks is the test disk, by number or size, and whose kickio it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "guest/output.h"
#include "host/boot.h"
#include "host/system.h"
#include "tests/unit/fake_guest.h"
#include "tests/unit/scratch.h"

static struct hv_guest guest;

static int start(struct hv *hv, const char *xml, const volatile sig_atomic_t *interrupted, struct hv_guest **out, struct error *e)
{
	(void)hv;
	(void)xml;
	(void)interrupted;
	(void)e;
	*out = &guest;
	return 0;
}

static pid_t no_pid(struct hv_guest *g)
{
	(void)g;
	return -1;
}

static void leave(struct hv_guest *g)
{
	(void)g;
}

/* Boot with a hello that lists these disks; the path that was found. */
static int boot_with(const char *disks, const char *version, struct system *system, struct boot *b, struct error *e)
{
	static struct settings settings;
	static struct machine machine;
	struct hv_ops ops = fake_ops;
	struct image image = { .kernel = (char *)"/k", .arguments = (char *)"", .system = system };
	struct boot_request request = { .name = "x", .machine = &machine, .accel = ACCEL_TCG, .image = &image,
					.settings = { &settings }, .source = { "/t.raw" }, .ndisks = 1, .hello_timeout = 0.3 };
	struct text hello = { 0 };
	int status;

	ops.start = start;
	ops.pid = no_pid;
	ops.destroy = leave;
	settings_default(&settings);
	settings.size = 1048576;
	settings.cache = CACHE_NONE;
	machine_default(&machine);
	guest = (struct hv_guest){ 0 };
	text_add(&hello, "{\"protocol\":%d,\"kickio\":\"%s\",\"uptime_ns\":1000,\"disks\":[%s]}", FRAME_PROTOCOL, version, disks);
	fake_say(&guest, FRAME_HELLO, text_get(&hello));
	text_free(&hello);
	status = boot_start(b, &ops, NULL, &request, e);
	if (!status) {
		json_decref(b->hello);
		b->hello = NULL;
		link_close(&b->link);
		if (b->overlay)
			unlink(b->overlay);
		free(b->overlay);
	}
	settings_free(&settings);
	machine_free(&machine);
	fake_free(&guest);
	return status;
}

#define DISK(path, serial, bytes) "{\"path\":\"" path "\",\"serial\":" serial ",\"bytes\":" bytes "}"

static void test_disks(void **state)
{
	static const struct { const char *disks, *path, *message; } all[] = {
		{ DISK("/dev/vda", "\"kb-system\"", "1048576") "," DISK("/dev/vdc", "\"kb-disk0\"", "1048576"), "/dev/vdc", NULL },
		{ DISK("/dev/rsd0c", "null", "9999") "," DISK("/dev/rsd2c", "\"\"", "1048576"), "/dev/rsd2c", NULL },
		{ DISK("/dev/rsd1c", "\"\"", "1048576") "," DISK("/dev/rsd2c", "\"\"", "1048576"), NULL,
		  "it sees /dev/rsd1c (serial , 1048576 bytes), /dev/rsd2c" },
		/* another's number: its size does not make it the test disk */
		{ DISK("/dev/vda", "\"kb-system\"", "1048576"), NULL, "does not see the test disk (serial kb-disk0, or else the only one of 1048576" },
		{ "", NULL, "no disk at all: has its kernel the virtio_blk driver?" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct boot b;
		struct error e = { 0 };
		int status = boot_with(all[i].disks, "any", NULL, &b, &e);

		if (all[i].path) {
			if (status)
				fail_msg("%s", e.text);
			assert_string_equal(b.disk_path[0], all[i].path);
		} else {
			assert_int_equal(status, -1);
			holds(e.text, all[i].message);
		}
	}
}

/* A disk image whose agent starts by itself: nothing but the hello, over an overlay that is gone afterwards. */
static void test_no_login(void **state)
{
	struct scratch *s = *state;
	char base[600], overlays[600];
	struct system system = { .base = base, .base_format = (char *)"raw", .overlays = overlays,
				 .profile = { .file = (char *)"x.ini", .boot_timeout = 1 } };
	struct boot b;
	struct error e = { 0 };

	if (access("/usr/bin/qemu-img", X_OK))
		skip();
	snprintf(base, sizeof(base), "%s", scratch_text(s, "image.raw", "bytes"));
	snprintf(overlays, sizeof(overlays), "%s/overlays", s->folder);
	if (boot_with(DISK("/dev/x", "\"kb-disk0\"", "5"), "another version", &system, &b, &e))
		fail_msg("%s", e.text);
	assert_int_equal(rmdir(overlays), 0); /* it is empty */
	snprintf(base, sizeof(base), "%s/nowhere", s->folder);
	assert_int_equal(boot_with("", "x", &system, &b, &e), -1);
	holds(e.text, "the overlay ");
	holds(e.text, "could not be made: ");
}

/* Logged in by a script without steps: then the kickio that answers has to be ours. */
static void test_version(void **state)
{
	struct scratch *s = *state;
	char base[600], overlays[600];
	struct system system = { .login = true, .base = base, .base_format = (char *)"raw", .overlays = overlays,
				 .profile = { .file = (char *)"x.ini" } };
	struct boot b;
	struct error e = { 0 };

	if (access("/usr/bin/qemu-img", X_OK))
		skip();
	snprintf(base, sizeof(base), "%s", scratch_text(s, "image.raw", "bytes"));
	snprintf(overlays, sizeof(overlays), "%s/overlays", s->folder);
	if (boot_with(DISK("/dev/x", "\"kb-disk0\"", "5"), kickio_version, &system, &b, &e))
		fail_msg("%s", e.text);
	assert_int_equal(boot_with(DISK("/dev/x", "\"kb-disk0\"", "5"), "kickio-0.0.9", &system, &b, &e), -1);
	holds(e.text, "the guest's kickio calls itself kickio-0.0.9, and this kickbench belongs to kickio-");
	assert_int_equal(rmdir(overlays), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disks),
		cmocka_unit_test_setup_teardown(test_no_login, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_version, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
