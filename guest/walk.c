#include "guest/walk.h"

bool walk_needed(const struct job *job)
{
	for (unsigned d = DDIR_READ; d <= DDIR_WRITE; d++) {
		enum ddir ddir = (enum ddir)d;

		if (!(ddir == DDIR_READ ? rw_reads(job->rw) : rw_writes(job->rw)))
			continue;
		if (job_bs_min(job, ddir) != job_bs_max(job, ddir))
			return true;
		if (!rw_random(job->rw))
			continue;
		if (job->percentage_random[d] < 100 || job->distribution[d].kind != DISTRIBUTION_RANDOM ||
		    (job->blockalign[d] && job->blockalign[d] != job_bs_min(job, ddir)))
			return true;
	}
	return false;
}

void walk_init(struct walk *w, const struct job *job, enum order order, uint64_t start, uint64_t bytes,
	       uint64_t seed, uint64_t stream)
{
	*w = (struct walk){ .order = order, .start = start, .bytes = bytes };
	w->random = random64_stream(seed, stream);
	for (unsigned d = 0; d < DDIRS; d++) {
		struct sizes *s = &w->sizes[d];

		sizes_init(s, job, (enum ddir)d);
		w->map_of[d] = d;
		if (s->lo == 0 || bytes < s->lo) {
			s->lo = 0;
			continue;
		}
		w->align[d] = job->blockalign[d] ? job->blockalign[d] : s->lo;
		w->random_percent[d] = job->percentage_random[d];
		for (unsigned other = 0; other < d; other++)
			if (w->sizes[other].lo && sizes_same(&w->sizes[other], s))
				w->map_of[d] = other;
		if (order == ORDER_REPEATS)
			drawer_init(&w->drawer[d], &job->distribution[d], (bytes - s->lo) / w->align[d] + 1, &w->random);
	}
	walk_restart(w);
}

void walk_restart(struct walk *w)
{
	w->left = w->bytes;
	for (unsigned d = 0; d < DDIRS; d++) {
		w->position[d] = w->start;
		if (w->order == ORDER_ONCE && w->sizes[d].lo && w->map_of[d] == d)
			mosaic_init(&w->mosaic[d], &w->sizes[d], w->bytes, &w->random);
	}
}

static bool next_sequential(struct walk *w, enum ddir ddir, uint64_t *offset, uint64_t *length)
{
	uint64_t room = w->start + w->bytes - w->position[ddir];

	if (room < w->sizes[ddir].lo)
		return false;
	*offset = w->position[ddir];
	*length = sizes_draw(&w->sizes[ddir], &w->random, room);
	return true;
}

static bool next_random(struct walk *w, enum ddir ddir, uint64_t *offset, uint64_t *length)
{
	if (w->order == ORDER_REPEATS) {
		*offset = drawer_next(&w->drawer[ddir], &w->random) * w->align[ddir];
		*length = sizes_draw(&w->sizes[ddir], &w->random, w->bytes - *offset);
	} else if (!mosaic_next(&w->mosaic[w->map_of[ddir]], offset, length)) {
		return false;
	}
	*offset += w->start;
	return true;
}

bool walk_next(struct walk *w, enum ddir ddir, uint64_t *offset, uint32_t *length)
{
	uint64_t size = 0;
	bool found = false;

	if (w->sizes[ddir].lo == 0)
		return false;
	if (w->order != ORDER_REPEATS && w->left < w->sizes[ddir].lo)
		return false;
	if (w->order == ORDER_SEQUENTIAL)
		found = next_sequential(w, ddir, offset, &size);
	else if (w->random_percent[ddir] < 100 && random64_below(&w->random, 100) >= w->random_percent[ddir])
		found = next_sequential(w, ddir, offset, &size) || next_random(w, ddir, offset, &size);
	else
		found = next_random(w, ddir, offset, &size);
	if (!found)
		return false;
	w->position[ddir] = *offset + size;
	w->left -= size < w->left ? size : w->left;
	*length = (uint32_t)size;
	return true;
}
