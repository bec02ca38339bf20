#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/worker_internal.h"

static void note_to_slot(void *context, const char *line)
{
	static const char more[] = "kickio: further messages of this job are left out\n";
	struct slot *slot = context;
	size_t used = strlen(slot->notes), last = sizeof(more) - 1;

	if (used >= last && strcmp(slot->notes + used - last, more) == 0)
		return;
	if (used + strlen(line) + 1 + sizeof(more) > sizeof(slot->notes))
		memcpy(slot->notes + used, more, sizeof(more));
	else
		snprintf(slot->notes + used, sizeof(slot->notes) - used, "%s\n", line);
}

/* Buffers of random bytes, there before the measurement so that no page fault falls into it. */
static int open_units(struct worker *w)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint32_t length = generator_buffer_length(&w->generator);

	w->ios = calloc(w->depth + 1, sizeof(*w->ios));
	w->whole = calloc(w->depth + 1, sizeof(*w->whole));
	if (!w->ios || !w->whole)
		return WORKER_FAIL(w, ENOMEM, "calloc");
	for (unsigned i = 0; i <= w->depth; i++)
		w->ios[i].index = i;
	for (unsigned i = 0; i < w->depth; i++) {
		int error = posix_memalign(&w->ios[i].buffer, page, length);

		if (error) {
			w->ios[i].buffer = NULL;
			return WORKER_FAIL(w, error, "posix_memalign");
		}
		generator_fill(&w->generator, w->ios[i].buffer);
	}
	return worker_queue_open(w);
}

static int open_engine(struct worker *w)
{
	struct file_set *files = w->setup.files;
	struct engine_setup setup = {
		.job = w->setup.job, .depth = w->depth, .nfds = files->count, .ios = w->ios,
		.buffer_length = generator_buffer_length(&w->generator),
	};
	struct error e = {0};
	int *fds;
	int r = 0;

	if (!w->engine->open)
		return 0;
	fds = calloc(files->count, sizeof(*fds));
	if (!fds)
		return WORKER_FAIL(w, ENOMEM, "calloc");
	for (unsigned i = 0; i < files->count; i++)
		fds[i] = files->file[i].fd;
	setup.fds = fds;
	if (w->engine->open(&w->engine_state, &setup, &e) < 0) {
		r = WORKER_FAIL(w, errno ? errno : EIO, "engine");
		note_send(&w->notes, "kickio: %s", e.text);
	}
	free(fds);
	return r;
}

/* The n-th CPU of the list, modulo their number, alone. */
static struct cpu_list one_cpu(const struct cpu_list *all, unsigned n)
{
	struct cpu_list one = { .count = 1 };

	n %= all->count;
	for (unsigned cpu = 0; cpu < JOB_MAX_CPUS; cpu++) {
		if (!(all->bits[cpu / 64] >> cpu % 64 & 1) || n-- != 0)
			continue;
		one.bits[cpu / 64] = (uint64_t)1 << cpu % 64;
		break;
	}
	return one;
}

/* Where it may run, and how willingly it lets others run. */
static int set_processors(struct worker *w)
{
	const struct job *job = w->setup.job;
	struct cpu_list cpus = job->cpus_allowed;
	int error;

	if (cpus.count) {
		if (job->cpus_allowed_policy == CPUS_SPLIT)
			cpus = one_cpu(&job->cpus_allowed, w->setup.index);
		error = os_bind_cpus(cpus.bits, JOB_MAX_CPUS);
		if (error)
			return WORKER_FAIL(w, error, "cpus_allowed");
	}
	errno = 0;
	if (job->nice && nice(job->nice) == -1 && errno)
		return WORKER_FAIL(w, errno, "nice");
	return 0;
}

/* What the loop does beside its I/O. */
static void choose_parts(struct worker *w)
{
	const struct job *job = w->setup.job;

	w->clat = !job->disable_clat;
	w->lat = !job->disable_lat;
	w->slat = !job->disable_slat;
	worker_pace_open(w);
	w->watched = w->pace.targets || w->verify || w->flights;
	w->timed = w->clat || w->lat || w->slat || w->watched || w->opened_log || job->stall_timeout_us;
	w->careful = job->fsync || job->fdatasync || w->pace.rates || w->pace.thinks || w->pace.targets ||
		     w->verify || w->flights;
}

struct worker *worker_open(const struct worker_setup *setup)
{
	const struct job *job = setup->job;
	struct failure *failure = &setup->slot->result.failure;
	struct worker *w = calloc(1, sizeof(*w));

	slot_store(&setup->slot->phase, PHASE_SETUP);
	if (!w) {
		FAIL(failure, ENOMEM, "calloc");
		return NULL;
	}
	w->setup = *setup;
	w->clock = *setup->clock;
	w->stop = setup->stop;
	w->report_asked = &setup->slot->report_asked;
	w->notes = (struct note_sink){ note_to_slot, setup->slot };
	w->engine = job->engine;
	w->depth = w->engine->synchronous ? 1 : job->iodepth;
	w->result = &setup->slot->result;
	w->dir = w->result->dir;
	w->class_count = setup->slot->class_count;
	w->deadline = UINT64_MAX;
	latency_table_init(&w->classes);
	if (files_open(setup->files, job, &w->notes, failure) < 0 ||
	    generator_open(&w->generator, job, setup->files, setup->seed, setup->index, failure) < 0 ||
	    worker_verify_open(w) < 0 || open_units(w) < 0 || open_engine(w) < 0 || set_processors(w) < 0 ||
	    joblog_open(&w->opened_log, job, setup->index, failure) < 0) {
		worker_close(w);
		return NULL;
	}
	choose_parts(w);
	slot_store(&setup->slot->files, setup->files->count);
	return w;
}

void worker_close(struct worker *w)
{
	if (!w)
		return;
	joblog_close(w->opened_log);
	verify_close(w->verify);
	/* The system may still write into buffers of which nobody knows whether they are in flight. */
	if (!w->queue.stuck) {
		if (w->engine->close && w->engine_state)
			w->engine->close(w->engine_state);
		for (unsigned i = 0; w->ios && i < w->depth; i++)
			free(w->ios[i].buffer);
		free(w->ios);
	}
	worker_queue_close(w);
	files_close(w->setup.files);
	files_unlink(w->setup.files, w->setup.job, &w->notes);
	slot_store(&w->setup.slot->files, 0);
	free(w->whole);
	generator_close(&w->generator);
	free(w);
}
