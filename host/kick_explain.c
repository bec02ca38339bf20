#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/kick.h"
#include "host/parse.h"
#include "host/report_layout.h"

enum { CELL = 24, COLUMN = 32 };

struct difference {
	double mean, half; /* ns; half of the 95 % interval; NAN: no data, or one block */
	double variance;   /* of the mean */
	size_t blocks;
};

static struct difference difference(const struct dataset *d, size_t cell, unsigned variant, enum metric metric)
{
	struct difference out = { NAN, NAN, NAN, 0 };
	double sum = 0, squares = 0;

	for (int round = 0; round < 2; round++) { /* the mean, then the squares about it */
		out.blocks = 0;
		for (size_t b = 0; b < d->nblocks; b++) {
			const struct observation *with = dataset_candidate(d, cell, variant, b);
			const struct observation *without = dataset_baseline(d, cell, variant, b);
			double v = with->value[metric] - without->value[metric];

			if (with->status != OBSERVED_OK || without->status != OBSERVED_OK || isnan(v))
				continue;
			out.blocks++;
			if (round == 0)
				sum += v;
			else
				squares += (v - out.mean) * (v - out.mean);
		}
		if (round == 0 && out.blocks)
			out.mean = sum / (double)out.blocks;
	}
	if (out.blocks > 1) {
		out.variance = squares / (double)(out.blocks - 1) / (double)out.blocks;
		out.half = stats_t_quantile(0.975, (double)(out.blocks - 1)) * sqrt(out.variance);
	}
	return out;
}

/* Degrees of freedom: Welch 1947, Satterthwaite 1946. */
static struct difference remains(const struct difference *a, const struct difference *b)
{
	struct difference out = { a->mean - b->mean, NAN, a->variance + b->variance, a->blocks };
	double df;

	if (isnan(out.variance))
		return out;
	df = out.variance * out.variance / (a->variance * a->variance / (double)(a->blocks - 1) +
					    b->variance * b->variance / (double)(b->blocks - 1));
	out.half = out.variance > 0 ? stats_t_quantile(0.975, df) * sqrt(out.variance) : 0;
	return out;
}

static void column(const struct difference *x, struct text *out)
{
	char side[3][METRIC_TEXT_SIZE];
	struct text t = { 0 };

	metric_text(UNIT_NS, x->mean, side[0]);
	metric_text(UNIT_NS, x->mean - x->half, side[1]);
	metric_text(UNIT_NS, x->mean + x->half, side[2]);
	if (isnan(x->mean))
		text_add(&t, "no data");
	else if (isnan(x->half))
		text_add(&t, "%s, one block", side[0]);
	else
		text_add(&t, "%s [%s, %s]", side[0], side[1], side[2]);
	text_add(out, "  ");
	layout_pad(out, text_get(&t), COLUMN);
	text_free(&t);
}

static bool is_one(const char *value)
{
	return !value || strcmp(value, "1") == 0;
}

static uint64_t bytes_of(const struct dataset *d, size_t cell)
{
	const char *bs = kick_option(d, cell, "bs");
	uint64_t bytes = 4096;

	return bs && parse_size(bs, &bytes) ? 0 : bytes;
}

/* "read" or "write" of a cell with one request under way, NULL for another. */
static const char *kind_of(const struct dataset *d, size_t cell)
{
	const char *rw = kick_option(d, cell, "rw");

	if (!is_one(kick_option(d, cell, "iodepth")) || !is_one(kick_option(d, cell, "numjobs")))
		return NULL;
	if (!rw || strcmp(rw, "read") == 0 || strcmp(rw, "randread") == 0)
		return "read";
	return strcmp(rw, "write") == 0 || strcmp(rw, "randwrite") == 0 ? "write" : NULL;
}

/* The probe's cell with one such request; ncells: there is none. */
static size_t probe_cell(const struct dataset *d, const char *kind, uint64_t bytes)
{
	size_t cell;

	for (cell = 0; cell < d->ncells; cell++) {
		const char *op = kick_option(d, cell, "op"), *mode = kick_option(d, cell, "mode");

		if (mode && (strcmp(mode, "all") == 0 || strcmp(mode, "done-irq") == 0) && is_one(kick_option(d, cell, "requests")) &&
		    strcmp(op ? op : "read", kind) == 0 && bytes_of(d, cell) == bytes)
			break;
	}
	return cell;
}

static int check(const struct dataset *d, const char *what, struct error *e)
{
	if (!d->paired)
		return error_set(e, STATUS_USAGE, "--explain: %s is no run with blocks", d->path);
	if (d->nvariants != 2)
		return error_set(e, STATUS_USAGE, "--explain: %s has %zu variants: name the one to explain (%s:VARIANT)", d->path,
				 d->nvariants, what);
	return 0;
}

/* Differences of KVM's and of TCG's are not subtracted. */
static int check_accel(const struct dataset *a, const struct dataset *b, struct error *e)
{
	const json_t *one = json_object_get(a->seen, "accel"), *other = json_object_get(b->seen, "accel");
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)one, key, value)
		if (json_object_size(one) != 1 || json_object_size(other) != 1 || !json_object_get(other, key))
			return error_set(e, STATUS_USAGE, "--explain: %s and %s ran under different accelerators", a->path, b->path);
	return 0;
}

int kick_explain(const struct dataset *guest, const struct dataset *probe, struct text *out, struct error *e)
{
	unsigned candidate[2] = { guest->baseline == 0, probe->baseline == 0 };
	size_t shown = 0;

	if (check(guest, "A", e) || check(probe, "B", e) || check_accel(guest, probe, e))
		return -1;
	text_add(out, "WHAT EXPLAINS THE GUEST'S RESULT: difference per I/O at depth 1, 95 %% intervals\n"
		 "guest: %s, %s less %s; probe: %s, %s less %s\n", guest->path, guest->variant[candidate[0]],
		 guest->variant[guest->baseline], probe->path, probe->variant[candidate[1]], probe->variant[probe->baseline]);
	layout_pad(out, "cell", CELL);
	text_add(out, "  ");
	layout_pad(out, "guest, clat mean", COLUMN);
	text_add(out, "  ");
	layout_pad(out, "probe, done (interrupt)", COLUMN);
	text_add(out, "  what remains\n");
	for (size_t cell = 0; cell < guest->ncells; cell++) {
		const char *kind = kind_of(guest, cell);
		size_t of = kind ? probe_cell(probe, kind, bytes_of(guest, cell)) : probe->ncells;
		struct difference saw, knows, rest;

		if (of == probe->ncells)
			continue;
		saw = difference(guest, cell, candidate[0], METRIC_CLAT_MEAN);
		knows = difference(probe, of, candidate[1], METRIC_DONE_IRQ_MEAN);
		rest = remains(&saw, &knows);
		layout_pad(out, guest->cell[cell].name, CELL);
		column(&saw, out);
		column(&knows, out);
		column(&rest, out);
		text_add(out, "\n");
		shown++;
	}
	if (!shown)
		return error_set(e, STATUS_USAGE, "--explain: no cell of %s has one request under way (iodepth 1, one job) of a kind "
				 "and size that %s measured with requests = 1", guest->path, probe->path);
	return 0;
}
