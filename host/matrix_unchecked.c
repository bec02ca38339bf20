/* What cells that were tried leave open: checks that were skipped, settings that nobody confirmed. */
#include <string.h>

#include "host/matrix_words.h"

static const char *string_in(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

struct left_out {
	const struct matrix_folder *f;
	const struct matrix_table *t;
	const char *name, *message;
};

static bool leaves_out(void *context, size_t i)
{
	const struct left_out *x = context;
	const json_t *checks = json_object_get(matrix_cell_record(x->f, i), "checks"), *check;
	size_t k;

	if (x->t->status[i] == CELL_SKIPPED) /* told as a whole */
		return false;
	json_array_foreach(checks, k, check)
		if (matrix_check_status(check) == CELL_SKIPPED && strcmp(string_in(check, "name"), x->name) == 0 &&
		    strcmp(string_in(check, "message"), x->message) == 0)
			return true;
	return false;
}

/* One of a cell's checks, where it is the first of its name and message. */
static void unchecked_row(const struct matrix_folder *f, const struct matrix_table *t, const json_t *check, json_t *said, matrix_row row,
			  void *context)
{
	struct left_out x = { f, t, string_in(check, "name"), string_in(check, "message") };
	struct text key = { 0 }, words = { 0 };

	text_add(&key, "%s%s%s", x.name, *x.message ? ": " : "", x.message);
	if (!json_object_get(said, text_get(&key))) {
		json_object_set_new(said, text_get(&key), json_true());
		matrix_cell_list(f, leaves_out, &x, &words);
		text_add(&words, ": %s", text_get(&key));
		row(context, "unchecked", text_get(&words));
	}
	text_free(&key);
	text_free(&words);
}

/* Settings of which the running guest did not tell whether they are in force: "event_idx, packed". */
static void unverified_words(const struct matrix_folder *f, size_t cell, struct text *out)
{
	const json_t *list = json_object_get(json_object_get(matrix_cell_record(f, cell), "effective"), "unverified"), *name;
	size_t i;

	json_array_foreach(list, i, name)
		if (json_is_string(name))
			text_add(out, "%s%s", i ? ", " : "", json_string_value(name));
}

static bool same_unverified(void *context, size_t i)
{
	const struct left_out *x = context;
	struct text words = { 0 };
	bool same;

	unverified_words(x->f, i, &words);
	same = x->t->status[i] != CELL_SKIPPED && strcmp(text_get(&words), x->name) == 0;
	text_free(&words);
	return same;
}

static void unverified_rows(const struct matrix_folder *f, const struct matrix_table *t, matrix_row row, void *context)
{
	for (size_t i = 0; i < t->ncells; i++) {
		struct text names = { 0 }, words = { 0 };
		struct left_out x = { .f = f, .t = t };
		size_t first = 0;

		unverified_words(f, i, &names);
		x.name = text_get(&names);
		while (first < i && !same_unverified(&x, first))
			first++;
		if (names.length && first == i && same_unverified(&x, i)) {
			matrix_cell_list(f, same_unverified, &x, &words);
			text_add(&words, ": whether the guest has %s as asked for", x.name);
			row(context, "unchecked", text_get(&words));
		}
		text_free(&names);
		text_free(&words);
	}
}

void matrix_unchecked(const struct matrix_folder *f, const struct matrix_table *t, matrix_row row, void *context)
{
	json_t *said = json_object();

	for (size_t i = 0; i < t->ncells; i++) {
		const json_t *checks = json_object_get(matrix_cell_record(f, i), "checks"), *check;
		size_t k;

		json_array_foreach(checks, k, check)
			if (matrix_check_status(check) == CELL_SKIPPED && t->status[i] != CELL_SKIPPED)
				unchecked_row(f, t, check, said, row, context);
	}
	unverified_rows(f, t, row, context);
	json_decref(said);
}
