#include "guest/job.h"

#include <stdlib.h>
#include <string.h>

const char *rw_name(enum rw rw)
{
	static const char *const names[] = {
		[RW_READ] = "read", [RW_WRITE] = "write", [RW_RANDREAD] = "randread",
		[RW_RANDWRITE] = "randwrite", [RW_MIXED] = "rw", [RW_RANDMIXED] = "randrw",
	};

	return names[rw];
}

uint64_t job_bs_min(const struct job *job, enum ddir ddir)
{
	return job->bs_range[ddir].hi ? job->bs_range[ddir].lo : job->bs[ddir];
}

uint64_t job_bs_max(const struct job *job, enum ddir ddir)
{
	return job->bs_range[ddir].hi ? job->bs_range[ddir].hi : job->bs[ddir];
}

uint64_t job_smallest_bs(const struct job *job)
{
	uint64_t r = rw_reads(job->rw) ? job_bs_min(job, DDIR_READ) : UINT64_MAX;
	uint64_t w = rw_writes(job->rw) ? job_bs_min(job, DDIR_WRITE) : UINT64_MAX;

	return r < w ? r : w;
}

uint64_t job_largest_bs(const struct job *job)
{
	uint64_t r = rw_reads(job->rw) ? job_bs_max(job, DDIR_READ) : 0;
	uint64_t w = rw_writes(job->rw) ? job_bs_max(job, DDIR_WRITE) : 0;

	return r > w ? r : w;
}

/* Every string of a job; the name comes first. */
static const size_t strings[] = {
	offsetof(struct job, name), offsetof(struct job, description), offsetof(struct job, filename),
	offsetof(struct job, directory), offsetof(struct job, filename_format), offsetof(struct job, verify_map),
	offsetof(struct job, verify_name),
	offsetof(struct job, write_lat_log), offsetof(struct job, write_bw_log),
	offsetof(struct job, write_iops_log), offsetof(struct job, write_hist_log),
};

#define NSTRINGS (sizeof(strings) / sizeof(strings[0]))

static char **string_of(struct job *job, size_t i)
{
	return (char **)(void *)((char *)job + strings[i]);
}

static void written_free(struct written *written, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(written[i].name);
		free(written[i].value);
	}
	free(written);
}

void job_release(struct job *job)
{
	for (size_t i = 0; i < NSTRINGS; i++)
		free(*string_of(job, i));
	written_free(job->written, job->nwritten);
	*job = (struct job){ .name = NULL };
}

int job_copy(struct job *to, const struct job *from, struct error *e)
{
	struct job copy = *from;

	copy.written = NULL;
	copy.nwritten = 0;
	for (size_t i = 0; i < NSTRINGS; i++)
		*string_of(&copy, i) = NULL;
	*to = copy;
	for (size_t i = 1; i < NSTRINGS; i++) {
		const char *s = *string_of((struct job *)(uintptr_t)from, i);

		*string_of(to, i) = s ? strdup(s) : NULL;
		if (s && !*string_of(to, i)) {
			job_release(to);
			return error_set(e, STATUS_HOST, "out of memory");
		}
	}
	return 0;
}

void jobs_free(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		job_release(&jobs->job[i]);
	free(jobs->job);
	written_free(jobs->global, jobs->nglobal);
	free(jobs->output);
	for (size_t i = 0; i < jobs->nsections; i++)
		free(jobs->section[i]);
	free(jobs->section);
	*jobs = (struct jobs){ .count = 0 };
}
