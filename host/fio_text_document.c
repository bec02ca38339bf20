#include "host/fio_text_document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/fio_text_check.h"
#include "host/fio_text_options.h"

/* The job's own header; NULL: none, or several that differ. */
static json_t *header_of(const struct fio_block *b, const struct fio_preamble *above)
{
	json_t *found;
	struct text key = {0};

	text_add(&key, "%ld:%s", b->groupid, json_string_value(b->name));
	found = json_object_get(above->headers, text_get(&key));
	text_free(&key);
	return json_is_object(found) ? found : NULL;
}

/* "4k", "4096", "4KiB": bytes; a list, a range or nothing: 0. */
static uint64_t size_of(const char *text)
{
	struct fio_printed n;
	const char *end = text ? fio_scan(text, FIO_OLD_BYTES, &n) : NULL;

	return end && !*end && n.value >= 1 && n.value < 1e15 && n.value == floor(n.value) ? (uint64_t)n.value : 0;
}

static struct fio_around around_of(const struct fio_block *b, int direction, const struct fio_preamble *above,
				   json_t *header, json_t *options)
{
	struct fio_around a = {.release = above->release};
	json_t *single = json_object_get(header, "single");

	if (direction < 3) {
		a.block_size = (uint64_t)json_integer_value(json_array_get(single, (size_t)direction));
		a.certain = a.block_size > 0;
		if (!json_is_array(single) && !json_object_get(options, "bssplit") && !json_object_get(options, "bsrange"))
			a.block_size = size_of(json_string_value(json_object_get(options, "bs")));
	}
	/* Unified reports count all in the first place; file operations are not in the line. */
	if (b->has_issued && direction < 4) {
		int at = direction == 3 ? 0 : direction;

		a.has_count = true;
		a.count = b->total[at];
		a.lacking = b->lacking[at] > 0;
		a.count_line = b->issued_line;
	}
	return a;
}

static int put_integer(json_t *into, const char *key, double value)
{
	return json_object_set_new(into, key, json_integer((json_int_t)fmin(floor(value), 9e18)));
}

/* The direction's object, with the names and units of fio's JSON. */
static int put_direction(json_t *job, const struct fio_block *b, int direction, const struct fio_around *a, json_t *marks,
			 bool *inconsistent)
{
	const struct fio_direction *d = &b->direction[direction];
	struct fio_agreed agreed;
	json_t *out = json_object();
	int bad = !out || fio_agree(d, a, marks, &agreed) ||
		  (agreed.has_bytes && put_integer(out, "io_bytes", agreed.bytes)) ||
		  (a->has_count && put_integer(out, "total_ios", (double)a->count)) ||
		  (d->has_runtime && put_integer(out, "runtime", (double)d->runtime)) ||
		  (agreed.has_bw && put_integer(out, "bw_bytes", agreed.bw)) ||
		  (agreed.has_iops && json_object_set_new(out, "iops", json_real(agreed.iops))) ||
		  (d->latency && json_object_update(out, d->latency)) ||
		  json_object_set(job, fio_direction_names[direction], out);

	json_decref(out);
	if (bad)
		return -1;
	*inconsistent = *inconsistent || agreed.inconsistent;
	return 0;
}

/* Reads and writes of one mixed job run at once, those of a verify phase one after the other. */
static double runtime_of(const struct fio_block *b, json_t *options)
{
	const char *rw = json_string_value(json_object_get(options, "rw"));
	bool phases = rw && !strstr(rw, "rw") && !strstr(rw, "readwrite") && !strstr(rw, "trimwrite");
	double most = 0, sum = 0;

	for (int i = 0; i < FIO_DIRECTIONS; i++) {
		double one = b->direction[i].has_runtime ? (double)b->direction[i].runtime : 0;

		most = fmax(most, one);
		sum += one;
	}
	return phases ? sum : most;
}

static int put_runtime(json_t *job, const struct fio_block *b, json_t *options)
{
	double runtime = runtime_of(b, options) * (double)b->members;

	if (!runtime)
		return 0;
	if (put_integer(job, "job_runtime", runtime))
		return -1;
	return json_object_set(job, "job_runtime_estimated", json_true());
}

static int put_mark(json_t *marks, size_t line, const char *what)
{
	return json_array_append_new(marks, json_pack("{s:I,s:s}", "line", (json_int_t)line, "what", what));
}

static int put_status(json_t *job, const struct fio_block *b, const struct fio_preamble *above, bool data,
		      bool inconsistent, json_t *marks)
{
	char pid[32], text[64];
	json_t *signal;
	const char *status = !data ? "no data" : inconsistent ? "inconsistent" : "ok";
	json_t *why = b->error_text;

	snprintf(pid, sizeof(pid), "%ld", b->pid);
	signal = b->has_pid ? json_object_get(above->signals, pid) : NULL;
	if (b->error || signal || above->verify)
		status = "failed";
	if (!why)
		why = signal;
	if (why && json_object_set(job, "error_text", why))
		return -1;
	if (!why && above->verify) {
		snprintf(text, sizeof(text), "a verify failure is reported in line %zu", above->verify);
		if (json_object_set_new(job, "error_text", json_string(text)))
			return -1;
	}
	if (above->interrupted && put_mark(marks, above->interrupted, "fio was stopped by a signal before its jobs ended"))
		return -1;
	return json_object_set_new(job, "status", json_string(status));
}

/* "sync": as in fio's JSON, with the count of the line of issued I/Os. */
static int put_rest(json_t *job, const struct fio_block *b)
{
	json_t *sync = json_object_get(b->rest, "sync");

	if (sync && b->has_issued && put_integer(sync, "total_ios", (double)b->total[3]))
		return -1;
	return json_object_update(job, b->rest);
}

/*
 * unified_rw_reporting=both prints reads and writes, and all of them as mixed; fio 3.33 prints that line with no I/O and no
 * bytes. Reads and writes hold all of it.
 */
static bool told_twice(const struct fio_block *b, int direction)
{
	const struct fio_direction *d = &b->direction[direction];

	return !strcmp(fio_direction_names[direction], "mixed") && (b->direction[0].there || b->direction[1].there) &&
	       d->iops.value == 0 && d->bytes.value == 0;
}

json_t *fio_job_document(struct fio_block *b, const struct fio_preamble *above)
{
	json_t *header = header_of(b, above), *marks = json_array();
	json_t *options = fio_job_options(header, above->command, json_string_value(b->name));
	json_t *job = json_pack("{s:O,s:I,s:I,s:I,s:I}", "jobname", b->name, "groupid", (json_int_t)b->groupid, "error",
				(json_int_t)b->error, "line", (json_int_t)b->line, "members", (json_int_t)b->members);
	bool inconsistent = false, data = false;
	char depth[24];
	int bad = !job || !marks || !options;

	fio_block_drop_unrecorded(b);
	if (!bad && b->depth > 0 && !json_object_get(options, "iodepth")) {
		snprintf(depth, sizeof(depth), "%ld", b->depth);
		bad = json_object_set_new(options, "iodepth", json_string(depth));
	}
	for (int i = 0; !bad && i < FIO_DIRECTIONS; i++) {
		struct fio_around around = around_of(b, i, above, header, options);

		if (!b->direction[i].there || told_twice(b, i))
			continue;
		data = true;
		bad = put_direction(job, b, i, &around, marks, &inconsistent);
	}
	bad = bad || put_status(job, b, above, data, inconsistent, marks) || put_rest(job, b) ||
	      put_runtime(job, b, options) || json_object_set(job, "job options", options) ||
	      (json_array_size(marks) && json_object_set(job, "marks", marks));
	json_decref(marks);
	json_decref(options);
	if (!bad)
		return job;
	json_decref(job);
	return NULL;
}

json_t *fio_disk_document(const char *line)
{
	static const struct {
		const char *printed, *first, *second;
	} pairs[] = {
		{": ios=", "read_ios", "write_ios"},
		{", sectors=", "read_sectors", "write_sectors"},
		{", merge=", "read_merges", "write_merges"},
		{", ticks=", "read_ticks", "write_ticks"},
		{", in_queue=", "in_queue", NULL},
		{", aggrios=", "aggr_read_ios", "aggr_write_ios"},
		{", aggrsectors=", "aggr_read_sectors", "aggr_write_sectors"},
		{", aggrmerge=", "aggr_read_merges", "aggr_write_merge"}, /* so in fio's JSON */
		{", aggrticks=", "aggr_read_ticks", "aggr_write_ticks"},
		{", aggrin_queue=", "aggr_in_queue", NULL},
	};
	static const char *const shares[][2] = {{", util=", "util"}, {", aggrutil=", "aggr_util"}};
	json_t *disk = json_object(), *name = fio_json_text(line, strcspn(line, ":"));
	const char *at;
	uint64_t n;
	double share;

	if (json_object_set_new(disk, "name", name))
		goto fail;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		at = strstr(line, pairs[i].printed);
		if (!at || !(at = fio_scan_count(at + strlen(pairs[i].printed), &n)))
			continue;
		if (json_object_set_new(disk, pairs[i].first, json_integer((json_int_t)n)))
			goto fail;
		if (pairs[i].second && *at == '/' && fio_scan_count(at + 1, &n) &&
		    json_object_set_new(disk, pairs[i].second, json_integer((json_int_t)n)))
			goto fail;
	}
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		at = strstr(line, shares[i][0]);
		if (at && fio_scan_decimal(at + strlen(shares[i][0]), &share, NULL) &&
		    json_object_set_new(disk, shares[i][1], json_real(share)))
			goto fail;
	}
	if (json_object_get(disk, "read_ios"))
		return disk;
fail:
	json_decref(disk);
	return NULL;
}
