/* Overlays over an image that stays as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "host/overlay.h"
#include "tests/unit/scratch.h"

static bool have_qemu_img(void)
{
	return system("qemu-img --version >/dev/null 2>&1") == 0;
}

static void test_digest(void **state)
{
	struct scratch *s = *state;
	struct error e = { 0 };
	char image[600], digest[65], again[65];
	struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	snprintf(image, sizeof(image), "%s", scratch_text(s, "i.raw", "abc"));
	assert_int_equal(overlay_digest(image, s->folder, digest, &e), 0);
	/* FIPS 180-2, appendix B.1 */
	assert_string_equal(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	/* the same size, inode and time: the kept one is believed */
	assert_int_equal(utimensat(AT_FDCWD, image, times, 0), 0);
	assert_int_equal(overlay_digest(image, s->folder, digest, &e), 0);
	scratch_text(s, "i.raw", "abd");
	assert_int_equal(utimensat(AT_FDCWD, image, times, 0), 0);
	assert_int_equal(overlay_digest(image, s->folder, again, &e), 0);
	assert_string_equal(again, digest);
	times[1].tv_nsec = 1;
	assert_int_equal(utimensat(AT_FDCWD, image, times, 0), 0);
	assert_int_equal(overlay_digest(image, s->folder, again, &e), 0);
	assert_string_not_equal(again, digest);
	assert_int_equal(overlay_digest("/nowhere/x", s->folder, digest, &e), -1);
	holds(e.text, "image /nowhere/x: No such file");
}

static void test_make(void **state)
{
	struct scratch *s = *state;
	struct error e = { 0 };
	char image[600], *path;
	const char *format;

	if (!have_qemu_img())
		skip();
	snprintf(image, sizeof(image), "%s", scratch_text(s, "i.raw", "some image"));
	format = overlay_format(image, &e);
	assert_string_equal(format, "raw");
	path = overlay_path(s->folder, "x", &e);
	assert_non_null(path);
	if (overlay_make(image, format, path, &e))
		fail_msg("%s", e.text);
	assert_string_equal(overlay_format(path, &e), "qcow2");
	assert_int_equal(overlay_sweep(s->folder), 0); /* ours */
	assert_int_equal(access(path, F_OK), 0);
	free(path);
	path = overlay_path(s->folder, "y", &e);
	assert_int_equal(overlay_make("/nowhere/x", "raw", path, &e), -1);
	holds(e.text, "could not be made: ");
	holds(e.text, "/nowhere/x");
	assert_int_equal(access(path, F_OK), -1);
	free(path);
}

static void test_sweep(void **state)
{
	struct scratch *s = *state;

	scratch_text(s, "o/999999999-1-boot.qcow2", "left");
	scratch_text(s, "o/mine.qcow2", "not one of ours");
	scratch_path(s, "o");
	assert_int_equal(overlay_sweep(s->path), 1);
	assert_int_equal(access(scratch_path(s, "o/mine.qcow2"), F_OK), 0);
	assert_int_equal(overlay_sweep("/nowhere"), 0);
}

static void test_space(void **state)
{
	struct scratch *s = *state;
	struct error e = { 0 };

	assert_int_equal(overlay_check_space(s->folder, 1, &e), 0);
	assert_int_equal(overlay_check_space(s->folder, 1ull << 60, &e), -1);
	holds(e.text, "MiB free, and a guest's throw-away overlay may need");
	holds(e.text, s->folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_digest, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_make, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_sweep, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_space, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
