#include "guest/job.h"

#include <stdlib.h>

const char *rw_name(enum rw rw)
{
	static const char *const names[] = {
		[RW_READ] = "read", [RW_WRITE] = "write", [RW_RANDREAD] = "randread",
		[RW_RANDWRITE] = "randwrite", [RW_MIXED] = "rw", [RW_RANDMIXED] = "randrw",
	};

	return names[rw];
}

static void written_free(struct written *written, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(written[i].name);
		free(written[i].value);
	}
	free(written);
}

void jobs_free(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		struct job *job = &jobs->job[i];

		free(job->name);
		free(job->description);
		free(job->filename);
		free(job->directory);
		written_free(job->written, job->nwritten);
	}
	free(jobs->job);
	written_free(jobs->global, jobs->nglobal);
	free(jobs->output);
	*jobs = (struct jobs){ .count = 0 };
}
