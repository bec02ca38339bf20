/* host/selftest.c: false alarms and noise of A against A. Reference values: SciPy 1.17 (beta.ppf, ttest_1samp), Holm by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/selftest.h"
#include "tests/unit/run_folder.h"

static void close_to(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g", got, want);
}

static void the_interval_of_a_share_is_clopper_and_pearsons(void **state)
{
	static const struct { size_t hits, n; double low, high; } known[] = {
		{ 0, 8, 0, 0.3694166475528192 }, { 1, 8, 0.0031597235312519063, 0.5265096708752065 },
		{ 3, 20, 0.0320709371854637, 0.37892682654531396 }, { 20, 20, 0.8315665290169146, 1 },
		{ 58, 2000, 0.022092952440984793, 0.03732942847232325 },
	};
	double low, high;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		selftest_binomial(known[i].hits, known[i].n, 0.95, &low, &high);
		close_to(low, known[i].low, 1e-12);
		close_to(high, known[i].high, 1e-12);
	}
	selftest_binomial(0, 0, 0.95, &low, &high);
	assert_true(isnan(low) && isnan(high));
}

static const double three_cells[] = {
	0.021, -0.013, 0.034, 0.017, -0.008, 0.026,
	0.11, -0.02, 0.07, 0.05, 0.09, 0.13,
	0.3, -0.1, 0.2, -0.25, 0.05, 0.01,
};

static void every_deal_is_judged_as_a_run_is(void **state)
{
	struct selftest_deals out;

	(void)state;
	assert_int_equal(selftest_deals(three_cells, 3, 6, 0.05, 0, 1, &out), 0);
	assert_true(out.all);
	assert_int_equal(out.deals, 32);
	assert_int_equal(out.with_verdict, 2);
	assert_int_equal(out.tests, 96);
	assert_int_equal(out.below, 6);
	/* a smallest effect that counts: one of the two deals has a mean of 0.024 */
	assert_int_equal(selftest_deals(three_cells, 3, 6, 0.05, 0.05, 1, &out), 0);
	assert_int_equal(out.with_verdict, 1);
	assert_int_equal(out.below, 6);
}

/* The smallest p of any deal of the second row is 0.0050054, the next 0.0212944. */
static void a_cell_without_a_test_belongs_to_the_family(void **state)
{
	static const struct { size_t cells, with_verdict; } known[] = { { 1, 2 }, { 2, 2 }, { 3, 1 }, { 9, 1 }, { 10, 0 } };
	double cells[10 * 6];

	(void)state;
	for (size_t i = 0; i < 60; i++)
		cells[i] = i < 6 ? three_cells[6 + i] : NAN;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct selftest_deals out;

		assert_int_equal(selftest_deals(cells, known[i].cells, 6, 0.05, 0, 1, &out), 0);
		assert_int_equal(out.tests, 32);
		assert_int_equal(out.with_verdict, known[i].with_verdict);
	}
}

/* Normal noise: the chance of a verdict is the level, whatever the number of blocks; more blocks are drawn from, not walked. */
static void many_blocks_are_sampled(void **state)
{
	double row[20];
	struct selftest_deals one, again, other;

	(void)state;
	for (unsigned i = 0; i < 20; i++) /* normal quantiles in a scattered order */
		row[i] = stats_normal_quantile((0.5 + (i * 7) % 20) / 20);
	assert_int_equal(selftest_deals(row, 1, 20, 0.05, 0, 7, &one), 0);
	assert_false(one.all);
	assert_int_equal(one.deals, SELFTEST_DRAWS);
	assert_int_equal(one.with_verdict, one.below);
	/* exact sign-flip theory and t agree closely here: 5 % of 4096 is 205, its deviation 14 */
	assert_in_range(one.with_verdict, 149, 261);
	selftest_deals(row, 1, 20, 0.05, 0, 7, &again);
	assert_int_equal(again.with_verdict, one.with_verdict);
	selftest_deals(row, 1, 20, 0.05, 0, 8, &other);
	assert_int_not_equal(other.with_verdict, one.with_verdict);
}

static void too_few_blocks_have_no_verdict(void **state)
{
	struct selftest_deals out;

	(void)state;
	assert_int_equal(selftest_deals(three_cells, 3, 0, 0.05, 0, 1, &out), 0);
	assert_int_equal(out.deals, 0);
	assert_int_equal(selftest_deals(three_cells, 3, 1, 0.05, 0, 1, &out), 0);
	assert_int_equal(out.deals, 1);
	assert_int_equal(out.tests, 0);
	assert_int_equal(out.with_verdict, 0);
}

/*
 * Boots 1, 2, 3 of cell 0 with logs (0, 2), (4, 6), (2, 4): means 1, 5, 3, so the mean squares are 2 (4 + 4 + 0) / 2 = 8 between
 * and 6/3 = 2 within: within 2, between (8 - 2)/2 = 3.
 */
static void noise_is_split_by_boots(void **state)
{
	static const double logs[] = { 0, 2, 4, 6, 2, 4 };
	struct point point[9] = { 0 };
	struct stats_variance v;

	(void)state;
	for (unsigned i = 0; i < 9; i++) {
		point[i].boot = i / 2 + 1;
		point[i].variant = i / 2 % 2;
		point[i].value[METRIC_IOPS] = exp(logs[i % 6]);
	}
	point[6].cell = 1;                /* another cell's */
	point[7].value[METRIC_IOPS] = 0;  /* no logarithm */
	point[8].value[METRIC_IOPS] = NAN;
	assert_int_equal(selftest_split(point, 9, 0, METRIC_IOPS, &v), 0);
	assert_int_equal(v.values, 6);
	assert_int_equal(v.groups, 3);
	close_to(v.between_var, 3, 1e-12);
	close_to(v.within_var, 2, 1e-12);
	assert_int_equal(selftest_split(point, 0, 0, METRIC_IOPS, &v), 0);
	assert_true(isnan(v.within_var));
}

/* ---- the account ---- */

static void tell(struct folder f, struct text *out, size_t *false_verdicts)
{
	struct comparison *c = NULL;
	struct dataset *d;
	struct error e = { 0 };

	f.blocks = 8;
	f.repeats = 1;
	f.pairing = "boots";
	f.primary = "iops";
	f.variant[0] = "a";
	f.variant[1] = "a-again";
	folder_make(&f);
	if (dataset_load(f.path, &d, &e) || compare(d, &c, &e))
		fail_msg("%s", e.text);
	folder_remove(&f);
	assert_int_equal(selftest_text(c, out), 0);
	*false_verdicts = selftest_false(c);
	comparison_free(c);
	dataset_free(d);
}

static void contains(const struct text *t, const char *piece)
{
	if (!strstr(text_get(t), piece))
		fail_msg("\"%s\" is not in:\n%s", piece, text_get(t));
}

static void nothing_is_found(void **state)
{
	struct text t = { 0 };
	size_t wrong;

	(void)state;
	tell((struct folder){ .cell = { "one", "two" } }, &t, &wrong);
	assert_int_equal(wrong, 0);
	contains(&t, "a against itself: scenario quick, 8 blocks, 2 cells\n");
	contains(&t, "verdicts     0 of 2 cells worse or better; any at all in at most 5 % of such runs\n");
	contains(&t, "of 128 would have shown a false verdict: ");
	contains(&t, "all 128 deals were judged");
	contains(&t, "This run raised no false alarm.\n");
	contains(&t, "Mind: the load average is 1.7 on 2 CPUs\n");
	text_free(&t);
}

/* One cell 10 % off in every block, the other constant: log ratios of 0.0953 +- 0.01 have sd 0.01069. */
static void one_is_off(const struct folder_place *at, struct folder_trial *t)
{
	t->iops = 5000;
	if (at->variant && at->cell == 0)
		t->iops = 5000 * 1.1 * exp(at->block % 2 ? 0.01 : -0.01);
}

static void a_false_alarm_is_said(void **state)
{
	struct text t = { 0 };
	size_t wrong;
	char line[120];
	double sd = 0.01 * sqrt(8.0 / 7);

	(void)state;
	tell((struct folder){ .cell = { "one", "two" }, .shape = one_is_off }, &t, &wrong);
	assert_int_equal(wrong, 1);
	contains(&t, "verdicts     1 of 2 cells worse or better");
	contains(&t, "uncorrected  1 of 1 cells with p < 0.05: 100.0 % [2.5, 100.0], expected 5 %\n");
	contains(&t, "two   not tested\n");
	contains(&t, "This run raised a false alarm,\nas 5 % of such runs may.\n");
	snprintf(line, sizeof(line), "  one    1.100  0.000     %.1f        %.1f        %.1f       %.2f\n", 100 * (exp(sd) - 1),
		 100 * (stats_detectable(8, sd, 0.05, 0.9, 2) - 1), 100 * (stats_detectable(16, sd, 0.05, 0.9, 2) - 1),
		 100 * (stats_detectable(32, sd, 0.05, 0.9, 2) - 1));
	contains(&t, line);
	text_free(&t);
}

static void all_constant(const struct folder_place *at, struct folder_trial *t)
{
	(void)at;
	t->iops = 5000;
}

static void nothing_can_be_tested(void **state)
{
	struct text t = { 0 };
	size_t wrong;

	(void)state;
	tell((struct folder){ .cell = { "one" }, .shape = all_constant }, &t, &wrong);
	contains(&t, "No cell could be tested: see the report.\n");
	text_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_of_a_share_is_clopper_and_pearsons),
		cmocka_unit_test(every_deal_is_judged_as_a_run_is),
		cmocka_unit_test(a_cell_without_a_test_belongs_to_the_family),
		cmocka_unit_test(many_blocks_are_sampled),
		cmocka_unit_test(too_few_blocks_have_no_verdict),
		cmocka_unit_test(noise_is_split_by_boots),
		cmocka_unit_test(nothing_is_found),
		cmocka_unit_test(a_false_alarm_is_said),
		cmocka_unit_test(nothing_can_be_tested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
