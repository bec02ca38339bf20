/* What the parts of one cell's run share. */
#ifndef KB_REGRESS_PRIVATE_H
#define KB_REGRESS_PRIVATE_H

#include "host/event.h"
#include "host/opinion.h"
#include "host/regress.h"
#include "host/regress_disk.h"
#include "host/regress_jobs.h"
#include "host/trial.h"

/* What is kept of a job for the second opinion. */
struct cell_map {
	char path[4200];   /* of its generation map, "" none */
	const char *where; /* the area's name in words */
	json_t *fio;       /* its result */
	enum cell_status without; /* what it means that there is none, and why */
	char why[128];
};

/* What the guest is to do. */
struct cell_task {
	const char *name, *tool; /* tool: as in struct trial_request */
	char *const *argv;
	size_t argc;
	uint64_t bytes; /* regress_job_did(); 0: whoever asked looks himself */
	bool writes;
	struct cell_map *map; /* NULL, or where its generation map is to be kept */
};

struct cell_run {
	struct regress *r;
	const struct matrix_cell *cell;
	struct cell_result *result;
	struct regress_disk disk;
	struct settings settings; /* cache resolved */
	struct machine machine;   /* paths absolute */
	const struct event *event; /* NULL: none */
	struct event_needs needs;
	struct text room;          /* of their texts */
	struct domain_under under;
	struct boot boot;
	bool up;       /* a guest runs and answers */
	unsigned jobs; /* that it was given */
	char name[64], console[4200], overlays[1100];
	struct cell_map map[REGRESS_AREAS]; /* of the jobs behind which nothing is written */
	size_t nmaps;
	struct opinion_flush_job flush_job;
	struct cell_map flush;              /* of that one */
};

/* Room for one more of c->map, with a path. REGRESS_AREAS at most. */
struct cell_map *cell_run_map(struct cell_run *c, const char *where);
void cell_run_forget(struct cell_map *map, bool keep_file);

/* Add a check that says no more than its status and why. */
int cell_run_note(struct cell_run *c, const char *name, enum cell_status status, const char *message, struct error *e);

/*
 * The guest is gone, or never came: what e says becomes a failed check with its console, and the boot is ended. -1, and e
 * stays: this kickbench was interrupted, or the hypervisor cannot be reached either.
 */
int cell_run_lost(struct cell_run *c, const char *name, json_t *argv, struct error *e);

/* Run a job and add its check. 0: done, whatever came out; c->up tells whether the guest can be asked for more. -1: the run is over. */
int cell_run_job(struct cell_run *c, const struct cell_task *task, struct error *e);

/* The size, the ends, what must be refused, discard, serial number, as the guest finds them (tool "check"). */
int cell_run_check(struct cell_run *c, struct error *e);

/* A job that has many flushes answered, for the log to be held against. */
int cell_run_flush(struct cell_run *c, struct error *e);

/* Why the writes of this cell are not logged, NULL: they are. */
const char *cell_run_no_log(const struct cell_run *c);

/* When the guest is gone: image, maps and log against each other. */
int cell_run_opinions(struct cell_run *c, struct error *e);

#endif
