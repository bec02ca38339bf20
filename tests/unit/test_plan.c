/* host/cells.c and plan.c: sweeps, refusals, blocks, balance, times. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/plan.h"
#include "tests/unit/scratch.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define THREE "[scenario]\nbaseline = a\n[variant a]\n[variant b]\n[variant c]\n"
#define TWO "[scenario]\nbaseline = a\n[variant a]\n[variant b]\n"
#define SWEEP "[workload w]\nrw = randread\nbs = 4k, 8k\ndirect = 1\nnumjobs = 1, 2, 4\n"
#define WRITES "[workload x]\nrw = randwrite\nbs = 4k\ntime_based = 1\nruntime = 2\nramp_time = 1\n"

static struct scenario *read_scenario(struct scratch *s, const char *text)
{
	struct scenario *out;
	struct error e = { 0 };

	if (scenario_read(scratch_text(s, "p.ini", text), NULL, 0, &out, &e))
		fail_msg("refused: %s", e.text);
	return out;
}

static struct plan *make(const struct scenario *s, uint64_t seed)
{
	struct plan *p;
	struct error e = { 0 };

	if (plan_make(s, seed, &p, &e))
		fail_msg("refused: %s", e.text);
	return p;
}

static void refuse(struct scratch *scratch, const char *text, int line, const char *piece)
{
	struct scenario *s = read_scenario(scratch, text);
	struct error e = { 0 };
	struct plan *p;
	char place[600];

	if (plan_make(s, 1, &p, &e) == 0)
		fail_msg("planned: %s", text);
	assert_null(p);
	assert_int_equal(e.status, STATUS_USAGE);
	snprintf(place, sizeof(place), "%s/p.ini:%d: ", scratch->folder, line);
	if (!line)
		snprintf(place, sizeof(place), "%s/p.ini: ", scratch->folder);
	if (strncmp(e.text, place, strlen(place)))
		fail_msg("\"%s\" does not begin with \"%s\"", e.text, place);
	holds(e.text, piece);
	scenario_free(s);
}

/* ---- cells ---- */

static void a_sweep_is_spanned_in_order(void **state)
{
	static const char *const names[] = {
		"w bs=4k numjobs=1", "w bs=4k numjobs=2", "w bs=4k numjobs=4", "w bs=8k numjobs=1", "w bs=8k numjobs=2",
		"w bs=8k numjobs=4", "x",
	};
	static const char *const argv[] = { "--name=w", "--rw=randread", "--bs=8k", "--direct=1", "--numjobs=2",
					    "--group_reporting" };
	struct scenario *s = read_scenario(*state, TWO SWEEP WRITES);
	struct plan *p = make(s, 1);

	assert_int_equal(p->ncells, COUNT(names));
	for (size_t i = 0; i < COUNT(names); i++) {
		assert_string_equal(p->cell[i].name, names[i]);
		assert_string_equal(p->cell[i].point, i < 6 ? names[i] + 2 : "");
		assert_int_equal(p->cell[i].workload, i / 6);
		assert_int_equal(p->cell[i].writes, i == 6);
	}
	assert_int_equal(p->cell[4].argc, COUNT(argv));
	for (size_t i = 0; i < COUNT(argv); i++)
		assert_string_equal(p->cell[4].argv[i], argv[i]);
	plan_free(p);
	scenario_free(s);
}

static void an_option_without_value_is_passed_without_one(void **state)
{
	struct scenario *s = read_scenario(*state, TWO "[workload w]\nrw = read\nbs = 4k\ngroup_reporting =\nrandseed = 5\n");
	struct plan *p = make(s, 1);

	assert_int_equal(p->cell[0].argc, 5);
	assert_string_equal(p->cell[0].argv[3], "--group_reporting");
	assert_true(p->cell[0].own_seed);
	plan_free(p);
	scenario_free(s);
}

static void kickios_refusal_is_passed_on(void **state)
{
	refuse(*state, TWO "[workload w]\nrw = sideways\nbs = 4k\n", 5, "[workload w]: ");
	refuse(*state, TWO "[workload w]\nrw = sideways\nbs = 4k\n", 5, "sideways");
	refuse(*state, TWO "[workload w]\nrw = read\nbs = 4k\nnonsense = 1\n", 5, "nonsense");
	refuse(*state, TWO "[workload w]\nrw = read\nbs = 4k\n[workload v]\nrw = read\nbs = 4k\nnumjobs = 1, none\n", 8,
	       "[workload v]: ");
}

static void what_the_suite_sets_itself_is_refused(void **state)
{
	static const char *const keys[] = { "name", "filename", "directory", "output", "output-format", "eta", "eta-newline",
					    "eta-interval", "readonly", "parse-only" };
	char text[256], piece[64];

	for (size_t i = 0; i < COUNT(keys); i++) {
		snprintf(text, sizeof(text), TWO "[workload w]\nrw = read\n%s = x\n", keys[i]);
		snprintf(piece, sizeof(piece), "%s in [workload w]: ", keys[i]);
		refuse(*state, text, 7, piece);
	}
}

static void a_workload_fits_the_smallest_disk(void **state)
{
	static const struct { const char *options; bool fits; } rows[] = {
		{ "size = 64m", true }, { "size = 65m", false }, { "size = 32m\noffset = 32m", true },
		{ "size = 32m\noffset = 33m", false }, { "offset = 64m", false }, { "offset = 63m", true },
		{ "size = 100%", true }, { "size = 100%\noffset = 50%", true }, { "size = 1m\noffset = 18446744073709547520", false },
	};
	char text[512];

	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), TWO "size = 64M\n[workload w]\nrw = read\nbs = 4k\n%s\n", rows[i].options);
		if (rows[i].fits) {
			struct scenario *s = read_scenario(*state, text);

			plan_free(make(s, 1));
			scenario_free(s);
		} else {
			refuse(*state, text, 6, "test disk of 67108864 bytes");
		}
	}
}

static void sweeps_and_plans_without_end_are_refused(void **state)
{
	struct text t = { 0 };

	/* 16^16 points are 2^64: a product that wraps to nothing */
	text_add(&t, TWO "[workload w]\nrw = read\n");
	for (int option = 0; option < 16; option++)
		text_add(&t, "unknown%d = 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n", option);
	refuse(*state, text_get(&t), 5, "more than 10000 cells");
	text_free(&t);
	refuse(*state, "[scenario]\nblocks = 1000\nrepeats = 1000\nbaseline = a\n[variant a]\n[variant b]\n"
	       "[workload w]\nrw = read\nbs = 4k\n", 0, "2000000 trials");
}

/* ---- order ---- */

static bool same_order(const struct plan *a, const struct plan *b)
{
	assert_int_equal(a->ntrials, b->ntrials);
	for (size_t i = 0; i < a->ntrials; i++)
		if (a->trial[i].cell != b->trial[i].cell || a->trial[i].variant != b->trial[i].variant)
			return false;
	return true;
}

static void a_seed_is_a_plan(void **state)
{
	struct scenario *s = read_scenario(*state, THREE SWEEP WRITES);
	struct plan *a = make(s, 42), *b = make(s, 42), *c = make(s, 43);

	assert_int_equal(a->seed, 42);
	assert_true(same_order(a, b));
	assert_false(same_order(a, c));
	assert_true(plan_offset_seed(a, 0, 0) == plan_offset_seed(b, 0, 0));
	assert_true(plan_offset_seed(a, 0, 0) != plan_offset_seed(a, 0, 1));
	assert_true(plan_offset_seed(a, 0, 0) != plan_offset_seed(a, 1, 0));
	assert_true(plan_offset_seed(a, 0, 0) != plan_offset_seed(c, 0, 0));
	assert_true(plan_offset_seed(a, 0, 0) <= INT64_MAX);
	plan_free(a);
	plan_free(b);
	plan_free(c);
	scenario_free(s);
}

/* Every boot of a block: another variant, the same cells in the same order, each repeat whole. */
static void blocks_are_complete(void **state)
{
	struct scenario *s = read_scenario(*state, "[scenario]\nbaseline = a\nblocks = 5\nrepeats = 2\n[variant a]\n"
					   "[variant b]\n[variant c]\n" SWEEP WRITES);
	struct plan *p = make(s, 7);

	assert_int_equal(p->nblocks, 5);
	assert_int_equal(p->nboots, 15);
	assert_int_equal(p->ntrials, 5 * 3 * 7 * 2);
	for (size_t b = 0; b < p->nboots; b++) {
		const struct plan_boot *boot = &p->boot[b], *first = &p->boot[b / 3 * 3];
		unsigned cells = 0;

		assert_int_equal(boot->number, b + 1);
		assert_int_equal(boot->block, b / 3);
		assert_int_equal(boot->ndisks, 1);
		assert_int_equal(boot->ntrials, 14);
		assert_int_equal(boot->first_trial, b * 14);
		for (unsigned k = 0; k < boot->ntrials; k++) {
			const struct plan_trial *t = &p->trial[boot->first_trial + k];

			assert_int_equal(t->number, b * 14 + k + 1);
			assert_int_equal(t->boot, b);
			assert_int_equal(t->block, boot->block);
			assert_int_equal(t->variant, boot->variant[0]);
			assert_int_equal(t->repeat, k / 7);
			assert_int_equal(t->cell, p->trial[first->first_trial + k].cell);
			cells |= 1u << t->cell << (t->repeat * 7);
		}
		assert_int_equal(cells, 0x3fff);
	}
	for (size_t b = 0; b < p->nboots; b += 3)
		assert_int_equal(1u << p->boot[b].variant[0] | 1u << p->boot[b + 1].variant[0] | 1u << p->boot[b + 2].variant[0], 7);
	plan_free(p);
	scenario_free(s);
}

/* Each of 6 orders of 3 variants has 1/6 of 1000 blocks: 166.7, standard deviation 11.8; five of them allowed. */
static void orders_are_balanced(void **state)
{
	struct scenario *s = read_scenario(*state, "[scenario]\nbaseline = a\nblocks = 1000\n[variant a]\n[variant b]\n"
					   "[variant c]\n[workload w]\nrw = read\nbs = 4k, 8k\n");
	struct plan *p = make(s, 11);
	unsigned seen[27] = { 0 }, first_cell = 0;
	int orders = 0;

	for (size_t b = 0; b < p->nboots; b += 3) {
		seen[p->boot[b].variant[0] * 9 + p->boot[b + 1].variant[0] * 3 + p->boot[b + 2].variant[0]]++;
		first_cell += p->trial[p->boot[b].first_trial].cell == 0;
	}
	for (size_t i = 0; i < 27; i++)
		if (seen[i]) {
			orders++;
			assert_in_range(seen[i], 107, 226);
		}
	assert_int_equal(orders, 6);
	assert_in_range(first_cell, 421, 579); /* 500, standard deviation 15.8 */
	plan_free(p);
	scenario_free(s);
}

static void disks_see_every_combination(void **state)
{
	struct scenario *s = read_scenario(*state, "[scenario]\nbaseline = a\nblocks = 8\nrepeats = 2\npairing = disks\n"
					   "[variant a]\n[variant b]\n" SWEEP);

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct plan *p = make(s, seed);
		unsigned combinations[2] = { 0 };

		assert_int_equal(p->nboots, 8);
		assert_int_equal(p->ntrials, 8 * 2 * 6 * 2);
		for (unsigned b = 0; b < 8; b++) {
			const struct plan_boot *boot = &p->boot[b];

			assert_int_equal(boot->ndisks, 2);
			assert_int_equal(boot->variant[0] + boot->variant[1], 1);
			assert_int_equal(boot->file[0] + boot->file[1], 1);
			combinations[b / 4] |= 1u << (boot->variant[0] * 2 + boot->file[0]);
			for (unsigned k = 0; k < boot->ntrials; k += 2) {
				const struct plan_trial *t = &p->trial[boot->first_trial + k];

				assert_int_equal(t[0].cell, t[1].cell);
				assert_int_equal(t[0].repeat, t[1].repeat);
				assert_int_equal(t[0].variant + t[1].variant, 1);
			}
		}
		assert_int_equal(combinations[0], 15);
		assert_int_equal(combinations[1], 15);
		plan_free(p);
	}
	scenario_free(s);
}

static void guests_have_their_own_boots_and_cells(void **state)
{
	struct scenario *s = read_scenario(*state, TWO "[guest one]\n[guest two]\n[workload w]\nrw = read\nbs = 4k, 8k\n");
	struct plan *p = make(s, 3);

	assert_int_equal(p->ncells, 4);
	assert_string_equal(p->cell[0].name, "one: w bs=4k");
	assert_string_equal(p->cell[3].name, "two: w bs=8k");
	assert_int_equal(p->nboots, 8 * 2 * 2);
	assert_int_equal(p->ntrials, 8 * 2 * 4);
	for (size_t b = 0; b < p->nboots; b++) {
		assert_int_equal(p->boot[b].ntrials, 2);
		for (unsigned k = 0; k < 2; k++)
			assert_int_equal(p->cell[p->trial[p->boot[b].first_trial + k].cell].guest, p->boot[b].guest);
	}
	for (size_t b = 0; b < p->nboots; b += 2) /* the boots of a guest in a block stay close together */
		assert_int_equal(p->boot[b].guest, p->boot[b + 1].guest);
	assert_true(plan_offset_seed(p, 1, 0) == plan_offset_seed(p, 1, 2)); /* bs = 4k in both */
	assert_true(plan_offset_seed(p, 1, 0) != plan_offset_seed(p, 1, 3));
	assert_true(plan_offset_seed(p, 1, 0) != plan_offset_seed(p, 0, 0));
	plan_free(p);
	scenario_free(s);
}

/* ---- time ---- */

static void seconds_by_hand(void **state)
{
	static const struct pace pace = { .boot_s = 2, .stop_s = 0.5, .trial_s = 0.25, .iops = 1000, .bandwidth = 1e6,
					  .restore = 1 << 20, .measured = true };
	struct scenario *s;
	struct plan *p;
	bool exact;

	/* 8 blocks, 2 boots; time-based: 3 s a trial; it writes, so 64 s of restoring 64 MiB at 1 MiB/s */
	s = read_scenario(*state, TWO "[disk]\nsize = 64M\n" WRITES);
	p = make(s, 1);
	assert_true(fabs(plan_seconds(s, p, &pace, &exact) - 16 * (2.5 + 0.25 + 3 + 64)) < 1e-6);
	assert_true(exact);
	plan_free(p);
	scenario_free(s);
	/* null-co is never restored */
	s = read_scenario(*state, TWO "[disk]\nbackend = null\n" WRITES);
	p = make(s, 1);
	assert_true(fabs(plan_seconds(s, p, &pace, &exact) - 16 * (2.5 + 0.25 + 3)) < 1e-6);
	plan_free(p);
	scenario_free(s);
	/* 1 MiB of 4 KiB by 2 jobs: 512 I/Os in 0.512 s, 2 MiB in 2.097152 s: the slower one counts, and it is a guess */
	s = read_scenario(*state, TWO "[workload w]\nrw = randread\nbs = 4k\nsize = 1m\nnumjobs = 2\n");
	p = make(s, 1);
	assert_int_equal(p->cell[0].ios, 512);
	assert_int_equal(p->cell[0].bytes, 2 << 20);
	assert_true(fabs(plan_seconds(s, p, &pace, &exact) - 16 * (2.5 + 0.25 + 2.097152)) < 1e-6);
	assert_false(exact);
	plan_free(p);
	scenario_free(s);
	/* at most 10 I/Os; then a runtime that ends it after 1 s */
	s = read_scenario(*state, TWO "[workload w]\nrw = randwrite\nbs = 4k\nsize = 1m\nnumber_ios = 10\n");
	p = make(s, 1);
	assert_int_equal(p->cell[0].ios, 10);
	plan_free(p);
	scenario_free(s);
	/* every pass of a job counts, and the mean of its sizes: 3 MiB of 4 KiB */
	s = read_scenario(*state, TWO "[workload w]\nrw = randread\nbsrange = 2k-6k\nsize = 1m\nloops = 3\n");
	p = make(s, 1);
	assert_int_equal(p->cell[0].bytes, 3 << 20);
	assert_int_equal(p->cell[0].ios, 768);
	plan_free(p);
	scenario_free(s);
	s = read_scenario(*state, TWO "[workload w]\nrw = randread\nbs = 4k\nsize = 64m\nruntime = 1\n");
	p = make(s, 1);
	assert_true(fabs(plan_seconds(s, p, &pace, &exact) - 16 * (2.5 + 0.25 + 1)) < 1e-6);
	plan_free(p);
	scenario_free(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sweep_is_spanned_in_order), TEST(an_option_without_value_is_passed_without_one),
		TEST(kickios_refusal_is_passed_on), TEST(what_the_suite_sets_itself_is_refused),
		TEST(a_workload_fits_the_smallest_disk), TEST(sweeps_and_plans_without_end_are_refused), TEST(a_seed_is_a_plan),
		TEST(blocks_are_complete), TEST(orders_are_balanced), TEST(disks_see_every_combination),
		TEST(guests_have_their_own_boots_and_cells), TEST(seconds_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
