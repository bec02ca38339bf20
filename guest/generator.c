#include "guest/generator.h"

#include <errno.h>
#include <stdlib.h>

static enum order order_of(const struct job *job)
{
	if (!rw_random(job->rw))
		return ORDER_SEQUENTIAL;
	return job->norandommap ? ORDER_REPEATS : ORDER_ONCE;
}

static int open_file(struct generator *g, unsigned i, uint64_t seed, bool walks, struct failure *failure)
{
	const struct job *job = g->job;
	const struct file *f = &g->files->file[i];
	struct offsets_setup setup = {
		.order = order_of(job), .start = f->start, .bytes = f->bytes, .seed = seed, .stream = i + 1,
	};

	g->file[i].fd = f->fd;
	if (walks) {
		g->file[i].walk = malloc(sizeof(*g->file[i].walk));
		if (!g->file[i].walk)
			return FAIL(failure, ENOMEM, "malloc");
		walk_init(g->file[i].walk, job, setup.order, f->start, f->bytes, seed, i + 1);
		return 0;
	}
	setup.bs[DDIR_READ] = rw_reads(job->rw) ? job_bs_min(job, DDIR_READ) : 0;
	setup.bs[DDIR_WRITE] = rw_writes(job->rw) ? job_bs_min(job, DDIR_WRITE) : 0;
	offsets_init(&g->file[i].offsets, &setup);
	return 0;
}

static void all_live(struct generator *g)
{
	g->nlive = g->last_file + 1;
	for (unsigned i = 0; i < g->nlive; i++)
		g->live[i] = i;
}

static int open_files(struct generator *g, uint64_t seed, struct failure *failure)
{
	const struct job *job = g->job;
	unsigned n = g->files->count;
	bool walks = walk_needed(job);

	g->file = calloc(n, sizeof(*g->file));
	g->live = calloc(n, sizeof(*g->live));
	if (!g->file || !g->live)
		return FAIL(failure, ENOMEM, "calloc");
	g->last_file = n - 1;
	g->plain = !walks && (n == 1 || (job->file_service.kind == SERVICE_ROUNDROBIN &&
					 job->file_service.every <= 1));
	all_live(g);
	for (unsigned i = 0; i < n; i++)
		if (open_file(g, i, seed, walks, failure) < 0)
			return -1;
	return 0;
}

int generator_open(struct generator *g, const struct job *job, const struct file_set *files, uint64_t seed,
		   unsigned index, struct failure *failure)
{
	struct random64 seeds = random64_stream(seed, index + 1);

	*g = (struct generator){ .job = job, .files = files };
	if (job_largest_bs(job) > UINT32_MAX)
		return FAIL(failure, EINVAL, "blocksize");
	g->random = random64_stream(random64_next(&seeds), 0);
	if (open_files(g, seeds.state, failure) < 0) {
		generator_close(g);
		return -1;
	}
	buffers_init(&g->buffers, job, random64_next(&g->random));
	g->mixed = rw_mixes(job->rw);
	g->only = rw_reads(job->rw) ? DDIR_READ : DDIR_WRITE;
	g->read_below = (uint32_t)(((uint64_t)job->rwmixread << 32) / 100 - (job->rwmixread ? 1 : 0));
	g->never_reads = job->rwmixread == 0;
	for (unsigned d = DDIR_READ; d <= DDIR_WRITE; d++)
		g->length[d] = (uint32_t)job_bs_max(job, (enum ddir)d);
	generator_set_limits(g);
	return 0;
}

void generator_close(struct generator *g)
{
	for (unsigned i = 0; g->file && i <= g->last_file; i++)
		free(g->file[i].walk);
	free(g->file);
	free(g->live);
	g->file = NULL;
	g->live = NULL;
}

uint32_t generator_buffer_length(const struct generator *g)
{
	return (uint32_t)job_largest_bs(g->job);
}

void generator_fill(struct generator *g, void *buffer)
{
	buffers_fill(&g->buffers, buffer, generator_buffer_length(g));
}

static void begin_loop(struct generator *g)
{
	const struct job *job = g->job;

	g->bytes_left = job->time_based ? UINT64_MAX : g->files->limit;
	g->ios_left = job->time_based || !job->number_ios ? UINT64_MAX : job->number_ios;
}

void generator_set_limits(struct generator *g)
{
	g->loops_left = g->job->loops > 1 ? g->job->loops - 1 : 0;
	begin_loop(g);
}

static void begin_pass(struct generator *g)
{
	for (unsigned i = 0; i <= g->last_file; i++) {
		if (g->file[i].walk)
			walk_restart(g->file[i].walk);
		else
			offsets_restart(&g->file[i].offsets);
	}
	g->next_file = g->stay = 0;
	all_live(g);
}

bool generator_loop(struct generator *g)
{
	if (g->loops_left == 0 || g->job->time_based)
		return false;
	g->loops_left--;
	begin_loop(g);
	begin_pass(g);
	/* fio opens the files again for each loop, which drops what is cached of them. */
	if (g->job->invalidate)
		files_drop_cache(g->files, NULL);
	return true;
}

/*
 * As fio: a job that has seen all of its files is through, unless io_size is given and leaves room for a
 * whole block. The cache is dropped again where the point was to reach the disk.
 */
bool generator_restart(struct generator *g)
{
	const struct job *job = g->job;
	bool more = job->time_based || job->io_size.bytes || job->io_size.percent;

	if (!more || g->bytes_left < job_largest_bs(job))
		return generator_loop(g);
	begin_pass(g);
	if (job->time_based && job->invalidate && !job->direct && !job->norandommap)
		files_drop_cache(g->files, NULL);
	return true;
}

/* ---- jobs that are not plain ---- */

static bool place_in(struct generator *g, unsigned i, struct io *io)
{
	struct generator_file *file = &g->file[i];

	io->file = i;
	io->fd = file->fd;
	if (file->walk)
		return walk_next(file->walk, io->ddir, &io->offset, &io->length);
	io->length = g->length[io->ddir];
	return offsets_next(&file->offsets, io->ddir, &io->offset);
}

/* next_file is an index into live here: the file of the last I/O, or the one that took its place. */
static void choose_file(struct generator *g)
{
	const struct file_service *service = &g->job->file_service;

	if (service->kind == SERVICE_RANDOM)
		g->next_file = (unsigned)random64_below(&g->random, g->nlive);
	else if (g->next_file >= g->nlive)
		g->next_file = 0;
	g->stay = service->kind == SERVICE_SEQUENTIAL ? UINT32_MAX : service->every ? service->every : 1;
}

static void forget_file(struct generator *g)
{
	/* The order stays, for the sake of round robin. */
	for (unsigned i = g->next_file + 1; i < g->nlive; i++)
		g->live[i - 1] = g->live[i];
	g->nlive--;
	g->stay = 0;
}

bool generator_place_any(struct generator *g, struct io *io)
{
	while (g->nlive) {
		if (g->stay == 0)
			choose_file(g);
		if (place_in(g, g->live[g->next_file], io)) {
			if (g->job->file_service.kind != SERVICE_SEQUENTIAL && --g->stay == 0)
				g->next_file++;
			return true;
		}
		forget_file(g);
	}
	return false;
}
