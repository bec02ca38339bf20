#include "host/sweep_cell.h"

#include <stdlib.h>
#include <string.h>

#include "guest/text.h"
#include "host/parse.h"

static int add_pair(struct sweep_cell *c, const char *word, size_t length, const char *equals)
{
	struct sweep_pair *grown = realloc(c->pair, (c->npairs + 1) * sizeof(*grown));
	size_t key = (size_t)(equals - word);

	if (!grown)
		return -1;
	c->pair = grown;
	c->pair[c->npairs] = (struct sweep_pair){ strndup(word, key), strndup(equals + 1, length - key - 1) };
	c->npairs++;
	return c->pair[c->npairs - 1].key && c->pair[c->npairs - 1].value ? 0 : -1;
}

/* Words with a = become pairs, the others text. */
static int read_words(struct sweep_cell *c, const char *s, struct text *others)
{
	while (*s) {
		size_t length = strcspn(s, " ");
		const char *equals = memchr(s, '=', length);

		if (equals && equals > s) {
			if (add_pair(c, s, length, equals))
				return -1;
		} else if (length) {
			text_add(others, "%s%.*s", others->length ? " " : "", (int)length, s);
		}
		s += length;
		s += strspn(s, " ");
	}
	return 0;
}

int sweep_cell_read(const struct dataset *d, size_t cell, struct sweep_cell *out, struct error *e)
{
	const json_t *json = json_array_get(json_object_get(d->run, "cells"), cell);
	const char *workload = json_string_value(json_object_get(json, "workload"));
	const char *point = json_string_value(json_object_get(json, "point"));
	const char *name = d->cell[cell].name, *guest = d->cell[cell].guest;
	struct text others = { 0 };
	int status;

	*out = (struct sweep_cell){ .json = json };
	if (workload && point) {
		text_add(&others, "%s", workload);
		status = read_words(out, point, &others);
	} else {
		size_t length = strlen(guest);

		if (strncmp(name, guest, length) == 0 && strncmp(name + length, ": ", 2) == 0)
			name += length + 2;
		status = read_words(out, name, &others);
	}
	out->workload = others.failed ? NULL : strdup(text_get(&others));
	text_free(&others);
	if (status == 0 && out->workload)
		return 0;
	sweep_cell_free(out);
	return error_set(e, STATUS_HOST, "out of memory");
}

void sweep_cell_free(struct sweep_cell *c)
{
	for (size_t i = 0; i < c->npairs; i++) {
		free(c->pair[i].key);
		free(c->pair[i].value);
	}
	free(c->pair);
	free(c->workload);
	*c = (struct sweep_cell){ 0 };
}

static const char *of_arguments(const json_t *argv, const char *key)
{
	size_t length = strlen(key), i;
	const char *found = NULL;
	const json_t *word;

	json_array_foreach(argv, i, word) {
		const char *s = json_string_value(word);

		if (s && strncmp(s, "--", 2) == 0 && strncmp(s + 2, key, length) == 0 && s[2 + length] == '=')
			found = s + length + 3; /* the last one counts */
	}
	if (!found && json_array_size(argv) && (!strcmp(key, "numjobs") || !strcmp(key, "iodepth")))
		return "1";
	return found;
}

const char *sweep_cell_option(const struct sweep_cell *c, const char *key)
{
	const char *option = json_string_value(json_object_get(json_object_get(c->json, "options"), key));

	for (size_t i = 0; i < c->npairs; i++)
		if (strcmp(c->pair[i].key, key) == 0)
			return c->pair[i].value;
	return option ? option : of_arguments(json_object_get(c->json, "argv"), key);
}

bool sweep_same_value(const char *a, const char *b)
{
	uint64_t x, y;

	return strcmp(a, b) == 0 || (parse_size(a, &x) == 0 && parse_size(b, &y) == 0 && x == y);
}

int sweep_compare_values(const char *a, const char *b)
{
	uint64_t x, y;
	bool is_a = parse_size(a, &x) == 0, is_b = parse_size(b, &y) == 0;

	if (!is_a || !is_b)
		return is_b - is_a;
	return (x > y) - (x < y);
}
