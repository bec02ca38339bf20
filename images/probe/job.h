/* What a job asks for: the options of its argument vector. */
#ifndef PROBE_JOB_H
#define PROBE_JOB_H

#include <stdint.h>

#include "guest/error.h"
#include "images/probe/blk.h"

enum job_mode {
	JOB_KICK,     /* notify, then poll: kick, done (poll), per request */
	JOB_DONE_IRQ, /* notify, then the first instruction of the interrupt handler */
	JOB_EVENTS,   /* depth requests kept under way by a driver: kicks and interrupts per request */
	JOB_CPU,      /* turns of a loop while requests are out, against the same loop undisturbed */
	JOB_HEALTH,   /* a loop and a port write: the accelerator, no disk */
	JOB_ALL,      /* each of them, one after the other */
	JOB_MODES
};

struct job {
	enum job_mode mode;
	enum blk_op op;
	uint32_t bytes;
	uint32_t requests; /* per kick; 0: an empty queue, only with JOB_KICK */
	uint32_t depth;    /* JOB_EVENTS; JOB_ALL: as many as requests unless told otherwise */
	uint32_t count;    /* kicks; with JOB_EVENTS requests, with JOB_HEALTH samples */
	/* Faults of a driver, only with JOB_EVENTS; 0: none. From 1 in the recorded part. */
	uint32_t omit_kick;        /* this notification is not written */
	uint32_t ignore_interrupt; /* this interrupt is taken for none */
	char name[64];
};

const char *job_mode_name(enum job_mode mode);
const char *job_op_name(enum blk_op op);

/*
 * Read options of the form --name=value. disk: the name of the disk that a --filename must be. An option that is not
 * known, or a value that makes no sense, is an error that names it.
 */
int job_parse(char *const *argv, size_t argc, const char *disk, struct job *job, struct error *e);

#endif
