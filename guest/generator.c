#include "guest/generator.h"

#include <errno.h>
#include <stdlib.h>

static enum order order_of(const struct job *job)
{
	if (!rw_random(job->rw))
		return ORDER_SEQUENTIAL;
	return job->norandommap ? ORDER_REPEATS : ORDER_ONCE;
}

static void open_file(struct generator *g, unsigned i, uint64_t seed)
{
	const struct job *job = g->job;
	const struct file *f = &g->files->file[i];
	struct offsets_setup setup = {
		.order = order_of(job), .start = f->start, .bytes = f->bytes, .seed = seed, .stream = i + 1,
	};

	setup.bs[DDIR_READ] = rw_reads(job->rw) ? job->bs[DDIR_READ] : 0;
	setup.bs[DDIR_WRITE] = rw_writes(job->rw) ? job->bs[DDIR_WRITE] : 0;
	offsets_init(&g->file[i].offsets, &setup);
	g->file[i].fd = f->fd;
}

int generator_open(struct generator *g, const struct job *job, const struct file_set *files, uint64_t seed,
		   unsigned index, struct failure *failure)
{
	struct random64 seeds = random64_stream(seed, index + 1);

	*g = (struct generator){ .job = job, .files = files };
	if (job_largest_bs(job) > UINT32_MAX)
		return FAIL(failure, EINVAL, "blocksize");
	g->file = calloc(files->count, sizeof(*g->file));
	if (!g->file)
		return FAIL(failure, ENOMEM, "calloc");
	g->random = random64_stream(random64_next(&seeds), 0);
	g->last_file = files->count - 1;
	g->mixed = rw_mixes(job->rw);
	g->only = rw_reads(job->rw) ? DDIR_READ : DDIR_WRITE;
	g->read_below = (uint32_t)(((uint64_t)job->rwmixread << 32) / 100 - (job->rwmixread ? 1 : 0));
	g->never_reads = job->rwmixread == 0;
	for (unsigned d = DDIR_READ; d <= DDIR_WRITE; d++)
		g->length[d] = (uint32_t)job->bs[d];
	for (unsigned i = 0; i < files->count; i++)
		open_file(g, i, seeds.state);
	generator_set_limits(g);
	return 0;
}

void generator_close(struct generator *g)
{
	free(g->file);
	g->file = NULL;
}

uint32_t generator_buffer_length(const struct generator *g)
{
	return (uint32_t)job_largest_bs(g->job);
}

void generator_fill(struct generator *g, void *buffer)
{
	size_t length = generator_buffer_length(g);
	uint64_t random;

	for (size_t i = 0; i < length; i += sizeof(random)) {
		random = random64_next(&g->random);
		memcpy((char *)buffer + i, &random, length - i < sizeof(random) ? length - i : sizeof(random));
	}
}

void generator_set_limits(struct generator *g)
{
	const struct job *job = g->job;

	g->bytes_left = job->time_based ? UINT64_MAX : g->files->limit;
	g->ios_left = job->time_based || !job->number_ios ? UINT64_MAX : job->number_ios;
}

bool generator_restart(struct generator *g)
{
	const struct job *job = g->job;

	if (g->bytes_left < job_largest_bs(job))
		return false;
	for (unsigned i = 0; i <= g->last_file; i++)
		offsets_restart(&g->file[i].offsets);
	/* The cache is dropped again where the point was to reach the disk. */
	if (job->time_based && job->invalidate && !job->direct && !job->norandommap)
		files_drop_cache(g->files, NULL);
	return true;
}
