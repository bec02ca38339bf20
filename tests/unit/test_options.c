#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest/option_table.h"
#include "guest/options.h"

#define MAX_WORDS 32

/* Split a line at blanks and parse it. */
static int parse(const char *line, struct jobs *jobs, struct text *notes, struct error *e)
{
	char copy[1024], *argv[MAX_WORDS + 1] = { "kickio" };
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word && argc < MAX_WORDS; word = strtok(NULL, " "))
		argv[argc++] = word;
	return options_parse(argc, argv, jobs, notes, e);
}

static struct jobs takes(const char *line)
{
	struct text notes = {0};
	struct error e = {0};
	struct jobs jobs;

	if (parse(line, &jobs, &notes, &e))
		fail_msg("%s: %s", line, e.text);
	text_free(&notes);
	return jobs;
}

static void refuses(const char *line, const char *words)
{
	struct text notes = {0};
	struct error e = {0};
	struct jobs jobs;

	if (parse(line, &jobs, &notes, &e) == 0)
		fail_msg("%s was taken", line);
	assert_int_equal(jobs.count, 0);
	assert_null(jobs.job);
	if (!strstr(e.text, words))
		fail_msg("%s: \"%s\" lacks \"%s\"", line, e.text, words);
	text_free(&notes);
}

static void defaults(void **state)
{
	struct jobs jobs = takes("--name=a");
	const struct job *j = &jobs.job[0];

	(void)state;
	assert_int_equal(jobs.count, 1);
	assert_string_equal(j->name, "a");
	assert_int_equal(j->rw, RW_READ);
	assert_int_equal(j->rwmixread, 50);
	assert_int_equal(j->bs[DDIR_READ], 4096);
	assert_int_equal(j->bs[DDIR_TRIM], 4096);
	assert_int_equal(j->numjobs, 1);
	assert_int_equal(j->iodepth, 1);
	assert_string_equal(j->engine->name, "psync");
	assert_false(j->direct);
	assert_true(j->randrepeat);
	assert_true(j->invalidate);
	assert_false(j->randseed_set);
	assert_int_equal(j->runtime_us, 0);
	assert_int_equal(j->npercentiles, 17);
	assert_int_equal(j->percentile_precision, 2);
	assert_true(j->percentiles[0] == 1 && j->percentiles[16] == 99.99);
	assert_int_equal(jobs.output_format, OUTPUT_NORMAL);
	assert_int_equal(jobs.eta, ETA_AUTO);
	assert_int_equal(jobs.eta_interval_us, 1000000);
	assert_null(jobs.output);
	jobs_free(&jobs);
}

/* The four spellings, aliases, and values in base units. */
static void spellings(void **state)
{
	struct jobs jobs = takes("--name a -readwrite=randrw -blocksize 4k,8k --size=64m --io_limit=50% --offset=1m "
				 "--timeout=1m --ramp_time=500ms --randseed=7 --fsync=5 --end_fsync=1 --direct=1 "
				 "--ioengine=sync --iodepth=1 --clocksource=cpu --invalidate=0 --rwmixwrite=30 "
				 "--percentile_list=99.9:50 --number_ios=1k --filename=x:y --norandommap --thread=1 "
				 "--description=hello");
	const struct job *j = &jobs.job[0];

	(void)state;
	assert_int_equal(j->rw, RW_RANDMIXED);
	assert_int_equal(j->bs[DDIR_READ], 4096);
	assert_int_equal(j->bs[DDIR_WRITE], 8192);
	assert_int_equal(j->bs[DDIR_TRIM], 8192);
	assert_int_equal(j->size.bytes, 67108864);
	assert_int_equal(j->io_size.percent, 50);
	assert_int_equal(j->offset.bytes, 1048576);
	assert_int_equal(j->runtime_us, 60000000);
	assert_int_equal(j->ramp_us, 500000);
	assert_true(j->randseed_set);
	assert_int_equal(j->randseed, 7);
	assert_int_equal(j->fsync, 5);
	assert_true(j->end_fsync);
	assert_true(j->direct);
	assert_string_equal(j->engine->name, "sync");
	assert_int_equal(j->clocksource, CLOCK_CPU);
	assert_false(j->invalidate);
	assert_int_equal(j->rwmixread, 70);
	assert_int_equal(j->npercentiles, 2);
	assert_int_equal(j->percentile_precision, 1);
	assert_int_equal(j->number_ios, 1024);
	assert_string_equal(j->filename, "x:y");
	assert_true(j->norandommap);
	assert_true(j->thread);
	assert_string_equal(j->description, "hello");
	jobs_free(&jobs);
}

static void globals_and_jobs(void **state)
{
	struct jobs jobs = takes("--rw=write --bs=8k --name=a --bs=16k --direct=1 --name=b --name=global --bs=1k --name=c");

	(void)state;
	assert_int_equal(jobs.count, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(jobs.job[i].rw, RW_WRITE);
	assert_int_equal(jobs.job[0].bs[0], 16384);
	assert_int_equal(jobs.job[1].bs[0], 8192);
	assert_int_equal(jobs.job[2].bs[0], 1024);
	assert_true(jobs.job[0].direct);
	assert_false(jobs.job[1].direct);
	assert_string_equal(jobs.job[2].name, "c");
	jobs_free(&jobs);
}

static void last_one_wins(void **state)
{
	struct jobs jobs = takes("--name=a --bs=4k --bs=8k --direct=1 --buffered=1 --rwmixread=30 --rwmixwrite=30 "
				 "--time_based --time_based=0 --filename=x --filename=y");

	(void)state;
	assert_int_equal(jobs.job[0].bs[0], 8192);
	assert_false(jobs.job[0].direct);
	assert_int_equal(jobs.job[0].rwmixread, 70);
	assert_false(jobs.job[0].time_based);
	assert_string_equal(jobs.job[0].filename, "y");
	jobs_free(&jobs);
}

/* What the report shows as "job options": by its main name, as written, missing values as NULL. */
static void what_was_written(void **state)
{
	struct jobs jobs = takes("--readwrite=read --name=a --timeout=1 --time_based --size=64k");

	(void)state;
	assert_int_equal(jobs.nglobal, 1);
	assert_string_equal(jobs.global[0].name, "rw");
	assert_string_equal(jobs.global[0].value, "read");
	assert_int_equal(jobs.job[0].nwritten, 4);
	assert_string_equal(jobs.job[0].written[0].name, "name");
	assert_string_equal(jobs.job[0].written[1].name, "runtime");
	assert_string_equal(jobs.job[0].written[1].value, "1");
	assert_string_equal(jobs.job[0].written[2].name, "time_based");
	assert_null(jobs.job[0].written[2].value);
	assert_string_equal(jobs.job[0].written[3].value, "64k");
	jobs_free(&jobs);
}

static void program(void **state)
{
	struct jobs jobs = takes("--output=r --output-format=normal,json+ --eta=never --eta-newline=2 --eta-interval=500ms "
				 "--name=a --parse-only --readonly");

	(void)state;
	assert_string_equal(jobs.output, "r");
	assert_int_equal(jobs.output_format, OUTPUT_NORMAL | OUTPUT_JSON | OUTPUT_JSON_PLUS);
	assert_int_equal(jobs.eta, ETA_NEVER);
	assert_int_equal(jobs.eta_newline_us, 2000000);
	assert_int_equal(jobs.eta_interval_us, 500000);
	assert_true(jobs.parse_only);
	assert_true(jobs.readonly);
	jobs_free(&jobs);
}

static void groups(void **state)
{
	struct jobs jobs = takes("--name=a --new_group --name=b --new_group --name=c --name=d --new_group");

	(void)state;
	assert_int_equal(jobs.job[0].groupid, 0);
	assert_int_equal(jobs.job[1].groupid, 1);
	assert_int_equal(jobs.job[2].groupid, 1);
	assert_int_equal(jobs.job[3].groupid, 2);
	jobs_free(&jobs);
	jobs = takes("--name=a --stonewall --name=b --wait_for_previous");
	assert_int_equal(jobs.job[0].groupid, 0);
	assert_int_equal(jobs.job[1].groupid, 1);
	assert_true(jobs.job[1].stonewall);
	jobs_free(&jobs);
}

static void refusals(void **state)
{
	(void)state;
	refuses("", options_no_jobs);
	refuses("--size=1m", options_no_jobs);
	refuses("--name=", "needs a name");
	refuses("--name=a --sise=1m", "unrecognized option '--sise=1m'\nDid you mean size?");
	refuses("--name=a --iodeph=4", "Did you mean iodepth?");
	refuses("--name=a --wibblewobble", "unrecognized option '--wibblewobble'");
	refuses("--name=a --bs", "option bs requires an argument");
	refuses("--name=a --direct --size=1m", "failed parsing direct=--size=1m");
	refuses("--name=a --direct=2", "max value out of range: 2 (1 max)");
	refuses("--name=a --rw=foo", "valid values: read write randread randwrite rw readwrite randrw");
	refuses("--name=a --rw=randtrim", "randtrim is known to fio but not supported");
	refuses("--name=a --rw=randread:8", "what follows randread is known to fio but not supported");
	refuses("--name=a --unified_rw_reporting=1", "known to fio but not supported");
	refuses("--name=a --showcmd", "known to fio but not supported");
	refuses("--terse-version=4 --name=a", "max value out of range: 4 (3 max)");
	refuses("--output-format=yaml --name=a", "valid values: normal json json+ terse");
	refuses("--eta-interval=10ms --name=a", "too short (250msec min)");
	refuses("--name=a --ioengine=rados", "engine rados is known to fio but not in this kickio");
	refuses("--name=a --ioengine=foo", "engine foo not loadable");
	refuses("--name=a --iodepth=0", "min value out of range: 0 (1 min)");
	refuses("--name=a --numjobs=0", "min value out of range");
	refuses("--name=a --rwmixread=101", "max value out of range: 101 (100 max)");
	refuses("--name=a --bs=0", "min value out of range");
	refuses("--name=a --bs=4k-8k", "no range");
	refuses("--name=a --runtime=1min", "failed parsing runtime=1min: fio would take this for 1 microsecond; write 60s");
	refuses("--name=a --size=1k", "size too small, must not be less than minimum block size: 1024 < 4096");
	refuses("--name=a --rw=write --readonly", "read-only mode");
	refuses("--name=a --directory=/nonexistent/folder", "/nonexistent/folder is not a directory");
	refuses("--name=a --filename=x --directory=/tmp", "fio ignores --directory after --filename");
	refuses("--name=a --version", "no setting of a job");
	refuses("/nonexistent/file.fio", "unable to open '/nonexistent/file.fio' job file");
}

static void notes(void **state)
{
	struct text text = {0};
	struct error e = {0};
	struct jobs jobs;

	(void)state;
	assert_int_equal(parse("--name=a --time_based --iodepth=4 --thread", &jobs, &text, &e), 0);
	assert_false(jobs.job[0].time_based);
	assert_int_equal(jobs.job[0].iodepth, 4);
	assert_string_equal(text_get(&text), "kickio: time_based requires a runtime/timeout setting\n"
					     "note: both iodepth >= 1 and synchronous I/O engine are selected, "
					     "queue depth will be capped at 1\n");
	text_free(&text);
	jobs_free(&jobs);
}

static void check_table(const struct option *table, const struct option *(*find)(const char *))
{
	for (const struct option *o = table; o->name; o++) {
		assert_false(option_known_to_fio(o->name));
		assert_ptr_equal(find(o->name), o);
		assert_non_null(o->help);
		assert_non_null(option_kind_help(o->kind));
		if (o->alias) {
			assert_false(option_known_to_fio(o->alias));
			assert_ptr_equal(find(o->alias), o);
		}
	}
}

static const struct option *program_find(const char *name)
{
	return option_find(program_options, name);
}

/* No name may be both offered and refused, and none may occur twice. */
static void tables(void **state)
{
	(void)state;
	check_table(program_options, program_find);
	for (const struct option_section *s = job_sections; s->title; s++) {
		check_table(s->options, job_option_find);
		for (const struct option *o = s->options; o->name; o++)
			assert_null(program_find(o->name));
	}
	assert_true(option_known_to_fio("zonemode"));
	assert_true(option_known_to_fio("verify_backlog_batch"));
	assert_false(option_known_to_fio("wibble"));
}

static void information(void **state)
{
	char *version[] = { "kickio", "--name=x", "--version" }, *value[] = { "kickio", "--name", "--version" };
	char *help[] = { "kickio", "--cmdhelp=blocksize" }, *bad[] = { "kickio", "--cmdhelp=wibble" };
	struct error e = {0};
	char text[2048];
	FILE *f = tmpfile();
	size_t n;

	(void)state;
	assert_non_null(f);
	assert_int_equal(options_information(3, version, f, &e), 1);
	assert_int_equal(options_information(3, value, f, &e), 0);
	assert_int_equal(options_information(2, help, f, &e), 1);
	assert_int_equal(options_information(2, bad, f, &e), -1);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	assert_int_equal(strncmp(text, "kickio-", 7), 0);
	assert_non_null(strstr(text, "                  bs: Block size"));
	assert_non_null(strstr(text, "default: 4096\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),	    cmocka_unit_test(spellings), cmocka_unit_test(globals_and_jobs),
		cmocka_unit_test(last_one_wins),    cmocka_unit_test(program),	 cmocka_unit_test(groups),
		cmocka_unit_test(what_was_written), cmocka_unit_test(refusals),	 cmocka_unit_test(notes),
		cmocka_unit_test(tables),	    cmocka_unit_test(information),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
