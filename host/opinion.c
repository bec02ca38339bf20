#include "host/opinion.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/verify_file.h"
#include "host/clock.h"
#include "host/opinion_said.h"
#include "host/os.h"
#include "host/program.h"

#define READ_MOST 1048576u /* one read: faults beside each other are told as one */
#define MAP_PIECE 4096u /* blocks that are looked at before a hole of the map's file is passed by again */
#define OPTIONS (12u + 8u * OPINION_REGIONS)

struct options {
	const char *argv[OPTIONS + 1];
	unsigned count;
	struct text text[OPTIONS];
};

static void add(struct options *o, const char *fmt, ...) KB_PRINTF(2, 3);

static void add(struct options *o, const char *fmt, ...)
{
	char buffer[5000];
	va_list ap;

	if (o->count >= OPTIONS)
		return;
	va_start(ap, fmt);
	vsnprintf(buffer, sizeof(buffer), fmt, ap);
	va_end(ap);
	text_add(&o->text[o->count], "%s", buffer);
	o->argv[o->count] = text_get(&o->text[o->count]);
	o->count++;
}

/* kickio's filename= is a list with colons between. */
static void add_filename(struct options *o, const char *path)
{
	struct text escaped = {0};

	for (; *path; path++)
		text_add(&escaped, *path == ':' ? "\\%c" : "%c", *path);
	add(o, "--filename=%s", text_get(&escaped));
	text_free(&escaped);
}

static void options_free(struct options *o)
{
	for (unsigned i = 0; i < o->count; i++)
		text_free(&o->text[i]);
}

/* What reading and filling have in common. */
static void begin(struct options *o, const struct opinion_request *r)
{
	add(o, "%s", r->kickio);
	add(o, "--output-format=json");
	add_filename(o, r->image);
	add(o, "--verify_name=%s", r->guest_path);
	add(o, "--verify=%s", r->verify);
	add(o, "--rw=write");
	if (r->map)
		add(o, "--verify_map=%s", r->map);
}

/* What one run of kickio came to. */
struct told {
	int status;
	int error;      /* the first errno of its jobs, -1: there is no result */
	uint64_t bytes; /* read, or written */
	char line[320]; /* the last of what it said */
	json_t *said;   /* opinion_said() */
};

static void take_result(int fd, struct told *told)
{
	json_t *json, *job;
	size_t i;

	lseek(fd, 0, SEEK_SET);
	json = json_loadfd(fd, 0, NULL);
	json_array_foreach(json_object_get(json, "jobs"), i, job) {
		int error = (int)json_integer_value(json_object_get(job, "error"));

		if (told->error <= 0)
			told->error = error;
		told->bytes += (uint64_t)json_integer_value(json_object_get(json_object_get(job, "read"), "io_bytes")) +
			       (uint64_t)json_integer_value(json_object_get(json_object_get(job, "write"), "io_bytes"));
	}
	json_decref(json);
}

/* -1 and e: it could not be run. */
static int run(struct options *o, struct told *told, struct error *e)
{
	struct program program = { .package = "kickbench", .out = os_nameless_file() };
	struct text said = {0};
	int r;

	*told = (struct told){ .error = -1 };
	if (program.out < 0)
		return error_errno(e, STATUS_HOST, "a file for the result of %s", o->argv[0]);
	for (unsigned i = 0; i < o->count; i++)
		if (o->text[i].failed) {
			close(program.out);
			return error_set(e, STATUS_HOST, "no memory for the options of %s", o->argv[0]);
		}
	r = told->status = program_run(o->argv, &program, &said, e);
	if (r >= 0) {
		take_result(program.out, told);
		program_last_line(&said, told->line, sizeof(told->line));
		told->said = opinion_said(text_get(&said));
		r = told->said ? 0 : error_set(e, STATUS_HOST, "no memory for what %s said", o->argv[0]);
	}
	close(program.out);
	text_free(&said);
	return r;
}

/* ---- the map ---- */

int opinion_map_id(const char *map, const char *guest_path, uint64_t *id, struct error *e)
{
	struct verify_area area = { .path = guest_path };
	struct verify_file *file = verify_file_open(map, false, 0, e);
	int r = file ? verify_file_area(file, false, 0, &area, e) : -1;

	*id = area.id;
	verify_file_close(file, false);
	return r;
}

/* Where the last block begins that the map knows to be written, and how many bytes all of these are. */
static int last_known(const struct opinion_request *r, uint64_t *begin_of_last, uint64_t *known, struct error *e)
{
	struct verify_area area = { .path = r->guest_path };
	struct verify_file *file = verify_file_open(r->map, false, 0, e);
	int status = file ? verify_file_area(file, false, 0, &area, e) : -1;

	*known = 0;
	for (uint64_t b = 0; status == 0 && (b = verify_file_next(&area, b)) < area.map.blocks;)
		for (unsigned n = 0; n < MAP_PIECE && b < area.map.blocks; n++, b++)
			if (verify_map_range(&area.map, b).last) {
				*begin_of_last = b * area.unit;
				*known += area.unit;
			}
	verify_file_close(file, false);
	return status;
}

/* ---- the image ---- */

/* As large as it may be, of whole blocks, and not more than there is. */
static unsigned chunk_of(const struct opinion_request *r, uint64_t bytes)
{
	unsigned chunk = r->block_size < READ_MOST ? READ_MOST / r->block_size * r->block_size : r->block_size;

	while (chunk > bytes && chunk > r->block_size)
		chunk = chunk / 2 > r->block_size ? chunk / 2 / r->block_size * r->block_size : r->block_size;
	return chunk > bytes ? (unsigned)(bytes / 512 * 512) : chunk;
}

static void judge(const struct told *told, uint64_t known, struct cell_check *check)
{
	if (told->status == 0 && told->error == 0 && told->bytes < known) {
		snprintf(check->message, sizeof(check->message), "kickio on the host has read %llu bytes, and the guest wrote %llu",
			 (unsigned long long)told->bytes, (unsigned long long)known);
		check->status = CELL_FAIL;
		return;
	}
	if (told->status == 0 && told->error == 0) {
		check->status = CELL_PASS;
		check->evidence = json_pack("{s:I}", "bytes_read", (json_int_t)told->bytes);
		return;
	}
	if (told->error == EILSEQ || json_array_size(json_object_get(told->said, "faults"))) {
		check->status = CELL_CORRUPT;
		check->evidence = json_incref(told->said);
		opinion_in_words(told->said, check->message, sizeof(check->message));
	} else {
		check->status = CELL_FAIL;
	}
	if (!check->message[0])
		snprintf(check->message, sizeof(check->message), "kickio on the host ended with status %d: %s", told->status,
			 told->line);
}

/* All that can be said without reading it. False: the check is settled. */
static bool worth_reading(const struct opinion_request *r, uint64_t there, uint64_t *known, struct cell_check *check)
{
	uint64_t begin_of_last = 0;
	struct error why = {0};

	*known = 0;

	check->status = CELL_FAIL;
	if (r->block_size == 0 || r->block_size % 512 || there < 512) {
		snprintf(check->message, sizeof(check->message), "an image of %llu bytes cannot be read in blocks of %u",
			 (unsigned long long)there, r->block_size);
	} else if (r->map && last_known(r, &begin_of_last, known, &why) < 0) {
		snprintf(check->message, sizeof(check->message), "%.500s", why.text);
	} else if (r->map && !*known) {
		check->status = CELL_SKIPPED;
		snprintf(check->message, sizeof(check->message), "the map knows of no block that was written");
	} else if (r->map && begin_of_last >= there) {
		check->status = CELL_CORRUPT;
		snprintf(check->message, sizeof(check->message), "the image ends at %llu, the guest wrote a block at %llu",
			 (unsigned long long)there, (unsigned long long)begin_of_last);
	} else {
		return true;
	}
	return false;
}

static void look_at(const struct opinion_request *r, struct cell_check *check)
{
	struct options o = {0};
	struct error why = {0};
	struct told told = {0};
	uint64_t bytes, known;
	struct stat st;

	check->status = CELL_FAIL;
	if (stat(r->image, &st) < 0) {
		snprintf(check->message, sizeof(check->message), "%.300s: %s", r->image, strerror(errno));
		return;
	}
	if (!worth_reading(r, (uint64_t)st.st_size, &known, check))
		return;
	bytes = r->bytes && r->bytes < (uint64_t)st.st_size ? r->bytes : (uint64_t)st.st_size;
	begin(&o, r);
	add(&o, "--verify_only");
	add(&o, "--name=image");
	add(&o, "--bs=%u", chunk_of(r, bytes));
	add(&o, "--size=%llu", (unsigned long long)bytes);
	check->status = CELL_FAIL;
	if (run(&o, &told, &why) < 0)
		snprintf(check->message, sizeof(check->message), "%.500s", why.text);
	else
		judge(&told, r->bytes ? 0 : known, check);
	json_decref(told.said);
	options_free(&o);
}

int opinion_image(const struct opinion_request *request, const char *name, struct cell_result *result, struct error *e)
{
	struct cell_check check = {0};
	double start = clock_s();

	snprintf(check.name, sizeof(check.name), "%s", name);
	look_at(request, &check);
	check.seconds = clock_s() - start;
	return cell_add(result, &check, e);
}

/* ---- filling ---- */

/* A job for the whole blocks of a region, and one for what is left behind them. */
static int add_region(struct options *o, const struct opinion_request *r, struct opinion_region region, uint64_t there,
		      uint64_t *wanted, struct error *e)
{
	uint64_t whole;

	if (region.from < there && !region.bytes)
		region.bytes = there - region.from;
	if (!region.bytes || region.from >= there || region.bytes > there - region.from || (region.from | region.bytes) % 512)
		return error_set(e, STATUS_HOST, "%s has %llu bytes: %llu of them from %llu on cannot be filled", r->image,
				 (unsigned long long)there, (unsigned long long)region.bytes, (unsigned long long)region.from);
	*wanted += region.bytes;
	whole = region.bytes / r->block_size * r->block_size;
	if (whole) {
		add(o, "--name=blocks");
		add(o, "--bs=%u", r->block_size);
		add(o, "--offset=%llu", (unsigned long long)region.from);
		add(o, "--size=%llu", (unsigned long long)whole);
	}
	if (whole < region.bytes) {
		add(o, "--name=rest");
		add(o, "--bs=%llu", (unsigned long long)(region.bytes - whole));
		add(o, "--offset=%llu", (unsigned long long)(region.from + whole));
		add(o, "--size=%llu", (unsigned long long)(region.bytes - whole));
	}
	return 0;
}

static int fill(struct options *o, const struct opinion_request *r, uint64_t wanted, struct error *e)
{
	struct told told = {0};
	int status = run(o, &told, e);

	if (status == 0 && (told.status || told.error || told.bytes != wanted))
		status = error_set(e, STATUS_HOST, "%s was not filled: kickio wrote %llu of %llu bytes: %s", r->image,
				   (unsigned long long)told.bytes, (unsigned long long)wanted, told.line);
	json_decref(told.said);
	return status;
}

int opinion_prefill(const struct opinion_request *request, const struct opinion_region *region, size_t count, struct error *e)
{
	struct options o = {0};
	uint64_t wanted = 0;
	struct stat st;
	int status = 0;

	if (stat(request->image, &st) < 0)
		return error_errno(e, STATUS_HOST, "%s", request->image);
	if (!request->block_size || request->block_size % 512 || count == 0 || count > OPINION_REGIONS)
		return error_set(e, STATUS_HOST, "%s cannot be filled with blocks of %u bytes in %zu regions", request->image,
				 request->block_size, count);
	begin(&o, request);
	add(&o, "--do_verify=0");
	for (size_t i = 0; status == 0 && i < count; i++)
		status = add_region(&o, request, region[i], (uint64_t)st.st_size, &wanted, e);
	if (status == 0)
		status = fill(&o, request, wanted, e);
	options_free(&o);
	return status;
}
