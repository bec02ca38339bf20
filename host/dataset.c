/* A run folder and its trials: which count, what they add up to, and what was seen of the guests. */
#include "host/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/dataset_private.h"
#include "host/index.h"

const char *observed_name(enum observed status)
{
	static const char *const name[] = { "ok", "missing", "unreadable", "failed", "stalled", "corrupt" };

	return name[status];
}

/* Count the trial files that do not count. */
static void look_into_folder(struct dataset *d, int trials)
{
	size_t plain = 0, missing = 0, found;
	struct dirent *entry;
	DIR *dir = trials >= 0 ? fdopendir(dup(trials)) : NULL;

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
	for (size_t i = 0; i < d->nproblems; i++)
		missing += d->problem[i].status == OBSERVED_MISSING;
	found = d->ntrials - missing;
	d->nstray = plain > found ? plain - found : 0;
}

/* ---- trials ---- */

/* A boot's disk: its settings are looked at once, and what was wrong there was wrong for all its cells. */
struct disk {
	unsigned boot, variant;
	bool noted, mismatch;
};

struct loading {
	struct dataset *d;
	int trials; /* the folder */
	struct texts texts;
	struct trial_record *record; /* by plan */
	struct planned_trial *trial; /* by observation */
	struct disk *disk; /* sorted */
	size_t ndisks;
	struct effective_counts seen;
	unsigned *guest_of; /* by cell: index of seen.guest */
	struct measured *measured, *single; /* of the observation at hand, and of one of its trials */
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

static int by_point(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

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

/* Is it the trial that the plan has under this number? */
static bool as_planned(const struct dataset *d, const struct planned_trial *p)
{
	const struct trial_record *r = p->record;

	return r->trial == p->number && r->block == p->block + 1 && r->cell == p->cell && r->variant &&
	       strcmp(r->variant->text, d->variant[p->variant]) == 0;
}

static void note_seen(struct loading *l, const struct trial_record *r)
{
	const struct { const char *key; const struct shared_text *text; } seen[] = {
		{ "accel", r->accel }, { "guest_kernel", r->guest_kernel }, { "qemu_version", r->qemu_version },
		{ "tool", r->tool },
	};

	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		if (seen[i].text)
			dataset_count(l->d->seen, seen[i].key, seen[i].text->text);
	if (r->message)
		dataset_count(l->d->seen, "marks", r->message);
}

static struct disk *disk_of(const struct loading *l, const struct planned_trial *p)
{
	struct disk key = { .boot = p->boot, .variant = p->variant };

	return bsearch(&key, l->disk, l->ndisks, sizeof(key), by_disk);
}

/* Every trial repeats what was seen at its boot's first one. */
static int look_at_boot(struct loading *l, const struct planned_trial *p)
{
	const struct trial_record *r = p->record;
	struct disk *disk = disk_of(l, p);

	if (!r->effective || disk->noted)
		return 0;
	disk->noted = true;
	if (isfinite(r->hello_s)) {
		l->boot_sum += r->hello_s;
		l->boots++;
	}
	return effective_count(&l->seen, l->guest_of[p->cell], p->variant, r->effective, &disk->mismatch);
}

static void values_of(const struct measured *m, double value[METRICS])
{
	for (int i = 0; i < METRICS; i++)
		value[i] = metrics_value(m, (enum metric)i);
}

/* Of a trial that counts: into the observation's sums, and a point of its own. */
static int add_trial(struct loading *l, const struct planned_trial *p, bool alone)
{
	struct dataset *d = l->d;
	const struct trial_record *r = p->record;
	struct point *point = &d->point[d->npoints]; /* room was made for one per trial */

	if (measured_merge(l->measured, &r->sums, r->bins, r->bins_length))
		return -1;
	*point = (struct point){ .trial = p->number, .boot = p->boot, .block = p->slot_block, .cell = p->cell,
				 .variant = p->variant, .started = r->started };
	if (alone) { /* as most are: what it measured is what its observation has */
		values_of(l->measured, point->value);
	} else {
		memset(l->single, 0, sizeof(*l->single));
		if (measured_merge(l->single, &r->sums, r->bins, r->bins_length))
			return -1;
		values_of(l->single, point->value);
	}
	d->npoints++;
	return 0;
}

/* -1: out of memory */
static int take_trial(struct loading *l, const struct planned_trial *p, bool alone)
{
	struct observation *o = &l->d->observation[p->observation];
	const struct trial_record *r = p->record;

	if (r->identified && !as_planned(l->d, p)) {
		note_problem(l->d, p, OBSERVED_UNREADABLE, "it is not the trial that the plan has under this number");
		return 0;
	}
	if (r->status != OBSERVED_OK)
		note_problem(l->d, p, r->status, r->message);
	if (r->status == OBSERVED_UNREADABLE || r->status == OBSERVED_MISSING)
		return 0;
	if (r->status == OBSERVED_OK) {
		if (add_trial(l, p, alone))
			return -1;
		o->ok++;
		l->d->nok++;
		note_seen(l, r);
	}
	return look_at_boot(l, p);
}

/* Trials come sorted by observation, so one struct measured serves all of them. */
static int add_up(struct loading *l)
{
	struct dataset *d = l->d;

	for (size_t i = 0; i < d->ntrials;) {
		struct observation *o = &d->observation[l->trial[i].observation];
		size_t first = i, end = i;

		while (end < d->ntrials && l->trial[end].observation == l->trial[first].observation)
			end++;
		memset(l->measured, 0, sizeof(*l->measured));
		o->boot = l->trial[first].boot;
		for (; i < end; i++, o->planned++)
			if (take_trial(l, &l->trial[i], end - first == 1))
				return -1;
		if (o->ok == 1 && o->planned == 1)
			memcpy(o->value, d->point[d->npoints - 1].value, sizeof(o->value));
		else if (o->ok > 0)
			values_of(l->measured, o->value);
	}
	return 0;
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

/* Fill all records: from the index what is still as it was, from the files the rest. */
static int read_records(struct loading *l, struct error *e)
{
	size_t n = l->d->ntrials;
	enum index_state state = INDEX_ABSENT;
	bool large = n >= INDEX_MIN_TRIALS;
	int why = errno;

	for (size_t i = 0; i < n; i++)
		l->record[i].number = l->trial[i].number;
	if (l->trials < 0) { /* a folder without trials */
		for (size_t i = 0; i < n; i++) {
			l->record[i].status = why == ENOENT ? OBSERVED_MISSING : OBSERVED_UNREADABLE;
			l->record[i].message = why == ENOENT ? NULL : strdup(strerror(why));
		}
		return 0;
	}
	if (large)
		state = index_load(l->d->path, l->trials, l->record, n, &l->texts);
	if (records_read(l->trials, l->record, n, &l->texts, e))
		return -1;
	if (large)
		index_save(l->d->path, state, l->record, n);
	return 0;
}

static int list_guests(struct loading *l)
{
	const struct dataset *d = l->d;

	l->seen.guest = calloc(d->ncells, sizeof(*l->seen.guest));
	l->guest_of = calloc(d->ncells, sizeof(*l->guest_of));
	if (!l->seen.guest || !l->guest_of)
		return -1;
	for (size_t c = 0; c < d->ncells; c++) {
		size_t g = 0;

		/* cells of a guest stand together: the last one is nearly always it */
		while (g < l->seen.nguests && strcmp(l->seen.guest[l->seen.nguests - 1 - g], d->cell[c].guest) != 0)
			g++;
		if (g == l->seen.nguests) {
			l->seen.guest[l->seen.nguests++] = d->cell[c].guest;
			g = 0;
		}
		l->guest_of[c] = (unsigned)(l->seen.nguests - 1 - g);
	}
	return 0;
}

static int prepare(struct loading *l, struct error *e)
{
	struct dataset *d = l->d;

	d->effective = json_array();
	d->seen = json_object();
	d->problem = calloc(d->ntrials, sizeof(*d->problem));
	d->point = calloc(d->ntrials, sizeof(*d->point));
	d->source = calloc(1, sizeof(*d->source));
	l->record = calloc(d->ntrials, sizeof(*l->record));
	l->measured = malloc(sizeof(*l->measured));
	l->single = malloc(sizeof(*l->single));
	l->seen.nvariants = d->nvariants;
	if (!d->effective || !d->seen || !d->problem || !d->point || !d->source || !l->record || !l->measured || !l->single ||
	    list_guests(l))
		return error_set(e, STATUS_HOST, "out of memory");
	d->source[0] = (struct dataset_source){ .label = "", .path = d->path, .run = d->run };
	d->nsources = 1;
	for (size_t i = 0; i < d->nvariants; i++)
		json_array_append_new(d->effective, json_object());
	return 0;
}

static int load_all(struct loading *l, struct error *e)
{
	struct dataset *d = l->d;

	if (prepare(l, e) || read_records(l, e))
		return -1;
	for (size_t i = 0; i < d->ntrials; i++)
		l->trial[i].record = &l->record[i];
	qsort(l->trial, d->ntrials, sizeof(*l->trial), by_observation);
	if (list_disks(l, e))
		return -1;
	if (add_up(l) || effective_finish(&l->seen, d->effective))
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < d->ntrials; i++)
		d->observation[l->trial[i].observation].mismatch |= disk_of(l, &l->trial[i])->mismatch;
	if (identity_check(d, l->trial, e))
		return -1;
	qsort(d->problem, d->nproblems, sizeof(*d->problem), by_trial);
	qsort(d->point, d->npoints, sizeof(*d->point), by_point);
	d->boot_s = l->boots ? l->boot_sum / (double)l->boots : NAN;
	look_into_folder(d, l->trials);
	return 0;
}

static void close_all(struct loading *l)
{
	for (size_t i = 0; l->record && i < l->d->ntrials; i++)
		record_clear(&l->record[i]);
	free(l->record);
	effective_free(&l->seen);
	texts_free(&l->texts);
	free(l->trial);
	free(l->disk);
	free(l->guest_of);
	free(l->seen.guest);
	free(l->measured);
	free(l->single);
	if (l->trials >= 0)
		close(l->trials);
}

int dataset_load(const char *path, struct dataset **out, struct error *e)
{
	struct loading l = { .d = calloc(1, sizeof(*l.d)), .trials = -1 };
	int folder = -1, rc = -1;

	*out = NULL;
	texts_init(&l.texts);
	if (!l.d || !(l.d->path = strdup(path))) {
		error_set(e, STATUS_HOST, "out of memory");
		goto out;
	}
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0) {
		error_errno(e, STATUS_USAGE, "%s", path);
		goto out;
	}
	if (dataset_read(folder, "run.json", "run.json", "kickbench-run", &l.d->run, NULL, NULL, e)) {
		error_context(e, "%s", path);
		goto out;
	}
	if (dataset_read_run(l.d, &l.trial, e)) {
		error_context(e, "%s: run.json", path);
		goto out;
	}
	l.trials = openat(folder, "trials", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = load_all(&l, e);
out:
	close_all(&l);
	if (folder >= 0)
		close(folder);
	if (rc == 0)
		*out = l.d;
	else
		dataset_free(l.d);
	return rc;
}

void dataset_free(struct dataset *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nproblems; i++)
		free(d->problem[i].message);
	free(d->problem);
	free(d->point);
	free(d->source);
	free(d->observation);
	free(d->variant);
	free(d->cell);
	free(d->host);
	free(d->block_host);
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
