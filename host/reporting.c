#include "host/reporting.h"

#include <stdlib.h>

#include "host/command.h"
#include "host/compare.h"

static const struct report_options in_folder = { .layout = LAYOUT_CELLS, .charts = true };

static int load(const char *path, struct dataset **d, struct comparison **c, struct error *e)
{
	return dataset_load(path, d, e) || compare(*d, c, e) ? -1 : 0;
}

/* Write one form into the folder, and to out too unless that is NULL. */
static int keep(struct store *store, const struct comparison *c, const struct report_format *format, FILE *out,
		struct error *e)
{
	struct text text = { 0 };
	int status = -1;

	if (format->write(c, &in_folder, &text, e))
		goto out;
	if (text.failed) {
		error_set(e, STATUS_HOST, "out of memory");
		goto out;
	}
	if (out)
		fputs(text_get(&text), out);
	status = store_write(store, format->file, text_get(&text), text.length, e);
out:
	text_free(&text);
	return status;
}

static int keep_all(struct store *store, const struct comparison *c, FILE *out, struct error *e)
{
	const struct report_format *format;

	for (size_t i = 0; (format = report_format_at(i)); i++) {
		struct error why = { 0 };

		if (format->keep == KEEP && keep(store, c, format, i == 0 ? out : NULL, e))
			return -1;
		if (format->keep == KEEP_IF_POSSIBLE && keep(store, c, format, NULL, &why)) {
			error_context(&why, "%s is not written", format->file);
			command_say(why.text);
		}
	}
	return 0;
}

static int give_account(struct store *store, const struct comparison *c, const struct reporting_account *account, FILE *out,
			struct error *e)
{
	struct text text = { 0 };
	int status;

	if (account->write(c, &text)) {
		text_free(&text);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	if (out)
		fprintf(out, "%s%sThe run as a comparison: kickbench report %s\n", text_get(&text), account->below, store_path(store));
	status = store_write(store, account->file, text_get(&text), text.length, e);
	text_free(&text);
	return status;
}

int reporting_write(struct store *store, FILE *out, const struct reporting_account *account, unsigned fail_on,
		    struct reporting_outcome *outcome, struct error *e)
{
	struct comparison *c = NULL;
	struct dataset *d = NULL;
	int status = -1;

	if (load(store_path(store), &d, &c, e))
		goto out;
	*outcome = (struct reporting_outcome){ .failed = compare_fail(c, fail_on), .lost = d->ntrials - d->nok,
					       .incomplete = c->count[VERDICT_INCOMPLETE], .trials = d->ntrials,
					       .undecided = c->count[VERDICT_UNCLEAR] + c->count[VERDICT_SINGLE] +
							    c->count[VERDICT_NOT_EFFECTIVE],
					       .comparisons = c->nfindings };
	status = keep_all(store, c, account ? NULL : out, e);
	if (!status && account)
		status = give_account(store, c, account, out, e);
out:
	comparison_free(c);
	dataset_free(d);
	return status;
}

int reporting_status(const struct reporting_outcome *o, struct error *e)
{
	if (o->failed)
		return STATUS_FAILED;
	if (o->lost) /* those of a session before a resume too */
		error_set(e, STATUS_INCOMPLETE, "%zu of %zu trials failed: the comparison is incomplete", o->lost, o->trials);
	else if (o->incomplete)
		error_set(e, STATUS_INCOMPLETE, "%zu of %zu comparisons are incomplete: see the report", o->incomplete, o->comparisons);
	else
		return STATUS_OK;
	return e->status;
}

int reporting_bisect(const struct reporting_outcome *o, struct error *e)
{
	int status = reporting_status(o, e);

	if (status == STATUS_OK && o->undecided) {
		error_set(e, STATUS_INCOMPLETE, "%zu of %zu comparisons are undecided: see the report", o->undecided, o->comparisons);
		status = e->status;
	}
	return command_bisect(true, status);
}

int reporting_print(const char *path, const struct report_request *request, struct error *e)
{
	struct comparison *c = NULL;
	struct dataset *d = NULL;
	int status = load(path, &d, &c, e) || report_send(c, request, e) ? -1 : 0;

	comparison_free(c);
	dataset_free(d);
	return status;
}

int reporting_resumed_set(const struct store *store, json_t **owner, const char ***list, size_t *count, struct error *e)
{
	json_t *set, *value;
	size_t i;

	*list = NULL;
	*count = 0;
	if (store_read_json(store, "run.json", "kickbench-run/1", owner, e))
		return -1;
	set = json_object_get(*owner, "set");
	*list = calloc(json_array_size(set) + 1, sizeof(**list));
	if (!*list)
		return error_set(e, STATUS_HOST, "out of memory");
	json_array_foreach(set, i, value)
		if (json_is_string(value))
			(*list)[(*count)++] = json_string_value(value);
	return 0;
}

int reporting_resumed_seed(const struct store *store, uint64_t *seed, struct error *e)
{
	json_t *run, *value;
	int status = 0;

	if (store_read_json(store, "run.json", "kickbench-run/1", &run, e))
		return -1;
	value = json_object_get(run, "seed");
	if (json_is_integer(value))
		*seed = (uint64_t)json_integer_value(value);
	else
		status = error_set(e, STATUS_USAGE, "%s/run.json has no seed", store_path(store));
	json_decref(run);
	return status;
}

int reporting_check_primary(const struct scenario *s, struct error *e)
{
	struct text names = { 0 };

	if (metric_find(s->primary) != METRICS)
		return 0;
	for (int m = 0; m < METRICS; m++)
		text_add(&names, "%s%s", m ? ", " : "", metric_info((enum metric)m)->name);
	error_at(e, STATUS_USAGE, s->primary_file, s->primary_line, "primary = %s: expected one of %s", s->primary, text_get(&names));
	text_free(&names);
	return -1;
}
