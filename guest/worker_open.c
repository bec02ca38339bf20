#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/worker_internal.h"

static void note_to_slot(void *context, const char *line)
{
	struct slot *slot = context;
	size_t used = strlen(slot->notes);

	snprintf(slot->notes + used, sizeof(slot->notes) - used, "%s\n", line);
}

/* One buffer of random bytes, there before the measurement so that no page fault falls into it. */
static int open_buffer(struct worker *w)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int error = posix_memalign(&w->io.buffer, page, generator_buffer_length(&w->generator));

	if (error) {
		w->io.buffer = NULL;
		return WORKER_FAIL(w, error, "posix_memalign");
	}
	generator_fill(&w->generator, w->io.buffer);
	return 0;
}

static int open_engine(struct worker *w)
{
	struct file_set *files = w->setup.files;
	struct engine_setup setup = { .depth = 1, .nfds = files->count, .ios = &w->io };
	struct error e = {0};
	int *fds;
	int r = 0;

	w->engine = w->setup.job->engine;
	if (!w->engine->synchronous) {
		note_send(&w->notes, "kickio: %s: engine %s needs a queue", w->setup.job->name, w->engine->name);
		return WORKER_FAIL(w, ENOSYS, "engine");
	}
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
	w->notes = (struct note_sink){ note_to_slot, setup->slot };
	w->fsync_every = job->fsync;
	latency_table_init(&w->classes);
	if (files_open(setup->files, job, &w->notes, failure) < 0 ||
	    generator_open(&w->generator, job, setup->files, setup->seed, setup->index, failure) < 0 ||
	    open_buffer(w) < 0 || open_engine(w) < 0) {
		worker_close(w);
		return NULL;
	}
	slot_store(&setup->slot->files, setup->files->count);
	return w;
}

void worker_close(struct worker *w)
{
	if (!w)
		return;
	if (w->engine && w->engine->close && w->engine_state)
		w->engine->close(w->engine_state);
	files_close(w->setup.files);
	slot_store(&w->setup.slot->files, 0);
	free(w->io.buffer);
	generator_close(&w->generator);
	free(w);
}
