/* What the event*.c files share. */
#ifndef KB_EVENT_PRIVATE_H
#define KB_EVENT_PRIVATE_H

#include "host/event.h"
#include "host/event_judge.h"

#define EVENT_WORDS 24
#define EVENT_CLONES 2
#define EVENT_GAVE_UP 99 /* a step */

/* Where jobs of events work: at the disk's start, each clone in a part of its own. */
struct event_area {
	uint64_t part;  /* bytes of one clone's */
	uint64_t place; /* a byte in the first clone's, at the beginning of 4 KiB: where the device fails */
};

#define EVENT_BLOCK 4096u
#define EVENT_LEAST (1ull << 20) /* a smaller disk has no middle of a job */

/* Pure. */
struct event_area event_area_of(uint64_t bytes);

/* The options of a job of the guest, without the file's name. */
struct event_job {
	char word[EVENT_WORDS][80];
	char *argv[EVENT_WORDS];
	size_t argc;
};

void event_job_add(struct event_job *job, const char *fmt, ...) KB_PRINTF(2, 3);

/* Each block of the area once, in random order or not, one request at a time so that none is merged with another; read back. */
void event_job_once(struct event_job *job, const struct event_area *area, bool is_linux, const char *rw, unsigned clones);

/* Mixed blocks, reads and writes, many at once, for so many seconds; read back. */
void event_job_timed(struct event_job *job, const struct event_area *area, bool is_linux, unsigned seconds);

/* One event as it takes place. */
struct event_try {
	struct boot *b;
	const struct matrix_cell *cell;
	struct cell_result *result;
	bool *gone;
	bool is_linux;
	struct event_area area;

	/* Of the job that runs. act: 0 go on, 1 the job is over, -1 e; step is 0 at first and tells it how far it is. */
	int (*act)(struct event_try *t, const struct trial_progress *p, struct error *e);
	int (*hear)(struct event_try *t, const struct message *m); /* a frame that is not the job's; NULL: nobody listens */
	unsigned step;
	double since; /* clock when step changed last */
	uint64_t ios, ios_then; /* that the job has completed, now and when step changed last */
	struct trial *trial;
	unsigned action; /* id of what was asked of the guest */
	uint64_t before, after; /* requests that the device has completed, around a spell */
	bool seen; /* what the spell was to bring about */
	char problem[256]; /* why the event itself did not come about; "" it did */
};

void event_begin(struct event_try *t, struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone);

/* The event itself cannot be brought about: the job goes on without it, and event_check_came() says why. */
int event_gives_up(struct event_try *t, struct error *e);

/* A check that the event came about, where it did not. 1: it did not, and that is said. */
int event_check_came(struct event_try *t, const struct event_job *job, unsigned last_step, struct error *e);

/* How long the event is in its step. */
double event_waits(const struct event_try *t);
void event_step(struct event_try *t, unsigned step);

/* Add a check. job may be NULL; evidence (NULL: none) is taken. */
int event_check(struct event_try *t, enum cell_status status, const struct event_job *job, json_t *evidence, struct error *e,
		const char *name, const char *fmt, ...) KB_PRINTF(7, 8);

/*
 * Run a job with the event in it. 0: it came to an end, well or not; 1: the guest is gone, or the job stood still: that is said in
 * a check, the event is over; -1: interrupted.
 */
int event_run_job(struct event_try *t, const struct event_job *job, unsigned tolerated, struct trial *trial, struct error *e);

/*
 * The same with a job of event_job_timed(). One that was over before its event came (a busy host hears of it about once a second)
 * is run once more, for longer.
 */
int event_run_timed(struct event_try *t, struct event_job *job, unsigned seconds, unsigned tolerated, struct trial *trial,
		    struct error *e);

/* Checks that many events end with. -1: e. */
int event_check_well(struct event_try *t, const struct event_job *job, const struct trial *trial, const char *name, struct error *e);
int event_check_disk(struct event_try *t, const struct trial *trial, bool cut, const char *name, struct error *e);
/* Write and read back from an offset on, with nothing in the way. 1: the guest is gone. */
int event_check_works(struct event_try *t, uint64_t offset, const char *name, struct error *e);

/* The guest's disks, asked for until the test disk is among them with so many bytes (0: any). -1: it is not, after some seconds. */
int event_await_disk(struct event_try *t, uint64_t bytes, struct error *e);

/* QMP. reply may be NULL; it is the caller's. */
int event_qmp(struct boot *b, json_t *command, json_t **reply, struct error *e); /* takes command */
int event_qom_get(struct boot *b, const char *path, const char *property, json_t **value, struct error *e);

/* Requests that the device has completed, reads and writes. */
int event_completed(struct boot *b, uint64_t *requests, struct error *e);

/* The rows' functions (event_error.c, event_spell.c, event_device.c). */
typedef int event_run(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e);
event_run event_run_eio_read, event_run_eio_write, event_run_eio_flush, event_run_stop;
event_run event_run_throttle, event_run_pause, event_run_save, event_run_reset;
event_run event_run_resize, event_run_unplug, event_run_rebind;

#endif
