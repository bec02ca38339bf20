/*
 * The recipes that come with kickbench, on scripted consoles that ask as manuals and published logs of the systems show it; what
 * the guest would be started with; and that nothing half-made is left, whatever goes wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>

#include "host/image_make.h"
#include "tests/unit/installers.h"
#include "tests/unit/scratch.h"
#include "tests/unit/scripted_console.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MEDIA_BYTES (1u << 20)

static const char *source_tree(void)
{
	static char path[1024];
	const char *slash;

	snprintf(path, sizeof(path), "%s", __FILE__);
	slash = strstr(path, "tests/unit/");
	path[slash > path ? slash - path - 1 : 0] = '\0';
	return *path ? path : ".";
}

/* ---- a hypervisor whose guests are scripts ---- */

struct hv {
	const struct turn *turns;
	size_t chunk;
	struct text xml, seed, typed; /* what the last guest was started with, its seed's user-data, what was typed */
	unsigned started, destroyed;
	bool stays_on;
	struct hv_guest guest;
};

/* The file of the n-th disk, in out. */
static void source_of(const char *xml, unsigned n, char *out, size_t room)
{
	static const char begin[] = "<source file=\"";
	const char *at = xml;

	for (unsigned i = 0; i <= n && at; i++)
		at = (at = strstr(at, begin)) ? at + strlen(begin) : NULL;
	snprintf(out, room, "%.*s", at ? (int)strcspn(at, "\"") : 0, at ? at : "");
}

static void read_output(const char *command, struct text *out)
{
	FILE *f = popen(command, "r");
	char bytes[4096];
	size_t n;

	assert_non_null(f);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		text_add_bytes(out, bytes, n);
	pclose(f);
}

static int start(struct hv *hv, const char *xml, const volatile sig_atomic_t *interrupted, struct hv_guest **guest, struct error *e)
{
	char seed[600], command[1400];

	(void)interrupted;
	(void)e;
	hv->started++;
	text_add(&hv->xml, "%s", xml);
	source_of(xml, 1, seed, sizeof(seed));
	if (strstr(seed, "-seed.")) {
		snprintf(command, sizeof(command), "mtype -i '%s' ::user-data", seed);
		read_output(command, &hv->seed);
		snprintf(command, sizeof(command), "blkid -p -o value -s LABEL '%s' 2>&1; mtype -i '%s' ::meta-data", seed, seed);
		read_output(command, &hv->seed);
	}
	hv->guest = (struct hv_guest){ .turn = hv->turns, .chunk = hv->chunk, .off_at_end = !hv->stays_on };
	*guest = &hv->guest;
	scripted_go_on(*guest);
	return 0;
}

static struct hv *the_hv; /* destroy() is told the guest alone */

static void destroy(struct hv_guest *g)
{
	the_hv->destroyed++;
	text_add(&the_hv->typed, "%s", text_get(&g->all));
	text_free(&g->out);
	text_free(&g->in);
	text_free(&g->all);
}

static const struct hv_ops ops = { .name = "scripted", .start = start, .wait = scripted_wait, .type = scripted_type, .destroy = destroy };

struct fixture {
	struct scratch *s;
	struct hv hv;
	struct image_make m;
	char recipe[1100], media[600], output[600], password[600], work[600], log[600];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	static char bytes[MEDIA_BYTES];
	void *scratch;

	if (!f || scratch_open(&scratch))
		return -1;
	f->s = scratch;
	memset(bytes, 'm', sizeof(bytes));
	snprintf(f->media, sizeof(f->media), "%s", scratch_bytes(f->s, "media.img", bytes, sizeof(bytes)));
	snprintf(f->output, sizeof(f->output), "%s", scratch_path(f->s, "out.qcow2"));
	snprintf(f->password, sizeof(f->password), "%s", scratch_text(f->s, "password", "secret\n"));
	snprintf(f->work, sizeof(f->work), "%s", scratch_path(f->s, "work"));
	snprintf(f->log, sizeof(f->log), "%s", scratch_path(f->s, "console.log"));
	f->m = (struct image_make){ .recipe = f->recipe, .media = f->media, .output = f->output, .password = f->password, .work = f->work,
				    .log = f->log, .accel = ACCEL_TCG, .ops = &ops, .hv = &f->hv };
	the_hv = &f->hv;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	void *scratch = f->s;

	text_free(&f->hv.xml);
	text_free(&f->hv.seed);
	text_free(&f->hv.typed);
	free(f);
	return scratch_close(&scratch);
}

static int make(struct fixture *f, const char *os, const struct turn *turns, struct error *e)
{
	snprintf(f->recipe, sizeof(f->recipe), "%s/images/%s", source_tree(), os);
	f->hv.turns = turns;
	*e = (struct error){ 0 };
	return image_make(&f->m, e);
}

/* A recipe of the test's own. */
static int make_own(struct fixture *f, const char *ini, const struct turn *turns, struct error *e)
{
	scratch_text(f->s, "recipe/install.ini", ini);
	snprintf(f->recipe, sizeof(f->recipe), "%s", scratch_path(f->s, "recipe"));
	f->hv.turns = turns;
	*e = (struct error){ 0 };
	return image_make(&f->m, e);
}

static unsigned files_in(const char *folder)
{
	DIR *dir = opendir(folder);
	unsigned n = 0;

	for (struct dirent *d; dir && (d = readdir(dir));)
		n += *d->d_name != '.';
	if (dir)
		closedir(dir);
	return n;
}

static bool there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Made whole, as qemu-img itself tells, with so many bytes; nothing else is left. */
static void made(struct fixture *f, const char *bytes)
{
	char command[700], beside[700], want[100];
	struct text info = { 0 };

	snprintf(command, sizeof(command), "qemu-img info --output=json '%s'", f->output);
	read_output(command, &info);
	snprintf(want, sizeof(want), "\"virtual-size\": %s,", bytes);
	holds(text_get(&info), want);
	holds(text_get(&info), "\"format\": \"qcow2\"");
	if (strstr(text_get(&info), "backing"))
		fail_msg("it needs another file: %s", text_get(&info));
	text_free(&info);
	snprintf(beside, sizeof(beside), "%s.new", f->output);
	assert_false(there(beside));
	assert_int_equal(files_in(f->work), 0);
	assert_int_equal(f->hv.started, 1);
	assert_int_equal(f->hv.destroyed, 1);
}

static void nothing_left(const struct fixture *f)
{
	char beside[700];

	snprintf(beside, sizeof(beside), "%s.new", f->output);
	assert_false(there(beside));
	assert_false(there(f->output));
	assert_int_equal(files_in(f->work), 0);
	assert_int_equal(f->hv.started, f->hv.destroyed);
}

/* ---- OpenBSD ---- */

static void test_openbsd(void **state)
{
	struct fixture *f = *state;
	struct error e;
	char disk[600];

	f->hv.chunk = 7;
	if (make(f, "openbsd", openbsd, &e))
		fail_msg("%s", e.text);
	made(f, "21474836480"); /* 20 GiB */
	source_of(text_get(&f->hv.xml), 0, disk, sizeof(disk));
	assert_string_equal(disk, f->media); /* is started from, and read-only */
	source_of(text_get(&f->hv.xml), 1, disk, sizeof(disk));
	holds(disk, "-image.qcow2");
	holds(text_get(&f->hv.xml), "<readonly/>");
	holds(text_get(&f->hv.xml), "graphics=off");
	assert_null(strstr(text_get(&f->hv.xml), "<interface"));
}

static void test_openbsd_older(void **state)
{
	struct fixture *f = *state;
	struct error e;

	if (make(f, "openbsd", older, &e))
		fail_msg("%s", e.text);
	made(f, "21474836480");
}

/* ---- the others ---- */

static void pack(struct fixture *f, const char *program, const char *ending)
{
	char command[1400];

	snprintf(command, sizeof(command), "%s -k '%s'", program, f->media);
	assert_int_equal(system(command), 0);
	strcat(f->media, ending);
}

static void test_netbsd(void **state)
{
	struct fixture *f = *state;
	struct error e;
	char disk[600];

	pack(f, "gzip", ".gz");
	if (make(f, "netbsd", netbsd, &e))
		fail_msg("%s", e.text);
	made(f, "1048576"); /* as the media */
	source_of(text_get(&f->hv.xml), 0, disk, sizeof(disk));
	holds(disk, "-image.qcow2");
	source_of(text_get(&f->hv.xml), 1, disk, sizeof(disk));
	assert_string_equal(disk, "");
}

static void test_debian(void **state)
{
	struct fixture *f = *state;
	struct error e;
	char disk[600];

	if (make(f, "debian", seeded, &e))
		fail_msg("%s", e.text);
	made(f, "1048576");
	source_of(text_get(&f->hv.xml), 1, disk, sizeof(disk));
	holds(disk, "-seed.");
	assert_memory_equal(text_get(&f->hv.seed), "#!/bin/sh\n", 10); /* what cloud-init and nuageinit take for a script */
	holds(text_get(&f->hv.seed), "if echo 'root:secret' | chpasswd");
	holds(text_get(&f->hv.seed), "CIDATA\ninstance-id: kickbench\n");
}

static void test_freebsd(void **state)
{
	struct fixture *f = *state;
	struct error e;

	pack(f, "xz", ".xz");
	if (make(f, "freebsd", seeded, &e))
		fail_msg("%s", e.text);
	made(f, "1048576");
	holds(text_get(&f->hv.seed), "if echo 'secret' | pw usermod root -h 0");
	if (strstr(text_get(&f->hv.xml), "<readonly/>"))
		fail_msg("nuageinit mounts the seed for writing: %s", text_get(&f->hv.xml));
}

/* The scripts that go to a guest are such that a shell reads them. */
static void test_user_data(void **state)
{
	static const char *const all[] = { "debian", "freebsd" };
	char command[1200];

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++) {
		snprintf(command, sizeof(command), "sh -n '%s/images/%s/user-data'", source_tree(), all[i]);
		assert_int_equal(system(command), 0);
	}
}

/* ---- what goes wrong ---- */

static void test_refused(void **state)
{
	static const struct { const char *os; struct turn turn[3]; const char *message; } all[] = {
		{ "freebsd", { { NULL, "kb-seed:failed\r\n", false }, { NULL, NULL, false } }, "the seed's script could not set the image up" },
		{ "freebsd", { { NULL, "FreeBSD/amd64 (freebsd) (ttyu0)\r\n\r\nlogin: ", false }, { NULL, NULL, false } },
		  "the seed's script has not run: is it an image with nuageinit" },
		{ "debian", { { NULL, "Kernel panic - not syncing: VFS: no root\r\n", false }, { NULL, NULL, false } },
		  "the kernel panicked: VFS: no root" },
		{ "openbsd", { { NULL, "Boot failed: not a bootable disk\r\nNo bootable device.\r\n", false }, { NULL, NULL, false } },
		  "the guest has powered off while \"boot> $\" was awaited" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(all); i++) {
		struct error e;

		assert_int_equal(make(f, all[i].os, all[i].turn, &e), -1);
		if (i < 3)
			holds(e.text, all[i].message);
		else
			holds(e.text, "No bootable device.");
		holds(e.text, "install.ini");
		nothing_left(f);
		assert_true(there(f->log));
		assert_true(there(f->media));
	}
}

#define OWN "[guest]\nos = X\n"
#define STEP "[install a]\nexpect = ready\n"

static void test_no_space(void **state)
{
	struct fixture *f = *state;
	struct error e;

	assert_int_equal(make_own(f, OWN "media = installer\nsize = 4000000T\n" STEP, seeded, &e), -1);
	assert_int_equal(e.status, STATUS_HOST);
	holds(e.text, "and making the image may need ");
	assert_int_equal(f->hv.started, 0);
	nothing_left(f);
	snprintf(f->output, sizeof(f->output), "%s/no/such/folder.qcow2", f->s->folder);
	assert_int_equal(make(f, "debian", seeded, &e), -1);
	holds(e.text, "the image cannot be written: qemu-img ended with status 1");
	nothing_left(f);
}

static void test_damaged_media(void **state)
{
	struct fixture *f = *state;
	struct error e;

	pack(f, "gzip", ".gz");
	assert_int_equal(truncate(f->media, 500), 0);
	assert_int_equal(make(f, "netbsd", netbsd, &e), -1);
	holds(e.text, "the media cannot be unpacked: gzip ended with status 1: ");
	holds(e.text, "unexpected end of file");
	assert_int_equal(f->hv.started, 0);
	nothing_left(f);
	unlink(f->media);
	assert_int_equal(make(f, "netbsd", netbsd, &e), -1);
	holds(e.text, "No such file or directory");
	nothing_left(f);
}

static void test_interrupted(void **state)
{
	static const struct turn silent[] = { { "never", "", false }, { NULL, NULL, false } };
	struct fixture *f = *state;
	volatile sig_atomic_t signal_number = 0;
	struct error e;

	f->m.interrupted = &signal_number;
	assert_int_equal(make_own(f, OWN "media = disk\n" STEP "timeout = 1s\n", silent, &e), -1);
	holds(e.text, "nothing has matched \"ready\" within 1 s");
	nothing_left(f);
	signal_number = 2;
	assert_int_equal(make_own(f, OWN "media = disk\n" STEP, silent, &e), -1);
	assert_int_equal(e.status, STATUS_INCOMPLETE);
	nothing_left(f);
}

static void test_password(void **state)
{
	static const struct turn ready[] = { { NULL, "ready\r\n", false }, { NULL, NULL, false } };
	struct fixture *f = *state;
	char first[64] = "", again[64] = "";
	struct stat st;
	struct error e;
	FILE *in;

	scratch_text(f->s, "password", "two words\n");
	assert_int_equal(make_own(f, OWN "media = disk\n" STEP, ready, &e), -1);
	holds(e.text, "letters, digits and . , _ - only");
	unlink(f->password);
	for (unsigned i = 0; i < 2; i++) {
		if (make_own(f, OWN "media = disk\n" STEP, ready, &e))
			fail_msg("%s", e.text);
		in = fopen(f->password, "r");
		assert_non_null(in);
		assert_non_null(fgets(i ? again : first, 64, in));
		fclose(in);
	}
	assert_int_equal(strlen(first), 17); /* 16 digits and a line's end */
	assert_string_equal(first, again);
	assert_int_equal(stat(f->password, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_bad_recipes(void **state)
{
	static const struct { const char *text, *message; } all[] = {
		{ OWN "agent = a\nlogin = none\nmedia = disk\n", "has no step [install NAME]" },
		{ OWN STEP, "media = : expected disk or installer" },
		{ OWN "media = tape\n" STEP, "media = tape: expected disk or installer" },
		{ OWN "media = installer\n" STEP, "media = installer needs size" },
		{ OWN "media = disk\nsize = big\n" STEP, "size = big: expected a size" },
		{ OWN "media = disk\nsize = 513\n" STEP, "size = 513: expected a size" },
		{ OWN "media = installer\nsize = 1G\nseed = x\n" STEP, "seed goes with media = disk" },
		{ OWN "media = disk\nseed = missing\n" STEP, "missing cannot be read" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(all); i++) {
		struct error e;

		assert_int_equal(make_own(f, all[i].text, seeded, &e), -1);
		holds(e.text, all[i].message);
		nothing_left(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_data),
		cmocka_unit_test_setup_teardown(test_bad_recipes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged_media, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_debian, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_freebsd, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_interrupted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_netbsd, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_space, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_openbsd, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_openbsd_older, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_password, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
