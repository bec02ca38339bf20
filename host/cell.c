#include "host/cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/parse.h"

static const char *const names[] = { "pass", "skipped", "fail", "stalled", "corrupt", NULL }; /* by enum cell_status */

_Static_assert(sizeof(names) / sizeof(names[0]) == CELL_STATUSES + 1, "a status without a name");

const char *cell_status_name(enum cell_status status)
{
	return names[status];
}

int cell_status_parse(const char *name, enum cell_status *out)
{
	int i = parse_word(name, names);

	if (i < 0)
		return -1;
	*out = (enum cell_status)i;
	return 0;
}

int cell_add(struct cell_result *r, const struct cell_check *check, struct error *e)
{
	if (r->nchecks == r->room) {
		size_t room = r->room ? 2 * r->room : 16;
		struct cell_check *grown = realloc(r->check, room * sizeof(*grown));

		if (!grown) {
			json_decref(check->argv);
			json_decref(check->evidence);
			return error_set(e, STATUS_HOST, "out of memory");
		}
		r->check = grown;
		r->room = room;
	}
	r->check[r->nchecks++] = *check;
	if (check->status > CELL_SKIPPED && check->status > r->status) {
		r->status = check->status;
		snprintf(r->reason, sizeof(r->reason), "%s%s%.400s", check->name, *check->message ? ": " : "", check->message);
	}
	return 0;
}

void cell_skip(struct cell_result *r, const char *reason)
{
	if (r->status >= CELL_SKIPPED)
		return;
	r->status = CELL_SKIPPED;
	snprintf(r->reason, sizeof(r->reason), "%s", reason);
}

void cell_result_free(struct cell_result *r)
{
	for (size_t i = 0; i < r->nchecks; i++) {
		json_decref(r->check[i].argv);
		json_decref(r->check[i].evidence);
	}
	free(r->check);
	json_decref(r->effective);
	*r = (struct cell_result){ 0 };
}

/* What came from a guest may be no UTF-8, and cut in the middle of a character: such bytes become '?'. */
static json_t *string_of(const char *text)
{
	json_t *string = json_string(text);
	char *copy;

	if (string)
		return string;
	copy = strdup(text);
	for (char *p = copy; p && *p; p++)
		if (*p & 0x80)
			*p = '?';
	string = copy ? json_string(copy) : NULL;
	free(copy);
	return string;
}

static json_t *text_or_null(const char *text)
{
	return *text ? string_of(text) : json_null();
}

static json_t *or_null(json_t *value)
{
	return value ? json_incref(value) : json_null();
}

static json_t *check_json(const struct cell_check *check)
{
	return json_pack("{s:o, s:s, s:o, s:f, s:o, s:o}", "name", string_of(check->name), "status", names[check->status],
			 "message", text_or_null(check->message), "seconds", check->seconds, "argv", or_null(check->argv), "evidence",
			 or_null(check->evidence));
}

static json_t *options_json(const struct matrix *m, const struct matrix_cell *cell)
{
	json_t *options = json_object();

	for (size_t o = 0; options && o < m->noptions; o++)
		if (json_object_set_new(options, m->option[o].name, json_string(m->option[o].value[cell->value[o]]))) {
			json_decref(options);
			options = NULL;
		}
	return options;
}

json_t *cell_json(const struct matrix *m, const struct matrix_cell *cell, const struct cell_result *r, const char *again)
{
	json_t *checks = json_array();
	char console[40];

	for (size_t i = 0; checks && i < r->nchecks; i++)
		if (json_array_append_new(checks, check_json(&r->check[i]))) {
			json_decref(checks);
			checks = NULL;
		}
	snprintf(console, sizeof(console), "console/%06u.log", cell->number);
	return json_pack("{s:s, s:I, s:s, s:o, s:s, s:o, s:f, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:s}", "schema", CELL_SCHEMA,
			 "cell", (json_int_t)cell->number, "name", cell->name, "options", options_json(m, cell), "status",
			 names[r->status], "reason", text_or_null(r->reason), "seconds", r->seconds, "started", r->started, "accel",
			 text_or_null(r->accel), "qemu_version", text_or_null(r->qemu_version), "guest_kernel",
			 text_or_null(r->guest_kernel), "effective", or_null(r->effective), "checks", checks, "console", console,
			 "reproduce", again);
}
