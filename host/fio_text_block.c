#include "host/fio_text_block.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/fio_text_options.h"

/* ---- title ---- */

/* Seconds of "Fri Nov 23 09:59:54 2018" in its own zone, also with one blank before a one-digit day; 0: it is no time. */
static int64_t seconds_of(const char *s)
{
	static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char day[4], month[4];
	const char *weekday, *at;
	struct tm tm = {0};

	if (sscanf(s, "%3s %3s %2d %2d:%2d:%2d %4d", day, month, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec,
		   &tm.tm_year) != 7)
		return 0;
	weekday = strstr(days, day);
	at = strstr(months, month);
	if (!weekday || !at || strlen(day) != 3 || strlen(month) != 3 || (at - months) % 3 || tm.tm_year < 1970)
		return 0;
	tm.tm_mon = (int)(at - months) / 3;
	tm.tm_year -= 1900;
	return (int64_t)timegm(&tm);
}

/* "err=22 (file:io_u.c:1787, func=io_u error, error=Invalid argument): pid=…" */
static int read_error(struct fio_block *b, const char *at)
{
	char *end;
	const char *close;

	b->error = strtol(at, &end, 10);
	if (strncmp(end, " (", 2))
		return 0;
	close = strstr(end, "): pid=");
	if (!close)
		close = strstr(end, "): ");
	if (!close)
		close = strchr(end, '\0');
	b->error_text = fio_json_text(end + 2, (size_t)(close - end - 2));
	return b->error_text ? 0 : -1;
}

struct fio_block *fio_block_open(const char *title, size_t number)
{
	const char *group = strstr(title, ": (groupid="), *jobs, *error, *pid;
	struct fio_block *b = calloc(1, sizeof(*b));
	char *end;

	if (!b || !group || group == title)
		goto fail;
	b->line = number;
	b->current = -1;
	b->members = 1;
	b->name = fio_json_text(title, (size_t)(group - title));
	b->rest = json_object();
	if (!b->name || !b->rest)
		goto fail;
	b->groupid = strtol(group + 11, NULL, 10);
	jobs = strstr(group, "jobs=");
	if (jobs)
		b->members = strtol(jobs + 5, NULL, 10);
	error = strstr(group, "err=");
	if (!error || (!isdigit((unsigned char)error[4]) && error[4] != '-') || b->members < 1 || read_error(b, error + 4))
		goto fail;
	pid = strstr(error, ": pid=");
	if (pid) {
		b->pid = strtol(pid + 6, &end, 10);
		b->has_pid = true;
		b->when = end[0] == ':' && end[1] == ' ' ? seconds_of(end + 2) : 0;
		if (b->when && !(b->time = strdup(end + 2)))
			goto fail;
	}
	return b;
fail:
	fio_block_free(b);
	return NULL;
}

void fio_block_free(struct fio_block *b)
{
	if (!b)
		return;
	for (int i = 0; i < FIO_DIRECTIONS; i++)
		json_decref(b->direction[i].latency);
	json_decref(b->name);
	json_decref(b->error_text);
	json_decref(b->rest);
	free(b->time);
	free(b);
}

/* ---- direction lines ---- */

/* A number behind key, wherever that stands. */
static const char *after(const char *line, const char *key, enum fio_style style, struct fio_printed *out)
{
	const char *at = strstr(line, key);

	memset(out, 0, sizeof(*out));
	return at ? fio_scan(at + strlen(key), style, out) : NULL;
}

static bool runtime_at(struct fio_direction *d, const char *p)
{
	p = p ? fio_scan_count(p, &d->runtime) : NULL;
	d->has_runtime = p && !strncmp(p, "msec", 4);
	return d->has_runtime;
}

/* "read: io=264KiB, bw=90112KiB/s, iops=7666, runt=3msec" */
static bool read_old(struct fio_direction *d, const char *line)
{
	const char *p = strstr(line, "runt=");

	after(line, ": io=", FIO_OLD_BYTES, &d->bytes);
	after(line, "bw=", FIO_OLD_BYTES, &d->bw[0]);
	after(line, "iops=", FIO_OLD_COUNT, &d->iops);
	return runtime_at(d, p ? p + 5 : NULL) && d->bytes.there && d->bw[0].there && d->iops.there;
}

/* "read: IOPS=6120, BW=23.9MiB/s (25.1MB/s)(1024MiB/42831msec)" */
static bool read_new(struct fio_direction *d, const char *line)
{
	const char *p;

	after(line, ": IOPS=", FIO_SINCE_2_17, &d->iops);
	p = after(line, "BW=", FIO_SINCE_2_17, &d->bw[0]);
	if (p && !strncmp(p, " (", 2))
		p = fio_scan(p + 2, FIO_SINCE_2_17, &d->bw[1]);
	if (p && *p == ')')
		p++;
	p = p && *p == '(' ? fio_scan(p + 1, FIO_SINCE_2_17, &d->bytes) : NULL;
	return runtime_at(d, p && *p == '/' ? p + 1 : NULL) && d->iops.there;
}

static const char *direction_line(struct fio_block *b, const struct fio_line *line, const char *text)
{
	struct fio_direction *d = &b->direction[line->direction];
	bool complete;

	b->rows = NULL;
	b->current = -1;
	if (d->there)
		return "a second line of one direction in one job";
	d->line = line->number;
	d->old = !strstr(text, ": IOPS=");
	complete = d->old ? read_old(d, text) : read_new(d, text);
	d->there = d->iops.there || d->bw[0].there || d->bytes.there;
	if (!d->there)
		return "a direction line without numbers";
	b->current = line->direction;
	return complete ? NULL : "a direction line that is cut off: what it still tells is used";
}

/* ---- latencies ---- */

static const char *const latencies[] = {"slat", "clat", "lat", "sync"};

/* The object of a latency of the current direction, made when it is not there; NULL: no direction or no memory. */
static json_t *latency(struct fio_block *b, const char *name)
{
	json_t *in, *out;
	char key[16];

	if (!strcmp(name, "sync")) {
		in = json_object_get(b->rest, "sync");
		if (!in && json_object_set_new(b->rest, "sync", json_object()))
			return NULL;
		in = json_object_get(b->rest, "sync");
		snprintf(key, sizeof(key), "lat_ns");
	} else {
		if (b->current < 0)
			return NULL;
		in = b->direction[b->current].latency;
		if (!in && !(in = b->direction[b->current].latency = json_object()))
			return NULL;
		snprintf(key, sizeof(key), "%s_ns", name);
	}
	out = json_object_get(in, key);
	if (!out && !json_object_set_new(in, key, json_object()))
		out = json_object_get(in, key);
	return out;
}

/* "clat (usec): min=10, max=1104.9k, avg=187.28, stdev=4505.64" */
static const char *latency_line(struct fio_block *b, const char *text)
{
	static const struct {
		const char *printed, *key;
		bool whole;
	} values[] = {
		{": min=", "min", true},
		{", max=", "max", true},
		{", avg=", "mean", false},
		{", stdev=", "stddev", false},
	};
	double one = fio_unit_ns(text + strcspn(text, "(") + 1);
	struct fio_printed n;
	json_t *into;
	size_t i = 0;

	while (strncmp(text, latencies[i], strlen(latencies[i])) || text[strlen(latencies[i])] != ' ')
		if (++i == sizeof(latencies) / sizeof(*latencies))
			return NULL;
	into = latency(b, latencies[i]);
	if (!into || !one)
		return into ? "a latency in an unknown unit" : "a latency line without a direction above it";
	for (i = 0; i < sizeof(values) / sizeof(*values); i++) {
		if (!after(text, values[i].printed, FIO_OLD_COUNT, &n))
			return "a latency line that is cut off: what it still tells is used";
		n.value *= one;
		if (values[i].whole && n.value > 9e18)
			return "a latency beyond all bounds";
		json_object_set_new(into, values[i].key,
				    values[i].whole ? json_integer((json_int_t)llround(n.value)) : json_real(n.value));
	}
	return NULL;
}

/* "clat percentiles (usec):"; what is not one of ours (priorities) makes its rows be skipped. */
static void percentiles_line(struct fio_block *b, const char *text)
{
	char title[32];
	json_t *into, *rows;

	b->rows = NULL;
	b->unit = fio_unit_ns(text + strcspn(text, "(") + 1);
	for (size_t i = 0; i < sizeof(latencies) / sizeof(*latencies); i++) {
		snprintf(title, sizeof(title), "%s percentiles (", latencies[i]);
		if (strncmp(text, title, strlen(title)) || !b->unit)
			continue;
		into = latency(b, latencies[i]);
		rows = into ? json_object() : NULL;
		if (rows && !json_object_set_new(into, "percentile", rows))
			b->rows = rows;
	}
}

/* "| 1.00th=[110], 5.00th=[112]," */
static const char *row_line(struct fio_block *b, const char *text)
{
	double share, value;
	const char *p = text;
	char key[32];

	if (!b->rows)
		return NULL;
	for (p += strcspn(p, "0123456789"); *p; p += strcspn(p, "0123456789")) {
		p = fio_scan_decimal(p, &share, NULL);
		p = p && !strncmp(p, "th=[", 4) ? fio_scan_decimal(p + 4, &value, NULL) : NULL;
		if (!p || share > 100 || value > 9e9)
			return "a row of percentiles that is cut off or garbled";
		snprintf(key, sizeof(key), "%f", share);
		json_object_set_new(b->rows, key, json_integer((json_int_t)llround(value * b->unit)));
	}
	return NULL;
}

static bool all_zero(json_t *percentile)
{
	json_t *value;
	const char *key;

	json_object_foreach(percentile, key, value)
		if (json_integer_value(value))
			return false;
	return true;
}

static void drop_unrecorded(json_t *of)
{
	json_t *one, *rows, *min;
	const char *key;
	void *next;

	json_object_foreach_safe(of, next, key, one) {
		rows = json_object_get(one, "percentile");
		min = json_object_get(one, "min");
		if (rows && all_zero(rows) && (!json_object_size(rows) || !min || json_integer_value(min) > 0))
			json_object_del(one, "percentile");
		if (json_is_object(one) && !json_object_size(one))
			json_object_del(of, key);
	}
}

void fio_block_drop_unrecorded(struct fio_block *b)
{
	for (int i = 0; i < FIO_DIRECTIONS; i++)
		drop_unrecorded(b->direction[i].latency);
	drop_unrecorded(json_object_get(b->rest, "sync"));
}

/* ---- the rest ---- */

/* "cpu: usr=0.69%, sys=41.15%, ctx=261996, majf=1, minf=3" */
static void cpu_line(struct fio_block *b, const char *text)
{
	static const struct {
		const char *printed, *key;
		bool whole;
	} values[] = {
		{"usr=", "usr_cpu", false}, {"sys=", "sys_cpu", false}, {"ctx=", "ctx", true},
		{"majf=", "majf", true},    {"minf=", "minf", true},
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		const char *at = strstr(text, values[i].printed);
		uint64_t count;
		double share;

		if (!at)
			continue;
		at += strlen(values[i].printed);
		if (values[i].whole && fio_scan_count(at, &count))
			json_object_set_new(b->rest, values[i].key, json_integer((json_int_t)count));
		else if (!values[i].whole && fio_scan_decimal(at, &share, NULL))
			json_object_set_new(b->rest, values[i].key, json_real(share));
	}
}

/* Up to four counts: "9,0,0,1", "9/0", "r=9/w=0/d=0". */
static bool counts(const char *p, uint64_t out[4])
{
	for (int i = 0; i < 4; i++) {
		uint64_t n;

		p += *p && strchr("rwd", *p) && p[1] == '=' ? 2 : 0;
		p = fio_scan_count(p, &n);
		if (!p)
			return i > 0;
		out[i] = n > INT64_MAX - out[i] ? INT64_MAX : out[i] + n;
		if (*p != ',' && *p != '/')
			return true;
		p++;
		if (!isdigit((unsigned char)*p) && !(*p && strchr("rwd", *p)))
			return true;
	}
	return true;
}

static const char *issued_line(struct fio_block *b, const struct fio_line *line, const char *text)
{
	static const char *const kinds[] = {"short=", "dropped=", "drop="};

	if (b->has_issued)
		return "a second line of issued I/Os in one job";
	if (!counts(strstr(text, "total=") + 6, b->total))
		return "a line of issued I/Os without numbers";
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *at = strstr(text, kinds[i]);

		if (at)
			counts(at + strlen(kinds[i]), b->lacking);
	}
	b->has_issued = true;
	b->issued_line = line->number;
	return NULL;
}

const char *fio_block_line(struct fio_block *b, const struct fio_line *line, const char *text)
{
	const char *at;

	switch (line->kind) {
	case FIO_DIRECTION:
		return direction_line(b, line, text);
	case FIO_LATENCY:
		b->rows = NULL;
		return latency_line(b, text);
	case FIO_PERCENTILES:
		percentiles_line(b, text);
		return NULL;
	case FIO_ROW:
		return row_line(b, text);
	case FIO_CPU:
		cpu_line(b, text);
		return NULL;
	case FIO_ISSUED:
		return issued_line(b, line, text);
	case FIO_TARGET:
		at = strstr(text, "depth=");
		b->depth = at ? strtol(at + 6, NULL, 10) : 0;
		return NULL;
	default:
		return NULL;
	}
}
