/*
 * What was seen in the guests, as sets with counts: see dataset.h. Very many boots have very few different
 * texts, so that each is taken apart once.
 */
#include <stdlib.h>
#include <string.h>

#include "guest/text.h"
#include "host/dataset_private.h"

static void count_by(json_t *object, const char *set, const char *text, json_int_t n)
{
	json_t *counts = json_object_get(object, set), *count;

	if (!counts) {
		counts = json_object();
		json_object_set_new(object, set, counts);
	}
	count = json_object_get(counts, text);
	if (count)
		json_integer_set(count, json_integer_value(count) + n);
	else
		json_object_set_new(counts, text, json_integer(n));
}

void dataset_count(json_t *object, const char *set, const char *text)
{
	count_by(object, set, text, 1);
}

/* A value as text: a string as it is, everything else as JSON. With a key in front when there is one. */
static void count_value(json_t *object, const char *set, const char *key, const json_t *value, json_int_t n)
{
	char *dumped = json_is_string(value) ? NULL : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	const char *shown = dumped ? dumped : json_string_value(value);
	struct text text = { 0 };

	text_add(&text, "%s%s%s", key ? key : "", key ? " = " : "", shown ? shown : "?");
	count_by(object, set, text_get(&text), n);
	text_free(&text);
	free(dumped);
}

/* {"key","want","have"} in words. */
static void count_mismatch(json_t *object, const json_t *value, json_int_t n)
{
	const char *key, *want, *have;
	struct text text = { 0 };

	if (json_unpack((json_t *)value, "{s:s, s:s, s:s}", "key", &key, "want", &want, "have", &have)) {
		count_value(object, "mismatch", NULL, value, n);
		return;
	}
	text_add(&text, "%s: wanted %s, is %s", key, want, have);
	count_by(object, "mismatch", text_get(&text), n);
	text_free(&text);
}

static void note_effective(json_t *into, const json_t *effective, json_int_t n)
{
	static const char *const list[] = { "unverified", "features" };
	const char *key;
	json_t *value;
	size_t i;

	json_object_set_new(into, "boots", json_integer(json_integer_value(json_object_get(into, "boots")) + n));
	json_object_foreach(json_object_get(effective, "verified"), key, value)
		count_value(into, "verified", key, value, n);
	json_array_foreach(json_object_get(effective, "mismatch"), i, value)
		count_mismatch(into, value, n);
	for (size_t k = 0; k < sizeof(list) / sizeof(list[0]); k++)
		json_array_foreach(json_object_get(effective, list[k]), i, value)
			count_value(into, list[k], NULL, value, n);
}

/* One text that was seen. */
struct seen_effective {
	const char *text;
	bool mismatch;
	json_int_t boots[]; /* by variant */
};

static struct seen_effective *add_seen(struct effective_counts *c, const char *text)
{
	struct seen_effective **list = realloc(c->seen, (c->n + 1) * sizeof(*list)), *made;
	json_t *document = json_loads(text, 0, NULL);

	if (list)
		c->seen = list;
	made = list && document ? calloc(1, sizeof(*made) + c->nvariants * sizeof(made->boots[0])) : NULL;
	if (made) {
		made->text = text;
		made->mismatch = json_array_size(json_object_get(document, "mismatch")) > 0;
		c->seen[c->n++] = made;
	}
	json_decref(document);
	return made;
}

int effective_count(struct effective_counts *c, unsigned variant, struct shared_text *text, bool *mismatch)
{
	if (text->place == 0) {
		if (!add_seen(c, text->text))
			return -1;
		text->place = c->n;
	}
	c->seen[text->place - 1]->boots[variant]++;
	*mismatch = c->seen[text->place - 1]->mismatch;
	return 0;
}

int effective_finish(const struct effective_counts *c, json_t *by_variant)
{
	for (size_t i = 0; i < c->n; i++) {
		json_t *document = json_loads(c->seen[i]->text, 0, NULL);

		if (!document)
			return -1;
		for (size_t v = 0; v < c->nvariants; v++)
			if (c->seen[i]->boots[v])
				note_effective(json_array_get(by_variant, v), document, c->seen[i]->boots[v]);
		json_decref(document);
	}
	return 0;
}

void effective_free(struct effective_counts *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->seen[i]);
	free(c->seen);
}
