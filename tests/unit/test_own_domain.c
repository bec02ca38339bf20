/* A user's domain taken from a connection or a file, and the files that each boot of a copy gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/image.h"
#include "host/own_domain.h"
#include "host/overlay.h"
#include "tests/unit/scratch.h"

/* A connection with one domain. */
struct hv {
	const char *name, *xml;
	bool running;
};

static int definition(struct hv *hv, const char *name, struct text *xml, bool *running, struct error *e)
{
	if (strcmp(name, hv->name))
		return error_set(e, STATUS_HOST, "this connection has no domain of that name");
	text_add(xml, "%s", hv->xml);
	*running = hv->running;
	return 0;
}

static const struct hv_ops with = { .name = "fake", .definition = definition }, without = { .name = "fake" };

static void put(const char *path, const void *bytes, size_t length)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, length, f), length);
	assert_int_equal(fclose(f), 0);
}

/* Read as a string; static. */
static const char *get(const char *path)
{
	static char bytes[4096];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(bytes, 1, sizeof(bytes) - 1, f);
	bytes[n] = '\0';
	fclose(f);
	return bytes;
}

/* A domain with a disk and firmware variables in the scratch folder. */
static void describe(const char *folder, char *xml, size_t room)
{
	snprintf(xml, room, "<domain type='kvm'><name>mine</name><memory unit='MiB'>96</memory><vcpu>3</vcpu>"
			    "<os><type>hvm</type><loader type='pflash' readonly='yes'>/code</loader><nvram>%s/vars.fd</nvram></os>"
			    "<devices><emulator>/usr/bin/qemu</emulator><disk type='file'><source file='%s/disk.img'/>"
			    "<target dev='vda'/></disk></devices></domain>", folder, folder);
}

struct fixture {
	char folder[256], xml[1024], disk[300], vars[300], overlays[300], bytes[65536];
	struct hv hv;
	struct guest guest;
	struct own_domain *own;
	struct error e;
};

static void setup(struct fixture *f, void **state)
{
	memset(f, 0, sizeof(*f));
	snprintf(f->folder, sizeof(f->folder), "%s", ((struct scratch *)*state)->folder);
	snprintf(f->disk, sizeof(f->disk), "%s/disk.img", f->folder);
	snprintf(f->vars, sizeof(f->vars), "%s/vars.fd", f->folder);
	snprintf(f->overlays, sizeof(f->overlays), "%s/overlays", f->folder);
	describe(f->folder, f->xml, sizeof(f->xml));
	memset(f->bytes, 'd', sizeof(f->bytes));
	put(f->disk, f->bytes, sizeof(f->bytes));
	put(f->vars, "variables", 9);
	f->hv = (struct hv){ .name = "mine", .xml = f->xml };
	f->guest.domain = (char *)"mine";
}

static void teardown(struct fixture *f)
{
	own_domain_free(f->own);
	unlink(f->disk);
	unlink(f->vars);
}

static void take(struct fixture *f)
{
	if (own_domain_take(&with, &f->hv, &f->guest, &f->own, &f->e))
		fail_msg("%s", f->e.text);
}

static void refused(struct fixture *f, const struct hv_ops *ops, int status, const char *message)
{
	error_clear(&f->e);
	assert_int_equal(own_domain_take(ops, &f->hv, &f->guest, &f->own, &f->e), -1);
	assert_null(f->own);
	if (!strstr(f->e.text, message))
		fail_msg("%s\nexpected %s", f->e.text, message);
	assert_int_equal(f->e.status, status);
}

static void each_boot_has_files_of_its_own(void **state)
{
	struct own_files files, other;
	struct fixture f;
	char image_before[8];

	setup(&f, state);
	take(&f);
	assert_string_equal(f.own->source, "domain mine");
	assert_int_equal(own_files_name(f.own, f.overlays, "7-1", &files, &f.e), 0);
	assert_int_equal(own_files_name(f.own, f.overlays, "7-2", &other, &f.e), 0);
	assert_int_equal(files.count, 2);
	assert_string_not_equal(files.path[0], other.path[0]);
	assert_non_null(files.stand_in); /* it has no kernel */
	snprintf(image_before, sizeof(image_before), "%.7s", get(f.disk));
	if (own_files_make(f.own, &files, &f.e))
		fail_msg("%s", f.e.text);
	assert_memory_equal(get(files.path[0]), "QFI\xfb", 4);
	assert_int_equal(access(other.path[0], F_OK), -1);
	assert_string_equal(get(files.path[1]), "variables");
	assert_int_equal(access(files.stand_in, R_OK), 0);
	put(files.path[1], "changed", 7);
	assert_string_equal(get(f.vars), "variables");
	assert_memory_equal(get(f.disk), image_before, 7);
	own_files_free(&other);
	own_files_remove(&files);
	assert_int_equal(rmdir(f.overlays), 0); /* it is empty */
	own_files_remove(&files); /* once more does no harm */
	teardown(&f);
}

/* libvirt makes them from its template. */
static void variables_that_are_not_there_yet(void **state)
{
	struct own_files files;
	struct fixture f;

	setup(&f, state);
	unlink(f.vars);
	take(&f);
	assert_int_equal(own_files_name(f.own, f.overlays, "7-1", &files, &f.e), 0);
	assert_int_equal(own_files_make(f.own, &files, &f.e), 0);
	assert_int_equal(access(files.path[1], F_OK), -1);
	put(files.path[1], "made", 4); /* as libvirt does */
	own_files_remove(&files);
	assert_int_equal(rmdir(f.overlays), 0);
	teardown(&f);
}

static void what_stands_in_the_way(void **state)
{
	char qcow2[1100];
	struct fixture f;

	setup(&f, state);
	f.hv.running = true;
	refused(&f, &with, STATUS_HOST, "domain mine: it is running, and no copy can read images that it writes to: shut mine down first");
	f.hv.running = false;
	refused(&f, &without, STATUS_USAGE, "domain mine: driver fake knows no domains");
	f.guest.domain = (char *)"yours";
	refused(&f, &with, STATUS_HOST, "domain yours: this connection has no domain of that name");
	f.guest.domain = (char *)"mine";
	f.hv.xml = qcow2;
	snprintf(qcow2, sizeof(qcow2), "%.*s<driver type='qcow2'/>%s", (int)(strstr(f.xml, "<source") - f.xml), f.xml,
		 strstr(f.xml, "<source"));
	refused(&f, &with, STATUS_HOST, "Image is not in qcow2 format");
	f.hv.xml = f.xml;
	unlink(f.disk);
	refused(&f, &with, STATUS_HOST, "disk.img (vda): No such file or directory");
	f.guest.domain = NULL;
	f.guest.domain_xml = (char *)"/nonexistent/d.xml";
	refused(&f, &with, STATUS_USAGE, "domain_xml /nonexistent/d.xml: cannot read it: No such file or directory");
	f.guest.domain_xml = f.folder;
	refused(&f, &with, STATUS_USAGE, "this is no file");
	f.guest.domain_xml = f.vars;
	refused(&f, &with, STATUS_USAGE, "vars.fd: this is no XML");
	put(f.vars, "<a>\0</a>", 8);
	refused(&f, &with, STATUS_USAGE, "this is no XML");
	teardown(&f);
}

static void a_file_without_a_connection(void **state)
{
	struct fixture f;
	char path[300];

	setup(&f, state);
	snprintf(path, sizeof(path), "%s/d.xml", f.folder);
	put(path, f.xml, strlen(f.xml));
	f.guest.domain = NULL;
	f.guest.domain_xml = path;
	assert_int_equal(own_domain_take(&without, NULL, &f.guest, &f.own, &f.e), 0);
	unlink(path);
	teardown(&f);
}

static void the_image_that_it_is(void **state)
{
	struct machine machine;
	struct image image;
	struct fixture f;
	char *id;

	setup(&f, state);
	take(&f);
	machine_default(&machine);
	machine.memory = machine.vcpus = 0;
	assert_int_equal(image_take_domain(f.own, &machine, &image, &f.e), 0);
	f.own = NULL;
	assert_null(image.kernel);
	assert_string_equal(image.arguments, "");
	assert_string_equal(image.kernel_version, "");
	assert_int_equal(image_vcpus(&image, &machine), 3);
	assert_int_equal(image_memory(&image, &machine), 96 << 20);
	assert_string_equal(image_emulator(&image, &machine), "/usr/bin/qemu");
	machine.vcpus = 1;
	assert_int_equal(image_vcpus(&image, &machine), 1);
	id = strdup(image.id);
	image_free(&image);
	/* an image that has changed is another one */
	put(f.disk, f.bytes, 4096);
	take(&f);
	assert_int_equal(image_take_domain(f.own, &machine, &image, &f.e), 0);
	assert_string_not_equal(id, image.id);
	free(id);
	image_free(&image);
	/* what needs a kernel */
	f.own = NULL;
	take(&f);
	machine.kernel_args = (char *)"quiet";
	assert_int_equal(image_take_domain(f.own, &machine, &image, &f.e), -1);
	assert_non_null(strstr(f.e.text, "domain mine boots from its disk"));
	image_free(&image);
	error_clear(&f.e);
	take(&f);
	machine.kernel = f.disk;
	assert_int_equal(image_take_domain(f.own, &machine, &image, &f.e), 0);
	assert_string_equal(image.arguments, "quiet");
	image_free(&image);
	take(&f);
	machine.kernel = f.folder;
	assert_int_equal(image_take_domain(f.own, &machine, &image, &f.e), -1);
	image_free(&image);
	f.own = NULL;
	teardown(&f);
}

static void a_lock_is_explained(void **state)
{
	struct fixture f;

	setup(&f, state);
	take(&f);
	error_set(&f.e, STATUS_HOST, "Failed to get shared \"write\" lock Is another process using the image [/i]?");
	own_domain_explain(f.own, &f.e);
	assert_non_null(strstr(f.e.text, "domain mine: one of its images is in use: shut mine down first: Failed to get"));
	error_clear(&f.e);
	error_set(&f.e, STATUS_HOST, "blocked");
	own_domain_explain(f.own, &f.e);
	assert_string_equal(f.e.text, "domain mine: blocked");
	teardown(&f);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_boot_has_files_of_its_own), TEST(variables_that_are_not_there_yet), TEST(what_stands_in_the_way),
		TEST(a_file_without_a_connection), TEST(the_image_that_it_is), TEST(a_lock_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
