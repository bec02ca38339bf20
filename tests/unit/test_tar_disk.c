/* The archive as tar itself reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/tar_disk.h"
#include "tests/unit/scratch.h"

static void run(const char *fmt, const char *a, const char *b)
{
	char command[2048];

	snprintf(command, sizeof(command), fmt, a, b);
	if (system(command))
		fail_msg("failed: %s", command);
}

static void test_tar_reads_it(void **state)
{
	struct scratch *s = *state;
	struct text archive = { 0 };
	struct error e = { 0 };
	char bytes[1025];

	memset(bytes, 'x', sizeof(bytes));
	for (size_t n = 511; n <= 1025; n += 257) { /* below, above and at block ends: 511, 768, 1025 */
		char name[32];

		snprintf(name, sizeof(name), "a/of-%zu", n);
		assert_int_equal(tar_disk_add(&archive, name, 0755, bytes, n, &e), 0);
	}
	assert_int_equal(tar_disk_add(&archive, "a/empty", 0644, "", 0, &e), 0);
	tar_disk_end(&archive);
	assert_int_equal(archive.length % 10240, 0);
	scratch_bytes(s, "x.tar", archive.data, archive.length);
	run("cd '%s' && tar xf x.tar && [ $(stat -c %%s:%%a a/of-511) = 511:755 ] && [ $(stat -c %%s:%%a a/empty) = 0:644 ] && "
	    "[ $(stat -c %%Y a/empty) = 946684800 ] && tr -d x <a/of-1025 | cmp - /dev/null%s", s->folder, "");
	text_free(&archive);
}

static void test_long_name(void **state)
{
	char name[101];
	struct text archive = { 0 };
	struct error e = { 0 };

	(void)state;
	memset(name, 'n', 100);
	name[100] = '\0';
	assert_int_equal(tar_disk_add(&archive, name, 0644, "", 0, &e), -1);
	holds(e.text, "too long");
	text_free(&archive);
}

/* A tree as a source tree looks: sources and makefiles go in, litter does not; twice the same bytes. */
static void test_kickio(void **state)
{
	struct scratch *s = *state;
	struct text one = { 0 }, two = { 0 };
	struct error e = { 0 };
	size_t sources = 0, again = 0;

	scratch_text(s, "t/guest/main.c", "int main;\n");
	scratch_text(s, "t/guest/Makefile", "all:\n");
	scratch_text(s, "t/guest/main.c~", "litter\n");
	scratch_text(s, "t/engines/find.sh", "#!/bin/sh\n");
	scratch_text(s, "t/build/portability/x86_64-netbsd/kickio", "program");
	scratch_path(s, "t");
	if (tar_disk_kickio(s->path, &one, &sources, &e) || tar_disk_kickio(s->path, &two, &again, &e))
		fail_msg("%s", e.text);
	assert_int_equal(one.length, two.length);
	assert_memory_equal(one.data, two.data, one.length);
	assert_int_equal(sources, again);
	assert_int_equal(sources, 6 * 512); /* three files of a header and a block */
	scratch_bytes(s, "k.tar", one.data, one.length);
	scratch_text(s, "want", "kickio/engines/find.sh\nkickio/guest/Makefile\nkickio/guest/main.c\nkickio/bin/x86_64-netbsd\n");
	run("cd '%s' && tar tf k.tar | cmp - want%s", s->folder, "");
	text_free(&one);
	text_free(&two);
	assert_int_equal(tar_disk_kickio(s->folder, &one, &sources, &e), -1);
	holds(e.text, "/engines: kickio's sources are not there");
	text_free(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tar_reads_it, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_kickio, scratch_open, scratch_close),
		cmocka_unit_test(test_long_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
