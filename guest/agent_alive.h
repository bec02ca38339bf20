/*
 * Signs of life while no job's progress can be told: laying out files and writing back before they are taken off can
 * take longer than the host is ready to wait for a word. Not a pulse: it beats only when the disk or this process
 * has moved data since, so that a disk that hangs is still silence.
 */
#ifndef KB_AGENT_ALIVE_H
#define KB_AGENT_ALIVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct agent_alive {
	/* Set by the caller; the strings stay its own. */
	const char *disk; /* NULL: only this process is looked at */
	unsigned interval_ms;
	void (*beat)(void *context); /* in a thread of its own */
	void *context;

	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool runs, stop;
};

/* Begin to look. Without threads nothing is told, which is no error: the host has its deadline. */
void agent_alive_start(struct agent_alive *a);

/* When it returns beat is not running and will not be called. Fine when it was never started, or is over. */
void agent_alive_stop(struct agent_alive *a);

#endif
