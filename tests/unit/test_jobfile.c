#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/options.h"

static char folder[256], path[512];

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/jobfile-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/t.fio", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static int parse(const char *content, struct jobs *jobs, struct error *e)
{
	char *argv[] = { "kickio", "--bs=2k", path };
	struct text notes = {0};
	FILE *f = fopen(path, "w");
	int rc;

	assert_non_null(f);
	fputs(content, f);
	fclose(f);
	rc = options_parse(3, argv, jobs, &notes, e);
	text_free(&notes);
	return rc;
}

static struct jobs takes(const char *content)
{
	struct error e = {0};
	struct jobs jobs;

	if (parse(content, &jobs, &e))
		fail_msg("%s", e.text);
	return jobs;
}

/* Refused, naming the line. */
static void refuses(const char *content, int line, const char *words)
{
	struct error e = {0};
	struct jobs jobs;
	char place[600];

	if (parse(content, &jobs, &e) == 0)
		fail_msg("taken: %s", content);
	snprintf(place, sizeof(place), "%s:%d: ", path, line);
	if (strncmp(e.text, place, strlen(place)) != 0)
		fail_msg("\"%s\" does not begin with \"%s\"", e.text, place);
	if (!strstr(e.text, words))
		fail_msg("\"%s\" lacks \"%s\"", e.text, words);
}

static void sections(void **state)
{
	struct jobs jobs = takes("; comment\n"
				 "# another\n"
				 "\n"
				 "[global]\n"
				 "rw=randread\n"
				 "size =2m\n"
				 "bs=4k ; behind\n"
				 "[job one]\r\n"
				 "  filename=zz\r\n"
				 "description=hello # world\n"
				 "numjobs= 2\n"
				 "group_reporting\n"
				 "runtime= 1\n"
				 "[globalx]\n"
				 "direct=1\n"
				 "[b]\n"
				 "name=renamed\n"
				 "[b]");

	(void)state;
	assert_int_equal(jobs.count, 3);
	assert_string_equal(jobs.job[0].name, "job one");
	assert_string_equal(jobs.job[0].filename, "zz");
	assert_string_equal(jobs.job[0].description, "hello");
	assert_int_equal(jobs.job[0].rw, RW_RANDREAD);
	assert_int_equal(jobs.job[0].size.bytes, 2097152);
	assert_int_equal(jobs.job[0].bs[0], 4096);
	assert_int_equal(jobs.job[0].numjobs, 2);
	assert_true(jobs.job[0].group_reporting);
	assert_int_equal(jobs.job[0].runtime_us, 1000000);
	assert_false(jobs.job[0].direct);
	assert_true(jobs.job[1].direct);
	assert_false(jobs.job[1].group_reporting);
	assert_string_equal(jobs.job[1].name, "renamed");
	assert_string_equal(jobs.job[2].name, "b");
	/* the section's name is no option that was written */
	assert_int_equal(jobs.job[2].nwritten, 0);
	assert_int_equal(jobs.job[0].nwritten, 5);
	jobs_free(&jobs);
}

/* Options of the command line are the file's first defaults. */
static void command_line_first(void **state)
{
	struct jobs jobs = takes("[a]\n[b]\nbs=1k\n");

	(void)state;
	assert_int_equal(jobs.job[0].bs[0], 2048);
	assert_int_equal(jobs.job[1].bs[0], 1024);
	jobs_free(&jobs);
}

static void variables(void **state)
{
	struct jobs jobs;

	(void)state;
	setenv("KICKIO_TEST_SIZE", "3", 1);
	unsetenv("KICKIO_TEST_NONE");
	jobs = takes("[a]\nsize=${KICKIO_TEST_SIZE}m\nfilename=x${KICKIO_TEST_NONE}y$z\n");
	assert_int_equal(jobs.job[0].size.bytes, 3145728);
	assert_string_equal(jobs.job[0].filename, "xy$z");
	jobs_free(&jobs);
}

/* In a file the order does not matter, as fio sorts. */
static void any_order(void **state)
{
	struct jobs jobs = takes("[a]\nfilename=q\ndirectory=/tmp\n");

	(void)state;
	assert_string_equal(jobs.job[0].directory, "/tmp");
	jobs_free(&jobs);
}

static void refusals(void **state)
{
	(void)state;
	refuses("size=1m\n[a]\n", 1, "option <size=1m> outside of [] job section");
	refuses("[a]\nsize=1m\nfoo=1\n", 3, "Bad option <foo=1>");
	refuses("[a]\nsizy=1m\n", 2, "Bad option <sizy=1m>\nDid you mean size?");
	refuses("[a]\nzonemode=zbd\n", 2, "option zonemode is known to fio but not supported");
	refuses("[a]\n\n\nsize= 2m\n", 4, "fio would take this for 2; write 2m");
	refuses("[a]\nruntime=1min\n", 2, "1 microsecond");
	refuses("[a]\nfilename= x\n", 2, "begins with a blank");
	refuses("[a]\nbs\n", 2, "option bs requires an argument");
	refuses("[a]\ninclude /nonexistent/x\n", 2, "unable to open '/nonexistent/x'");
	refuses("[a]\ninclude\n", 2, "needs the name of a file");
	refuses("[a]\nsize=$pagesize\n", 2, "$pagesize is known to fio but not supported");
	refuses("[a]\noutput=x\n", 2, "belongs on the command line");
	refuses("[a\n", 1, "closing ]");
	refuses("[a] b\n", 1, "junk after the section");
	refuses("[]\n", 1, "needs a name");
}

/* An included file is looked for beside the one that includes it, and has no sections. */
static void includes(void **state)
{
	char other[600];
	struct jobs jobs;
	FILE *f;

	(void)state;
	snprintf(other, sizeof(other), "%s/other.inc", folder);
	f = fopen(other, "w");
	assert_non_null(f);
	fputs("; comment\nbs=16k\ndirect=1\n", f);
	fclose(f);
	jobs = takes("[a]\ninclude other.inc\nbs=32k\n[b]\ninclude other.inc\n");
	assert_int_equal(jobs.count, 2);
	assert_int_equal(jobs.job[0].bs[0], 32768);
	assert_true(jobs.job[0].direct);
	assert_int_equal(jobs.job[1].bs[0], 16384);
	jobs_free(&jobs);
	f = fopen(other, "w");
	assert_non_null(f);
	fputs("[c]\n", f);
	fclose(f);
	refuses("[a]\ninclude other.inc\n", 2, "other.inc:1: no sections in an included file");
	f = fopen(other, "w");
	assert_non_null(f);
	fputs("include other.inc\n", f);
	fclose(f);
	refuses("[a]\ninclude other.inc\n", 2, "other.inc:1: ");
	unlink(other);
}

/* The second file has its own defaults and waits for the first; --section picks jobs from both. */
static void several_files(void **state)
{
	char second[600], *all[] = { "kickio", "--iodepth=1", path, second };
	char *some[] = { "kickio", path, "--section=b", "--section", "c", second };
	struct text notes = {0};
	struct error e = {0};
	struct jobs jobs;
	FILE *f;

	(void)state;
	snprintf(second, sizeof(second), "%s/second.fio", folder);
	f = fopen(second, "w");
	assert_non_null(f);
	fputs("[c]\n[d]\n", f);
	fclose(f);
	jobs = takes("[global]\nbs=8k\n[a]\n[b]\n");
	jobs_free(&jobs);
	assert_int_equal(options_parse(4, all, &jobs, &notes, &e), 0);
	assert_int_equal(jobs.count, 4);
	assert_int_equal(jobs.job[1].bs[0], 8192);
	assert_int_equal(jobs.job[2].bs[0], 4096);
	assert_false(jobs.job[0].stonewall || jobs.job[1].stonewall || jobs.job[3].stonewall);
	assert_true(jobs.job[2].stonewall);
	assert_int_equal(jobs.job[3].groupid, 1);
	jobs_free(&jobs);
	assert_int_equal(options_parse(6, some, &jobs, &notes, &e), 0);
	assert_int_equal(jobs.count, 2);
	assert_string_equal(jobs.job[0].name, "b");
	assert_string_equal(jobs.job[1].name, "c");
	jobs_free(&jobs);
	text_free(&notes);
	unlink(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections),  cmocka_unit_test(command_line_first), cmocka_unit_test(variables),
		cmocka_unit_test(any_order), cmocka_unit_test(refusals),	   cmocka_unit_test(includes),
		cmocka_unit_test(several_files),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
