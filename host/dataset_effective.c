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
	json_int_t boots[]; /* by guest, then by variant */
};

static struct seen_effective *add_seen(struct effective_counts *c, const char *text)
{
	struct seen_effective **list = realloc(c->seen, (c->n + 1) * sizeof(*list)), *made;
	json_t *document = json_loads(text, 0, NULL);

	if (list)
		c->seen = list;
	made = list && document ? calloc(1, sizeof(*made) + c->nguests * c->nvariants * sizeof(made->boots[0])) : NULL;
	if (made) {
		made->text = text;
		made->mismatch = json_array_size(json_object_get(document, "mismatch")) > 0;
		c->seen[c->n++] = made;
	}
	json_decref(document);
	return made;
}

int effective_count(struct effective_counts *c, unsigned guest, unsigned variant, struct shared_text *text, bool *mismatch)
{
	if (text->place == 0) {
		if (!add_seen(c, text->text))
			return -1;
		text->place = c->n;
	}
	c->seen[text->place - 1]->boots[guest * c->nvariants + variant]++;
	*mismatch = c->seen[text->place - 1]->mismatch;
	return 0;
}

/* Whether all guests that were booted have it. */
static bool common(json_t *const *part, size_t n, const char *set, const char *text)
{
	for (size_t g = 0; g < n; g++)
		if (json_object_size(part[g]) && !json_object_get(json_object_get(part[g], set), text))
			return false;
	return true;
}

/* What holds in one guest and not in another is told with the guest's name. */
static void join_guests(json_t *into, json_t *const *part, const char *const *guest, size_t n)
{
	for (size_t g = 0; g < n; g++) {
		const char *set, *text;
		json_t *counts, *count;

		json_object_foreach(part[g], set, counts) {
			if (json_is_integer(counts)) { /* boots */
				json_object_set_new(into, set, json_integer(json_integer_value(counts) +
									    json_integer_value(json_object_get(into, set))));
				continue;
			}
			json_object_foreach(counts, text, count) {
				struct text named = { 0 };
				bool all = common(part, n, set, text);

				text_add(&named, "%s%s%s", all ? "" : guest[g], all ? "" : ": ", text);
				count_by(into, set, text_get(&named), json_integer_value(count));
				text_free(&named);
			}
		}
	}
}

/* One guest's part of one variant. -1: out of memory. */
static int finish_guest(const struct effective_counts *c, size_t guest, size_t variant, json_t *into)
{
	for (size_t i = 0; i < c->n; i++) {
		json_int_t boots = c->seen[i]->boots[guest * c->nvariants + variant];
		json_t *document = boots ? json_loads(c->seen[i]->text, 0, NULL) : NULL;

		if (boots && !document)
			return -1;
		if (boots)
			note_effective(into, document, boots);
		json_decref(document);
	}
	return 0;
}

int effective_finish(const struct effective_counts *c, json_t *by_variant)
{
	json_t **part = calloc(c->nguests, sizeof(*part));
	int status = part ? 0 : -1;

	for (size_t v = 0; status == 0 && v < c->nvariants; v++) {
		for (size_t g = 0; g < c->nguests; g++) {
			part[g] = json_object();
			if (!part[g] || finish_guest(c, g, v, part[g]))
				status = -1;
		}
		if (status == 0)
			join_guests(json_array_get(by_variant, v), part, c->guest, c->nguests);
		for (size_t g = 0; g < c->nguests; g++)
			json_decref(part[g]);
	}
	free(part);
	return status;
}

void effective_free(struct effective_counts *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->seen[i]);
	free(c->seen);
}
