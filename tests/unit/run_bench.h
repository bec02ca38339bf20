/* What tests of whole runs share: a job on a file of its own, what the hooks saw, an engine that keeps notes. */
#ifndef KB_TESTS_RUN_BENCH_H
#define KB_TESTS_RUN_BENCH_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/clock.h"
#include "guest/os.h"
#include "guest/run.h"
#include "guest/text.h"

#define BLOCKS 256

static char folder[256];

/* What the hooks saw of a run. */
struct seen {
	struct text order; /* b begin, p progress, e end */
	struct text notes;
	struct progress last;
	unsigned running, files; /* at most at once */
	uint64_t begin_ns, end_ns;
	unsigned terminate_after; /* progress calls; 0 never */
	unsigned nprogress;
};

static inline void on_begin(void *context)
{
	struct seen *s = context;

	text_add(&s->order, "b");
	s->begin_ns = clock_monotonic_ns();
}

static inline void on_progress(void *context, const struct progress *p)
{
	struct seen *s = context;

	text_add(&s->order, "p");
	s->last = *p;
	s->last.states = NULL;
	s->running = p->running > s->running ? p->running : s->running;
	s->files = p->files > s->files ? p->files : s->files;
	if (++s->nprogress == s->terminate_after)
		run_terminate(SIGINT);
}

static inline void on_end(void *context)
{
	struct seen *s = context;

	text_add(&s->order, "e");
	s->end_ns = clock_monotonic_ns();
}

static inline void on_note(void *context, const char *line)
{
	text_add(&((struct seen *)context)->notes, "%s\n", line);
}

static inline struct job job_of(enum rw rw)
{
	return (struct job){ .name = "job", .rw = rw, .rwmixread = 50, .percentage_random = { 100, 100, 100 },
			     .scramble_buffers = true, .bs = { 4096, 4096, 4096 },
			     .size.bytes = BLOCKS * 4096, .directory = folder, .filename = "data", .numjobs = 1,
			     .engine = engine_find("psync"), .iodepth = 1, .randrepeat = true, .invalidate = true };
}

static inline void run(struct job *job, size_t count, struct seen *s, struct run_result *r)
{
	struct jobs jobs = { .job = job, .count = count };
	struct run_hooks hooks = { .context = s, .begin = on_begin, .progress = on_progress, .interval_us = 50000,
				   .end = on_end, .note = on_note };
	struct error e = {0};

	if (run_jobs(&jobs, &hooks, r, &e) < 0)
		fail_msg("%s", e.text);
}

/* One begin, one end; between them a host that stands still for a while may see progress. */
static inline void begun_and_ended(const struct seen *s)
{
	const char *order = text_get(&s->order);

	assert_int_equal(order[0], 'b');
	assert_string_equal(order + 1 + strspn(order + 1, "p"), "e");
}

static inline void seen_free(struct seen *s)
{
	text_free(&s->order);
	text_free(&s->notes);
}

static inline void consistent(const struct job_result *r)
{
	uint64_t classes = 0, ios = 0;

	for (unsigned i = 0; i < LAT_NS_CLASSES; i++)
		classes += r->lat_ns[i] + r->lat_us[i];
	for (unsigned i = 0; i < LAT_MS_CLASSES; i++)
		classes += r->lat_ms[i];
	for (unsigned d = 0; d < DDIRS; d++) {
		ios += r->dir[d].ios;
		assert_int_equal(r->dir[d].clat.n, r->dir[d].ios);
		assert_int_equal(histogram_total(&r->dir[d].clat_histogram), r->dir[d].ios);
	}
	assert_int_equal(classes, ios);
	assert_int_equal(r->depth[0], ios + r->syncs);
}

/* An engine that keeps what it is asked for. Jobs that use it are threads. */
static struct {
	uint64_t offset[4096];
	int fd[4096];
	unsigned n, syncs;
	int fail_at, fail_with; /* fail_with -1: move nothing, -2: half of it */
} asked;

static inline enum engine_queued recorder_queue(void *state, struct io *io)
{
	(void)state;
	io->error = 0;
	io->moved = io->length;
	if (io->ddir == DDIR_SYNC) {
		asked.syncs++;
		return ENGINE_DONE;
	}
	asked.fd[asked.n % 4096] = io->fd;
	asked.offset[asked.n++ % 4096] = io->offset;
	if ((int)asked.n == asked.fail_at) {
		io->error = asked.fail_with > 0 ? asked.fail_with : 0;
		io->moved = asked.fail_with == -2 ? io->length / 2 : 0;
	}
	return ENGINE_DONE;
}

static const struct engine recorder = { .name = "recorder", .synchronous = true, .queue = recorder_queue };

static inline struct job recorded(enum rw rw)
{
	struct job job = job_of(rw);

	memset(&asked, 0, sizeof(asked));
	job.thread = true;
	job.engine = &recorder;
	return job;
}

static inline int make_folder(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/kb-run.XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

#endif
