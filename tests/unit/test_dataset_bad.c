/* host/dataset.c: folders that somebody damaged, or made so that they do damage, and runs with holes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/compare.h"
#include "host/dataset.h"
#include "tests/unit/run_folder.h"

static struct folder plain(void)
{
	return (struct folder){ .cell = { "randread", "randwrite" }, .variant = { "none", "kickfd" }, .blocks = 3,
				.repeats = 1, .pairing = "boots", .primary = "iops" };
}

static struct dataset *load(const struct folder *f)
{
	struct error e = { 0 };
	struct dataset *d;

	if (dataset_load(f->path, &d, &e))
		fail_msg("%s", e.text);
	return d;
}

static const char *in(const struct folder *f, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", f->path, name);
	return path;
}

static void put_bytes(const struct folder *f, const char *name, const void *bytes, size_t length)
{
	FILE *out = fopen(in(f, name), "w");

	if (!out || fwrite(bytes, 1, length, out) != length || fclose(out))
		abort();
}

static void refused(const struct folder *f, const char *message)
{
	struct error e = { 0 };
	struct dataset *d;

	assert_int_equal(dataset_load(f->path, &d, &e), -1);
	assert_null(d);
	assert_int_equal(e.status, STATUS_USAGE);
	if (!strstr(e.text, message) || strncmp(e.text, f->path, strlen(f->path)) != 0)
		fail_msg("\"%s\" lacks \"%s\" or the folder", e.text, message);
}

static char *slurp(const struct folder *f, const char *name, size_t *length)
{
	FILE *file = fopen(in(f, name), "r");
	char *bytes = malloc(1 << 20);

	*length = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

static void run_json_is_no_such_thing(void **state)
{
	struct folder f = plain();
	char deep[20000], binary[4096], *whole;
	size_t length;

	(void)state;
	folder_make(&f);
	whole = slurp(&f, "run.json", &length);
	for (size_t cut = 0; cut < length - 1; cut += 1 + length / 60) { /* wherever it ends */
		put_bytes(&f, "run.json", whole, cut);
		refused(&f, "run.json:");
	}
	for (size_t i = 0; i < sizeof(binary); i++)
		binary[i] = (char)(i * i >> 3);
	put_bytes(&f, "run.json", binary, sizeof(binary));
	refused(&f, "run.json:1: ");
	memset(deep, '[', sizeof(deep));
	put_bytes(&f, "run.json", deep, sizeof(deep));
	refused(&f, "run.json:1: maximum parsing depth reached");
	memset(deep, '{', sizeof(deep));
	put_bytes(&f, "run.json", deep, sizeof(deep));
	refused(&f, "run.json:1: ");
	folder_put(f.path, "run.json", "\"kickbench-run/1\"");
	refused(&f, "run.json");
	folder_put(f.path, "run.json", "{\"schema\":\"kickbench-run/1\",\"name\":\"\xff\xfe\"}");
	refused(&f, "run.json:1: ");
	assert_int_equal(truncate(in(&f, "run.json"), 1 << 30), 0); /* no bytes on the disk, but a size */
	refused(&f, "run.json: it is larger than 512 MiB");
	unlink(in(&f, "run.json"));
	assert_int_equal(mkdir(in(&f, "run.json"), 0777), 0);
	refused(&f, "run.json: it is no file");
	rmdir(in(&f, "run.json"));
	assert_int_equal(mkfifo(in(&f, "run.json"), 0666), 0); /* nobody waits for a writer */
	refused(&f, "run.json: it is no file");
	free(whole);
	folder_remove(&f);
	refused(&f, "No such file or directory");
}

/* Single members of run.json, with values that would be dangerous to believe. */
static void hostile_numbers(void **state)
{
	static const struct { const char *in, *key, *json, *message; } bad[] = {
		{ "scenario", "blocks", "4000000000", "\"blocks\" is missing or not within" },
		{ "scenario", "blocks", "-1", "\"blocks\" is missing or not within" },
		{ "scenario", "blocks", "2", "plan boots[4]: \"block\" is missing or not within 1 to 2" },
		{ "scenario", "margin", "7", "is no fraction" },
		{ "scenario", "alpha", "0", "is no fraction" },
		{ "scenario", "baseline", "\"gone\"", "there is no variant \"gone\"" },
		{ "scenario", "pairing", "3", "\"pairing\" is missing or no text" },
		{ "plan", "boots", "[]", "the plan holds no trials" },
		{ "plan", "boots", "[{\"boot\":1,\"block\":1,\"trials\":[{\"trial\":1,\"cell\":2,\"variant\":\"none\"}]}]",
		  "plan boots[0]: trials[0]: \"cell\" is missing or not within 0 to 1" },
		{ "plan", "boots", "[{\"boot\":1,\"block\":1,\"trials\":[{\"trial\":-5,\"cell\":0,\"variant\":\"none\"}]}]",
		  "\"trial\" is missing or not within" },
		{ "plan", "boots", "[{\"boot\":1,\"block\":1,\"trials\":[7]}]", "\"variant\" is missing or no text" },
		{ "plan", "boots", "[{\"boot\":1,\"block\":1,\"variants\":[{}],\"trials\":[{}]}]", "\"variants\" is not a list" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct folder f = plain();
		json_t *run;

		folder_make(&f);
		run = json_load_file(in(&f, "run.json"), 0, NULL);
		json_object_set_new(json_object_get(run, bad[i].in), bad[i].key, json_loads(bad[i].json, JSON_DECODE_ANY, NULL));
		assert_int_equal(json_dump_file(run, in(&f, "run.json"), 0), 0);
		json_decref(run);
		refused(&f, bad[i].message);
		folder_remove(&f);
	}
}

/* A small file that asks for gigabytes: of one list, n more names. */
static void more_names(json_t *run, const char *list, size_t n)
{
	json_t *names = json_object_get(run, list);

	for (size_t i = 0; i < n; i++) {
		char name[24];

		snprintf(name, sizeof(name), "x%zu", i);
		json_array_append_new(names, json_pack("{s:s,s:s}", "name", name, "guest", "linux"));
	}
}

static void claims_beyond_the_plan(void **state)
{
	static const struct { size_t cells, variants; unsigned blocks; } claim[] = {
		{ 88, 0, 100000 }, /* 36 million observations of 12 trials */
		{ 198, 198, 3 },   /* 40000 comparisons */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(claim) / sizeof(claim[0]); i++) {
		struct folder f = plain();
		json_t *run;

		folder_make(&f);
		run = json_load_file(in(&f, "run.json"), 0, NULL);
		more_names(run, "cells", claim[i].cells);
		more_names(run, "variants", claim[i].variants);
		json_object_set_new(json_object_get(run, "scenario"), "blocks", json_integer(claim[i].blocks));
		assert_int_equal(json_dump_file(run, in(&f, "run.json"), 0), 0);
		json_decref(run);
		refused(&f, "blocks for a plan of 12 trials: that is damaged");
		folder_remove(&f);
	}
}

/* Names are carried as they are: who prints them has to take care. */
static void names_of_all_kinds(void **state)
{
	static const char cell[] = "a \"b\"\n<c> & 'd'\t\\", variant[] = "k\303\244ck/../\360\237\230\200,;|";
	struct folder f = plain();
	struct dataset *d;

	(void)state;
	f.cell[1] = cell;
	f.variant[1] = variant;
	folder_make(&f);
	d = load(&f);
	assert_int_equal(d->nok, 12);
	assert_string_equal(d->cell[1].name, cell);
	assert_string_equal(d->variant[1], variant);
	dataset_free(d);
	folder_remove(&f);
}

static void problem(const struct dataset *d, size_t i, unsigned trial, enum observed status, const char *message)
{
	assert_true(i < d->nproblems);
	assert_int_equal(d->problem[i].trial, trial);
	assert_int_equal(d->problem[i].status, status);
	if (message && (!d->problem[i].message || !strstr(d->problem[i].message, message)))
		fail_msg("\"%s\" lacks \"%s\"", d->problem[i].message ? d->problem[i].message : "(none)", message);
}

static void files_that_are_no_trials(void **state)
{
	struct folder f = plain();
	struct dataset *d;
	char deep[20000], *whole;
	size_t length;

	(void)state;
	folder_make(&f);
	folder_put(f.path, "trials/000001.json", "");
	unlink(in(&f, "trials/000002.json"));
	assert_int_equal(mkdir(in(&f, "trials/000002.json"), 0777), 0);
	unlink(in(&f, "trials/000003.json"));
	assert_int_equal(mkfifo(in(&f, "trials/000003.json"), 0666), 0);
	whole = slurp(&f, "trials/000005.json", &length);
	put_bytes(&f, "trials/000004.json", whole, length); /* another trial under this number */
	put_bytes(&f, "trials/000006.json", whole, length / 2);
	free(whole);
	memset(deep, '[', sizeof(deep));
	put_bytes(&f, "trials/000007.json", deep, sizeof(deep));
	put_bytes(&f, "trials/000008.json", "\0\1\2\377", 4);
	folder_put(f.path, "trials/000009.json", "{\"schema\":\"kickbench-trial/7\"}");
	folder_put(f.path, "trials/000010.json", "{\"schema\":\"kickbench-run/1\"}");
	unlink(in(&f, "trials/000011.json"));
	assert_int_equal(symlink("000011.json", in(&f, "trials/000011.json")), 0);
	d = load(&f);
	assert_int_equal(d->nok, 2); /* 5 and 12 */
	assert_int_equal(d->nproblems, 10);
	problem(d, 0, 1, OBSERVED_UNREADABLE, "trials/000001.json:1: ");
	problem(d, 1, 2, OBSERVED_UNREADABLE, "trials/000002.json: it is no file");
	problem(d, 2, 3, OBSERVED_UNREADABLE, "trials/000003.json: it is no file");
	problem(d, 3, 4, OBSERVED_UNREADABLE, "it is not the trial that the plan has under this number");
	problem(d, 4, 6, OBSERVED_UNREADABLE, "trials/000006.json:");
	problem(d, 5, 7, OBSERVED_UNREADABLE, "maximum parsing depth");
	problem(d, 6, 8, OBSERVED_UNREADABLE, "trials/000008.json:1: ");
	problem(d, 7, 9, OBSERVED_UNREADABLE, "written by a newer kickbench (schema kickbench-trial/7");
	problem(d, 8, 10, OBSERVED_UNREADABLE, "this is no kickbench-trial document");
	problem(d, 9, 11, OBSERVED_UNREADABLE, "trials/000011.json: Too many levels of symbolic links");
	dataset_free(d);
	folder_remove(&f);
}

static void no_trials_at_all(void **state)
{
	struct folder f = plain();
	struct dataset *d;
	char command[600];

	(void)state;
	folder_make(&f);
	snprintf(command, sizeof(command), "rm -r -- '%s'", in(&f, "trials"));
	assert_int_equal(system(command), 0);
	d = load(&f);
	assert_true(d->nok == 0 && d->nproblems == 12 && d->npoints == 0);
	problem(d, 11, 12, OBSERVED_MISSING, NULL);
	dataset_free(d);
	folder_put(f.path, "trials", ""); /* a file in its place */
	d = load(&f);
	problem(d, 0, 1, OBSERVED_UNREADABLE, "Not a directory");
	dataset_free(d);
	folder_remove(&f);
}

static void failing(const struct folder_place *at, struct folder_trial *t)
{
	(void)at;
	t->status = "failed";
	t->message = "fio: pid=0, err=5/file:ioengines.c";
}

static void all_trials_failed(void **state)
{
	struct folder f = plain();
	struct error e = { 0 };
	struct comparison *c;
	struct dataset *d;

	(void)state;
	f.shape = failing;
	folder_make(&f);
	d = load(&f);
	assert_true(d->nok == 0 && d->npoints == 0 && d->nproblems == 12 && d->ntrials == 12);
	problem(d, 0, 1, OBSERVED_FAILED, "fio: pid=0, err=5");
	assert_int_equal(compare(d, &c, &e), 0);
	assert_int_equal(c->count[VERDICT_INCOMPLETE], 2);
	assert_int_equal(c->finding[0].effect[METRIC_IOPS].kind, EFFECT_NO_DATA);
	comparison_free(c);
	dataset_free(d);
	folder_remove(&f);
}

static void one_sided(const struct folder_place *at, struct folder_trial *t)
{
	if (at->variant == 1)
		t->interrupts = t->guest_cpu_us = -1;
}

static void a_metric_on_one_side(void **state)
{
	struct folder f = plain();
	struct error e = { 0 };
	struct comparison *c;
	struct dataset *d;

	(void)state;
	f.shape = one_sided;
	folder_make(&f);
	d = load(&f);
	assert_true(dataset_baseline(d, 0, 1, 0)->value[METRIC_INTERRUPTS] == 1);
	assert_true(isnan(dataset_candidate(d, 0, 1, 0)->value[METRIC_INTERRUPTS]));
	assert_int_equal(compare(d, &c, &e), 0);
	assert_int_equal(c->finding[0].effect[METRIC_INTERRUPTS].kind, EFFECT_NO_DATA);
	assert_int_equal(c->finding[0].effect[METRIC_IOPS].kind, EFFECT_INTERVAL);
	comparison_free(c);
	dataset_free(d);
	folder_remove(&f);
}

static void once(const struct folder_place *at, struct folder_trial *t)
{
	if (at->variant == 1 && at->block > 1)
		t->status = NULL;
}

static void a_variant_with_one_block(void **state)
{
	struct folder f = plain();
	struct error e = { 0 };
	struct comparison *c;
	struct dataset *d;

	(void)state;
	f.shape = once;
	folder_make(&f);
	d = load(&f);
	assert_int_equal(d->nok, 8);
	assert_int_equal(dataset_candidate(d, 0, 1, 0)->status, OBSERVED_OK);
	assert_int_equal(dataset_candidate(d, 0, 1, 1)->status, OBSERVED_MISSING);
	assert_int_equal(compare(d, &c, &e), 0);
	assert_int_equal(c->finding[0].verdict, VERDICT_INCOMPLETE);
	assert_int_equal(c->finding[0].effect[METRIC_IOPS].kind, EFFECT_SINGLE);
	comparison_free(c);
	dataset_free(d);
	folder_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_json_is_no_such_thing),
		cmocka_unit_test(hostile_numbers),
		cmocka_unit_test(claims_beyond_the_plan),
		cmocka_unit_test(names_of_all_kinds),
		cmocka_unit_test(files_that_are_no_trials),
		cmocka_unit_test(no_trials_at_all),
		cmocka_unit_test(all_trials_failed),
		cmocka_unit_test(a_metric_on_one_side),
		cmocka_unit_test(a_variant_with_one_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
