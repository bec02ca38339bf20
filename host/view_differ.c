#include "host/view_differ.h"

#include <stdlib.h>
#include <string.h>

#include "host/parse.h"

static const struct fact {
	const char *words, *object, *key; /* object NULL: of run.json itself; "guests": of its first */
} facts[] = {
	{ "kickbench", NULL, "kickbench" },
	{ "hypervisor", "versions", "hypervisor" },
	{ "library", "versions", "library" },
	{ "emulator", "versions", "emulator" },
	{ "accelerator", "accel", "used" },
	{ "host CPU", "environment", "cpu" },
	{ "CPUs", "environment", "cpus" },
	{ "microcode", "environment", "microcode" },
	{ "SMT", "environment", "smt" },
	{ "governor", "environment", "governor" },
	{ "host kernel", "environment", "kernel" },
	{ "host system", "environment", "os" },
	{ "guest image", "guests", "image" },
	{ "guest kernel", "guests", "kernel" },
	{ "vCPUs", "guests", "vcpus" },
	{ "guest memory", "guests", "memory_bytes" },
	{ "--set values", NULL, "set" },
};

const char *view_accel(const json_t *run)
{
	return json_string_value(json_object_get(json_object_get(run, "accel"), "used"));
}

static const json_t *fact_of(const json_t *run, const struct fact *f)
{
	const json_t *object = f->object ? json_object_get(run, f->object) : run;

	if (json_is_array(object))
		object = json_array_get(object, 0);
	return json_object_get(object, f->key);
}

static void add_value(const json_t *value, struct text *out)
{
	char *dumped = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	const char *s = dumped ? dumped : json_string_value(value);

	text_add(out, "%s", s && *s ? s : "(default)");
	free(dumped);
}

/* Whether it differs; a line when it does. */
static bool differ(const char *words, const json_t *a, const json_t *b, const char *const label[2], json_t *lines)
{
	struct text t = { 0 };

	if (!a || !b || json_is_null(a) || json_is_null(b) || json_equal(a, b))
		return false;
	text_add(&t, "%s: %s ", words, label[0]);
	add_value(a, &t);
	text_add(&t, ", %s ", label[1]);
	add_value(b, &t);
	json_array_append_new(lines, json_string(text_get(&t)));
	text_free(&t);
	return true;
}

static json_t *settings_of(const json_t *run, const char *name)
{
	json_t *variant;
	size_t i;

	json_array_foreach(json_object_get(run, "variants"), i, variant) {
		const char *s = json_string_value(json_object_get(variant, "name"));

		if (s && strcmp(s, name) == 0)
			return json_object_get(variant, "settings");
	}
	return NULL;
}

static void add_name(const char *name, struct text *names)
{
	text_add(names, "%s%s", names->length ? ", " : "", name);
}

void view_differ(const json_t *const run[2], const char *const label[2], json_t *lines, struct text *names)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (differ(facts[i].words, fact_of(run[0], &facts[i]), fact_of(run[1], &facts[i]), label, lines))
			add_name(facts[i].words, names);
}

void view_differ_settings(const json_t *const run[2], const char *const label[2], const char *variant, json_t *lines,
			  struct text *names)
{
	const json_t *other = settings_of(run[1], variant);
	const char *key;
	json_t *value;

	json_object_foreach(settings_of(run[0], variant), key, value) {
		struct text words = { 0 };

		text_add(&words, "%s's %s", variant, key);
		if (differ(text_get(&words), value, json_object_get(other, key), label, lines))
			add_name(text_get(&words), names);
		text_free(&words);
	}
}

/* ---- what cells did ---- */

/* Says where it ran or what it is called, not what it did. */
static bool tells_nothing(const char *key)
{
	static const char *const keys[] = { "name", "filename", "directory", "output", "output-format", "description" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

static void set_option(json_t *options, const char *key, const char *value)
{
	static const struct { const char *other, *key; } name[] = { { "readwrite", "rw" }, { "blocksize", "bs" } };

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (strcmp(key, name[i].other) == 0)
			key = name[i].key;
	if (strcmp(key, "rw") == 0 && strcmp(value, "readwrite") == 0)
		value = "rw";
	if (!tells_nothing(key))
		json_object_set_new(options, key, json_string(value));
}

/* {"rw":"randread","bs":"4k"}, of the cell's argv and options, and the guest that ran it. */
static json_t *options_of(const json_t *cell)
{
	const char *guest = json_string_value(json_object_get(cell, "guest")), *key;
	json_t *options = json_object(), *value;
	size_t i;

	json_array_foreach(json_object_get(cell, "argv"), i, value) {
		const char *word = json_string_value(value), *equals = word ? strchr(word, '=') : NULL;
		struct text name = { 0 };

		if (!word || strncmp(word, "--", 2) != 0)
			continue;
		text_add_bytes(&name, word + 2, equals ? (size_t)(equals - word - 2) : strlen(word + 2));
		set_option(options, text_get(&name), equals ? equals + 1 : "1");
		text_free(&name);
	}
	json_object_foreach(json_object_get(cell, "options"), key, value)
		if (json_is_string(value))
			set_option(options, key, json_string_value(value));
	if (guest && *guest)
		json_object_set_new(options, "guest", json_string(guest));
	return options;
}

/* 4k and 4096 are the same. */
static bool same_value(const json_t *a, const json_t *b)
{
	const char *text[2] = { json_string_value(a), json_string_value(b) };
	uint64_t size[2];

	if (!text[0] || !text[1])
		return text[0] == text[1];
	if (parse_size(text[0], &size[0]) == 0 && parse_size(text[1], &size[1]) == 0)
		return size[0] == size[1];
	return strcmp(text[0], text[1]) == 0;
}

/* {"bs":{"first":"bs: A 4k, B 16k (randread","more":3}} */
static void note_option(json_t *found, const char *key, const json_t *a, const json_t *b, const char *const label[2],
			const json_t *cell)
{
	json_t *known = json_object_get(found, key);
	const char *name = json_string_value(json_object_get(cell, "name"));
	struct text t = { 0 };

	if (known) {
		json_integer_set(json_object_get(known, "more"), json_integer_value(json_object_get(known, "more")) + 1);
		return;
	}
	text_add(&t, "%s: %s %s, %s %s (%s", key, label[0], a ? json_string_value(a) : "(default)", label[1],
		 b ? json_string_value(b) : "(default)", name ? name : "");
	json_object_set_new(found, key, json_pack("{s:s,s:i}", "first", text_get(&t), "more", 0));
	text_free(&t);
}

static void differ_cell(const struct view_cells *pair, bool only_told, const char *const label[2], json_t *found)
{
	json_t *options[2] = { options_of(pair->cell[0]), options_of(pair->cell[1]) }, *value;
	const char *key;

	json_object_foreach(options[0], key, value) {
		const json_t *other = json_object_get(options[1], key);

		if ((other || (!only_told && strcmp(key, "guest") != 0)) && !same_value(value, other))
			note_option(found, key, value, other, label, pair->cell[0]);
	}
	json_object_foreach(options[1], key, value)
		if (!only_told && strcmp(key, "guest") != 0 && !json_object_get(options[0], key))
			note_option(found, key, NULL, value, label, pair->cell[0]);
	json_decref(options[0]);
	json_decref(options[1]);
}

void view_differ_cells(const struct view_cells *pair, size_t n, bool only_told, const char *const label[2], json_t *lines,
		       struct text *names)
{
	json_t *found = json_object(), *known;
	const char *key;

	for (size_t i = 0; i < n; i++)
		differ_cell(&pair[i], only_told, label, found);
	json_object_foreach(found, key, known) {
		json_int_t more = json_integer_value(json_object_get(known, "more"));
		struct text t = { 0 };

		text_add(&t, "%s", json_string_value(json_object_get(known, "first")));
		if (more)
			text_add(&t, "; and %lld more cell%s", (long long)more, more == 1 ? "" : "s");
		text_add(&t, ")");
		json_array_append_new(lines, json_string(text_get(&t)));
		add_name(key, names);
		text_free(&t);
	}
	json_decref(found);
}
