/* The parts of the text report that tell what ran and what went wrong. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/report_layout.h"
#include "host/report_text.h"

#define LABEL 14          /* columns of the labels */
#define MAX_FILES 6       /* of an import */
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

static void guests(const struct dataset *d, const json_t *run, struct text *out)
{
	const json_t *guest;
	size_t i;

	json_array_foreach(json_object_get(run, "guests"), i, guest) {
		const char *name = text_in(guest, "name"), *image = text_in(guest, "image");
		const char *kernel = text_in(guest, "kernel");
		json_int_t vcpus = json_integer_value(json_object_get(guest, "vcpus"));
		json_int_t memory = json_integer_value(json_object_get(guest, "memory_bytes"));
		struct text t = { 0 };

		text_add(&t, "%s", name ? name : "?");
		if (image)
			text_add(&t, " (%s)", image);
		if (vcpus)
			text_add(&t, ", %lld vCPU%s", (long long)vcpus, vcpus == 1 ? "" : "s");
		if (memory) {
			text_add(&t, ", ");
			bytes_exact(memory, &t);
		}
		if (kernel)
			text_add(&t, ", kernel %s", kernel);
		if (text_in(guest, "tool"))
			text_add(&t, ", jobs run by its %s", text_in(guest, "tool"));
		if (i == 0 && !isnan(d->boot_s))
			text_add(&t, "; agent's hello %.1f s after kernel start (mean of all boots)", d->boot_s);
		line(i == 0 ? "guest" : "", &t, out);
	}
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

/* "ran with tcg": only worth saying when more differ than the scenario wants, which spoils every comparison. */
static void mixture(const struct dataset *d, const char *key, const char *what, size_t wanted, struct text *out)
{
	const json_t *set = json_object_get(d->seen, key);
	struct text t = { 0 };
	const char *value;
	json_t *n;

	/* of joined folders the facts that differ are listed */
	if (d->nsources > 1 || json_object_size(set) <= wanted)
		return;
	text_add(&t, "trials ran with different %s:", what);
	json_object_foreach((json_t *)set, value, n)
		text_add(&t, " %s (%lld)", value, (long long)json_integer_value(n));
	line("WARNING", &t, out);
}

static void accelerator(const json_t *run, struct text *out)
{
	const json_t *accel = json_object_get(run, "accel");
	const char *used = text_in(accel, "used"), *why = text_in(accel, "why");
	struct text t = { 0 };

	if (used)
		text_add(&t, "%s%s%s", used, why ? ": " : "", why ? why : "");
	line("accelerator", &t, out);
}

static void versions(const json_t *run, struct text *out)
{
	static const char *const key[] = { "hypervisor", "library", "emulator" };
	const json_t *told = json_object_get(run, "versions");
	const char *own = text_in(run, "kickbench");
	struct text t = { 0 };

	if (own)
		text_add(&t, "kickbench %s", own);
	for (size_t i = 0; i < 3; i++)
		if (text_in(told, key[i]))
			text_add(&t, "%s%s", t.length ? ", " : "", text_in(told, key[i]));
	line("versions", &t, out);
}

/* "kb-a: kb-a at qemu+ssh://kb-a/system, QEMU 7.2.22; 4 of 8 blocks: 1, 3, 5, 7" */
static void hosts(const struct dataset *d, const json_t *run, struct text *out)
{
	const json_t *host;
	size_t i;

	json_array_foreach(json_object_get(run, "hosts"), i, host) {
		const char *name = text_in(host, "name"), *uri = text_in(host, "uri");
		const char *emulator = text_in(json_object_get(host, "versions"), "hypervisor");
		struct text t = { 0 }, list = { 0 };
		unsigned n = 0;

		text_add(&t, "%s at %s%s%s", name ? name : "?", uri ? uri : "this host", emulator ? ", " : "", emulator ? emulator : "");
		for (unsigned b = 0; d->nhosts > i && d->nsources < 2 && b < d->nblocks; b++)
			if (d->block_host[b] == i) {
				text_add(&list, "%s%u", n ? ", " : "", b + 1);
				n++;
			}
		if (n)
			text_add(&t, "; %u of %u blocks: %s", n, d->nblocks, text_get(&list));
		text_free(&list);
		line(i ? "" : "hosts", &t, out);
	}
}

static void settings(const struct dataset *d, struct text *out)
{
	struct text t = { 0 };
	const char *key;
	json_t *value;

	for (size_t v = 0; v < d->nvariants; v++) {
		text_add(&t, "%s%s%s", d->variant[v], v == d->baseline ? " (baseline)" : "", settings_of(d, v) ? ":" : "");
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

/* "quick (scenarios/quick.ini), seed 1, 8 blocks, 1 repeat per boot, pairing boots" */
static void scenario(const json_t *run, struct text *out)
{
	const json_t *s = json_object_get(run, "scenario");
	const char *name = text_in(s, "name"), *file = text_in(s, "file"), *fresh = text_in(s, "fresh_boot");
	const char *pairing = text_in(s, "pairing");
	json_int_t blocks = json_integer_value(json_object_get(s, "blocks"));
	json_int_t repeats = json_integer_value(json_object_get(s, "repeats"));
	bool alone = fresh && !strcmp(fresh, "per-trial");
	struct text t = { 0 };

	text_add(&t, "%s%s%s%s", name ? name : "?", file ? " (" : "", file ? file : "", file ? ")" : "");
	text_add(&t, ", seed %llu, %lld block%s, %lld repeat%s per %s, pairing %s%s",
		 (unsigned long long)json_integer_value(json_object_get(run, "seed")), (long long)blocks, blocks == 1 ? "" : "s",
		 (long long)repeats, repeats == 1 ? "" : "s", alone ? "block" : "boot", pairing ? pairing : "?",
		 alone ? ", every trial in a boot of its own" : "");
	line("scenario", &t, out);
}

/* "none.txt, kickfd.txt; blocks as the user gave them" */
static void import_words(const json_t *run, struct text *out)
{
	const json_t *s = json_object_get(run, "scenario"), *files = json_object_get(run, "files"), *file;
	const char *pairing = text_in(s, "pairing");
	json_int_t blocks = json_integer_value(json_object_get(s, "blocks"));
	struct text t = { 0 };
	size_t i;

	json_array_foreach(files, i, file)
		if (i < MAX_FILES)
			text_add(&t, "%s%s", i ? ", " : "", text_in(file, "path") ? text_in(file, "path") : "?");
	if (json_array_size(files) > MAX_FILES)
		text_add(&t, " and %zu more", json_array_size(files) - MAX_FILES);
	if (pairing && strcmp(pairing, "none") != 0)
		text_add(&t, "; in %lld block%s that the importing user gave", (long long)blocks, blocks == 1 ? "" : "s");
	line("imported", &t, out);
}

static void add_planned(const json_t *machines, const char *key, json_t *set)
{
	const json_t *machine;
	size_t i;

	json_array_foreach(machines, i, machine)
		if (text_in(machine, key))
			json_object_set_new(set, text_in(machine, key), json_true());
}

/* How many of them the run was meant to have: guests and hosts, too, may have an emulator each. */
static size_t planned(const json_t *run, const char *key, size_t at_least)
{
	const json_t *host;
	json_t *set = json_object();
	size_t i, n;

	add_planned(json_object_get(run, "machines"), key, set);
	json_array_foreach(json_object_get(run, "hosts"), i, host)
		add_planned(json_object_get(host, "machines"), key, set);
	n = json_object_size(set);
	json_decref(set);
	return n > at_least ? n : at_least;
}

/* Only of another tool than kickio there is something to say. */
static void tools(const struct dataset *d, const json_t *run, struct text *out)
{
	const json_t *set = json_object_get(d->seen, "tool"), *guest;
	struct text t = { 0 };
	const char *name;
	bool other = false;
	json_t *n;
	size_t i;

	json_array_foreach(json_object_get(run, "guests"), i, guest)
		other |= text_in(guest, "tool") != NULL;
	if (!other)
		return;
	json_object_foreach((json_t *)set, name, n)
		text_add(&t, "%s%s (%lld trials)", t.length ? ", " : "", name, (long long)json_integer_value(n));
	text_add(&t, "%swhat is counted around fio holds its start and its layout of files: approximate, and left out where fio "
		 "measured less than nine tenths of that time", t.length ? "; " : "");
	line("tools", &t, out);
}

static void one_source(const struct dataset *d, const json_t *run, struct text *out)
{
	size_t kernels = json_array_size(json_object_get(run, "guests"));
	struct text t = { 0 };

	if (json_is_true(json_object_get(run, "imported"))) {
		import_words(run, out);
		guests(d, run, out);
		return;
	}
	scenario(run, out);
	if (text_in(run, "started"))
		text_add(&t, "%s", text_in(run, "started"));
	line("started", &t, out);
	guests(d, run, out);
	accelerator(run, out);
	tools(d, run, out);
	mixture(d, "accel", "accelerators", planned(run, "accel", differs(d, "accel") ? d->nvariants : 1), out);
	versions(run, out);
	hosts(d, run, out);
	/* several guests have a kernel each; older runs do not list their guest */
	mixture(d, "guest_kernel", "guest kernels", (kernels ? kernels : 1) * (differs(d, "kernel") ? d->nvariants : 1), out);
	mixture(d, "qemu_version", "emulators", planned(run, "qemu_version", differs(d, "emulator") ? d->nvariants : 1), out);
}

static void differences(const struct dataset *d, struct text *out)
{
	const json_t *differ = json_object_get(d->run, "differ"), *fact;
	struct text t = { 0 };
	size_t i;

	json_array_foreach(differ, i, fact) {
		text_add(&t, "%s", json_string_value(fact));
		line(i ? "" : "differ", &t, out);
	}
	if (differ && json_array_size(differ) == 0) {
		text_add(&t, "nothing that both tell of themselves");
		line("differ", &t, out);
	}
}

/* Prints that an import found to contradict themselves. */
static void marks(const struct dataset *d, struct text *out)
{
	json_t *set = json_object_get(d->seen, "marks"), *n;
	struct text t = { 0 };
	const char *what;
	json_int_t all = 0;

	json_object_foreach(set, what, n)
		all += json_integer_value(n);
	if (all == 0)
		return;
	text_add(&t, "wrong in %lld run%s, and what the others agree on was taken: %s%s", (long long)all, all == 1 ? "" : "s",
		 all == 1 ? "" : "for example ", json_object_iter_key(json_object_iter(set)));
	line("prints", &t, out);
}

void report_what_ran(const struct dataset *d, struct text *out)
{
	struct text t = { 0 };

	text_add(out, "WHAT RAN\n");
	if (d->nsources < 2)
		one_source(d, d->run, out);
	for (size_t i = 0; d->nsources > 1 && i < d->nsources; i++) {
		text_add(&t, "%s", d->source[i].path);
		layout_wrap(out, d->source[i].label, LABEL, text_get(&t));
		text_reset(&t);
		one_source(d, d->source[i].run, out);
	}
	text_free(&t);
	differences(d, out);
	settings(d, out);
	marks(d, out);
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
	const json_t *sessions = json_object_get(d->run, "sessions"); /* of one run: joined folders have none here */
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

static void one_environment(const json_t *environment, struct text *out)
{
	const json_t *warning;
	struct text t = { 0 };
	const char *key;
	json_t *value;
	size_t i;

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
}

void report_environment(const struct dataset *d, struct text *out)
{
	if (d->nsources < 2) {
		text_add(out, "HOST\n");
		one_environment(json_object_get(d->run, "environment"), out);
	}
	for (size_t i = 0; d->nsources > 1 && i < d->nsources; i++) {
		layout_wrap(out, "HOST of", 8, d->source[i].label);
		one_environment(json_object_get(d->source[i].run, "environment"), out);
	}
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
static void again(const json_t *run, const char *folder, struct text *out)
{
	const json_t *set;
	size_t i;

	text_add(out, "  kickbench run ");
	if (folder) {
		add_quoted(folder, out);
		text_add(out, "/");
	}
	text_add(out, "scenario.ini");
	json_array_foreach(json_object_get(run, "set"), i, set)
		if (json_is_string(set)) {
			text_add(out, " --set ");
			add_quoted(json_string_value(set), out);
			text_add(out, " \\\n   "); /* goes on in the next line */
		}
	text_add(out, " --set scenario.seed=%llu\n", (unsigned long long)json_integer_value(json_object_get(run, "seed")));
}

void report_reproduce(const struct dataset *d, struct text *out)
{
	bool any = false;

	if (d->nsources < 2 && !json_is_true(json_object_get(d->run, "imported"))) {
		text_add(out, "AGAIN, in the folder of this run (scenario.ini is the file that was run)\n");
		again(d->run, NULL, out);
	}
	for (size_t i = 0; d->nsources > 1 && i < d->nsources; i++) {
		if (json_is_true(json_object_get(d->source[i].run, "imported")))
			continue;
		if (!any)
			text_add(out, "AGAIN (scenario.ini of a folder is the file that was run)\n");
		any = true;
		again(d->source[i].run, d->source[i].path, out);
	}
}
