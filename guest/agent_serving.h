/* The job that the agent runs, whatever its tool is: what is said about it, when, and how the host is heard meanwhile. */
#ifndef KB_AGENT_SERVING_H
#define KB_AGENT_SERVING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "guest/agent_action.h"
#include "guest/agent_alive.h"
#include "guest/agent_link.h"
#include "guest/agent_listen.h"
#include "guest/error.h"
#include "guest/os.h"
#include "guest/run.h"
#include "guest/text.h"

struct serving {
	struct agent_link *link;
	struct agent_actions *actions;
	char *id, *disk;
	char *filesystem, *mount; /* of the disk, and where the job has its files; both NULL without */
	char *tool;               /* what is to run the job; NULL: kickio's jobs */
	uint64_t began_ns;
	struct os_counters before, after;
	struct text notes;
	struct agent_alive alive;    /* runs while nothing else tells of progress */
	struct agent_listen listen;  /* runs from the job's start until what became of it is sent */
	pthread_mutex_t telling;     /* of e */
	bool bye;                    /* __atomic: the host said it, or the port is gone: do not wait for another job */
	unsigned dropped, dropped_told; /* __atomic: jobs that came while this one runs */
	struct error *e;             /* of the link */
};

uint64_t serving_now_ns(void);

/* Whether the job is to end early. */
bool serving_is_over(struct serving *s);

/* Begin the payload of a frame about this job; it is ended and sent by serving_send(), which frees it. */
struct text serving_about(const struct serving *s);
void serving_send(struct serving *s, enum frame_type type, struct text *payload);
void serving_error(struct serving *s, const char *message);

/* Hear the host, and give signs of life. -1: no thread for that. */
int serving_listen(struct serving *s, struct error *e);

/* Before a result or an error is sent: the host's next job can follow at once. Fine when it is over already. */
void serving_stop_listening(struct serving *s);

/* As hooks of a run: context is the serving. begin and end take the counters. */
void serving_begin(void *context);
void serving_end(void *context);
void serving_note(void *context, const char *line);
void serving_progress(void *context, const struct progress *p);

/* A disk's counters as a job's progress; none where it was unplugged, or taken from its driver and given back, in between. */
void serving_moved(const struct os_counters *before, const struct os_counters *now, struct progress *p);

/* "counters":{…}, what they grew by. */
void serving_add_counters(struct text *out, const struct os_counters *before, const struct os_counters *after);

/*
 * The file system is there for one job: every trial begins without what an earlier one left in the cache, and what
 * it wrote is written back in its own time. The files stay. Nothing where the job has none.
 */
int serving_mount(struct serving *s, struct error *e);
int serving_unmount(const struct serving *s, int ret, struct error *e); /* ret of the job: a failed one keeps its message */

/* The tools. Both send the result; -1: the job could not run. argv has a program's name in front and ends with NULL. */
int agent_job_check(struct serving *s, int argc, char **argv, struct error *e);
int agent_job_fio(struct serving *s, int argc, char **argv, struct error *e);

#endif
