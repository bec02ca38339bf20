#include "host/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/text.h"
#include "host/dataset_private.h"

#define SCHEMA_VERSION 1

const char *observed_name(enum observed status)
{
	static const char *const name[] = { "ok", "missing", "unreadable", "failed", "stalled", "corrupt" };

	return name[status];
}

/* ---- files ---- */

static int check_schema(const json_t *document, const char *family, struct error *e)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));
	size_t length = strlen(family);
	char *end;
	long version;

	if (!schema || strncmp(schema, family, length) != 0 || schema[length] != '/')
		return error_set(e, STATUS_USAGE, "this is no %s document", family);
	version = strtol(schema + length + 1, &end, 10);
	if (*end || version < 1)
		return error_set(e, STATUS_USAGE, "schema \"%s\" is not understood", schema);
	if (version > SCHEMA_VERSION)
		return error_set(e, STATUS_USAGE, "written by a newer kickbench (schema %s; this one reads %s/%d)",
				 schema, family, SCHEMA_VERSION);
	return 0;
}

int dataset_read(const char *path, const char *name, const char *family, json_t **out, bool *missing,
		 struct error *e)
{
	size_t length = strlen(path) + strlen(name) + 2;
	char *file = malloc(length);
	json_error_t je;
	int rc = -1;

	*out = NULL;
	if (missing)
		*missing = false;
	if (!file)
		return error_set(e, STATUS_HOST, "out of memory");
	snprintf(file, length, "%s/%s", path, name);
	if (access(file, R_OK)) {
		if (missing)
			*missing = errno == ENOENT;
		error_errno(e, STATUS_USAGE, "%s", name);
		goto out;
	}
	*out = json_load_file(file, 0, &je);
	if (!*out) {
		error_at(e, STATUS_USAGE, name, je.line, "%s", je.text);
		goto out;
	}
	if (check_schema(*out, family, e)) {
		error_context(e, "%s", name);
		json_decref(*out);
		*out = NULL;
		goto out;
	}
	rc = 0;
out:
	free(file);
	return rc;
}

/* Count the trial files that do not count. */
static void look_into_folder(struct dataset *d)
{
	size_t length = strlen(d->path) + sizeof("/trials");
	char *folder = malloc(length);
	size_t plain = 0, missing = 0, found;
	struct dirent *entry;
	DIR *dir = NULL;

	if (folder) {
		snprintf(folder, length, "%s/trials", d->path);
		dir = opendir(folder);
	}
	while (dir && (entry = readdir(dir))) {
		const char *dot = strchr(entry->d_name, '.');

		if (!dot || dot == entry->d_name)
			continue;
		if (strncmp(dot, ".cut-", 5) == 0)
			d->ncut++;
		else if (strcmp(dot, ".json") == 0)
			plain++;
	}
	if (dir)
		closedir(dir);
	free(folder);
	for (size_t i = 0; i < d->nproblems; i++)
		missing += d->problem[i].status == OBSERVED_MISSING;
	found = d->ntrials - missing;
	d->nstray = plain > found ? plain - found : 0;
}

/* ---- sets with counts ---- */

static void count_text(json_t *object, const char *set, const char *text)
{
	json_t *counts = json_object_get(object, set);

	if (!counts) {
		counts = json_object();
		json_object_set_new(object, set, counts);
	}
	json_object_set_new(counts, text, json_integer(json_integer_value(json_object_get(counts, text)) + 1));
}

/* A value as text: a string as it is, everything else as JSON. With a key in front when there is one. */
static void count_value(json_t *object, const char *set, const char *key, const json_t *value)
{
	char *dumped = json_is_string(value) ? NULL : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	const char *shown = dumped ? dumped : json_string_value(value);
	struct text text = { 0 };

	text_add(&text, "%s%s%s", key ? key : "", key ? " = " : "", shown ? shown : "?");
	count_text(object, set, text_get(&text));
	text_free(&text);
	free(dumped);
}

/* {"key","want","have"} in words. */
static void count_mismatch(json_t *object, const json_t *value)
{
	const char *key, *want, *have;
	struct text text = { 0 };

	if (json_unpack((json_t *)value, "{s:s, s:s, s:s}", "key", &key, "want", &want, "have", &have)) {
		count_value(object, "mismatch", NULL, value);
		return;
	}
	text_add(&text, "%s: wanted %s, is %s", key, want, have);
	count_text(object, "mismatch", text_get(&text));
	text_free(&text);
}

static void note_effective(json_t *into, const json_t *effective)
{
	static const char *const list[] = { "unverified", "features" };
	const char *key;
	json_t *value;
	size_t i;

	json_object_set_new(into, "boots", json_integer(json_integer_value(json_object_get(into, "boots")) + 1));
	json_object_foreach(json_object_get(effective, "verified"), key, value)
		count_value(into, "verified", key, value);
	json_array_foreach(json_object_get(effective, "mismatch"), i, value)
		count_mismatch(into, value);
	for (size_t k = 0; k < sizeof(list) / sizeof(list[0]); k++)
		json_array_foreach(json_object_get(effective, list[k]), i, value)
			count_value(into, list[k], NULL, value);
}

/* ---- trials ---- */

/* A boot's disk: its settings are looked at once, and what was wrong there was wrong for all its cells. */
struct disk {
	unsigned boot, variant;
	bool noted, mismatch;
};

struct loading {
	struct dataset *d;
	struct planned_trial *trial;
	struct disk *disk; /* sorted */
	size_t ndisks;
	struct measured *measured; /* of the observation at hand */
	double boot_sum;
	size_t boots;
};

static int by_observation(const void *a, const void *b)
{
	const struct planned_trial *x = a, *y = b;

	if (x->observation != y->observation)
		return x->observation < y->observation ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int by_disk(const void *a, const void *b)
{
	const struct disk *x = a, *y = b;

	if (x->boot != y->boot)
		return x->boot < y->boot ? -1 : 1;
	return (x->variant > y->variant) - (x->variant < y->variant);
}

static int by_trial(const void *a, const void *b)
{
	const struct problem *x = a, *y = b;

	return (x->trial > y->trial) - (x->trial < y->trial);
}

static void note_problem(struct dataset *d, const struct planned_trial *p, enum observed status,
			 const char *message)
{
	struct observation *o = &d->observation[p->observation];

	/* room was made for one per trial */
	d->problem[d->nproblems++] = (struct problem){ .trial = p->number, .block = p->block + 1, .cell = p->cell,
						       .variant = p->variant, .status = status,
						       .message = message ? strdup(message) : NULL };
	if (status > o->status) {
		o->status = status;
		o->culprit = p->number;
	}
}

static enum observed status_of(const struct dataset *d, const struct planned_trial *p, const json_t *trial,
			       struct error *e)
{
	const char *status = json_string_value(json_object_get(trial, "status"));
	const char *variant = json_string_value(json_object_get(trial, "variant"));

	if (json_integer_value(json_object_get(trial, "trial")) != p->number ||
	    json_integer_value(json_object_get(trial, "block")) != p->block + 1 ||
	    json_integer_value(json_object_get(trial, "cell")) != p->cell || !variant ||
	    strcmp(variant, d->variant[p->variant]) != 0) {
		error_set(e, STATUS_USAGE, "it is not the trial that the plan has under this number");
		return OBSERVED_UNREADABLE;
	}
	for (enum observed s = OBSERVED_OK; status && s <= OBSERVED_CORRUPT; s++)
		if (s != OBSERVED_MISSING && s != OBSERVED_UNREADABLE && strcmp(status, observed_name(s)) == 0)
			return s;
	error_set(e, STATUS_USAGE, "status \"%s\" is not known", status ? status : "");
	return OBSERVED_UNREADABLE;
}

static void note_seen(struct loading *l, const json_t *trial)
{
	static const char *const key[] = { "accel", "guest_kernel", "qemu_version" };

	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
		const char *value = json_string_value(json_object_get(trial, key[i]));

		if (value)
			count_text(l->d->seen, key[i], value);
	}
}

static struct disk *disk_of(const struct loading *l, const struct planned_trial *p)
{
	struct disk key = { .boot = p->boot, .variant = p->variant };

	return bsearch(&key, l->disk, l->ndisks, sizeof(key), by_disk);
}

/* Every trial repeats what was seen at its boot's first one. */
static void look_at_boot(struct loading *l, const struct planned_trial *p, const json_t *trial)
{
	const json_t *effective = json_object_get(trial, "effective");
	const json_t *hello = json_object_get(trial, "boot_to_hello_s");
	struct disk *disk = disk_of(l, p);

	if (!json_is_object(effective) || disk->noted)
		return;
	disk->noted = true;
	disk->mismatch = json_array_size(json_object_get(effective, "mismatch")) > 0;
	note_effective(json_array_get(l->d->effective, p->variant), effective);
	if (json_number_value(hello) > 0) { /* 0: the guest does not tell */
		l->boot_sum += json_number_value(hello);
		l->boots++;
	}
}

static void take_trial(struct loading *l, const struct planned_trial *p, const json_t *trial)
{
	struct observation *o = &l->d->observation[p->observation];
	struct error e = { 0 };
	enum observed status = status_of(l->d, p, trial, &e);

	if (status == OBSERVED_OK && measured_add(l->measured, trial, &e))
		status = OBSERVED_UNREADABLE;
	if (status != OBSERVED_OK)
		note_problem(l->d, p, status, e.status ? e.text : json_string_value(json_object_get(trial, "message")));
	if (status == OBSERVED_UNREADABLE)
		return;
	if (status == OBSERVED_OK) {
		o->ok++;
		l->d->nok++;
		note_seen(l, trial);
	}
	look_at_boot(l, p, trial);
}

static void load_trial(struct loading *l, const struct planned_trial *p)
{
	struct error e = { 0 };
	bool missing;
	json_t *trial;
	char name[40];

	snprintf(name, sizeof(name), "trials/%06u.json", p->number);
	if (dataset_read(l->d->path, name, "kickbench-trial", &trial, &missing, &e)) {
		note_problem(l->d, p, missing ? OBSERVED_MISSING : OBSERVED_UNREADABLE, missing ? NULL : e.text);
		return;
	}
	take_trial(l, p, trial);
	json_decref(trial);
}

/* Trials come sorted by observation, so one struct measured serves all of them. */
static void load_trials(struct loading *l)
{
	struct dataset *d = l->d;

	for (size_t i = 0; i < d->ntrials;) {
		struct observation *o = &d->observation[l->trial[i].observation];
		size_t first = i;

		memset(l->measured, 0, sizeof(*l->measured));
		o->boot = l->trial[i].boot;
		for (; i < d->ntrials && l->trial[i].observation == l->trial[first].observation; i++) {
			o->planned++;
			load_trial(l, &l->trial[i]);
		}
		if (l->measured->trials == 0)
			continue;
		for (int m = 0; m < METRICS; m++)
			o->value[m] = metrics_value(l->measured, (enum metric)m);
	}
}

static int list_disks(struct loading *l, struct error *e)
{
	size_t n = 0;

	l->disk = calloc(l->d->ntrials, sizeof(*l->disk));
	if (!l->disk)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < l->d->ntrials; i++)
		l->disk[i] = (struct disk){ .boot = l->trial[i].boot, .variant = l->trial[i].variant };
	qsort(l->disk, l->d->ntrials, sizeof(*l->disk), by_disk);
	for (size_t i = 0; i < l->d->ntrials; i++)
		if (n == 0 || by_disk(&l->disk[n - 1], &l->disk[i]) != 0)
			l->disk[n++] = l->disk[i];
	l->ndisks = n;
	return 0;
}

static int load_all(struct loading *l, struct error *e)
{
	struct dataset *d = l->d;

	d->effective = json_array();
	d->seen = json_object();
	d->problem = calloc(d->ntrials, sizeof(*d->problem));
	l->measured = malloc(sizeof(*l->measured));
	if (!d->effective || !d->seen || !d->problem || !l->measured)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < d->nvariants; i++)
		json_array_append_new(d->effective, json_object());
	qsort(l->trial, d->ntrials, sizeof(*l->trial), by_observation);
	if (list_disks(l, e))
		return -1;
	load_trials(l);
	for (size_t i = 0; i < d->ntrials; i++)
		d->observation[l->trial[i].observation].mismatch |= disk_of(l, &l->trial[i])->mismatch;
	qsort(d->problem, d->nproblems, sizeof(*d->problem), by_trial);
	d->boot_s = l->boots ? l->boot_sum / (double)l->boots : NAN;
	return 0;
}

int dataset_load(const char *path, struct dataset **out, struct error *e)
{
	struct loading l = { .d = calloc(1, sizeof(*l.d)) };
	int rc = -1;

	*out = NULL;
	if (!l.d || !(l.d->path = strdup(path))) {
		error_set(e, STATUS_HOST, "out of memory");
		goto out;
	}
	if (dataset_read(path, "run.json", "kickbench-run", &l.d->run, NULL, e)) {
		error_context(e, "%s", path);
		goto out;
	}
	if (dataset_read_run(l.d, &l.trial, e)) {
		error_context(e, "%s: run.json", path);
		goto out;
	}
	if (load_all(&l, e))
		goto out;
	look_into_folder(l.d);
	*out = l.d;
	l.d = NULL;
	rc = 0;
out:
	dataset_free(l.d);
	free(l.trial);
	free(l.disk);
	free(l.measured);
	return rc;
}

void dataset_free(struct dataset *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nproblems; i++)
		free(d->problem[i].message);
	free(d->problem);
	free(d->observation);
	free(d->variant);
	free(d->cell);
	json_decref(d->effective);
	json_decref(d->seen);
	json_decref(d->run);
	free(d->path);
	free(d);
}

static const struct observation *at(const struct dataset *d, size_t cell, size_t slot, size_t block)
{
	return &d->observation[(cell * d->nslots + slot) * d->nblocks + block];
}

const struct observation *dataset_candidate(const struct dataset *d, size_t cell, size_t variant, size_t block)
{
	return at(d, cell, variant, block);
}

const struct observation *dataset_baseline(const struct dataset *d, size_t cell, size_t variant, size_t block)
{
	return at(d, cell, d->disks ? d->nvariants + variant : d->baseline, block);
}
