/* Between the command line and the job file: collect options into jobs, in the order in which they come. */
#ifndef KB_OPTIONS_BUILD_H
#define KB_OPTIONS_BUILD_H

#include "guest/error.h"
#include "guest/job.h"

struct build {
	struct jobs *jobs;
	struct job global; /* defaults of the jobs that start from now on */
	size_t capacity;
	bool open;      /* options go to the last job; else to global */
	bool from_file; /* program options are refused, and the order of options does not matter */
};

/* Zero-initialise b but for jobs, which is empty; then this. build_free() in any case. */
int build_begin(struct build *b, struct error *e);
void build_free(struct build *b);

/* "global…" goes back to the defaults, another name starts a job. */
int build_section(struct build *b, const char *name, struct error *e);

/* One option; value NULL: written without one. */
int build_option(struct build *b, const char *name, const char *value, struct error *e);

#endif
