/* Between the command line and the job file: collect options into jobs, in the order in which they come. */
#ifndef KB_OPTIONS_BUILD_H
#define KB_OPTIONS_BUILD_H

#include "guest/error.h"
#include "guest/job.h"

struct build {
	struct jobs *jobs;
	bool wall; /* the next job gets stonewall: it is the first of a second file */
	struct job global; /* defaults of the jobs that start from now on */
	size_t capacity;
	bool skip;      /* in a section that --section leaves out */
	bool open;      /* options go to the last job; else to global */
	bool from_file; /* program options are refused, and the order of options does not matter */
};

/* Zero-initialise b but for jobs, which is empty; then this. build_free() in any case. */
int build_begin(struct build *b, struct error *e);
void build_free(struct build *b);

/* Before the second job file: defaults go back to fio's, and the next job waits for all before it. */
int build_next_file(struct build *b, struct error *e);

/* "global…" goes back to the defaults, another name starts a job. */
int build_section(struct build *b, const char *name, struct error *e);

/* One option; value NULL: written without one. */
int build_option(struct build *b, const char *name, const char *value, struct error *e);

#endif
