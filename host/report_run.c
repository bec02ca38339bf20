/* The parts of the text report that tell what ran, what was in force and what went wrong. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/report_layout.h"
#include "host/report_text.h"

#define LABEL 14          /* columns of the labels */
#define MAX_PROBLEMS 30   /* trials named in the text; report.json has all */

static const char *text_in(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s && *s ? s : NULL;
}

/* "1 GiB", "1536 MiB", "1000 B": exact. */
static void bytes_exact(json_int_t bytes, struct text *out)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	unsigned i = 0;

	while (i < 4 && bytes >= 1024 && bytes % 1024 == 0) {
		bytes /= 1024;
		i++;
	}
	text_add(out, "%lld %s", (long long)bytes, unit[i]);
}

static void line(const char *label, struct text *words, struct text *out)
{
	char padded[LABEL + 1];

	if (words->length) {
		snprintf(padded, sizeof(padded), *label ? "  %s" : "%s", label);
		layout_wrap(out, padded, LABEL, text_get(words));
	}
	text_free(words);
}

static void guests(const struct dataset *d, struct text *out)
{
	const json_t *guest;
	size_t i;

	json_array_foreach(json_object_get(d->run, "guests"), i, guest) {
		const char *name = text_in(guest, "name"), *image = text_in(guest, "image");
		const char *kernel = text_in(guest, "kernel");
		json_int_t vcpus = json_integer_value(json_object_get(guest, "vcpus"));
		struct text t = { 0 };

		text_add(&t, "%s (%s), %lld vCPU%s, ", name ? name : "?", image ? image : "?", (long long)vcpus,
			 vcpus == 1 ? "" : "s");
		bytes_exact(json_integer_value(json_object_get(guest, "memory_bytes")), &t);
		if (kernel)
			text_add(&t, ", kernel %s", kernel);
		if (i == 0 && !isnan(d->boot_s))
			text_add(&t, "; agent's hello %.1f s after kernel start (mean of all boots)", d->boot_s);
		line(i == 0 ? "guest" : "", &t, out);
	}
}

/* "ran with tcg": only worth saying when trials differ, which spoils every comparison. */
static void mixture(const struct dataset *d, const char *key, const char *what, struct text *out)
{
	const json_t *set = json_object_get(d->seen, key);
	struct text t = { 0 };
	const char *value;
	json_t *n;

	/* several guests have a kernel each */
	if (json_object_size(set) > (strcmp(key, "guest_kernel") == 0 ? json_array_size(json_object_get(d->run, "guests")) : 1)) {
		text_add(&t, "trials ran with different %s:", what);
		json_object_foreach((json_t *)set, value, n)
			text_add(&t, " %s (%lld)", value, (long long)json_integer_value(n));
		line("WARNING", &t, out);
	}
}

static void accel_and_versions(const struct dataset *d, struct text *out)
{
	static const char *const key[] = { "hypervisor", "library", "emulator" };
	const json_t *accel = json_object_get(d->run, "accel"), *versions = json_object_get(d->run, "versions");
	const char *used = text_in(accel, "used"), *why = text_in(accel, "why"), *own = text_in(d->run, "kickbench");
	struct text t = { 0 };

	if (used)
		text_add(&t, "%s%s%s", used, why ? ": " : "", why ? why : "");
	line("accelerator", &t, out);
	mixture(d, "accel", "accelerators", out);
	text_add(&t, "kickbench %s", own ? own : "?");
	for (size_t i = 0; i < 3; i++)
		if (text_in(versions, key[i]))
			text_add(&t, ", %s", text_in(versions, key[i]));
	line("versions", &t, out);
	mixture(d, "guest_kernel", "guest kernels", out);
	mixture(d, "qemu_version", "emulators", out);
}

static const json_t *settings_of(const struct dataset *d, size_t variant)
{
	return json_object_get(json_array_get(json_object_get(d->run, "variants"), variant), "settings");
}

static bool differs(const struct dataset *d, const char *key)
{
	const json_t *first = json_object_get(settings_of(d, 0), key);

	for (size_t v = 1; v < d->nvariants; v++) {
		const json_t *other = json_object_get(settings_of(d, v), key);

		if (!first != !other || (first && !json_equal(first, other)))
			return true;
	}
	return false;
}

static void settings(const struct dataset *d, struct text *out)
{
	struct text t = { 0 };
	const char *key;
	json_t *value;

	for (size_t v = 0; v < d->nvariants; v++) {
		text_add(&t, "%s%s:", d->variant[v], v == d->baseline ? " (baseline)" : "");
		json_object_foreach((json_t *)settings_of(d, v), key, value) {
			const char *s = json_string_value(value);

			if (differs(d, key))
				text_add(&t, " %s=%s", key, s && *s ? s : "(default)");
		}
		if (t.data[t.length - 1] == ':')
			text_add(&t, " the common settings");
		line(v == 0 ? "variants" : "", &t, out);
	}
	json_object_foreach((json_t *)settings_of(d, 0), key, value) {
		const char *s = json_string_value(value);

		if (s && *s && !differs(d, key))
			text_add(&t, "%s%s=%s", t.length ? " " : "", key, s);
	}
	line("in common", &t, out);
}

void report_what_ran(const struct dataset *d, struct text *out)
{
	const json_t *seed = json_object_get(d->run, "seed");
	const char *started = text_in(d->run, "started");
	const char *file = text_in(json_object_get(d->run, "scenario"), "file");
	const char *fresh = text_in(json_object_get(d->run, "scenario"), "fresh_boot");
	bool alone = fresh && !strcmp(fresh, "per-trial");
	struct text t = { 0 };

	text_add(out, "WHAT RAN\n");
	text_add(&t, "%s%s%s%s, seed %llu, %u block%s, %u repeat%s per %s, pairing %s%s", d->name, file ? " (" : "",
		 file ? file : "", file ? ")" : "", (unsigned long long)json_integer_value(seed), d->nblocks,
		 d->nblocks == 1 ? "" : "s", d->repeats, d->repeats == 1 ? "" : "s", alone ? "block" : "boot",
		 d->disks ? "disks" : "boots", alone ? ", every trial in a boot of its own" : "");
	line("scenario", &t, out);
	if (started)
		text_add(&t, "%s", started);
	line("started", &t, out);
	guests(d, out);
	accel_and_versions(d, out);
	settings(d, out);
	text_add(out, "\n");
}

/* ---- what was in force ---- */

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

void report_in_force(const struct dataset *d, struct text *out)
{
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

/* ---- what went wrong ---- */

static void problems(const struct dataset *d, struct text *out)
{
	size_t named = 0, missing = 0, first = 0, last = 0;
	struct text t = { 0 };

	for (size_t i = 0; i < d->nproblems; i++) {
		const struct problem *p = &d->problem[i];

		if (p->status == OBSERVED_MISSING) { /* an interrupted run: one line for all of them */
			first = missing++ ? first : p->trial;
			last = p->trial;
			continue;
		}
		if (named++ >= MAX_PROBLEMS)
			continue;
		text_add(&t, "trial %u, block %u, %s, %s: %s%s%s", p->trial, p->block, d->variant[p->variant],
			 d->cell[p->cell].name, observed_name(p->status), p->message ? ": " : "",
			 p->message ? p->message : "");
		layout_wrap(out, "  ", 4, text_get(&t));
		text_reset(&t);
	}
	text_free(&t);
	if (named > MAX_PROBLEMS)
		text_add(out, "  ... and %zu more, in report.json\n", named - MAX_PROBLEMS);
	if (missing == 1)
		text_add(out, "  trial %zu is missing\n", first);
	else if (missing)
		text_add(out, "  %zu trials are missing, from trial %zu to trial %zu\n", missing, first, last);
}

void report_trials(const struct dataset *d, struct text *out)
{
	const json_t *sessions = json_object_get(d->run, "sessions");
	const json_t *last = json_array_get(sessions, json_array_size(sessions) - 1);
	const char *status = text_in(last, "status"), *message = text_in(last, "message");
	struct text t = { 0 };

	text_add(out, "TRIALS\n");
	text_add(&t, "%zu of %zu counted", d->nok, d->ntrials);
	if (d->ncut)
		text_add(&t, "; %zu of cut blocks kept and not counted", d->ncut);
	if (d->nstray)
		text_add(&t, "; %zu file%s that the plan does not know", d->nstray, d->nstray == 1 ? "" : "s");
	if (json_array_size(sessions) > 1)
		text_add(&t, "; run in %zu sessions", json_array_size(sessions));
	if (status && strcmp(status, "complete") != 0)
		text_add(&t, "; the last session ended: %s%s%s", status, message ? ", " : "", message ? message : "");
	layout_wrap(out, "  ", 2, text_get(&t));
	text_free(&t);
	problems(d, out);
	text_add(out, "\n");
}

void report_environment(const struct dataset *d, struct text *out)
{
	const json_t *environment = json_object_get(d->run, "environment"), *warning;
	struct text t = { 0 };
	const char *key;
	json_t *value;
	size_t i;

	text_add(out, "HOST\n");
	json_object_foreach((json_t *)environment, key, value) {
		if (json_is_string(value))
			text_add(&t, "%s%s: %s", t.length ? "; " : "", key, json_string_value(value));
		else if (json_is_integer(value) && strlen(key) > 6 && strcmp(key + strlen(key) - 6, "_bytes") == 0)
			text_add(&t, "%s%.*s: %lld MiB", t.length ? "; " : "", (int)strlen(key) - 6, key,
				 (long long)json_integer_value(value) >> 20);
		else if (json_is_integer(value))
			text_add(&t, "%s%s: %lld", t.length ? "; " : "", key, (long long)json_integer_value(value));
		else if (json_is_real(value))
			text_add(&t, "%s%s: %.4g", t.length ? "; " : "", key, json_real_value(value));
	}
	layout_wrap(out, "  ", 2, t.length ? text_get(&t) : "nothing was recorded");
	text_free(&t);
	json_array_foreach(json_object_get(environment, "warnings"), i, warning)
		if (json_is_string(warning))
			layout_wrap(out, "  WARNING", LABEL, json_string_value(warning));
	text_add(out, "\n");
}

/* A word for a shell: in quotes where it needs them. */
static void add_quoted(const char *word, struct text *out)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,%+-")]) {
		text_add(out, "%s", word);
		return;
	}
	text_add(out, "'");
	for (; *word; word++)
		text_add(out, *word == '\'' ? "'\\''" : "%c", *word);
	text_add(out, "'");
}

/* The seed last: it may have been among the values that were set. */
void report_reproduce(const struct dataset *d, struct text *out)
{
	const json_t *seed = json_object_get(d->run, "seed"), *set;
	size_t i;

	text_add(out, "AGAIN, in the folder of this run (scenario.ini is the file that was run)\n");
	text_add(out, "  kickbench run scenario.ini");
	json_array_foreach(json_object_get(d->run, "set"), i, set)
		if (json_is_string(set)) {
			text_add(out, " --set ");
			add_quoted(json_string_value(set), out);
			text_add(out, " \\\n   "); /* goes on in the next line */
		}
	text_add(out, " --set scenario.seed=%llu\n", (unsigned long long)json_integer_value(seed));
}
