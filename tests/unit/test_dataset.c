/* host/dataset.c: run folders, whole and damaged. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/dataset.h"
#include "host/scenario.h"
#include "tests/unit/run_folder.h"

static struct folder plain(void)
{
	return (struct folder){ .cell = { "randread numjobs=1", "randread numjobs=4" }, .variant = { "none", "kickfd" },
				.blocks = 3, .repeats = 1, .pairing = "boots", .primary = "iops" };
}

static struct dataset *load(const struct folder *f)
{
	struct error e = { 0 };
	struct dataset *d;

	if (dataset_load(f->path, &d, &e))
		fail_msg("%s", e.text);
	return d;
}

/* Every trial tells where it comes from: cell, variant, block, repeat are the digits of its IOPS. */
static void telling(const struct folder_place *at, struct folder_trial *t)
{
	t->iops = 1000 * (at->cell + 1) + 100 * (at->variant + 1) + 10 * at->block + at->repeat;
}

/* run.json with each boot's trials in boots of their own, as fresh_boot = per-trial plans them. */
static void split_boots(const struct folder *f)
{
	char path[300];
	json_t *run, *plan, *boots, *boot, *trial, *split = json_array();
	size_t i, k;

	snprintf(path, sizeof(path), "%s/run.json", f->path);
	run = json_load_file(path, 0, NULL);
	plan = json_object_get(run, "plan");
	boots = json_object_get(plan, "boots");
	json_array_foreach(boots, i, boot)
		json_array_foreach(json_object_get(boot, "trials"), k, trial) {
			json_t *one = json_copy(boot);

			json_object_set_new(one, "boot", json_integer((json_int_t)json_array_size(split) + 1));
			json_object_set_new(one, "trials", json_pack("[O]", trial));
			json_array_append_new(split, one);
		}
	json_object_set_new(plan, "boots", split);
	assert_int_equal(json_dump_file(run, path, 0), 0);
	json_decref(run);
}

/* Repeats in boots of their own add up like those of one boot. */
static void a_boot_for_every_trial(void **state)
{
	struct folder f = plain();
	struct dataset *d;

	(void)state;
	f.repeats = 2;
	f.shape = telling;
	folder_make(&f);
	split_boots(&f);
	d = load(&f);
	assert_int_equal(d->ntrials, 24);
	assert_int_equal(d->nok, 24);
	for (size_t cell = 0; cell < 2; cell++)
		for (size_t block = 0; block < 3; block++) {
			const struct observation *b = dataset_baseline(d, cell, 1, block);
			const struct observation *c = dataset_candidate(d, cell, 1, block);
			double want = 1000 * ((double)cell + 1) + 10 * ((double)block + 1) + 1.5; /* of repeats 1 and 2 */

			assert_true(b->planned == 2 && b->ok == 2 && c->planned == 2 && c->ok == 2);
			assert_true(fabs(b->value[METRIC_IOPS] - want - 100) < 1e-9);
			assert_true(fabs(c->value[METRIC_IOPS] - want - 200) < 1e-9);
			assert_false(b->mismatch || c->mismatch);
		}
	dataset_free(d);
	folder_remove(&f);
}

static void every_trial_finds_its_place(void **state)
{
	struct folder f = plain();
	struct dataset *d;

	(void)state;
	f.shape = telling;
	folder_make(&f);
	d = load(&f);
	assert_int_equal(d->nvariants, 2);
	assert_int_equal(d->ncells, 2);
	assert_int_equal(d->nblocks, 3);
	assert_int_equal(d->ntrials, 12);
	assert_int_equal(d->nok, 12);
	assert_int_equal(d->nproblems, 0);
	assert_int_equal(d->fail_on, FAIL_STALLED | FAIL_CORRUPT);
	for (size_t cell = 0; cell < 2; cell++) {
		for (size_t block = 0; block < 3; block++) {
			const struct observation *b = dataset_baseline(d, cell, 1, block);
			const struct observation *c = dataset_candidate(d, cell, 1, block);
			double want = 1000 * ((double)cell + 1) + 10 * ((double)block + 1) + 1;

			assert_int_equal(b->status, OBSERVED_OK);
			assert_true(b->value[METRIC_IOPS] == want + 100);
			assert_true(c->value[METRIC_IOPS] == want + 200);
			assert_true(b->planned == 1 && b->ok == 1 && b->boot != c->boot);
		}
	}
	assert_int_equal(json_integer_value(json_object_get(json_object_get(d->seen, "accel"), "tcg")), 12);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(json_array_get(d->effective, 1), "verified"),
							    "ioeventfd = on")), 3);
	assert_true(d->boot_s > 1.899 && d->boot_s < 1.901);
	dataset_free(d);
	folder_remove(&f);
}

static void repeats_are_added_up(void **state)
{
	struct folder f = plain();
	struct dataset *d;

	(void)state;
	f.shape = telling;
	f.repeats = 3;
	folder_make(&f);
	d = load(&f);
	assert_int_equal(d->ntrials, 36);
	assert_int_equal(dataset_candidate(d, 1, 1, 2)->planned, 3);
	/* 2 s each: the mean of 2231, 2232 and 2233 */
	assert_true(fabs(dataset_candidate(d, 1, 1, 2)->value[METRIC_IOPS] - 2232) < 1e-9);
	dataset_free(d);
	folder_remove(&f);
}

static void disks_have_a_baseline_each(void **state)
{
	struct folder f = plain();
	struct dataset *d;

	(void)state;
	f.shape = telling;
	f.pairing = "disks";
	f.variant[2] = "packed";
	folder_make(&f);
	d = load(&f);
	assert_int_equal(d->ntrials, 3 * 2 * 2 * 2);
	for (size_t v = 1; v < 3; v++) {
		assert_int_equal(dataset_baseline(d, 0, v, 1)->planned, 1);
		assert_int_equal(dataset_baseline(d, 0, v, 1)->boot, dataset_candidate(d, 0, v, 1)->boot);
	}
	assert_int_not_equal(dataset_baseline(d, 0, 1, 1)->boot, dataset_baseline(d, 0, 2, 1)->boot);
	assert_true(dataset_candidate(d, 1, 2, 0)->value[METRIC_IOPS] == 2311);
	assert_true(dataset_baseline(d, 1, 2, 0)->value[METRIC_IOPS] == 2111);
	dataset_free(d);
	folder_remove(&f);
}

/* run.json without boot number boot. */
static void remove_boot(const struct folder *f, size_t boot)
{
	char path[300];
	json_t *run;

	snprintf(path, sizeof(path), "%s/run.json", f->path);
	run = json_load_file(path, 0, NULL);
	assert_int_equal(json_array_remove(json_object_get(json_object_get(run, "plan"), "boots"), boot - 1), 0);
	assert_int_equal(json_dump_file(run, path, 0), 0);
	json_decref(run);
}

/* Boots 1 to 6 are of none and kickfd in turn; kickfd lacks its run of block 2. */
static void runs_that_are_not_paired(void **state)
{
	struct folder f = plain();
	struct dataset *d;

	(void)state;
	f.pairing = "none";
	f.repeats = 2;
	f.shape = telling;
	folder_make(&f);
	remove_boot(&f, 4);
	d = load(&f);
	assert_false(d->paired);
	assert_int_equal(d->nblocks, 3);
	assert_int_equal(d->nok, 20);
	assert_int_equal(d->nstray, 4);
	for (size_t run = 0; run < 3; run++)
		assert_true(fabs(dataset_baseline(d, 1, 1, run)->value[METRIC_IOPS] - (2111.5 + 10 * (double)run)) < 1e-9);
	assert_true(fabs(dataset_candidate(d, 1, 1, 0)->value[METRIC_IOPS] - 2211.5) < 1e-9);
	assert_true(fabs(dataset_candidate(d, 1, 1, 1)->value[METRIC_IOPS] - 2231.5) < 1e-9); /* of block 3 */
	assert_int_equal(dataset_candidate(d, 1, 1, 1)->boot, 6);
	assert_int_equal(dataset_candidate(d, 1, 1, 2)->planned, 0);
	assert_true(isnan(dataset_candidate(d, 1, 1, 2)->value[METRIC_IOPS]));
	for (size_t i = 0; i < d->npoints; i++)
		assert_int_equal(d->point[i].block, d->point[i].boot == 6 ? 1 : (d->point[i].boot - 1) / 2);
	dataset_free(d);
	folder_remove(&f);
}

static void told_times(const struct folder_place *at, struct folder_trial *t)
{
	static const char *const started[] = { "2026-01-31T12:00:00.250Z", "2026-01-31T13:00:00+01:00",
					       "2026-01-31T06:30:00.5-05:30", "yesterday", NULL, "2026-01-31T12:00:00 noon" };

	telling(at, t);
	if (at->trial <= 6)
		t->started = started[at->trial - 1];
	if (at->trial == 8)
		t->status = "failed";
}

/* date -u -d 2026-01-31T12:00:00Z +%s gives 1769860800 */
static void trials_in_time(void **state)
{
	static const double want[] = { 1769860800.25, 1769860800, 1769860800.5, NAN, NAN, NAN, 1769860800 };
	struct folder f = plain();
	struct dataset *d;

	(void)state;
	f.repeats = 2;
	f.shape = told_times;
	folder_make(&f);
	d = load(&f);
	assert_int_equal(d->npoints, 23); /* one for each trial that counts, in their order */
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(d->point[i].trial, i + 1);
		assert_true(isnan(want[i]) ? isnan(d->point[i].started) : d->point[i].started == want[i]);
	}
	assert_int_equal(d->point[7].trial, 9);
	/* trial 6: first block, second boot, first repeat, second cell; not added up with the other repeat */
	assert_true(d->point[5].boot == 2 && d->point[5].block == 0 && d->point[5].cell == 1 && d->point[5].variant == 1);
	assert_true(d->point[5].value[METRIC_IOPS] == 2211);
	assert_int_equal(d->nsources, 1);
	assert_string_equal(d->source[0].label, "");
	assert_string_equal(d->source[0].path, f.path);
	assert_ptr_equal(d->source[0].run, d->run);
	dataset_free(d);
	folder_remove(&f);
}

/* Boots of block 1: none = trials 1 2, kickfd = 3 4; block 2: 5 6, 7 8; block 3: 9 10, 11 12. */
static void damaged(const struct folder_place *at, struct folder_trial *t)
{
	switch (at->trial) {
	case 1: t->raw = "{\"schema\":"; break;
	case 2: t->status = NULL; break;
	case 3: t->raw = "{\"schema\":\"kickbench-trial/2\"}"; break;
	case 4: t->status = "stalled"; t->message = "no completion for 30 s"; break;
	case 5: t->raw = "{\"schema\":\"kickbench-trial/1\",\"trial\":6}"; break;
	case 6: t->status = "failed"; break;
	case 7: t->status = "corrupt"; break;
	case 8: t->status = "tired"; break;
	case 9: case 10: t->mismatch = "packed"; break;
	case 11: t->raw = ""; break;
	}
}

static void damage_is_named_and_not_fatal(void **state)
{
	static const struct { unsigned trial; enum observed status; const char *message; } want[] = {
		{ 1, OBSERVED_UNREADABLE, "trials/000001.json:1: " }, { 2, OBSERVED_MISSING, NULL },
		{ 3, OBSERVED_UNREADABLE, "trials/000003.json: written by a newer kickbench (schema kickbench-trial/2; this "
					  "one reads kickbench-trial/1)" },
		{ 4, OBSERVED_STALLED, "no completion for 30 s" },
		{ 5, OBSERVED_UNREADABLE, "it is not the trial that the plan has under this number" },
		{ 6, OBSERVED_FAILED, NULL }, { 7, OBSERVED_CORRUPT, NULL },
		{ 8, OBSERVED_UNREADABLE, "status \"tired\" is not known" }, { 11, OBSERVED_UNREADABLE, "trials/000011.json:" },
	};
	struct folder f = plain();
	struct dataset *d;

	(void)state;
	f.shape = damaged;
	folder_make(&f);
	folder_put(f.path, "trials/000004.cut-1.json", "{}");
	folder_put(f.path, "trials/000004.cut-2.json", "{}");
	folder_put(f.path, "trials/000099.json", "{}");
	folder_put(f.path, "trials/.000012.json.tmp", "{}");
	d = load(&f);
	assert_int_equal(d->nok, 3);
	assert_int_equal(d->ncut, 2);
	assert_int_equal(d->nstray, 1);
	assert_int_equal(d->nproblems, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < d->nproblems; i++) {
		assert_int_equal(d->problem[i].trial, want[i].trial);
		assert_int_equal(d->problem[i].status, want[i].status);
		if (want[i].message)
			assert_non_null(strstr(d->problem[i].message, want[i].message));
		else
			assert_null(d->problem[i].message);
	}
	assert_int_equal(d->problem[3].block, 1);
	assert_int_equal(d->problem[3].variant, 1);
	assert_int_equal(dataset_candidate(d, 0, 1, 1)->status, OBSERVED_CORRUPT);
	assert_int_equal(dataset_candidate(d, 0, 1, 1)->culprit, 7);
	assert_true(isnan(dataset_baseline(d, 1, 1, 0)->value[METRIC_IOPS]));
	/* what the first trial of boot 5 saw holds for its second cell, and for no other boot */
	assert_true(dataset_baseline(d, 0, 1, 2)->mismatch && dataset_baseline(d, 1, 1, 2)->mismatch);
	assert_false(dataset_candidate(d, 1, 1, 2)->mismatch || dataset_baseline(d, 1, 1, 1)->mismatch);
	dataset_free(d);
	folder_remove(&f);
}

static void refused(struct folder *f, const char *run, const char *message)
{
	struct error e = { 0 };
	struct dataset *d;

	if (run)
		folder_put(f->path, "run.json", run);
	assert_int_equal(dataset_load(f->path, &d, &e), -1);
	assert_null(d);
	assert_int_equal(e.status, STATUS_USAGE);
	if (!strstr(e.text, message) || strncmp(e.text, f->path, strlen(f->path)) != 0)
		fail_msg("\"%s\" lacks \"%s\" or the folder", e.text, message);
}

static void an_unreadable_run_is_refused(void **state)
{
	struct folder f = plain();

	(void)state;
	f.primary = "speed";
	folder_make(&f);
	refused(&f, NULL, "there is no metric \"speed\"");
	refused(&f, "", "run.json:1: ");
	refused(&f, "[]", "run.json: this is no kickbench-run document");
	refused(&f, "{\"schema\":\"kickbench-trial/1\"}", "this is no kickbench-run document");
	refused(&f, "{\"schema\":\"kickbench-run/2\"}", "written by a newer kickbench (schema kickbench-run/2");
	refused(&f, "{\"schema\":\"kickbench-run/one\"}", "is not understood");
	refused(&f, "{\"schema\":\"kickbench-run/1\"}", "it names no variants");
	refused(&f, "{\"schema\":\"kickbench-run/1\",\"variants\":[{\"name\":\"a\"}],\"cells\":[{\"name\":1}]}",
		"cells[0]: \"name\" is missing or no text");
	refused(&f, "{\"schema\":\"kickbench-run/1\",\"variants\":[{\"name\":\"a\"}],\"cells\":[{\"name\":\"c\",\"guest\":\"g\"}],"
		    "\"scenario\":{\"name\":\"x\",\"baseline\":\"b\",\"pairing\":\"boots\",\"primary\":\"iops\"}}",
		"there is no variant \"b\"");
	folder_put(f.path, "run.json", "{}");
	unlink(strcat(strcpy((char[300]){ 0 }, f.path), "/run.json"));
	refused(&f, NULL, "run.json: No such file or directory");
	folder_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_trial_finds_its_place),
		cmocka_unit_test(a_boot_for_every_trial),
		cmocka_unit_test(repeats_are_added_up),
		cmocka_unit_test(disks_have_a_baseline_each),
		cmocka_unit_test(runs_that_are_not_paired),
		cmocka_unit_test(trials_in_time),
		cmocka_unit_test(damage_is_named_and_not_fatal),
		cmocka_unit_test(an_unreadable_run_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
