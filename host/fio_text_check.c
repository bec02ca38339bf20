#include "host/fio_text_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/text.h"

enum witness_kind {
	BW, BW_AGAIN, AMOUNT, RATE, COUNT, WITNESSES
};

/* One print, as what it says of the quantity in question. */
struct witness {
	enum witness_kind kind;
	size_t line;
	double value;
	struct fio_range range;
	bool bug;
	struct fio_range other; /* what a known mistake of fio's would have printed so */
	char printed[64];       /* "BW=13.0MiB/s" */
	char claim[96];         /* "14.7MB/s", "4096MiB in 293102 ms" */
	bool agrees, by_bug;
};

struct hearing {
	struct witness w[WITNESSES];
	size_t n;
	struct fio_range common; /* of those that agree */
	size_t agreeing;
};

static bool contains(const struct fio_range *r, double x)
{
	double slack = 1e-9 * fabs(x);

	return r->low <= x + slack && x - slack <= r->high;
}

/* Suppose the truth is x: who agrees, and on which interval? */
static void suppose(struct hearing *h, double x)
{
	struct fio_range common = {0, INFINITY};
	size_t agreeing = 0;

	for (size_t i = 0; i < h->n; i++) {
		struct witness *w = &h->w[i];
		const struct fio_range *r = contains(&w->range, x) ? &w->range : &w->other;

		w->by_bug = r == &w->other;
		w->agrees = !w->by_bug || (w->bug && contains(r, x));
		if (!w->agrees)
			continue;
		agreeing++;
		common.low = fmax(common.low, r->low);
		common.high = fmin(common.high, r->high);
	}
	h->common = common;
	h->agreeing = agreeing;
}

static size_t honest(const struct hearing *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += h->w[i].agrees && !h->w[i].by_bug;
	return n;
}

/* Find the largest set that agrees. A largest common interval begins where one of the intervals begins. */
static void hear(struct hearing *h)
{
	double best = NAN;
	size_t most = 0, most_honest = 0;
	double width = INFINITY;

	for (size_t i = 0; i < 2 * h->n; i++) {
		const struct witness *w = &h->w[i / 2];
		double x = i % 2 ? w->other.low : w->range.low;
		bool better;

		if (i % 2 && !w->bug)
			continue;
		suppose(h, x);
		better = h->agreeing != most    ? h->agreeing > most
			 : honest(h) != most_honest ? honest(h) > most_honest
						    : h->common.high - h->common.low < width;
		if (!better)
			continue;
		best = x;
		most = h->agreeing;
		most_honest = honest(h);
		width = h->common.high - h->common.low;
	}
	if (h->n)
		suppose(h, best);
}

/* The print of the most precise witness that agrees, when it lies in the common interval; else the middle of that. */
static double believed(const struct hearing *h)
{
	const struct witness *finest = NULL;

	for (size_t i = 0; i < h->n; i++) {
		const struct witness *w = &h->w[i];

		if (w->agrees && !w->by_bug &&
		    (!finest || w->range.high - w->range.low < finest->range.high - finest->range.low))
			finest = w;
	}
	if (finest && contains(&h->common, finest->value))
		return finest->value;
	return (h->common.low + h->common.high) / 2;
}

/* ---- marks ---- */

static void name_value(char *out, size_t room, double value, bool is_bw)
{
	if (!is_bw)
		snprintf(out, room, "%.6g IOPS", value);
	else if (value >= 1048576)
		snprintf(out, room, "%.2f MiB/s", value / 1048576);
	else
		snprintf(out, room, "%.2f KiB/s", value / 1024);
}

static int mark(json_t *marks, const struct hearing *h, const struct witness *wrong, bool is_bw)
{
	struct text what = {0};
	char value[32];
	const char *between = "";
	size_t listed = 0;
	int rc;

	text_add(&what, wrong ? "printed %s is wrong: " : "printed numbers disagree: %s", wrong ? wrong->printed : "");
	for (size_t i = 0; i < h->n; i++) {
		const struct witness *w = &h->w[i];

		if (w == wrong || (wrong && (!w->agrees || w->by_bug)))
			continue;
		text_add(&what, "%s%s", between, w->claim);
		between = ", ";
		listed++;
	}
	if (wrong) {
		name_value(value, sizeof(value), believed(h), is_bw);
		text_add(&what, listed == 1 ? " says %s" : " agree on %s", value);
		if (wrong->by_bug && wrong->agrees)
			text_add(&what, wrong->kind == BW && strstr(wrong->printed, "bw=")
						? " (early fio 1.x called bytes per millisecond KiB/s)"
						: " (fio 2.17 to 3.25 lost the carry when it rounded)");
	}
	rc = what.failed ? -1
			 : json_array_append_new(marks, json_pack("{s:I,s:s}", "line",
								  (json_int_t)(wrong ? wrong->line : h->w[0].line), "what",
								  text_get(&what)));
	text_free(&what);
	return rc;
}

static int mark_all(json_t *marks, const struct hearing *h, bool is_bw)
{
	for (size_t i = 0; i < h->n; i++)
		if ((!h->w[i].agrees || h->w[i].by_bug) && mark(marks, h, &h->w[i], is_bw))
			return -1;
	return 0;
}

/* ---- witnesses ---- */

/* The releases that lose the carry; an unknown one may. */
static bool loses_carry(const char *release)
{
	unsigned major, minor;

	if (sscanf(release, "fio-%u.%u", &major, &minor) != 2)
		return true;
	return (major == 2 && minor >= 17) || (major == 3 && minor <= 25);
}

static bool before_2(const char *release)
{
	unsigned major;

	return sscanf(release, "fio-%u.", &major) != 1 || major < 2;
}

static struct witness *add(struct hearing *h, enum witness_kind kind, size_t line)
{
	struct witness *w = &h->w[h->n++];

	memset(w, 0, sizeof(*w));
	w->kind = kind;
	w->line = line;
	return w;
}

/* A print times factor, called name in a mark. */
static struct witness *add_printed(struct hearing *h, enum witness_kind kind, const struct fio_direction *d,
				   const struct fio_printed *p, double factor, const char *name)
{
	struct witness *w = add(h, kind, d->line);

	w->value = p->value * factor;
	w->range = (struct fio_range){p->range.low * factor, p->range.high * factor};
	w->bug = p->bug;
	w->other = (struct fio_range){p->other.low * factor, p->other.high * factor};
	snprintf(w->printed, sizeof(w->printed), "%s%s", name, p->text);
	snprintf(w->claim, sizeof(w->claim), "%s%s", name, p->text);
	return w;
}

static struct witness *add_count(struct hearing *h, const struct fio_direction *d, const struct fio_around *a, double each)
{
	struct witness *w = add(h, COUNT, a->count_line);

	w->value = (double)a->count * each * 1000 / (double)d->runtime;
	w->range = (struct fio_range){w->value, w->value};
	snprintf(w->printed, sizeof(w->printed), "count of %llu I/Os", (unsigned long long)a->count);
	snprintf(w->claim, sizeof(w->claim), "%llu I/Os", (unsigned long long)a->count);
	return w;
}

static void bandwidths(struct hearing *h, const struct fio_direction *d, const struct fio_around *a)
{
	struct witness *w;

	if (d->bw[0].there) {
		w = add_printed(h, BW, d, &d->bw[0], 1, d->old ? "bw=" : "BW=");
		w->bug = w->bug && (d->old ? before_2(a->release) : loses_carry(a->release));
	}
	if (d->bw[1].there) {
		w = add_printed(h, BW_AGAIN, d, &d->bw[1], 1, "");
		w->bug = w->bug && loses_carry(a->release);
	}
	if (d->bytes.there && d->has_runtime && d->runtime) {
		w = add_printed(h, AMOUNT, d, &d->bytes, 1000 / (double)d->runtime, "io=");
		w->bug = w->bug && !d->old && loses_carry(a->release);
		snprintf(w->claim, sizeof(w->claim), "%s in %llu ms", d->bytes.text, (unsigned long long)d->runtime);
	}
}

static void blocks(struct hearing *h, const struct fio_direction *d, const struct fio_around *a)
{
	double each = (double)a->block_size;
	struct witness *w;

	if (!a->block_size || a->lacking)
		return;
	if (d->iops.there) {
		w = add_printed(h, RATE, d, &d->iops, each, "IOPS=");
		w->bug = w->bug && loses_carry(a->release);
		snprintf(w->claim, sizeof(w->claim), "IOPS=%s x %.0f B", d->iops.text, each);
	}
	if (a->has_count && d->has_runtime && d->runtime) {
		w = add_count(h, d, a, each);
		snprintf(w->claim, sizeof(w->claim), "%llu I/Os x %.0f B in %llu ms", (unsigned long long)a->count, each,
			 (unsigned long long)d->runtime);
	}
}

/* Does the block size fit what the direction's line says? One from a command line found above may be another run's. */
static bool block_size_fits(const struct fio_direction *d, const struct fio_around *a)
{
	struct hearing h = {0};

	bandwidths(&h, d, a);
	blocks(&h, d, a);
	hear(&h);
	for (size_t i = 0; i < h.n; i++)
		if (h.w[i].kind >= RATE && !h.w[i].agrees)
			return false;
	return true;
}

static const struct witness *witness_of(const struct hearing *h, enum witness_kind kind)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->w[i].kind == kind && h->w[i].agrees)
			return &h->w[i];
	return NULL;
}

/* Bytes: a count of whole blocks exactly; else the print, moved into what the bandwidth allows. */
static void agree_bytes(const struct hearing *h, const struct fio_direction *d, const struct fio_around *a,
			struct fio_agreed *out)
{
	double seconds = d->has_runtime ? (double)d->runtime / 1000 : 0, low, high;
	const struct witness *amount = witness_of(h, AMOUNT);

	if (witness_of(h, COUNT)) {
		out->bytes = (double)a->count * (double)a->block_size;
		out->has_bytes = true;
		return;
	}
	if (!seconds || !out->has_bw || out->inconsistent) {
		out->bytes = d->bytes.value;
		out->has_bytes = d->bytes.there;
		return;
	}
	out->has_bytes = true;
	low = h->common.low * seconds;
	high = h->common.high * seconds;
	out->bytes = amount && !amount->by_bug && d->bytes.value >= low && d->bytes.value <= high
			     ? d->bytes.value
			     : (low + high) / 2;
	out->bytes = floor(out->bytes);
}

static int agree_bw(const struct fio_direction *d, const struct fio_around *a, json_t *marks, struct hearing *h,
		    struct fio_agreed *out)
{
	const struct witness *count;

	bandwidths(h, d, a);
	blocks(h, d, a);
	hear(h);
	if (!h->n)
		return 0;
	count = witness_of(h, COUNT);
	out->has_bw = true;
	out->inconsistent = h->n > 1 && h->agreeing < 2;
	out->bw = out->inconsistent ? h->w[0].value : count ? count->value : believed(h);
	if (out->inconsistent)
		return mark(marks, h, NULL, true);
	return mark_all(marks, h, true);
}

/* IOPS: the print, the count over the runtime, and the agreed bandwidth over the block size. */
static int agree_iops(const struct fio_direction *d, const struct fio_around *a, json_t *marks, const struct hearing *bw,
		      struct fio_agreed *out)
{
	struct hearing h = {0};
	struct witness *w;
	bool counted = a->has_count && d->has_runtime && d->runtime;

	if (d->iops.there) {
		w = add_printed(&h, RATE, d, &d->iops, 1, "IOPS=");
		w->bug = w->bug && loses_carry(a->release);
	}
	if (counted) {
		w = add_count(&h, d, a, 1);
		snprintf(w->claim, sizeof(w->claim), "%llu I/Os in %llu ms", (unsigned long long)a->count,
			 (unsigned long long)d->runtime);
	}
	if (a->block_size && !a->lacking && out->has_bw && !out->inconsistent && bw->agreeing > 1) {
		w = add(&h, BW, d->line);
		w->value = out->bw / (double)a->block_size;
		w->range.low = bw->common.low / (double)a->block_size;
		w->range.high = bw->common.high / (double)a->block_size;
	}
	hear(&h);
	if (!h.n)
		return 0;
	out->has_iops = true;
	if (h.n > 1 && h.agreeing < 2) {
		out->inconsistent = true;
		out->iops = d->iops.there ? d->iops.value : h.w[0].value;
		return mark(marks, &h, NULL, false);
	}
	out->iops = witness_of(&h, COUNT) ? (double)a->count * 1000 / (double)d->runtime : believed(&h);
	/* With a block size, a wrong print was marked above. */
	return a->block_size && !a->lacking ? 0 : mark_all(marks, &h, false);
}

int fio_agree(const struct fio_direction *d, const struct fio_around *around, json_t *marks, struct fio_agreed *out)
{
	struct fio_around a = *around;
	struct hearing bw = {0};

	memset(out, 0, sizeof(*out));
	if (a.block_size && !a.certain && !block_size_fits(d, &a))
		a.block_size = 0;
	if (agree_bw(d, &a, marks, &bw, out))
		return -1;
	agree_bytes(&bw, d, &a, out);
	return agree_iops(d, &a, marks, &bw, out);
}
