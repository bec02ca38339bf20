/* The part of the text report that tells what was in force in the guests. */
#include "host/report_layout.h"
#include "host/report_text.h"

#define LABEL 14 /* columns of the labels */

/* One set of an "effective"; how often is only worth saying of what was not so in every boot. */
static void set_of(const json_t *effective, const char *key, const char *label, struct text *out)
{
	json_int_t boots = json_integer_value(json_object_get(effective, "boots"));
	struct text t = { 0 };
	const char *what;
	json_t *n;

	json_object_foreach(json_object_get(effective, key), what, n) {
		text_add(&t, "%s%s", t.length ? "; " : "", what);
		if (json_integer_value(n) != boots)
			text_add(&t, " (in %lld of %lld boots)", (long long)json_integer_value(n), (long long)boots);
	}
	if (t.length)
		layout_wrap(out, label, LABEL + 6, text_get(&t));
	text_free(&t);
}

/* Imports and guests in the place of variants have nothing to say here. */
static bool looked_at(const struct dataset *d)
{
	bool asked = !json_is_true(json_object_get(d->run, "imported")) && json_array_size(d->effective) > 0;
	const json_t *e;
	size_t i;

	json_array_foreach(d->effective, i, e)
		if (d->nsources > 1)
			asked &= json_object_get(e, "boots") != NULL;
	return asked;
}

void report_in_force(const struct dataset *d, struct text *out)
{
	if (!looked_at(d))
		return;
	text_add(out, "SETTINGS IN FORCE, as seen in the running guests\n");
	for (size_t v = 0; v < d->nvariants; v++) {
		const json_t *e = json_array_get(d->effective, v);
		json_int_t boots = json_integer_value(json_object_get(e, "boots"));

		text_add(out, "  ");
		layout_pad(out, d->variant[v], 0);
		if (boots)
			text_add(out, ", %lld boot%s\n", (long long)boots, boots == 1 ? "" : "s");
		else
			text_add(out, ": nothing was looked at\n");
		set_of(e, "mismatch", "    MISMATCH", out);
		set_of(e, "verified", "    verified", out);
		set_of(e, "unverified", "    not verified", out);
		set_of(e, "features", "    features", out);
	}
	text_add(out, "\n");
}
