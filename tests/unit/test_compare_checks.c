/* host/compare_checks.c and compare_advice.c: what warns, what does not, what is advised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/compare.h"
#include "tests/unit/memory_run.h"

static uint64_t seed; /* of the noise, which a test may change from run to run */

static struct comparison *judge(struct memory_run r, struct dataset **d)
{
	struct error e = { 0 };
	struct comparison *c;

	r.repeats = r.repeats ? r.repeats : 1;
	*d = memory_dataset(&r);
	if (compare(*d, &c, &e))
		fail_msg("%s", e.text);
	return c;
}

static void release(struct comparison *c, struct dataset *d)
{
	comparison_free(c);
	dataset_free(d);
}

static size_t find(char *const *list, size_t count, const char *piece)
{
	size_t i = 0;

	while (i < count && !strstr(list[i], piece))
		i++;
	return i;
}

static void has(char *const *list, size_t count, const char *piece)
{
	if (find(list, count, piece) < count)
		return;
	for (size_t i = 0; i < count; i++)
		print_error("%s\n", list[i]);
	fail_msg("none of %zu sentences says \"%s\"", count, piece);
}

static void has_not(char *const *list, size_t count, const char *piece)
{
	size_t i = find(list, count, piece);

	if (i < count)
		fail_msg("\"%s\" says \"%s\"", list[i], piece);
}

/* Blocks differ by 5 %, boots within a block by 1 %; no effect. */
static double quiet(const struct memory_place *at)
{
	struct memory_place block = { .block = at->block };

	return 6000 * exp(0.05 * memory_noise(seed + 1, &block) + 0.01 * memory_noise(seed + 2, at));
}

/* The candidate loses 2 % per block in cell 1. */
static double drifting(const struct memory_place *at)
{
	return quiet(at) * (at->cell == 1 && at->variant == 1 ? exp(-0.02 * at->block) : 1);
}

static void a_drifting_effect_is_named(void **state)
{
	struct dataset *d;
	struct comparison *c = judge((struct memory_run){ .cells = 4, .blocks = 12, .iops = drifting }, &d);

	(void)state;
	has(c->warning, c->nwarnings, "the effect drifts: in cell 1 the ratio of kickfd to none falls by ");
	has_not(c->warning, c->nwarnings, "resemble");
	release(c, d);
}

/* Both sides lose 2 % per block: the pairing takes care of it. */
static double both_drifting(const struct memory_place *at)
{
	return 6000 * exp(0.01 * memory_noise(3, at) - 0.02 * at->block);
}

static void a_drift_of_both_sides_is_told_from_one_of_the_effect(void **state)
{
	struct dataset *d;
	struct comparison *c = judge((struct memory_run){ .cells = 2, .blocks = 12, .iops = both_drifting }, &d);

	(void)state;
	has(c->warning, c->nwarnings, "; the pairing removes what both sides of a block share");
	has(c->warning, c->nwarnings, "; so in 1 more comparison");
	has_not(c->warning, c->nwarnings, "the effect drifts");
	release(c, d);
	c = judge((struct memory_run){ .cells = 2, .blocks = 12, .unpaired = true, .iops = both_drifting }, &d);
	has(c->warning, c->nwarnings, "per run (p ");
	has(c->warning, c->nwarnings, "the interval is not what it says");
	release(c, d);
}

/* Ratios of a random walk that comes back: a sine of period 16 below noise of a tenth of it. */
static double waves(const struct memory_place *at)
{
	return 6000 * exp(0.01 * memory_noise(5, at) + (at->variant ? 0.1 * sin(at->block * 0.3926991) : 0));
}

static void neighbours_that_resemble_each_other_are_named(void **state)
{
	struct dataset *d;
	struct comparison *c = judge((struct memory_run){ .cells = 1, .blocks = 32, .iops = waves }, &d);

	(void)state;
	has(c->warning, c->nwarnings, "blocks resemble their neighbours: in cell 0 the correlation of one with the next is +0.");
	has(c->warning, c->nwarnings, "the interval is too narrow");
	release(c, d);
}

static double one_outlier(const struct memory_place *at)
{
	return at->cell == 2 && at->variant == 1 && at->block == 4 ? 2112 : 6120 * quiet(at) / 6000;
}

static void an_outlier_is_named_and_kept(void **state)
{
	struct dataset *d;
	struct comparison *c = judge((struct memory_run){ .cells = 4, .blocks = 8, .iops = one_outlier }, &d);

	(void)state;
	has(c->warning, c->nwarnings, "far from all others, and kept: cell 2, block 5, kickfd: 2112 against 6");
	assert_int_equal(c->finding[2].effect[METRIC_IOPS].complete, 8);
	assert_true(c->finding[2].effect[METRIC_IOPS].candidate < 5600); /* (2112 / 6120)^(1/8) = 0.876 */
	release(c, d);
}

/* One ratio of twenty-four is 3, skewed as no t interval is. */
static double skewed(const struct memory_place *at)
{
	return at->variant == 1 && at->block == 7 ? 18000 : quiet(at);
}

static void a_bootstrap_that_disagrees_is_told(void **state)
{
	struct dataset *d;
	struct comparison *c = judge((struct memory_run){ .cells = 1, .blocks = 24, .iops = skewed }, &d);

	(void)state;
	has(c->warning, c->nwarnings, "the bootstrap (BCa) disagrees with the t interval in 1 comparison by more than 20 % of its width: cell 0 has ");
	release(c, d);
	c = judge((struct memory_run){ .cells = 1, .blocks = 24, .iops = quiet }, &d);
	has_not(c->warning, c->nwarnings, "bootstrap");
	release(c, d);
}

/* Each kind of check is to raise a false alarm in at most one run of twenty; here 400 runs of 12 cells and 20 blocks. */
static void quiet_runs_raise_few_alarms(void **state)
{
	static const char *const kind[] = { "drift", "resemble", "far from", "bootstrap" };
	unsigned alarms[4] = { 0 };

	(void)state;
	for (unsigned run = 0; run < 400; run++) {
		struct dataset *d;
		struct comparison *c;

		seed = 1000 + 10 * run;
		c = judge((struct memory_run){ .cells = 12, .blocks = 20, .iops = quiet }, &d);
		for (int k = 0; k < 4; k++)
			alarms[k] += find(c->warning, c->nwarnings, kind[k]) < c->nwarnings;
		release(c, d);
	}
	seed = 0;
	print_message("false alarms in 400 runs: %u drift, %u dependence, %u outliers, %u bootstrap\n", alarms[0], alarms[1],
		      alarms[2], alarms[3]);
	/* drift has two sentences, of 5 % together; 5 % of 400 is 20, and three deviations of it 13 more */
	for (int k = 0; k < 4; k++)
		assert_in_range(alarms[k], 0, 33);
}

/* In cell 1 the candidate is 30 % faster, in odd blocks alone. */
static double odd_blocks_faster(const struct memory_place *at)
{
	return quiet(at) * (at->cell == 1 && at->variant == 1 && at->block % 2 ? 1.3 : 1);
}

static void hosts_that_disagree_are_named(void **state)
{
	struct memory_run r = { .cells = 2, .blocks = 12, .repeats = 1, .iops = odd_blocks_faster };
	struct error e = { 0 };
	struct comparison *c;
	struct dataset *d;

	(void)state;
	for (int shared = 0; shared < 3; shared++) {
		d = memory_dataset(&r);
		d->nhosts = shared ? 2 : 0;
		d->host = shared ? calloc(2, sizeof(*d->host)) : NULL;
		d->block_host = shared ? calloc(12, sizeof(*d->block_host)) : NULL;
		for (unsigned b = 0; shared && b < 12; b++)
			d->block_host[b] = shared == 1 ? b % 2 : b / 2 % 2; /* the second has as many odd blocks on either */
		if (shared) {
			d->host[0] = "slow";
			d->host[1] = "fast";
		}
		if (compare(d, &c, &e))
			fail_msg("%s", e.text);
		if (shared == 1) {
			has(c->warning, c->nwarnings, "the hosts disagree: in cell 1 the ratio of kickfd to none is ");
			has(c->warning, c->nwarnings, " on slow (6 blocks) and 1.3");
			has(c->warning, c->nwarnings, " on fast (6 blocks) (F test");
			has_not(c->warning, c->nwarnings, "in cell 0 the ratio");
		} else {
			has_not(c->warning, c->nwarnings, "the hosts disagree");
		}
		release(c, d);
	}
}

static void beyond_twenty_blocks_signs_are_sampled(void **state)
{
	struct dataset *d;
	struct comparison *c = judge((struct memory_run){ .cells = 2, .blocks = 30, .iops = drifting }, &d), *again;

	(void)state;
	assert_true(c->finding[0].draws >= 999 && c->finding[0].draws * 30 <= 20000000);
	/* cell 1 lost up to 58 %: of 100,000 draws none is as far; cell 0 has nothing */
	assert_true(c->finding[1].sign_flip < 0.001);
	assert_true(c->finding[0].sign_flip > 0.01 && fabs(c->finding[0].sign_flip - c->finding[0].effect[METRIC_IOPS].estimate.p) < 0.05);
	if (compare(d, &again, &(struct error){ 0 }))
		fail_msg("a second comparison failed");
	assert_true(again->finding[0].sign_flip == c->finding[0].sign_flip);
	comparison_free(again);
	release(c, d);
	c = judge((struct memory_run){ .cells = 2, .blocks = 20, .iops = drifting }, &d);
	assert_int_equal(c->finding[0].draws, 0);
	release(c, d);
}

/* ---- advice ---- */

static double boots_differ(const struct memory_place *at)
{
	struct memory_place boot = { at->cell, at->variant, at->block, 0 };

	return 6000 * exp(0.10 * memory_noise(21, &boot) + 0.01 * memory_noise(22, at));
}

static double repeats_differ(const struct memory_place *at)
{
	return 6000 * exp(0.10 * memory_noise(22, at));
}

static void the_spread_decides_between_boots_and_repeats(void **state)
{
	struct memory_run r = { .cells = 6, .blocks = 20, .repeats = 4, .iops = boots_differ };
	struct dataset *d;
	struct comparison *c = judge(r, &d);

	(void)state;
	has(c->advice, c->nadvice, "99 % of the variance of IOPS is between boots, 1 % between the repeats of a boot: more blocks help, more "
				   "repeats hardly do");
	release(c, d);
	r.boot_s = 5;
	r.trial_s = 2; /* a repeat of six cells: 12 s, so sqrt(5/12 x 0.01) repeats: one */
	c = judge(r, &d);
	has(c->advice, c->nadvice, "with 1 repeat per boot the same time gives a narrower interval");
	release(c, d);
	r.iops = repeats_differ;
	c = judge(r, &d);
	has(c->advice, c->nadvice, "of the variance of IOPS is between boots");
	has_not(c->advice, c->nadvice, "repeats hardly do");
	release(c, d);
}

/* Components of one standard deviation each: sqrt(800 s / 12 s x 1) repeats pay, about 8. */
static double alike(const struct memory_place *at)
{
	struct memory_place boot = { at->cell, at->variant, at->block, 0 };

	return 6000 * exp(0.05 * memory_noise(31, &boot) + 0.05 * memory_noise(32, at));
}

static void dear_boots_ask_for_repeats(void **state)
{
	struct dataset *d;
	struct comparison *c = judge((struct memory_run){ .cells = 6, .blocks = 40, .repeats = 4, .boot_s = 800, .trial_s = 2, .iops = alike }, &d);
	double best;
	size_t i = find(c->advice, c->nadvice, "about ");

	(void)state;
	has(c->advice, c->nadvice, "(a boot costs 8e+02 s, a repeat of its cells 12 s)");
	assert_int_equal(sscanf(strstr(c->advice[i], "about "), "about %lf", &best), 1);
	assert_true(best >= 7 && best <= 10);
	release(c, d);
}

static void unclear_cells_are_counted(void **state)
{
	struct dataset *d;
	struct comparison *c = judge((struct memory_run){ .cells = 3, .blocks = 8, .iops = repeats_differ }, &d);
	size_t most = 0;
	char words[64];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		most = c->finding[i].blocks_needed > most ? c->finding[i].blocks_needed : most;
	snprintf(words, sizeof(words), "a new run of about %zu blocks settles the 3 unclear comparisons", most);
	has(c->advice, c->nadvice, words);
	release(c, d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_drifting_effect_is_named),
		cmocka_unit_test(a_drift_of_both_sides_is_told_from_one_of_the_effect),
		cmocka_unit_test(neighbours_that_resemble_each_other_are_named),
		cmocka_unit_test(an_outlier_is_named_and_kept),
		cmocka_unit_test(a_bootstrap_that_disagrees_is_told),
		cmocka_unit_test(quiet_runs_raise_few_alarms),
		cmocka_unit_test(hosts_that_disagree_are_named),
		cmocka_unit_test(beyond_twenty_blocks_signs_are_sampled),
		cmocka_unit_test(the_spread_decides_between_boots_and_repeats),
		cmocka_unit_test(dear_boots_ask_for_repeats),
		cmocka_unit_test(unclear_cells_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
