/*
 * Run jobs: lay out files, start a process or thread per clone, let them go together, collect.
 * Progress leaves through hooks, so that the terminal and the agent see the same run.
 */
#ifndef KB_RUN_H
#define KB_RUN_H

#include <stdint.h>

#include "guest/job.h"
#include "guest/result.h"

/* A moment of a running invocation; everything counts from the start of recording. */
struct verify_store;

struct progress {
	uint64_t elapsed_us;      /* since the jobs started, ramp included */
	uint64_t eta_us;          /* UINT64_MAX while unknown */
	unsigned running, files;  /* jobs in their I/O phase, open files */
	uint64_t bytes[DDIRS], ios[DDIRS];
	const char *states;       /* one letter per clone as fio's ETA line: P I / r R w W m M F f _ X */
};

struct run_hooks {
	void *context;
	/* Recording starts (called just before the jobs are let go, or when the ramp is over). */
	void (*begin)(void *context);
	/* About every interval_us while jobs run. */
	void (*progress)(void *context, const struct progress *p);
	uint64_t interval_us;
	/* The last job has finished its I/O; called before anything else is done. */
	void (*end)(void *context);
	/*
	 * Every report_interval_us (0: never), and after run_ask_report(): what was measured so far. The result
	 * is gone when it returns.
	 */
	void (*report)(void *context, const struct run_result *now);
	uint64_t report_interval_us;
	/*
	 * The generation maps of jobs that verify, with each progress and, `last`, once more after the end: for
	 * who keeps a copy of them. See verify_store_tell().
	 */
	void (*maps)(void *context, struct verify_store *maps, bool last);
	/* A line for the user: notes, "Laying out IO file", fio: io_u error … */
	void (*note)(void *context, const char *line);
	/* How long a job that is at its end may wait for I/O in flight without any coming back; 0: 30 s. */
	uint64_t patience_us;
};

/*
 * Returns 0 when the run took place, even if jobs failed (see run_result), -1 when it could not.
 * SIGINT and SIGTERM are the caller's: it calls run_terminate() from its handler.
 */
int run_jobs(const struct jobs *jobs, const struct run_hooks *hooks, struct run_result *result, struct error *e);

/* Ask a run in this process to end early. Async-signal-safe. */
void run_terminate(int signal);

/* Ask a run in this process for a report now. Async-signal-safe. */
void run_ask_report(void);

#endif
