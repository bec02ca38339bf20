/* One job in a running guest, with what it cost on the host. */
#ifndef KB_TRIAL_H
#define KB_TRIAL_H

#include <jansson.h>

#include "host/boot.h"
#include "host/map_copy.h"

enum trial_status { TRIAL_OK, TRIAL_FAILED, TRIAL_STALLED, TRIAL_CORRUPT };

const char *trial_status_name(enum trial_status status);

struct trial_progress {
	double elapsed_s;
	uint64_t ios, bytes;
};

struct trial;

struct trial_request {
	const char *id;
	char *const *argv; /* job options, without filename when the job works on the disk itself */
	size_t argc;
	const char *tool;       /* a program of the guest that runs the job; NULL: kickio */
	const char *filesystem; /* mounted for the job, which names files on it; NULL: the disk itself */
	size_t disk;
	bool wait_for_count; /* the guest stands still at begin and end until our counters are taken (the probe can) */
	double stall_timeout; /* seconds */
	void (*progress)(void *context, const struct trial_progress *p);
	/*
	 * For who acts in the middle of a job; NULL: nobody. tick: about twice a second and behind every frame. message: a frame that
	 * is not the job's own (action, a second hello); it stays the caller's. Both: 0 go on, 1 the trial is over, as was put into it, -1 e.
	 */
	int (*tick)(void *context, const struct trial_progress *p, struct trial *trial, struct error *e);
	int (*message)(void *context, const struct message *m, struct trial *trial, struct error *e);
	/* The trial has been found to stand still, and the guest is as it was: its evidence can be taken. NULL: nobody wants it. */
	int (*stalled)(void *context, struct trial *trial, struct error *e);
	unsigned tolerated; /* bits 1 << enum hv_state: states that do not end the trial */
	void *context;
};

struct trial {
	enum trial_status status;
	char message[512]; /* why it is not ok */
	json_t *result;    /* payload of the guest's result frame, NULL without; "fio": what the tool measured */
	double covered;    /* share of begin to end in which another tool than kickio measured; NAN: of kickio, or unknown */
	uint64_t ios;      /* completed, as the last status frame had it */
	json_t *host;      /* hostcount_json plus begin_delay_us, end_delay_us; NULL without */
	struct map_copy *maps; /* what the guest told of its generation maps, NULL: nothing. Also after a failure */
	json_t *stall;     /* evidence of a stall (stall_explain), NULL: none was taken */
	double seconds;    /* from job frame to result */
};

/*
 * Run it. 0: the trial has a status (a failed or stalled one too; after a stall the guest is of no more use);
 * -1: the guest died, or the run was interrupted.
 */
int trial_run(struct boot *b, const struct trial_request *request, struct trial *trial, struct error *e);
void trial_free(struct trial *trial);

#endif
