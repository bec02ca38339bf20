/* host/import.c, host/cmd_import.c: documents to a run folder, and the outputs that people published (skipped when they
 * are not there). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/command.h"
#include "host/dataset.h"
#include "host/fio_import.h"
#include "host/import.h"
#include "tests/unit/scratch.h"

/* ---- documents and folders ---- */

/* A job that did n reads of 4 KiB in 2 s. */
#define JOB(name, group, options, n)                                                                               \
	"{\"jobname\":\"" name "\",\"groupid\":" #group ",\"error\":0,\"line\":7,\"members\":1,\"status\":\"ok\"," \
							"\"job options\":{" options "},"                           \
	"\"read\":{\"total_ios\":" #n ",\"io_bytes\":" #n "000,\"runtime\":2000,\"iops\":1.0,\"clat_ns\":{"        \
							  "\"mean\":" #n ".5}}}"
#define RANDREAD "\"rw\":\"randread\",\"bs\":\"4096\",\"iodepth\":\"01\""

static json_t *outputs(const char *text)
{
	json_error_t why;
	json_t *value = json_loads(text, 0, &why);

	if (!value)
		fail_msg("%s: %s", text, why.text);
	return value;
}

/* Import one text of outputs. What went wrong, "" when nothing did; *notes (may be NULL) counts them. */
static const char *import_text(const struct import_request *r, const char *text, size_t *nnotes)
{
	static struct error e;
	json_t *documents = outputs(text), *notes = json_array();
	struct import *i;
	const char *path;

	memset(&e, 0, sizeof(e));
	if (import_open(r, &i, &e) == 0) {
		if (import_add(i, "b\xff.txt", 100, 5, documents, notes, &e) == 0)
			import_store(i, &path, &e);
		import_free(i);
	}
	if (nnotes)
		*nnotes = json_array_size(notes);
	json_decref(documents);
	json_decref(notes);
	return e.text;
}

static json_t *folder_json(const char *folder, const char *name)
{
	char path[600];
	json_t *value;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	value = json_load_file(path, 0, NULL);
	if (!value)
		fail_msg("there is no %s", path);
	return value;
}

static const char *cell_name(const json_t *run, size_t cell)
{
	return json_string_value(json_object_get(json_array_get(json_object_get(run, "cells"), cell), "name")) ?: "";
}

static struct dataset *load(const char *folder)
{
	struct dataset *d;
	struct error e = { 0 };

	if (dataset_load(folder, &d, &e))
		fail_msg("%s", e.text);
	return d;
}

static double iops(const struct dataset *d, size_t cell, size_t variant, size_t block)
{
	return dataset_candidate(d, cell, variant, block)->value[METRIC_IOPS];
}

/* ---- tests of the folder ---- */

/* Clones are one trial, groups are cells of one boot, three outputs are three runs; a second variant is added. */
static void test_runs(void **state)
{
	const char *folder = scratch_path(*state, "import");
	struct import_request r = { .variant = "kickfd", .guest = "obsd", .folder = folder };
	struct dataset *d;
	json_t *run, *trial;

	assert_string_equal(
		import_text(&r,
			    "[{\"line\":1,\"section\":\"s\",\"jobs\":[" JOB("a", 0, RANDREAD, 1000) "," JOB(
				    "a", 0, RANDREAD,
				    2000) "," JOB("b", 1, RANDREAD ",\"numjobs\":\"4\"",
						  500) "]},"
						       "{\"line\":2,\"jobs\":[" JOB("b", 0, RANDREAD,
										    510) "]},{\"line\":3,\"jobs\":"
											 "[" JOB("b", 0, RANDREAD,
												 520) "]}]",
			    NULL),
		"");
	r.variant = "none";
	r.baseline = true;
	assert_string_equal(import_text(&r, "[{\"line\":1,\"jobs\":[" JOB("b", 0, RANDREAD, 400) "]}]", NULL), "");
	run = folder_json(folder, "run.json");
	assert_true(json_is_true(json_object_get(run, "imported")));
	assert_int_equal(json_array_size(json_object_get(run, "files")), 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(run, "files"), 0), "pat"
														"h")),
			    "b\357\277\275.txt");
	assert_string_equal(json_string_value(json_object_get(json_object_get(run, "scenario"), "pairing")), "none");
	json_decref(run);
	trial = folder_json(folder, "trials/000001.json");
	assert_int_equal(json_array_size(json_object_get(json_object_get(trial, "fio"), "jobs")), 2);
	assert_string_equal(json_string_value(json_object_get(json_object_get(trial, "fio"), "section")), "s");
	assert_true(json_is_null(json_object_get(trial, "message")));
	assert_int_equal(json_integer_value(json_object_get(json_object_get(trial, "source"), "line")), 7);
	json_decref(trial);
	d = load(folder);
	assert_int_equal(d->ncells, 2);
	assert_string_equal(d->cell[0].name, "a randread numjobs=2");
	assert_string_equal(d->cell[1].name, "b randread numjobs=1");
	assert_string_equal(d->cell[1].guest, "obsd");
	assert_int_equal(d->baseline, 1);
	assert_int_equal(d->nblocks, 3);
	assert_int_equal(d->nok, 5);
	assert_true(iops(d, 0, 0, 0) == 1500); /* 3000 in 2 s */
	assert_true(iops(d, 1, 0, 0) == 250 && iops(d, 1, 0, 1) == 255 && iops(d, 1, 0, 2) == 260);
	assert_true(iops(d, 1, 1, 0) == 200 && isnan(iops(d, 1, 1, 1)));
	assert_int_equal(dataset_candidate(d, 0, 0, 0)->boot, dataset_candidate(d, 1, 0, 0)->boot);
	dataset_free(d);
}

/* What has no numbers to trust gives none. */
static void test_status(void **state)
{
	static const char *const want[] = { "no data: the job printed no result", "inconsistent: three rates",
					    "verify: bad header", "fio's error 5" };
	const char *folder = scratch_path(*state, "import");
	struct import_request r = { .variant = "v", .folder = folder };
	struct dataset *d;

	assert_string_equal(
		import_text(&r,
			    "[{\"line\":1,\"jobs\":[{\"jobname\":\"a\",\"line\":1,\"status\":\"no data\"},"
			    "{\"jobname\":\"b\",\"line\":2,\"status\":\"inconsistent\",\"read\":{},\"marks\":[{"
			    "\"line\":3,\"what\":\"three rates\"}]},"
			    "{\"jobname\":\"c\",\"line\":3,\"status\":\"failed\",\"error\":84,\"error_text\":\"verify: "
			    "bad header\"},"
			    "{\"jobname\":\"d\",\"line\":4,\"status\":\"failed\",\"error\":5}," JOB("e", 0, "", 10) "]}"
														    "]",
			    NULL),
		"");
	d = load(folder);
	assert_int_equal(d->nproblems, 4);
	assert_int_equal(d->nok, 1);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(d->problem[i].status, OBSERVED_FAILED);
		assert_string_equal(d->problem[i].message, want[i]);
	}
	assert_string_equal(d->cell[0].guest, "unknown");
	assert_string_equal(d->cell[0].name, "a");
	dataset_free(d);
}

static void test_names(void **state)
{
	static const char *const want[] = {
		"randread-1 numjobs=1",
		"x randread numjobs=1",
		"x randread numjobs=1 bs=1m iodepth=8",
		"x randread numjobs=1 ioengine=psync",
		"x rw numjobs=1",
		"t b numjobs=1",
	};
	const char *folder = scratch_path(*state, "import");
	struct import_request r = { .variant = "v", .folder = folder, .guest = "one" };
	json_t *run;

	assert_string_equal(
		import_text(&r,
			    "[{\"line\":1,\"jobs\":[" JOB("randread-1", 0, RANDREAD, 1) "," JOB(
				    "x", 0, RANDREAD,
				    2) "," JOB("x", 0, "\"rw\":\"randread\",\"bs\":\"1024K\",\"iodepth\":\"8\"",
					       3) "," JOB("x", 0, RANDREAD ",\"ioengine\":\"psync\"",
							  4) "," JOB("x", 0, "\"rw\":\"rw\",\"bs\":\"4k\"",
								     5) "," JOB("t\\tb", 0, "", 6) "]}]",
			    NULL),
		"");
	r.guest = "two"; /* has the job, too: another cell, which needs another name */
	assert_string_equal(import_text(&r, "[{\"line\":1,\"jobs\":[" JOB("x", 0, RANDREAD, 12) "]}]", NULL), "");
	run = folder_json(folder, "run.json");
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_string_equal(cell_name(run, i), want[i]);
	assert_string_equal(cell_name(run, 6), "two: x randread numjobs=1");
	assert_string_equal(json_string_value(json_object_get(
				    json_object_get(json_array_get(json_object_get(run, "cells"), 2), "options"), "b"
														  "s")),
			    "1m");
	json_decref(run);
}

/* Blocks that the user gives pair the variants; outputs of one boot are its repeats. */
static void test_blocks_and_boots(void **state)
{
#define ONE(n) "[{\"line\":1,\"jobs\":[" JOB("a", 0, RANDREAD, n) "]}]"
	const char *folder = scratch_path(*state, "import");
	struct import_request r = { .variant = "v", .folder = folder, .block = 2, .boot = 7 };
	struct dataset *d;

	assert_string_equal(import_text(&r,
					"[{\"line\":1,\"jobs\":[" JOB("a", 0, RANDREAD, 100) "]},{\"line\":2,\"jobs\":"
											     "[" JOB("a", 0, RANDREAD,
												     300) "]}]",
					NULL),
			    "");
	r.boot = 0;
	holds(import_text(&r, ONE(101), NULL), "block 2 already has a run of a randread numjobs=1 with v (boot 7)");
	r.block = 3;
	assert_string_equal(import_text(&r, ONE(102), NULL), "");
	r.block = 0;
	holds(import_text(&r, ONE(103), NULL), "say with --block");
	r.variant = "w";
	r.block = 3;
	r.boot = 7;
	holds(import_text(&r, ONE(104), NULL), "boot 7 is one of variant v");
	r.variant = "v";
	holds(import_text(&r, ONE(105), NULL), "boot 7 belongs to block 2");
	d = load(folder);
	assert_int_equal(d->nblocks, 3);
	assert_int_equal(d->repeats, 2);
	assert_int_equal(d->ntrials, 3);
	assert_true(isnan(iops(d, 0, 0, 0)));
	assert_true(iops(d, 0, 0, 1) == 100); /* 400 in 4 s */
	assert_true(iops(d, 0, 0, 2) == 51);
	dataset_free(d);
	r = (struct import_request){ .variant = "v", .folder = scratch_path(*state, "other") };
	assert_string_equal(import_text(&r, ONE(1), NULL), "");
	r.block = 1;
	holds(import_text(&r, ONE(2), NULL), "begun without --block");
}

static void test_copies(void **state)
{
	struct import_request r = { .variant = "v", .folder = scratch_path(*state, "import") };
	json_t *run;
	size_t notes;

	assert_string_equal(import_text(&r,
					"[{\"line\":1,\"jobs\":[" JOB("a", 0, RANDREAD, 1) "]},{\"line\":9,\"jobs\":"
											   "[" JOB("a", 0, "", 1) "]}]",
					&notes),
			    "");
	assert_int_equal(notes, 1);
	r.variant = "w";
	assert_string_equal(import_text(&r,
					"[{\"line\":5,\"jobs\":[" JOB("a", 0, RANDREAD, 1) "]},{\"line\":9,\"jobs\":"
											   "[" JOB("a", 0, RANDREAD,
												   2) "]}]",
					&notes),
			    "");
	assert_int_equal(notes, 1);
	run = folder_json(r.folder, "run.json");
	assert_int_equal(json_array_size(json_object_get(json_object_get(run, "plan"), "boots")), 2);
	json_decref(run);
}

/* A folder that something else lies in. */
static void test_other_folders(void **state)
{
	struct import_request r = { .variant = "v" };
	char folder[300];

	snprintf(folder, sizeof(folder), "%s/run", ((struct scratch *)*state)->folder);
	r.folder = folder;
	scratch_text(*state, "run/run.json", "{\"schema\":\"kickbench-run/1\"}");
	holds(import_text(&r, ONE(1), NULL), "measured, not imported");
	scratch_text(*state, "run/run.json", "{\"schema\":\"kickbench-run/1\",\"imported\":true}");
	holds(import_text(&r, ONE(1), NULL), "is damaged");
	scratch_text(*state, "run/run.json", "{\"schema\":\"kickbench-run/2\",\"imported\":true}");
	holds(import_text(&r, ONE(1), NULL), "another version");
}

/* ---- one run in two forms ---- */

static void test_two_forms(void **state)
{
	static const char text[] = "# Setup one\n\n"
				   "{\"fio "
				   "version\":\"fio-3.33\",\"jobs\":[{\"jobname\":\"a\",\"groupid\":0,\"error\":0,"
				   "\"job options\":{\"rw\":\"read\"},\"read\":{"
				   "\"io_bytes\":4096000,\"bw_bytes\":2048000,\"iops\":500.25,\"runtime\":1999,\"total_"
				   "ios\":1000}}]}\n"
				   "a: (groupid=0, jobs=4): err= 0: pid=1: Fri Nov 23 09:59:54 2018\n"
				   "  read: IOPS=500, BW=2001KiB/s (2049kB/s)(4000KiB/1999msec)\n\n"
				   "## Setup two\n\n"
				   "a: (groupid=0, jobs=4): err= 0: pid=2: Fri Nov 23 10:59:54 2018\n"
				   "  read: IOPS=400, BW=1600KiB/s (1638kB/s)(4000KiB/2500msec)\n";
	struct fio_import found;
	struct error e = { 0 };
	const json_t *first;

	(void)state;
	assert_int_equal(fio_import_bytes(text, strlen(text), &found, &e), 0);
	if (json_array_size(found.outputs) != 2)
		fail_msg("%s", json_dumps(found.outputs, 0));
	first = json_array_get(found.outputs, 0);
	assert_string_equal(json_string_value(json_object_get(first, "form")), "json");
	assert_string_equal(json_string_value(json_object_get(first, "section")), "Setup one");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(json_object_get(first, "jobs"), 0), "member"
													       "s")),
			 4); /* only the text tells */
	assert_string_equal(json_string_value(json_object_get(json_array_get(found.outputs, 1), "section")), "Setup two");
	json_decref(found.outputs);
	json_decref(found.notes);
}

/* JSON and a command line leave out iodepth=1 and bs=4k, a header prints them: they are one cell. */
static void test_defaults(void **state)
{
	const char *folder = scratch_path(*state, "import");
	struct import_request r = { .variant = "v", .folder = folder };
	json_t *run;

	assert_string_equal(import_text(&r, "[{\"line\":1,\"jobs\":[" JOB("a", 0, "\"rw\":\"randread\"", 100) "]},"
					    "{\"line\":2,\"jobs\":[" JOB("a", 0, RANDREAD, 200) "]},"
					    "{\"line\":3,\"jobs\":[" JOB("a", 0, "\"rw\":\"randread\",\"iodepth\":\"4\"", 300) "]},"
					    "{\"line\":4,\"jobs\":[" JOB("a", 0, "", 400) "]}]", NULL), "");
	run = folder_json(folder, "run.json");
	assert_int_equal(json_array_size(json_object_get(run, "cells")), 3); /* of the last nothing is known */
	json_decref(run);
}

/* ---- lines beside JSON ---- */

#define JSON_JOB(error) "{\"fio version\":\"fio-3.33\",\"jobs\":[{\"jobname\":\"a\",\"groupid\":0,\"error\":" error "}]}\n"
#define NOTICE "fio: pid=0, err=22/file:filesetup.c:1155, func=total_file_size, error=Invalid argument\n"
#define HEADER "a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.33\n"

static void beside_json(const char *text, size_t notes, const char *why)
{
	struct fio_import found;
	struct error e = { 0 };
	const json_t *job;

	assert_int_equal(fio_import_bytes(text, strlen(text), &found, &e), 0);
	assert_int_equal(json_array_size(found.outputs), 1);
	assert_int_equal(json_array_size(found.notes), notes);
	job = json_array_get(json_object_get(json_array_get(found.outputs, 0), "jobs"), 0);
	if (why)
		assert_string_equal(json_string_value(json_object_get(job, "error_text")), why);
	else
		assert_null(json_object_get(job, "error_text"));
	json_decref(found.outputs);
	json_decref(found.notes);
}

/* What fio says on its other stream is no output of its own; an error that JSON does not tell is. */
static void test_beside_json(void **state)
{
	(void)state;
	beside_json(HEADER JSON_JOB("0"), 0, NULL);
	beside_json(JSON_JOB("0") HEADER, 1, NULL); /* of another run, which printed nothing */
	beside_json(NOTICE JSON_JOB("22"), 0,
		    "pid=0, err=22/file:filesetup.c:1155, func=total_file_size, error=Invalid argument");
	beside_json(NOTICE JSON_JOB("0"), 1, NULL);
	beside_json(JSON_JOB("22") NOTICE, 1, NULL);
}

/* fio 3.33 with unified_rw_reporting=both. */
static void test_unified_both(void **state)
{
	static const char text[] = "a: (groupid=0, jobs=1): err= 0: pid=1: Tue Dec  1 04:36:10 2026\n"
				   "  read: IOPS=500, BW=2000KiB/s (2048kB/s)(4000KiB/2000msec)\n"
				   "  write: IOPS=500, BW=2000KiB/s (2048kB/s)(4000KiB/2000msec); 0 zone resets\n"
				   "  mixed: IOPS=0, BW=0 (0)(0B/2000msec)\n"
				   "    clat (usec): min=2, max=3657, avg=50.33, stdev=139.20\n"
				   "     issued rwts: total=1000,1000,0,0 short=0,0,0,0 dropped=0,0,0,0\n";
	struct fio_import found;
	struct error e = { 0 };
	const json_t *job;

	(void)state;
	assert_int_equal(fio_import_bytes(text, strlen(text), &found, &e), 0);
	job = json_array_get(json_object_get(json_array_get(found.outputs, 0), "jobs"), 0);
	assert_string_equal(json_string_value(json_object_get(job, "status")), "ok");
	assert_null(json_object_get(job, "mixed"));
	assert_non_null(json_object_get(job, "read"));
	assert_non_null(json_object_get(job, "write"));
	json_decref(found.outputs);
	json_decref(found.notes);
}

/* ---- the command ---- */

/* Words up to NULL. Returns the exit status; the message is in e. */
static int command(struct error *e, const char *first, ...)
{
	char *argv[24] = { (char *)"import" };
	int argc = 1;
	va_list list;

	va_start(list, first);
	for (const char *word = first; word && argc < 23; word = va_arg(list, const char *))
		argv[argc++] = (char *)word;
	va_end(list);
	memset(e, 0, sizeof(*e));
	return cmd_import.run(argc, argv, e);
}

static void refused(const char *want, struct error *e, int status)
{
	assert_int_equal(status, STATUS_USAGE);
	holds(e->text, want);
}

static void test_refusals(void **state)
{
	struct scratch *s = *state;
	char good[600], large[600], dir[300];
	struct error e;

	snprintf(dir, sizeof(dir), "%s/out", s->folder);
	snprintf(good, sizeof(good), "%s",
		 scratch_text(s, "good",
			      "a: (groupid=0, jobs=1): err= 0: pid=1: Fri Nov 23 09:59:54 2018\n"
			      "  read: IOPS=500, BW=2000KiB/s (2048kB/s)(4000KiB/2000msec)\n"));
	refused("which FILE", &e, command(&e, "--list", NULL));
	refused("--variant", &e, command(&e, good, NULL));
	refused("unknown option --varant", &e, command(&e, good, "--varant=x", NULL));
	refused("--block is unknown, or needs a value", &e, command(&e, good, "--variant", "x", "--block", NULL));
	refused("--block 0 is no number", &e, command(&e, good, "--variant", "x", "--block=0", NULL));
	refused("no blanks", &e, command(&e, good, "--variant", "a b", NULL));
	refused("none of its 1 outputs is below a heading", &e,
		command(&e, good, "--variant", "x", "--section", "y", "-o", dir, NULL));
	refused("No such file", &e, command(&e, "/nonexistent/file", "--list", NULL));
	refused("a folder", &e, command(&e, s->folder, "--list", NULL));
	refused("empty", &e, command(&e, scratch_text(s, "empty", ""), "--list", NULL));
	refused("no output of fio in it", &e, command(&e, scratch_text(s, "prose", "words\n"), "--list", NULL));
	refused("a binary file", &e, command(&e, scratch_bytes(s, "binary", "\0\1\2", 3), "--list", NULL));
	refused("2 JSON objects, but no output of fio", &e,
		command(&e, scratch_text(s, "json", "\n{\"a\":1} {\"b\":2}"), "--list", NULL));
	snprintf(large, sizeof(large), "%s", scratch_text(s, "large", "x"));
	assert_int_equal(truncate(large, (off_t)1 << 40), 0); /* nothing of it is read */
	refused("large: more than 256 MiB", &e, command(&e, large, "--list", NULL));
	refused("the lines above say why", &e,
		command(&e, scratch_text(s, "cut", "{\"fio version\":\"fio-3.33\",\"jobs\":["), "--list", NULL));
	assert_int_not_equal(access(dir, F_OK), 0); /* nothing was written */
	assert_int_equal(command(&e, "--variant", "x", "-o", dir, "--", good, NULL), STATUS_OK);
	refused("nothing new", &e, command(&e, "--variant", "x", "-o", dir, good, NULL));
}

/* ---- what people published ---- */

static const char *seed_or_skip(const char *name)
{
	static char path[1024];
	const char *folder = getenv("KICKBENCH_CORPUS");

	snprintf(path, sizeof(path), "%s/seeds/%s", folder && *folder ? folder : "../shared/corpus", name);
	if (access(path, R_OK)) {
		print_message("skipped: there is no %s (KICKBENCH_CORPUS says where)\n", path);
		skip();
	}
	return path;
}

static json_t *expected(const char *name)
{
	json_t *value = json_load_file(seed_or_skip(name), 0, NULL);
	json_t *results = json_incref(json_object_get(value, "results"));

	json_decref(value);
	assert_true(json_array_size(results) > 0);
	return results;
}

/* Read and write together, as a cell's IOPS are. IOPS were printed without decimals, or with three digits and k. */
static void same_iops(const char *what, size_t index, double have, const json_t *result)
{
	double read = json_number_value(json_object_get(json_object_get(result, "read"), "iops"));
	double write = json_number_value(json_object_get(json_object_get(result, "write"), "iops")), want = read + write;

	if (!(fabs(have - want) <= (read > 0 && write > 0 ? 2 : 1) + 0.005 * want))
		fail_msg("%s: output %zu has %.1f IOPS, not %.1f", what, index, have, want);
}

/* Two systems in one mail: six cells each, the second one is the baseline. Values were read from the mail by hand. */
static void test_thread(void **state)
{
	char dir[300], file[1024];
	json_t *want = expected("openbsd-kickfd-thread.expect.json");
	struct dataset *d;
	struct error e;

	snprintf(dir, sizeof(dir), "%s/out", ((struct scratch *)*state)->folder);
	snprintf(file, sizeof(file), "%s", seed_or_skip("openbsd-kickfd-thread.txt"));
	assert_int_equal(command(&e, file, "--section", "OpenBSD 6.4 + kickfd", "--variant", "kickfd", "-o", dir, NULL),
			 STATUS_OK);
	assert_int_equal(command(&e, file, "--section", "OpenBSD 6.4 + NO kickfd", "--variant", "none", "--baseline",
				 "-o", dir, NULL),
			 STATUS_OK);
	d = load(dir);
	assert_int_equal(d->ncells, 6);
	assert_int_equal(d->nvariants, 2);
	assert_int_equal(d->nok, 12);
	assert_string_equal(d->variant[d->baseline], "none");
	assert_string_equal(d->cell[0].name, "randread numjobs=1");
	assert_string_equal(d->cell[5].name, "randwrite numjobs=4");
	for (size_t i = 0; i < 12; i++)
		same_iops("thread", i, iops(d, i % 6, i / 6, 0), json_array_get(want, i));
	assert_int_equal((int)iops(d, 0, 0, 0), 6120);
	assert_int_equal((int)iops(d, 0, 1, 0), 5411);
	dataset_free(d);
	json_decref(want);
}

/* Every output becomes a trial, in the order of the document. */
static void test_documents(void **state)
{
	static const char *const name[] = { "network-storage-notes", "seaweedfs", "disk-list" };

	for (size_t k = 0; k < 3; k++) {
		char dir[300], file[1024], expect[64], trial_name[40];
		const json_t *result;
		json_t *want, *run, *trial;
		struct error e;
		size_t i;

		snprintf(expect, sizeof(expect), "%s.expect.json", name[k]);
		want = expected(expect);
		snprintf(dir, sizeof(dir), "%s/%s", ((struct scratch *)*state)->folder, name[k]);
		snprintf(expect, sizeof(expect), "%s.txt", name[k]);
		snprintf(file, sizeof(file), "%s", seed_or_skip(expect));
		assert_int_equal(command(&e, file, "--variant", "x", "-o", dir, NULL), STATUS_OK);
		json_array_foreach(want, i, result) {
			const json_t *job;

			snprintf(trial_name, sizeof(trial_name), "trials/%06zu.json", i + 1);
			trial = folder_json(dir, trial_name);
			assert_string_equal(json_string_value(json_object_get(trial, "status")), "ok");
			job = json_array_get(json_object_get(json_object_get(trial, "fio"), "jobs"), 0);
			same_iops(name[k], i,
				  json_number_value(json_object_get(json_object_get(job, "read"), "iops")) +
					  json_number_value(json_object_get(json_object_get(job, "write"), "iops")),
				  result);
			json_decref(trial);
		}
		run = folder_json(dir, "run.json");
		assert_int_equal(json_array_size(json_object_get(json_object_get(run, "plan"), "boots")),
				 json_array_size(want));
		json_decref(run);
		json_decref(want);
	}
}

/* Six labels by eight numbers of jobs; numbers of three of its tables, as they stand there. */
static void test_sweep(void **state)
{
	char dir[300];
	struct error e;
	json_t *run, *trial;
	const json_t *job;

	snprintf(dir, sizeof(dir), "%s/out", ((struct scratch *)*state)->folder);
	assert_int_equal(command(&e, seed_or_skip("small-server-sweep.txt"), "--variant", "nuc", "-o", dir, NULL),
			 STATUS_OK);
	run = folder_json(dir, "run.json");
	assert_int_equal(json_array_size(json_object_get(run, "cells")), 48);
	assert_string_equal(cell_name(run, 47), "fio.8kb.buf.psync randread numjobs=64 bs=8k");
	json_decref(run);
	trial = folder_json(dir, "trials/000048.json");
	job = json_array_get(json_object_get(json_object_get(trial, "fio"), "jobs"), 0);
	assert_true(json_number_value(json_object_get(json_object_get(job, "read"), "iops")) == 146795);
	assert_true(json_number_value(json_object_get(json_object_get(job, "table"), "guest_busy")) == 57.1);
	assert_true(json_number_value(json_object_get(json_object_get(job, "table"), "request_bytes")) == 8192);
	json_decref(trial);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_open, scratch_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(test_runs),
		IN_SCRATCH(test_status),
		IN_SCRATCH(test_names),
		IN_SCRATCH(test_blocks_and_boots),
		IN_SCRATCH(test_copies),
		IN_SCRATCH(test_defaults),
		IN_SCRATCH(test_other_folders),
		cmocka_unit_test(test_two_forms),
		cmocka_unit_test(test_beside_json),
		cmocka_unit_test(test_unified_both),
		IN_SCRATCH(test_refusals),
		IN_SCRATCH(test_thread),
		IN_SCRATCH(test_documents),
		IN_SCRATCH(test_sweep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
