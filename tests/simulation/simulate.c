/*
 * simulate [--experiments N] [--seed S]: experiments whose truth is known, judged by the functions that judge real
 * ones, and beside them by what is usually done: every sample taken as independent. Prints how often each is
 * wrong, for several numbers of blocks, then "N passed, N failed, 0 skipped". Status 1 when a share is beyond what
 * it is held to by more than 3 Monte-Carlo standard errors.
 */
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "host/stats_resample.h"
#include "tests/simulation/cells.h"

#define ALPHA 0.05
#define MARGIN 0.10      /* of equivalence: wide enough that the far limit plays no part at 6 blocks */
#define EFFECT 2.5       /* in deviations of a block's log ratio */
#define POWER 0.9        /* wanted for it at POWER_BLOCKS */
#define POWER_BLOCKS 10
#define ERRORS 3         /* Monte-Carlo standard errors that a share may be off */
#define BOOTSTRAP_DRAWS 999
#define SIGN_FLIP_DRAWS 199

enum { CELLS = 12, SIZES = 4 };

static const size_t sizes[SIZES] = { 6, 8, 10, MOST_BLOCKS };

static const struct noise paired = { .block = 0.02, .boot = { 0.03, 0.03 }, .repeat = 0.01, .paired = true };
/* Two folders of runs: other hours, and a candidate that varies twice as much. */
static const struct noise unpaired = { .block = 0.02, .boot = { 0.03, 0.06 }, .repeat = 0.01 };

/* ---- what is counted ---- */

enum figure {
	ALARM, ALARM_NAIVE, ALARM_NAIVE_EACH,
	COVERED, COVERED_NAIVE,
	FOUND, FOUND_NAIVE,
	SAME, SAME_NAIVE,
	SIGN_FLIP, BOOTSTRAP,
	WELCH_ALARM, WELCH_ALARM_NAIVE, WELCH_COVERED, WELCH_COVERED_NAIVE, WELCH_SAME,
	UNEVEN_ALARM, UNEVEN_ALARM_CAUTIOUS,
	FIGURES
};

static const struct {
	const char *heading, *name, *held_to;
} figures[FIGURES] = {
	[ALARM] = { "no difference: called better or worse in some cell",
		    "paired t on blocks, Holm", "exact value to 0.05" },
	[ALARM_NAIVE] = { NULL, "naive, Holm", "above 0.3" },
	[ALARM_NAIVE_EACH] = { NULL, "naive, cells as if each were the only one", "above 0.3" },
	[COVERED] = { "no difference: 95 % interval holds the truth", "paired t on blocks", "0.93 to 0.97" },
	[COVERED_NAIVE] = { NULL, "naive", "shown only" },
	[FOUND] = { "one cell better by 2.5 deviations of a block: called better",
		    "paired t on blocks, Holm", "exact value; 0.9 at 10" },
	[FOUND_NAIVE] = { NULL, "naive, Holm", "shown only" },
	[SAME] = { "as different as the margin: called same", "paired t on blocks", "0.05" },
	[SAME_NAIVE] = { NULL, "naive", "shown only" },
	[SIGN_FLIP] = { "no difference: p at most 0.05 in one cell", "sign flips (20 blocks: drawn)", "exact value" },
	[BOOTSTRAP] = { "no difference: 95 % interval holds the truth", "BCa bootstrap, a check only", "0.90 to 0.97" },
	[WELCH_ALARM] = { "unpaired, no difference: called better or worse in some cell",
			  "Welch's t on runs, Holm", "at most 0.06" },
	[WELCH_ALARM_NAIVE] = { NULL, "naive, Holm", "above 0.3" },
	[WELCH_COVERED] = { "unpaired, no difference: 95 % interval holds the truth", "Welch's t on runs", "0.93 to 0.97" },
	[WELCH_COVERED_NAIVE] = { NULL, "naive", "shown only" },
	[WELCH_SAME] = { "unpaired, as different as the margin: called same", "Welch's t on runs", "at most 0.055" },
	[UNEVEN_ALARM] = { "unpaired, half as many runs of the candidate, no difference: called better or worse in some cell",
			   "Welch's t on runs, Holm", "shown only" },
	[UNEVEN_ALARM_CAUTIOUS] = { NULL, "the cautious p, Holm", "at most 0.05" },
};

struct share {
	unsigned long hits, trials;
};

struct column {
	size_t blocks;
	struct naive naive;
	struct share share[FIGURES];
};

static void count(struct column *column, enum figure figure, bool hit)
{
	column->share[figure].hits += hit;
	column->share[figure].trials++;
}

/* As compare judges: alarms are adjusted p below alpha. */
static bool any_alarm(const double *p)
{
	double adjusted[CELLS];

	if (stats_holm(p, CELLS, adjusted))
		abort();
	for (int cell = 0; cell < CELLS; cell++)
		if (adjusted[cell] < ALPHA)
			return true;
	return false;
}

static bool called_better(const double *p, int cell, double ratio)
{
	double adjusted[CELLS];

	if (stats_holm(p, CELLS, adjusted))
		abort();
	return adjusted[cell] < ALPHA && ratio > 1;
}

static double sign_flip(const double *d, size_t n, struct random64 *random)
{
	/* 20 blocks could be walked through, but not a thousand times a second. */
	return n < MOST_BLOCKS ? stats_sign_flip(d, n) :
				 stats_sign_flip_sampled(d, n, random64_next(random), SIGN_FLIP_DRAWS, NULL);
}

/* The checks beside the verdict, on one cell. */
static void check_beside(struct column *column, const struct cell *c, struct random64 *random)
{
	double d[MOST_BLOCKS], low, high;
	size_t n = column->blocks;

	cell_log_ratios(c, n, d);
	count(column, SIGN_FLIP, sign_flip(d, n, random) <= ALPHA);
	if (n < STATS_BOOTSTRAP_MIN)
		return;
	if (stats_bootstrap(d, n, random64_next(random), BOOTSTRAP_DRAWS, 0.95, &low, &high))
		abort();
	count(column, BOOTSTRAP, low <= 1 && 1 <= high);
}

static void paired_experiment(struct column *column, struct random64 *random)
{
	double p[CELLS], naive_p[CELLS], effect;
	bool naive_alarm = false;
	size_t n = column->blocks;
	struct cell cell[CELLS];
	struct stats_paired s, naive;

	for (int i = 0; i < CELLS; i++) {
		cell_draw(&cell[i], n, &paired, random);
		judge_paired(&cell[i], n, &s);
		judge_naive(&column->naive, &cell[i], &naive);
		count(column, COVERED, s.low95 <= 1 && 1 <= s.high95);
		count(column, COVERED_NAIVE, naive.low95 <= 1 && 1 <= naive.high95);
		p[i] = s.p;
		naive_p[i] = naive.p;
		naive_alarm |= naive.p < ALPHA;
	}
	count(column, ALARM, any_alarm(p));
	count(column, ALARM_NAIVE, any_alarm(naive_p));
	count(column, ALARM_NAIVE_EACH, naive_alarm);
	check_beside(column, &cell[0], random);

	cell_improve(&cell[1], n, 1 + MARGIN);
	judge_paired(&cell[1], n, &s);
	judge_naive(&column->naive, &cell[1], &naive);
	count(column, SAME, stats_same(&s, MARGIN));
	count(column, SAME_NAIVE, stats_same(&naive, MARGIN));

	/* The first cell is the only one with an effect: the hardest family for Holm. */
	effect = EFFECT * sqrt(2 * (paired.boot[0] * paired.boot[0] + paired.repeat * paired.repeat / REPEATS));
	cell_improve(&cell[0], n, exp(effect));
	judge_paired(&cell[0], n, &s);
	judge_naive(&column->naive, &cell[0], &naive);
	p[0] = s.p;
	naive_p[0] = naive.p;
	count(column, FOUND, called_better(p, 0, s.ratio));
	count(column, FOUND_NAIVE, called_better(naive_p, 0, naive.ratio));
}

static void unpaired_experiment(struct column *column, struct random64 *random)
{
	double p[CELLS], naive_p[CELLS], uneven_p[CELLS], cautious_p[CELLS];
	size_t n = column->blocks;
	struct stats_paired naive;
	struct stats_welch w;
	struct cell cell;

	for (int i = 0; i < CELLS; i++) {
		cell_draw(&cell, n, &unpaired, random);
		judge_unpaired(&cell, n, n / 2, &w);
		uneven_p[i] = w.p;
		cautious_p[i] = w.p_cautious;
		judge_unpaired(&cell, n, n, &w);
		judge_naive(&column->naive, &cell, &naive);
		count(column, WELCH_COVERED, w.low95 <= 1 && 1 <= w.high95);
		count(column, WELCH_COVERED_NAIVE, naive.low95 <= 1 && 1 <= naive.high95);
		p[i] = w.p;
		naive_p[i] = naive.p;
	}
	count(column, WELCH_ALARM, any_alarm(p));
	count(column, WELCH_ALARM_NAIVE, any_alarm(naive_p));
	count(column, UNEVEN_ALARM, any_alarm(uneven_p));
	count(column, UNEVEN_ALARM_CAUTIOUS, any_alarm(cautious_p));
	cell_improve(&cell, n, 1 + MARGIN);
	judge_unpaired(&cell, n, n, &w);
	count(column, WELCH_SAME, stats_welch_same(&w, MARGIN));
}

/* ---- what it is held to ---- */

struct bounds {
	double low, high;
};

/* The cells are independent, so that all is known exactly. */
static double chance_of_alarm(int cells)
{
	return 1 - pow(1 - ALPHA / CELLS, cells);
}

static struct bounds found_bounds(size_t n)
{
	double exact = stats_power(n, EFFECT, 1, ALPHA / CELLS); /* of Holm's first step */
	double most = exact + chance_of_alarm(CELLS - 1);        /* a false alarm first eases the next step */

	if (n == POWER_BLOCKS && exact < POWER)
		exact = POWER;
	return (struct bounds){ exact, most < 1 ? most : 1 };
}

/* p takes whole multiples of its smallest value, all alike likely. */
static struct bounds sign_flip_bounds(size_t n)
{
	double step = n < MOST_BLOCKS ? stats_sign_flip_smallest(n) : 1.0 / (1 + SIGN_FLIP_DRAWS);
	double exact = floor(ALPHA / step + 1e-9) * step;

	return (struct bounds){ exact, exact };
}

static struct bounds bounds_of(enum figure figure, size_t n)
{
	switch (figure) {
	case ALARM:
		return (struct bounds){ chance_of_alarm(CELLS), ALPHA };
	case ALARM_NAIVE:
	case ALARM_NAIVE_EACH:
	case WELCH_ALARM_NAIVE:
		return (struct bounds){ 0.3, 1 };
	case COVERED:
	case WELCH_COVERED:
		return (struct bounds){ 0.93, 0.97 };
	case FOUND:
		return found_bounds(n);
	case SAME:
		return (struct bounds){ 0.05, 0.05 };
	case SIGN_FLIP:
		return sign_flip_bounds(n);
	case BOOTSTRAP:
		return (struct bounds){ 0.90, 0.97 };
	case WELCH_ALARM:
		return (struct bounds){ 0, 0.06 };
	case UNEVEN_ALARM_CAUTIOUS:
		return (struct bounds){ 0, ALPHA };
	case WELCH_SAME:
		return (struct bounds){ 0, 0.055 };
	default:
		return (struct bounds){ 0, 1 };
	}
}

static double standard_error(double share, unsigned long trials)
{
	return sqrt(share * (1 - share) / (double)trials);
}

static bool holds(const struct share *share, struct bounds b)
{
	double is = (double)share->hits / (double)share->trials;

	return is >= b.low - ERRORS * standard_error(b.low, share->trials) &&
	       is <= b.high + ERRORS * standard_error(b.high, share->trials);
}

/* ---- output ---- */

static void print_exact(const char *name, enum figure figure)
{
	printf("    %-44s", name);
	for (int i = 0; i < SIZES; i++)
		printf("%9.4f", figure == FOUND ? stats_power(sizes[i], EFFECT, 1, ALPHA / CELLS) :
						   bounds_of(figure, sizes[i]).low);
	printf("\n");
}

static void print_figure(const struct column *column, enum figure figure)
{
	if (figures[figure].heading)
		printf("%s\n", figures[figure].heading);
	printf("    %-44s", figures[figure].name);
	for (int i = 0; i < SIZES; i++) {
		const struct share *share = &column[i].share[figure];

		if (share->trials)
			printf("%9.4f", (double)share->hits / (double)share->trials);
		else
			printf("%9s", "-");
	}
	printf("  %s\n", figures[figure].held_to);
	if (figure == ALARM)
		print_exact("exact", figure);
	if (figure == FOUND)
		print_exact("exact, Holm's first step: at least", figure);
	if (figure == SIGN_FLIP)
		print_exact("exact", figure);
}

static bool is_held(enum figure figure)
{
	struct bounds b = bounds_of(figure, MOST_BLOCKS);

	return b.low > 0 || b.high < 1;
}

static void print_failure(enum figure figure, size_t n, const struct share *share, struct bounds b)
{
	enum figure first = figure;

	while (!figures[first].heading)
		first--;
	printf("FAIL  %zu blocks: %s: %s: %.4f of %lu; not %.4f to %.4f within %d standard errors\n", n,
	       figures[first].heading, figures[figure].name, (double)share->hits / (double)share->trials, share->trials,
	       b.low, b.high, ERRORS);
}

/* Returns how many failed. */
static unsigned verify(const struct column *column, unsigned *passed)
{
	unsigned failed = 0;

	for (int i = 0; i < SIZES; i++)
		for (enum figure f = 0; f < FIGURES; f++) {
			const struct share *share = &column[i].share[f];
			struct bounds b = bounds_of(f, column[i].blocks);

			if (!is_held(f) || share->trials == 0)
				continue;
			if (holds(share, b)) {
				++*passed;
				continue;
			}
			failed++;
			print_failure(f, column[i].blocks, share, b);
		}
	return failed;
}

static void simulate(struct column *column, unsigned long experiments, uint64_t seed)
{
	size_t n = column->blocks;

	naive_prepare(&column->naive, n);
	for (unsigned long i = 0; i < experiments; i++) {
		struct random64 random = random64_stream(seed, i * (MOST_BLOCKS + 1) + n);

		paired_experiment(column, &random);
		unpaired_experiment(column, &random);
	}
}

static unsigned long whole(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || *text == '-') {
		fprintf(stderr, "simulate: '%s' is not a whole number\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "experiments", required_argument, NULL, 'n' },
						 { "seed", required_argument, NULL, 's' }, { 0 } };
	struct column column[SIZES] = { 0 };
	unsigned long experiments = 1500, seed = 1;
	unsigned passed = 0, failed;

	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (option == '?')
			return 2;
		*(option == 'n' ? &experiments : &seed) = whole(optarg);
	}
	if (optind < argc || experiments < 100) {
		fprintf(stderr, "usage: simulate [--experiments N] [--seed S], N at least 100\n");
		return 2;
	}
	printf("%lu experiments for each number of blocks, seed %lu: %d cells, %d repeats per boot; log-normal noise of a\n"
	       "block %.0f %%, a boot %.0f %%, a repeat %.0f %%; unpaired: the candidate's boots %.0f %%; "
	       "margin %.0f %%\n\n",
	       experiments, seed, CELLS, REPEATS, 100 * paired.block, 100 * paired.boot[0], 100 * paired.repeat,
	       100 * unpaired.boot[1], 100 * MARGIN);
	printf("%-48s", "share of experiments or cells; blocks or runs:");
	for (int i = 0; i < SIZES; i++) {
		column[i].blocks = sizes[i];
		simulate(&column[i], experiments, seed);
		printf("%9zu", sizes[i]);
	}
	printf("  held to\n");
	for (enum figure f = 0; f < FIGURES; f++)
		print_figure(column, f);
	printf("\n%.1f s of processor time\n", (double)clock() / CLOCKS_PER_SEC);
	failed = verify(column, &passed);
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed ? 1 : 0;
}
