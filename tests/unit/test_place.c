/* host/place.c with a hypervisor whose other host is a folder: what is sent, when, and what is not touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/place.h"
#include "tests/unit/scratch.h"

#define DISK (64u << 10)

struct hv {
	char folder[512];
	char name[64][128]; /* of each put_file */
	unsigned puts, anew, soils;
	bool broken;
};

static int put_file(struct hv *hv, const char *local, const char *name, bool anew, char **path, struct error *e)
{
	char there[1024], command[4096];

	*path = NULL;
	if (hv->broken)
		return error_set(e, STATUS_INCOMPLETE, "the upload broke off");
	snprintf(hv->name[hv->puts++], sizeof(hv->name[0]), "%s", name);
	hv->anew += anew;
	snprintf(there, sizeof(there), "%s/%s", hv->folder, name);
	snprintf(command, sizeof(command), "cp '%s' '%s'", local, there);
	assert_int_equal(system(command), 0);
	*path = strdup(there);
	return 0;
}

static int soil_file(struct hv *hv, const char *name, struct error *e)
{
	(void)name;
	(void)e;
	hv->soils++;
	return 0;
}

static const struct hv_ops ops = { .put_file = put_file, .soil_file = soil_file };
static const struct hv_host here = { .here = true, .name = "here" }, other = { .name = "elsewhere" };

static struct hv make_hv(const struct scratch *s)
{
	struct hv hv = { .broken = false };

	snprintf(hv.folder, sizeof(hv.folder), "%s/there", s->folder);
	assert_int_equal(mkdir(hv.folder, 0700), 0);
	return hv;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static bool holds_pattern(const char *path)
{
	unsigned char want[4096], have[4096];
	FILE *f = fopen(path, "r");
	bool same = f != NULL;
	uint64_t at = 0;

	while (f && fread(have, 1, sizeof(have), f) == sizeof(have)) {
		disk_pattern(at, want);
		same = same && !memcmp(have, want, sizeof(have));
		at += sizeof(have);
	}
	if (f)
		fclose(f);
	return same && at == DISK;
}

static void copies_of_images_are_named_by_what_they_hold(void **state)
{
	const struct scratch *s = *state;
	struct hv hv = make_hv(s);
	struct error e = { 0 };
	char kernel[512], initrd[512];
	struct image image = { 0 }, plain;
	struct machine m;

	machine_default(&m);
	snprintf(kernel, sizeof(kernel), "%s/vmlinuz", s->folder);
	snprintf(initrd, sizeof(initrd), "%s/initrd", s->folder);
	write_file(kernel, "abc");
	write_file(initrd, "hello");
	image.kernel = strdup(kernel);
	image.initrd = strdup(initrd);
	m.initrd = strdup(initrd);
	plain = image;
	assert_int_equal(place_image(&ops, &hv, &here, &image, &m, &e), 0);
	assert_ptr_equal(image.kernel, plain.kernel);
	assert_int_equal(hv.puts, 0);
	assert_int_equal(place_image(&ops, &hv, &other, &image, &m, &e), 0);
	assert_int_equal(hv.puts, 2);
	assert_string_equal(hv.name[0], "kernel-ba7816bf8f01cfea"); /* SHA-256 of "abc": FIPS 180-4, appendix B.1 */
	assert_string_equal(hv.name[1], "initrd-2cf24dba5fb0a30e"); /* of "hello", by sha256sum(1) */
	assert_int_equal(hv.anew, 0);
	assert_non_null(strstr(image.kernel, "/there/kernel-"));
	assert_string_equal(m.initrd, image.initrd);
	hv.broken = true;
	free(image.kernel);
	image.kernel = strdup(kernel);
	assert_int_equal(place_image(&ops, &hv, &other, &image, &m, &e), -1);
	assert_string_equal(e.text, "kernel: the upload broke off");
	assert_string_equal(image.kernel, kernel);
	image_free(&image);
	machine_free(&m);
}

static void a_disk_elsewhere_is_restored_from_its_original(void **state)
{
	const struct scratch *s = *state;
	struct hv hv = make_hv(s);
	struct error e = { 0 };
	struct settings set;
	struct disk d;
	double seconds;
	char original[600];

	settings_default(&set);
	set.size = DISK;
	assert_int_equal(set.cache, CACHE_AUTO);
	assert_int_equal(place_disk(&ops, &hv, &other, &set, s->folder, 1, &d, &e), 0);
	assert_int_equal(set.cache, CACHE_NONE);
	assert_int_equal(hv.puts, 1);
	assert_string_equal(hv.name[0], "test-1-65536.raw");
	assert_non_null(strstr(d.path, "/there/test-1-65536.raw"));
	assert_true(holds_pattern(d.path));
	assert_false(d.dirty);
	assert_int_equal(place_soil(&ops, &hv, &d, &e), 0);
	assert_int_equal(place_soil(&ops, &hv, &d, &e), 0);
	assert_int_equal(hv.soils, 1);
	assert_true(d.dirty);
	write_file(d.path, "a guest wrote");
	assert_int_equal(place_restore(&ops, &hv, &d, FILESYSTEM_NONE, &seconds, &e), 0);
	assert_int_equal(hv.anew, 1);
	assert_false(d.dirty);
	assert_true(holds_pattern(d.path));
	snprintf(original, sizeof(original), "%s/originals/test-1-65536.raw", s->folder);
	assert_string_equal(d.original, original);
	assert_true(holds_pattern(original));
	hv.broken = true;
	assert_int_equal(place_restore(&ops, &hv, &d, FILESYSTEM_NONE, &seconds, &e), -1);
	assert_string_equal(e.text, "restoring the test disk: the upload broke off");
	/* what it is called there must never be removed here */
	d.temporary = true;
	snprintf(original, sizeof(original), "%s", d.path);
	disk_release(&d);
	assert_int_equal(access(original, F_OK), 0);
	settings_free(&set);
}

static void a_disk_of_this_host_is_a_file_as_ever(void **state)
{
	const struct scratch *s = *state;
	struct hv hv = make_hv(s);
	struct error e = { 0 };
	struct settings set;
	struct disk d;

	settings_default(&set);
	set.size = DISK;
	assert_int_equal(place_disk(&ops, &hv, &here, &set, s->folder, 0, &d, &e), 0);
	assert_null(d.original);
	assert_non_null(strstr(d.path, "/disks/test-0-65536.raw"));
	assert_true(holds_pattern(d.path));
	assert_int_equal(place_soil(&ops, &hv, &d, &e), 0);
	assert_int_equal(hv.puts + hv.soils, 0);
	disk_free(&d);
	settings_free(&set);
}

static void places_of_this_host_are_refused_elsewhere(void **state)
{
	const struct scratch *s = *state;
	struct hv hv = make_hv(s);
	struct error e = { 0 };
	struct settings set;
	struct disk d;

	settings_default(&set);
	set.backend = BACKEND_MEMORY;
	assert_int_equal(place_disk(&ops, &hv, &other, &set, s->folder, 0, &d, &e), -1);
	assert_int_equal(e.status, STATUS_USAGE);
	assert_non_null(strstr(e.text, "backend = memory is a place on this host: on elsewhere"));
	error_clear(&e);
	set.backend = BACKEND_FILE;
	set.path = strdup("/fast");
	assert_int_equal(place_disk(&ops, &hv, &other, &set, s->folder, 0, &d, &e), -1);
	assert_non_null(strstr(e.text, "disk.path is a place on this host"));
	error_clear(&e);
	set.backend = BACKEND_NBD;
	assert_int_equal(place_disk(&ops, &hv, &other, &set, s->folder, 0, &d, &e), -1);
	assert_non_null(strstr(e.text, "backend = nbd is a server on this host, whose socket guests on elsewhere do not see"));
	error_clear(&e);
	set.backend = BACKEND_NULL;
	free(set.path);
	set.path = NULL;
	assert_int_equal(place_disk(&ops, &hv, &other, &set, s->folder, 0, &d, &e), 0);
	assert_null(d.path);
	assert_int_equal(hv.puts, 0);
	settings_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(copies_of_images_are_named_by_what_they_hold, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(a_disk_elsewhere_is_restored_from_its_original, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(a_disk_of_this_host_is_a_file_as_ever, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(places_of_this_host_are_refused_elsewhere, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
