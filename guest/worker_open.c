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

static enum order order_of(const struct job *job)
{
	if (!rw_random(job->rw))
		return ORDER_SEQUENTIAL;
	return job->norandommap ? ORDER_REPEATS : ORDER_ONCE;
}

static int open_places(struct worker *w)
{
	const struct job *job = w->setup.job;
	struct file_set *files = w->setup.files;
	struct random64 seeds = random64_stream(w->setup.seed, w->setup.index + 1);

	w->place = calloc(files->count, sizeof(*w->place));
	if (!w->place)
		return WORKER_FAIL(w, ENOMEM, "calloc");
	w->random = random64_stream(random64_next(&seeds), 0);
	for (unsigned i = 0; i < files->count; i++) {
		struct offsets_setup setup = {
			.order = order_of(job), .start = files->file[i].start, .bytes = files->file[i].bytes,
			.seed = seeds.state, .stream = i + 1,
		};

		setup.bs[DDIR_READ] = rw_reads(job->rw) ? job->bs[DDIR_READ] : 0;
		setup.bs[DDIR_WRITE] = rw_writes(job->rw) ? job->bs[DDIR_WRITE] : 0;
		offsets_init(&w->place[i].offsets, &setup);
		w->place[i].fd = files->file[i].fd;
	}
	w->last_file = files->count - 1;
	return 0;
}

/* One buffer of random bytes, there before the measurement so that no page fault falls into it. */
static int open_buffer(struct worker *w)
{
	size_t length = (size_t)job_largest_bs(w->setup.job);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t random;
	int error;

	if (length > UINT32_MAX)
		return WORKER_FAIL(w, EINVAL, "blocksize");
	for (unsigned d = DDIR_READ; d <= DDIR_WRITE; d++)
		w->length[d] = (uint32_t)w->setup.job->bs[d];
	error = posix_memalign(&w->io.buffer, page, length);
	if (error) {
		w->io.buffer = NULL;
		return WORKER_FAIL(w, error, "posix_memalign");
	}
	for (size_t i = 0; i < length; i += sizeof(random)) {
		random = random64_next(&w->random);
		memcpy((char *)w->io.buffer + i, &random, length - i < sizeof(random) ? length - i : sizeof(random));
	}
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
	struct worker *w = calloc(1, sizeof(*w));

	slot_store(&setup->slot->phase, PHASE_SETUP);
	if (!w) {
		FAIL(&setup->slot->result.failure, ENOMEM, "calloc");
		return NULL;
	}
	w->setup = *setup;
	w->clock = *setup->clock;
	w->stop = setup->stop;
	w->notes = (struct note_sink){ note_to_slot, setup->slot };
	w->mixed = rw_mixes(job->rw);
	w->only = rw_reads(job->rw) ? DDIR_READ : DDIR_WRITE;
	w->read_below = (uint32_t)(((uint64_t)job->rwmixread << 32) / 100 - (job->rwmixread ? 1 : 0));
	w->never_reads = job->rwmixread == 0;
	w->fsync_every = job->fsync;
	latency_table_init(&w->classes);
	worker_set_limits(w);
	if (files_open(setup->files, job, &w->notes, &setup->slot->result.failure) < 0 || open_places(w) < 0 ||
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
	free(w->place);
	free(w);
}
