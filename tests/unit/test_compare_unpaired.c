/* host/compare.c for runs that no block pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/compare.h"
#include "host/report_json.h"
#include "host/scenario.h"
#include "tests/unit/memory_run.h"

static void close_to(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g", got, want);
}

static void expect(const struct comparison *c, size_t finding, enum verdict verdict, const char *words)
{
	const struct finding *f = &c->finding[finding];
	struct text t = { 0 };

	finding_words(c, f, &t);
	if (f->verdict != verdict || strcmp(text_get(&t), words) != 0)
		fail_msg("finding %zu: %s \"%s\", want %s \"%s\"", finding, verdict_name(f->verdict), text_get(&t),
			 verdict_name(verdict), words);
	text_free(&t);
}

/* A side with fewer runs has no plan for the others. */
static struct dataset *runs(struct memory_run r, unsigned baseline, unsigned candidate)
{
	struct dataset *d;

	r.unpaired = true;
	r.repeats = 1;
	d = memory_dataset(&r);
	for (unsigned cell = 0; cell < r.cells; cell++)
		for (unsigned block = 0; block < r.blocks; block++) {
			if (block >= baseline)
				d->observation[(cell * 2) * r.blocks + block].planned = 0;
			if (block >= candidate)
				d->observation[(cell * 2 + 1) * r.blocks + block].planned = 0;
		}
	return d;
}

static struct comparison *judge(const struct dataset *d)
{
	struct error e = { 0 };
	struct comparison *c;

	if (compare(d, &c, &e))
		fail_msg("%s", e.text);
	return c;
}

static double few(const struct memory_place *at)
{
	static const double value[2][4] = { { 5200, 5400, 5300, 5600 }, { 6100, 6000, 6300, NAN } };

	return value[at->variant][at->block];
}

/*
 * Few and uneven: the interval is Welch's, Holm is given the p of the smaller side's two degrees of freedom. Reference:
 * scipy.stats.ttest_ind(equal_var=False) of the logs, and 2 * scipy.stats.t.sf(6.19604285077735, 2), where Welch's p is
 * 0.00166; permutations counted over all 35 deals.
 */
static void few_or_uneven_runs_have_the_cautious_p(void **state)
{
	struct dataset *d = runs((struct memory_run){ .cells = 1, .blocks = 4, .iops = few }, 4, 3);
	struct comparison *c = judge(d);
	const struct effect *e = &c->finding[0].effect[METRIC_IOPS];

	(void)state;
	assert_int_equal(e->kind, EFFECT_INTERVAL);
	assert_true(e->runs[0] == 4 && e->runs[1] == 3 && e->complete == 3);
	close_to(e->baseline, 5372.98032205494, 1e-6);
	close_to(e->candidate, 6132.07152156345, 1e-6);
	close_to(e->estimate.p, 0.0250723340913826, 1e-12);
	close_to(c->finding[0].holm, 0.0250723340913826, 1e-12);
	close_to(e->estimate.ratio, 1.14127935596425, 1e-12);
	close_to(e->estimate.low95, 1.08019716253406, 1e-10);
	close_to(e->estimate.high95, 1.20581558027293, 1e-10);
	close_to(e->estimate.low90, 1.09315583160153, 1e-10);
	close_to(e->estimate.high90, 1.19152140133755, 1e-10);
	close_to(e->estimate.sd, 0.0401784150328617, 1e-12);
	close_to(c->finding[0].sign_flip, 1 / 35.0, 1e-12);
	assert_int_equal(c->finding[0].draws, 0);
	expect(c, 0, VERDICT_BETTER, "better: 14.1 % more IOPS");
	assert_false(compare_sign_flip_hopeless(c));
	comparison_free(c);
	dataset_free(d);
}

static double three(const struct memory_place *at)
{
	static const double value[2][3] = { { 5200, 5400, 5300 }, { 5700, 5650, 6000 } };

	return value[at->variant][at->block];
}

/*
 * Welch's power would call four runs a side enough, but four are judged by three degrees of freedom: five it takes.
 * Reference: scipy.stats.nct.sf(t.ppf(0.975, n - 1), n - 1, 0.0870389 * sqrt(n) / 0.0375448) is 0.9 from n = 5 on, and
 * with 2n - 2 for n - 1 from n = 4 on. p: 2 * t.sf(0.0870389 * sqrt(3) / 0.0375448, 2).
 */
static void few_runs_need_more_than_welch_says(void **state)
{
	struct dataset *d = runs((struct memory_run){ .cells = 1, .blocks = 3, .iops = three }, 3, 3);
	struct comparison *c = judge(d);

	(void)state;
	assert_int_equal(c->finding[0].verdict, VERDICT_UNCLEAR);
	close_to(c->finding[0].effect[METRIC_IOPS].estimate.p, 0.0567907760103429, 1e-12);
	assert_int_equal(c->finding[0].blocks_needed, 5);
	comparison_free(c);
	dataset_free(d);
}

static double six(const struct memory_place *at)
{
	static const double value[2][6] = { { 5200, 5400, 5300, 5600, 5150, 5500 }, { 5700, 5450, 6050, 5900, 5350, 5850 } };

	return value[at->variant][at->block];
}

/* Reference: scipy.stats.ttest_ind(equal_var=False) of the logs; permutations counted over all 924 deals. */
static void the_numbers_are_those_of_welch(void **state)
{
	struct dataset *d = runs((struct memory_run){ .cells = 1, .blocks = 6, .iops = six }, 6, 6);
	struct comparison *c = judge(d);
	const struct effect *e = &c->finding[0].effect[METRIC_IOPS];

	(void)state;
	assert_int_equal(e->kind, EFFECT_INTERVAL);
	assert_true(e->runs[0] == 6 && e->runs[1] == 6 && e->complete == 6);
	close_to(e->baseline, 5355.974324644873, 1e-6);
	close_to(e->candidate, 5711.252993885344, 1e-6);
	close_to(e->estimate.p, 0.0239681708478197, 1e-12); /* with five degrees of freedom: 0.0417 */
	close_to(e->estimate.ratio, 1.066333153914816, 1e-12);
	close_to(e->estimate.low95, 1.01073736145961, 1e-10);
	close_to(e->estimate.high95, 1.12498700304882, 1e-10);
	close_to(e->estimate.low90, 1.02109150505756, 1e-10);
	close_to(e->estimate.high90, 1.11357933104519, 1e-10);
	close_to(c->finding[0].sign_flip, 24 / 924.0, 1e-12);
	expect(c, 0, VERDICT_BETTER, "better: 6.6 % more IOPS");
	comparison_free(c);
	dataset_free(d);
}

static void single_runs_have_a_direction_and_no_verdict(void **state)
{
	struct dataset *d = runs((struct memory_run){ .cells = 1, .blocks = 4, .iops = few }, 4, 1);
	struct comparison *c = judge(d);
	const struct effect *e = &c->finding[0].effect[METRIC_IOPS];

	(void)state;
	assert_int_equal(e->kind, EFFECT_SINGLE);
	assert_true(isnan(e->estimate.p) && isnan(e->estimate.low95) && isnan(c->finding[0].holm) && isnan(c->finding[0].sign_flip));
	expect(c, 0, VERDICT_SINGLE, "single runs: 13.5 % more IOPS, direction only"); /* 6100 to (5200 5400 5300 5600)^(1/4) */
	assert_string_equal(effect_direction(e, METRIC_IOPS), "up: better");
	assert_string_equal(effect_direction(e, METRIC_CLAT_P50), "up: worse");
	assert_int_equal(compare_fail(c, 31), 0);
	comparison_free(c);
	dataset_free(d);
}

static double uneven(const struct memory_place *at)
{
	return (at->variant ? 6000 : 5000) * exp(0.05 * memory_noise(3, at));
}

/* Of 184756 deals 99999 are drawn, of 1001 all are looked at; what was planned is the lesser side's, as what is there. */
static void json_tells_what_was_drawn_and_planned(void **state)
{
	static const struct { unsigned runs[2]; bool sampled; } cases[] = { { { 10, 10 }, true }, { { 10, 4 }, false } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct dataset *d = runs((struct memory_run){ .cells = 1, .blocks = 10, .iops = uneven }, cases[i].runs[0],
					 cases[i].runs[1]);
		struct comparison *c = judge(d);
		json_t *report = report_json(c), *finding = json_array_get(json_object_get(report, "findings"), 0);
		const json_t *blocks = json_object_get(finding, "blocks");

		assert_int_equal(json_is_true(json_object_get(finding, "sign_flip_sampled")), cases[i].sampled);
		assert_int_equal(json_integer_value(json_object_get(blocks, "planned")), cases[i].runs[1]);
		assert_int_equal(json_integer_value(json_object_get(blocks, "complete")), cases[i].runs[1]);
		json_decref(report);
		comparison_free(c);
		dataset_free(d);
	}
}

/* Nothing at all, and one where two were planned. */
static void a_side_that_lacks_runs_is_incomplete(void **state)
{
	struct dataset *d = runs((struct memory_run){ .cells = 1, .blocks = 4, .iops = few }, 4, 0);
	struct comparison *c = judge(d);

	(void)state;
	expect(c, 0, VERDICT_INCOMPLETE, "incomplete: 4 of 4 runs of none, 0 of 0 of kickfd");
	close_to(c->finding[0].effect[METRIC_IOPS].baseline, 5372.98032205494, 1e-6);
	comparison_free(c);
	dataset_free(d);
	d = runs((struct memory_run){ .cells = 1, .blocks = 4, .iops = few }, 4, 4);
	c = judge(d);
	expect(c, 0, VERDICT_INCOMPLETE, "incomplete: 4 of 4 runs of none, 3 of 4 of kickfd; so far 14.1 % more IOPS");
	comparison_free(c);
	dataset_free(d);
}

static void a_metric_that_one_side_lacks_is_named(void **state)
{
	struct dataset *d = runs((struct memory_run){ .cells = 1, .blocks = 4, .iops = few }, 4, 3);
	struct comparison *c;

	(void)state;
	for (unsigned block = 0; block < 4; block++)
		d->observation[block].value[METRIC_HOST_CPU] = 100;
	d->primary = METRIC_HOST_CPU;
	c = judge(d);
	expect(c, 0, VERDICT_INCOMPLETE, "incomplete: no data on host CPU per I/O from kickfd");
	close_to(c->finding[0].effect[METRIC_HOST_CPU].baseline, 100, 1e-9);
	assert_true(isnan(c->finding[0].effect[METRIC_HOST_CPU].candidate));
	comparison_free(c);
	dataset_free(d);
}

/* cell 0: the same but for 0.1 % of noise; cell 1: 10 % of noise. */
static double same_and_unclear(const struct memory_place *at)
{
	return 6000 * exp((at->cell ? 0.1 : 0.001) * memory_noise(7, at));
}

static void same_and_unclear_as_with_blocks(void **state)
{
	struct dataset *d = runs((struct memory_run){ .cells = 2, .blocks = 6, .iops = same_and_unclear }, 6, 6);
	struct comparison *c = judge(d);
	struct text t = { 0 };

	(void)state;
	assert_int_equal(c->finding[0].verdict, VERDICT_SAME);
	assert_int_equal(c->finding[1].verdict, VERDICT_UNCLEAR);
	finding_words(c, &c->finding[1], &t);
	assert_non_null(strstr(text_get(&t), " runs per side would settle it"));
	text_free(&t);
	assert_string_equal(effect_direction(&c->finding[1].effect[METRIC_IOPS], METRIC_IOPS), "");
	comparison_free(c);
	dataset_free(d);
}

/* 400 comparisons of one thing with itself, six runs of each side, four cells: at most 5 % may find a difference. */
static uint64_t world;
static double nothing(const struct memory_place *at)
{
	return 6000 * exp(0.05 * memory_noise(world, at));
}

static void false_alarms_are_as_rare_as_promised(void **state)
{
	unsigned alarms = 0;

	(void)state;
	for (world = 1; world <= 400; world++) {
		struct dataset *d = runs((struct memory_run){ .cells = 4, .blocks = 6, .iops = nothing }, 6, 6);
		struct comparison *c = judge(d);

		alarms += compare_fail(c, FAIL_WORSE | FAIL_BETTER) != 0;
		comparison_free(c);
		dataset_free(d);
	}
	print_message("%u of 400 comparisons found what is not there\n", alarms);
	assert_in_range(alarms, 0, 33); /* 20 and three deviations of it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_or_uneven_runs_have_the_cautious_p),
		cmocka_unit_test(few_runs_need_more_than_welch_says),
		cmocka_unit_test(the_numbers_are_those_of_welch),
		cmocka_unit_test(single_runs_have_a_direction_and_no_verdict),
		cmocka_unit_test(json_tells_what_was_drawn_and_planned),
		cmocka_unit_test(a_side_that_lacks_runs_is_incomplete),
		cmocka_unit_test(a_metric_that_one_side_lacks_is_named),
		cmocka_unit_test(same_and_unclear_as_with_blocks),
		cmocka_unit_test(false_alarms_are_as_rare_as_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
