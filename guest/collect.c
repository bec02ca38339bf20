#include "guest/collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/joblog.h"

/* ---- disks ---- */

static bool is_watched(const struct disk_watch *w, const char *path)
{
	for (size_t i = 0; i < w->count; i++)
		if (strcmp(w->disk[i].path, path) == 0)
			return true;
	return false;
}

int disk_watch_open(struct disk_watch *w, const struct crew *crew, struct error *e)
{
	for (unsigned i = 0; i < crew->count; i++) {
		const struct file_set *files = &crew->clone[i].files;

		for (unsigned f = 0; f < files->count; f++) {
			const struct file *file = &files->file[f];
			struct watched_disk *grown;

			if ((file->target.kind != OS_BLOCK && file->target.kind != OS_CHAR) ||
			    is_watched(w, file->path))
				continue;
			grown = realloc(w->disk, (w->count + 1) * sizeof(*grown));
			if (!grown)
				return error_errno(e, STATUS_FAILED, "disk statistics");
			w->disk = grown;
			grown[w->count++] = (struct watched_disk){ .path = file->path };
		}
	}
	return 0;
}

void disk_watch_start(struct disk_watch *w)
{
	for (size_t i = 0; i < w->count; i++)
		os_counters(w->disk[i].path, &w->disk[i].before);
	w->started = true;
}

void disk_watch_stop(struct disk_watch *w, uint64_t elapsed_us)
{
	if (!w->started)
		return;
	for (size_t i = 0; i < w->count; i++)
		os_counters(w->disk[i].path, &w->disk[i].after);
	w->elapsed_us = elapsed_us;
}

void disk_watch_free(struct disk_watch *w)
{
	free(w->disk);
	*w = (struct disk_watch){0};
}

/* The device's own name: a link such as /dev/disk/by-id/… is followed. */
static void disk_name(const char *path, char *name, size_t size)
{
	char *real = realpath(path, NULL);
	const char *whole = real ? real : path;
	const char *slash = strrchr(whole, '/');

	snprintf(name, size, "%s", slash ? slash + 1 : whole);
	free(real);
}

static void fill_disk(struct disk_util *u, const struct watched_disk *d, uint64_t elapsed_us)
{
	const struct os_counters *a = &d->before, *b = &d->after;

	disk_name(d->path, u->name, sizeof(u->name));
	u->ios[DDIR_READ] = b->reads - a->reads;
	u->ios[DDIR_WRITE] = b->writes - a->writes;
	u->merges[DDIR_READ] = b->read_merges - a->read_merges;
	u->merges[DDIR_WRITE] = b->write_merges - a->write_merges;
	u->ticks_ms[DDIR_READ] = b->read_ms - a->read_ms;
	u->ticks_ms[DDIR_WRITE] = b->write_ms - a->write_ms;
	u->in_queue_ms = b->in_queue_ms - a->in_queue_ms;
	u->util = elapsed_us ? 100.0 * 1000 * (double)(b->busy_ms - a->busy_ms) / (double)elapsed_us : 0;
	if (u->util > 100)
		u->util = 100;
}

static int collect_disks(struct run_result *result, const struct disk_watch *w, struct error *e)
{
	if (w->count == 0)
		return 0;
	result->disk = calloc(w->count, sizeof(*result->disk));
	if (!result->disk)
		return error_errno(e, STATUS_FAILED, "disk statistics");
	for (size_t i = 0; i < w->count; i++)
		if (os_counters_same_disk(&w->disk[i].before, &w->disk[i].after))
			fill_disk(&result->disk[result->ndisks++], &w->disk[i], w->elapsed_us);
	return 0;
}

/* ---- jobs ---- */

static void add_samples(struct job_result *r, const struct clone *c)
{
	for (unsigned d = 0; d < DDIRS; d++) {
		if (!joblog_samples_bw(c->job))
			r->dir[d].bw = c->bw.samples[d];
		if (!joblog_samples_iops(c->job))
			r->dir[d].iops = c->iops.samples[d];
	}
}

static void empty(struct histogram *h)
{
	if (h)
		memset(h, 0, sizeof(*h));
}

/* What the job does not want measured is not shown, whatever the loop needed for itself. */
static void drop_disabled(struct job_result *r)
{
	static const struct moments none;

	for (unsigned d = 0; d < DDIRS; d++) {
		struct direction *dir = &r->dir[d];

		if (r->job->disable_slat) {
			dir->slat = none;
			empty(dir->slat_histogram);
		}
		if (r->job->disable_lat) {
			dir->lat = none;
			empty(dir->lat_histogram);
		}
		if (r->job->disable_clat) {
			dir->clat = none;
			empty(&dir->clat_histogram);
		}
	}
	if (!r->job->disable_clat)
		return;
	memset(r->lat_ns, 0, sizeof(r->lat_ns));
	memset(r->lat_us, 0, sizeof(r->lat_us));
	memset(r->lat_ms, 0, sizeof(r->lat_ms));
}

/* A job that wants group reporting joins the report before it if that is of the same group. */
static bool joins(const struct run_result *result, const struct job_result *r)
{
	return r->job->group_reporting && result->nreports &&
	       result->report[result->nreports - 1]->groupid == r->groupid;
}

int collect(struct run_result *result, const struct crew *crew, const struct disk_watch *disks, struct error *e)
{
	result->report = calloc(crew->count ? crew->count : 1, sizeof(*result->report));
	if (!result->report)
		return error_errno(e, STATUS_FAILED, "results");
	for (unsigned i = 0; i < crew->count; i++) {
		const struct clone *c = &crew->clone[i];
		struct job_result *r = c->report ? c->report : &c->slot->result;

		add_samples(r, c);
		drop_disabled(r);
		result->failed_jobs += r->failure.error != 0;
		if (r->groupid + 1 > result->ngroups)
			result->ngroups = r->groupid + 1;
		if (joins(result, r)) {
			job_result_merge(result->report[result->nreports - 1], r);
			continue;
		}
		result->report[result->nreports] = job_result_copy(r);
		if (!result->report[result->nreports++])
			return error_errno(e, STATUS_FAILED, "results");
	}
	if (result->signal)
		result->failed_jobs = 128;
	return collect_disks(result, disks, e);
}
