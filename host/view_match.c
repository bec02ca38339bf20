#include "host/view_match.h"

#include <stdlib.h>
#include <string.h>

#include "host/parse.h"

static const char *option_of(const json_t *cell, const char *key)
{
	const char *told = json_string_value(json_object_get(json_object_get(cell, "options"), key));
	size_t length = strlen(key), i;
	const json_t *word;

	json_array_foreach(json_object_get(cell, "argv"), i, word) {
		const char *s = json_string_value(word);

		if (!told && s && strncmp(s, "--", 2) == 0 && strncmp(s + 2, key, length) == 0 && s[2 + length] == '=')
			told = s + 3 + length;
	}
	return told;
}

void view_identity(const json_t *cell, struct text *out)
{
	static const struct { const char *key, *other, *otherwise; } option[] = {
		{ "rw", "readwrite", "read" }, { "bs", "blocksize", "4k" }, { "iodepth", NULL, "1" }, { "numjobs", NULL, "1" },
		{ "ioengine", NULL, "psync" },
	};
	size_t told = 0;
	struct text t = { 0 };

	for (size_t i = 0; i < sizeof(option) / sizeof(option[0]); i++) {
		const char *value = option_of(cell, option[i].key);
		uint64_t bytes;

		if (!value && option[i].other)
			value = option_of(cell, option[i].other);
		told += value != NULL;
		value = value ? value : option[i].otherwise;
		if (strcmp(option[i].key, "rw") == 0 && strcmp(value, "readwrite") == 0)
			value = "rw";
		text_add(&t, "%s%s=", i ? " " : "", option[i].key);
		if (strcmp(option[i].key, "bs") == 0 && parse_size(value, &bytes) == 0)
			text_add(&t, "%llu", (unsigned long long)bytes);
		else
			text_add(&t, "%s", value);
	}
	if (told)
		text_add(out, "%s", text_get(&t));
	text_free(&t);
}

/* ---- one way of matching after the other ---- */

enum { BY_NAME_AND_GUEST, BY_NAME, BY_IDENTITY_AND_GUEST, BY_IDENTITY, WAYS };

static void key_of(const struct dataset *d, size_t cell, int way, struct text *out)
{
	text_reset(out);
	if (way <= BY_NAME)
		text_add(out, "%s", d->cell[cell].name);
	else
		view_identity(json_array_get(json_object_get(d->run, "cells"), cell), out);
	if (out->length && (way == BY_NAME_AND_GUEST || way == BY_IDENTITY_AND_GUEST))
		text_add(out, "\n%s", d->cell[cell].guest);
}

/* {"key": cell}, of cells that are not taken; -1 for a key of several. */
static json_t *index_of(const struct dataset *d, const bool *taken, int way)
{
	json_t *index = json_object();
	struct text key = { 0 };

	for (size_t cell = 0; index && cell < d->ncells; cell++) {
		if (taken[cell])
			continue;
		key_of(d, cell, way, &key);
		if (key.length)
			json_object_set_new(index, key.data, json_integer(json_object_get(index, key.data) ? -1 : (json_int_t)cell));
	}
	text_free(&key);
	return index;
}

int view_match(const struct dataset *a, const struct dataset *b, size_t *match, struct error *e)
{
	bool *taken[2] = { calloc(a->ncells, sizeof(bool)), calloc(b->ncells, sizeof(bool)) };
	int rc = taken[0] && taken[1] ? 0 : -1;

	memset(match, 0, a->ncells * sizeof(*match));
	for (int way = 0; rc == 0 && way < WAYS; way++) {
		json_t *of_a = index_of(a, taken[0], way), *of_b = index_of(b, taken[1], way), *at;
		const char *key;

		rc = of_a && of_b ? 0 : -1;
		json_object_foreach(of_a, key, at) {
			json_int_t from = json_integer_value(at), to = -1;

			if (json_object_get(of_b, key))
				to = json_integer_value(json_object_get(of_b, key));
			if (from < 0 || to < 0)
				continue;
			match[from] = (size_t)to + 1;
			taken[0][from] = taken[1][to] = true;
		}
		json_decref(of_a);
		json_decref(of_b);
	}
	free(taken[0]);
	free(taken[1]);
	return rc ? error_set(e, STATUS_HOST, "out of memory") : 0;
}
