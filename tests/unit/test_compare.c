/* host/compare.c: from observations to verdicts, in the order of gravity, and to the exit status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/compare.h"
#include "host/scenario.h"
#include "tests/unit/run_folder.h"

/* A comparison of a folder that exists only while it is loaded. */
struct judged {
	struct dataset *d;
	struct comparison *c;
};

static struct judged judge_folder(struct folder f)
{
	struct error e = { 0 };
	struct judged j;

	f.repeats = 1;
	f.blocks = f.blocks ? f.blocks : 8;
	f.pairing = f.pairing ? f.pairing : "boots";
	f.primary = f.primary ? f.primary : "iops";
	f.variant[0] = "none";
	f.variant[1] = "kickfd";
	if (!f.cell[0])
		memcpy(f.cell, (const char *[]){ "a", "b", "c", "d" }, 4 * sizeof(f.cell[0]));
	folder_make(&f);
	if (dataset_load(f.path, &j.d, &e) || compare(j.d, &j.c, &e))
		fail_msg("%s", e.text);
	folder_remove(&f);
	return j;
}

static void release(struct judged *j)
{
	comparison_free(j->c);
	dataset_free(j->d);
}

static void expect(const struct judged *j, size_t finding, enum verdict verdict, const char *words)
{
	const struct finding *f = &j->c->finding[finding];
	struct text t = { 0 };

	finding_words(j->c, f, &t);
	if (f->verdict != verdict || strcmp(text_get(&t), words) != 0)
		fail_msg("finding %zu: %s \"%s\", want %s \"%s\"", finding, verdict_name(f->verdict), text_get(&t),
			 verdict_name(verdict), words);
	text_free(&t);
}

static void close_to(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g", got, want);
}

/* a: 1.1, 1.2, 1.1, 1.2 … times as fast; b: the reverse; c: exactly equal but for 0.5 %; d: anything. */
static void four_kinds(const struct folder_place *at, struct folder_trial *t)
{
	static const double factor[4][2] = { { 1.1, 1.2 }, { 1 / 1.1, 1 / 1.2 }, { 1.005, 0.995 }, { 1.2, 0.9 } };

	t->iops = 5000 + 500 * at->block;
	t->clat_ns = 100000 + 1000 * at->block;
	if (at->variant == 1) {
		t->iops *= factor[at->cell][at->block % 2];
		t->clat_ns /= factor[at->cell][at->block % 2];
	}
}

static void the_numbers_are_those_by_hand(void **state)
{
	struct judged j = judge_folder((struct folder){ .shape = four_kinds });
	const struct effect *e = &j.c->finding[0].effect[METRIC_IOPS];
	double mean = (log(1.1) + log(1.2)) / 2, half = (log(1.2) - log(1.1)) / 2, baseline = 0;
	double sd = half * sqrt(8 / 7.0), se = sd / sqrt(8);

	(void)state;
	for (int block = 1; block <= 8; block++)
		baseline += log(5000 + 500 * block) / 8;
	assert_int_equal(e->kind, EFFECT_INTERVAL);
	assert_int_equal(e->complete, 8);
	/* I/Os are whole numbers: that much is lost */
	close_to(e->baseline, exp(baseline), 1e-6 * e->baseline);
	close_to(e->candidate, e->baseline * e->estimate.ratio, 1e-9 * e->baseline);
	close_to(e->estimate.ratio, exp(mean), 1e-5);
	close_to(e->estimate.low95, exp(mean - 2.364624 * se), 1e-5);
	close_to(e->estimate.high95, exp(mean + 2.364624 * se), 1e-5);
	close_to(e->estimate.high90, exp(mean + 1.894579 * se), 1e-5);
	close_to(j.c->finding[0].sign_flip, 2 / 256.0, 1e-12);
	/* a and b share the smallest p of four: both come out as four times it */
	close_to(j.c->finding[0].holm / e->estimate.p, 4, 0.02);
	release(&j);
}

static void verdicts_and_their_words(void **state)
{
	struct judged j = judge_folder((struct folder){ .shape = four_kinds });

	(void)state;
	assert_int_equal(j.c->nfindings, 4);
	expect(&j, 0, VERDICT_BETTER, "better: 14.9 % more IOPS");
	expect(&j, 1, VERDICT_WORSE, "worse: 13.0 % fewer IOPS");
	expect(&j, 2, VERDICT_SAME, "same: equal IOPS, within +-3 %");
	assert_int_equal(j.c->finding[3].verdict, VERDICT_UNCLEAR);
	assert_true(j.c->finding[3].blocks_needed > 8);
	assert_int_equal(compare_fail(j.c, FAIL_STALLED | FAIL_CORRUPT), 0);
	assert_int_equal(compare_fail(j.c, FAIL_WORSE | FAIL_STALLED), FAIL_WORSE);
	assert_int_equal(compare_fail(j.c, 31), FAIL_WORSE | FAIL_BETTER | FAIL_UNCLEAR);
	assert_false(compare_sign_flip_hopeless(j.c));
	release(&j);
}

static void direction_follows_the_metric(void **state)
{
	struct judged j = judge_folder((struct folder){ .shape = four_kinds, .primary = "clat_mean" });

	(void)state;
	expect(&j, 0, VERDICT_BETTER, "better: 13.0 % shorter mean latency");
	expect(&j, 1, VERDICT_WORSE, "worse: 14.9 % longer mean latency");
	release(&j);
}

static void fail_margin_guards_both_sides(void **state)
{
	struct judged j = judge_folder((struct folder){ .shape = four_kinds, .fail_margin = 0.14 });

	(void)state;
	expect(&j, 0, VERDICT_BETTER, "better: 14.9 % more IOPS");
	/* significant, but 13.0 % is not beyond 14 %, nor inside 3 %: no number of blocks changes that */
	expect(&j, 1, VERDICT_UNCLEAR, "unclear: 13.0 % fewer IOPS, -16.3 to -9.5 % (95 %); at this size no run of up to "
				       "10000 blocks would settle it");
	release(&j);
}

/* a: a baseline trial corrupt and a candidate stalled; b: stalled; c: one failed; d: untouched, but block 2's
 * candidate boot had a wrong setting. */
static void obstacles(const struct folder_place *at, struct folder_trial *t)
{
	four_kinds(at, t);
	if (at->block == 2 && at->variant == 1)
		t->mismatch = "event_idx";
	if (at->cell == 0 && at->block == 3)
		t->status = at->variant ? "stalled" : "corrupt";
	if (at->cell == 1 && at->block == 4 && at->variant == 1)
		t->status = "stalled";
	if (at->cell == 2 && at->block == 5 && at->variant == 0)
		t->status = "failed";
}

static void obstacles_come_before_numbers(void **state)
{
	struct judged j = judge_folder((struct folder){ .shape = obstacles });

	(void)state;
	expect(&j, 0, VERDICT_CORRUPT, "corrupt: see trial 17"); /* eight trials a block: the third begins at 17 */
	expect(&j, 1, VERDICT_STALLED, "stalled: see trial 30");
	expect(&j, 2, VERDICT_INCOMPLETE, "incomplete: 7 of 8 blocks; so far 0.07 % more IOPS");
	assert_int_equal(j.c->finding[2].effect[METRIC_IOPS].kind, EFFECT_INTERVAL);
	assert_int_equal(j.c->finding[3].verdict, VERDICT_NOT_EFFECTIVE);
	assert_int_equal(compare_fail(j.c, FAIL_STALLED | FAIL_CORRUPT), FAIL_STALLED | FAIL_CORRUPT);
	assert_int_equal(compare_fail(j.c, FAIL_WORSE | FAIL_BETTER | FAIL_UNCLEAR), 0);
	release(&j);
}

/* a: no block at all, b: one, c: two, d: all. */
static void few(const struct folder_place *at, struct folder_trial *t)
{
	four_kinds(at, t);
	if (at->cell < 3 && at->block > at->cell)
		t->status = NULL;
}

static void incomplete_says_how_much(void **state)
{
	struct judged j = judge_folder((struct folder){ .shape = few });

	(void)state;
	expect(&j, 0, VERDICT_INCOMPLETE, "incomplete: 0 of 8 blocks");
	expect(&j, 1, VERDICT_INCOMPLETE, "incomplete: 1 of 8 blocks; so far 16.7 % fewer IOPS");
	assert_int_equal(j.c->finding[1].effect[METRIC_IOPS].kind, EFFECT_SINGLE);
	expect(&j, 2, VERDICT_INCOMPLETE, "incomplete: 2 of 8 blocks; so far equal IOPS");
	assert_int_equal(j.c->finding[2].effect[METRIC_IOPS].kind, EFFECT_INTERVAL);
	release(&j);
}

static void constant_or_zero(const struct folder_place *at, struct folder_trial *t)
{
	t->iops = at->cell == 3 ? 4000 + 50 * folder_noise(at->trial, 1, 2) : 4000;
	t->interrupts = at->cell == 1 && at->block == 2 ? 0 : 1;
	t->guest_cpu_us = -1;
}

static void constants_and_zeros_are_not_tested(void **state)
{
	struct judged j = judge_folder((struct folder){ .shape = constant_or_zero, .primary = "interrupts_per_io" });

	(void)state;
	expect(&j, 0, VERDICT_NOT_TESTED, "not tested: interrupts per I/O is constant");
	expect(&j, 1, VERDICT_NOT_TESTED, "not tested: interrupts per I/O is zero or below in some block");
	close_to(j.c->finding[1].effect[METRIC_INTERRUPTS].baseline, 7 / 8.0, 1e-12);
	assert_true(isnan(j.c->finding[0].holm) && isnan(j.c->finding[0].sign_flip));
	assert_int_equal(j.c->finding[0].effect[METRIC_GUEST_CPU].kind, EFFECT_NO_DATA);
	assert_int_equal(compare_fail(j.c, 31), 0);
	release(&j);
}

static void few_blocks_make_sign_flips_hopeless(void **state)
{
	struct judged j = judge_folder((struct folder){ .shape = four_kinds, .blocks = 6 });

	(void)state;
	assert_true(compare_sign_flip_hopeless(j.c)); /* 4 x 0.031 */
	release(&j);
	j = judge_folder((struct folder){ .shape = four_kinds, .blocks = 6, .cell = { "a" } });
	assert_false(compare_sign_flip_hopeless(j.c));
	release(&j);
}

/* The baseline drifts by a factor of ten from block to block: only the pairing makes sense of it. */
static void drifting(const struct folder_place *at, struct folder_trial *t)
{
	t->iops = pow(10, 2 + at->block % 4) * (at->variant ? 1.25 : 1) * (1 + 0.01 * folder_noise(at->block, at->variant, 9));
}

static void pairing_removes_what_a_block_shares(void **state)
{
	struct judged j = judge_folder((struct folder){ .shape = drifting, .pairing = "disks", .cell = { "a" } });

	(void)state;
	assert_int_equal(j.c->finding[0].verdict, VERDICT_BETTER);
	close_to(j.c->finding[0].effect[METRIC_IOPS].estimate.ratio, 1.25, 0.02);
	release(&j);
}

static void huge_percentages_are_capped(void **state)
{
	static const struct { double percent; const char *sign, *words; } cases[] = {
		{ 0.123, "", "0.12" }, { 12.34, "", "12.3" }, { 999.4, "", "999" }, { 1000.1, "", "more than 1000" },
		{ INFINITY, "", "more than 1000" }, { -4.56, "+", "-4.6" }, { 4.56, "+", "+4.6" },
		{ 2198749090471614.8, "+", "more than +1000" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char words[PERCENT_TEXT_SIZE];

		percent_text(cases[i].percent, cases[i].sign, words);
		assert_string_equal(words, cases[i].words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_numbers_are_those_by_hand),
		cmocka_unit_test(verdicts_and_their_words),
		cmocka_unit_test(direction_follows_the_metric),
		cmocka_unit_test(fail_margin_guards_both_sides),
		cmocka_unit_test(obstacles_come_before_numbers),
		cmocka_unit_test(incomplete_says_how_much),
		cmocka_unit_test(constants_and_zeros_are_not_tested),
		cmocka_unit_test(few_blocks_make_sign_flips_hopeless),
		cmocka_unit_test(pairing_removes_what_a_block_shares),
		cmocka_unit_test(huge_percentages_are_capped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
