/* host/boot_verify.c: which questions an emulator is asked, and one that ends it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/boot_libvirt.h"

struct hv_guest {
	struct text asked; /* every command, a line each */
	bool aborts;       /* x-query-virtio-status ends it, as with QEMU 11.1.3 */
	bool gone;
};

static int answer(struct hv_guest *g, const char *command, struct text *reply, struct error *e)
{
	static const struct { const char *piece, *reply; } known[] = {
		{ "query-version", "{\"qemu\":{\"micro\":3,\"minor\":1,\"major\":11},\"package\":\"Debian 1:11.1.3\"}" },
		{ "query-status", "{\"status\":\"running\",\"running\":true}" },
		{ "query-kvm", "{\"enabled\":false,\"present\":true}" },
		{ "query-cpus-fast", "[{\"qom-path\":\"/machine/unattached/device[0]\"},{\"qom-path\":\"/x\"}]" },
		{ "query-memory-size-summary", "{\"base-memory\":268435456}" },
		{ "x-query-virtio-status", "{\"guest-features\":{\"transports\":[\"VIRTIO_F_VERSION_1: yes\"],\"dev-features\":[]}}" },
		{ "\"path\":\"/machine\",\"property\":\"type\"", "\"pc-i440fx-7.2-machine\"" },
		{ "device[0]\",\"property\":\"type\"", "\"qemu64-x86_64-cpu\"" },
		{ "\"property\":\"x-mine\"", "5" },
	};

	text_add(&g->asked, "%s\n", command);
	g->gone = g->gone || (g->aborts && strstr(command, "x-query-virtio-status"));
	for (size_t i = 0; !g->gone && i < sizeof(known) / sizeof(known[0]); i++)
		if (strstr(command, known[i].piece)) {
			text_add(reply, "{\"return\":%s}", known[i].reply);
			return 0;
		}
	return error_set(e, STATUS_HOST, "refused");
}

static int no_xml(struct hv_guest *g, struct text *xml, struct error *e)
{
	(void)g;
	(void)xml;
	return error_set(e, STATUS_HOST, "gone");
}

static const struct hv_ops ops = { .name = "fake", .qmp = answer, .live_xml = no_xml };

struct fixture {
	struct hv_guest guest;
	struct settings settings;
	struct machine machine;
	struct image image;
	struct boot boot;
};

static void setup(struct fixture *f)
{
	struct error e = { 0 };

	memset(f, 0, sizeof(*f));
	settings_default(&f->settings);
	machine_default(&f->machine);
	assert_int_equal(machine_set(&f->machine, "qemu.x-mine", "5", "f", 1, &e), 0);
	f->image.kernel_version = (char *)"6.1";
	f->boot = (struct boot){ .ops = &ops, .guest = &f->guest };
	f->boot.request = (struct boot_request){ .machine = &f->machine, .accel = ACCEL_TCG, .image = &f->image,
						 .settings = { &f->settings }, .ndisks = 1 };
}

static void teardown(struct fixture *f)
{
	settings_free(&f->settings);
	machine_free(&f->machine);
	text_free(&f->guest.asked);
}

static void the_version_is_whole(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	boot_ask_version(&f.boot);
	assert_string_equal(f.boot.qemu_version, "QEMU 11.1.3 (Debian 1:11.1.3)");
	f.guest.gone = true;
	f.boot.qemu_version[0] = '\0';
	boot_ask_version(&f.boot);
	assert_string_equal(f.boot.qemu_version, "");
	teardown(&f);
}

static void an_abort_is_noticed(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	assert_true(boot_survives_virtio_status(&f.boot));
	f.guest.aborts = true;
	assert_false(boot_survives_virtio_status(&f.boot));
	teardown(&f);
}

static const char *verified(const json_t *verdict, const char *key)
{
	const char *s = json_string_value(json_object_get(json_object_get(verdict, "verified"), key));

	return s ? s : "(not verified)";
}

/* What may end the emulator is not asked unless that is known to be safe. */
static void the_question_is_left_out(void **state)
{
	struct fixture f;
	json_t *verdict;

	(void)state;
	setup(&f);
	f.settings.event_idx = TOGGLE_OFF;
	f.guest.aborts = true;
	boot_ask_version(&f.boot);
	verdict = boot_verify(&f.boot, 0);
	assert_null(strstr(text_get(&f.guest.asked), "x-query-virtio-status"));
	assert_false(f.guest.gone);
	assert_string_equal(verified(verdict, "event_idx"), "(not verified)");
	assert_string_equal(verified(verdict, "qemu_version"), "QEMU 11.1.3 (Debian 1:11.1.3)");
	assert_string_equal(verified(verdict, "machine"), "pc-i440fx-7.2");
	assert_string_equal(verified(verdict, "cpu"), "qemu64");
	assert_string_equal(verified(verdict, "accel"), "tcg");
	assert_string_equal(verified(verdict, "memory"), "256M");
	assert_string_equal(verified(verdict, "qemu.x-mine"), "5");
	/* two vCPUs answered, one was asked for */
	assert_int_equal(json_array_size(json_object_get(verdict, "mismatch")), 1);
	json_decref(verdict);
	f.guest.aborts = false;
	f.boot.request.ask_virtio_status = true;
	verdict = boot_verify(&f.boot, 0);
	assert_string_equal(verified(verdict, "event_idx"), "off");
	json_decref(verdict);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_version_is_whole),
		cmocka_unit_test(an_abort_is_noticed),
		cmocka_unit_test(the_question_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
