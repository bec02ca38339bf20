#include "host/view_differ.h"

#include <stdlib.h>
#include <string.h>

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
