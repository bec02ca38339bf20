/* Looks at running clones about ten times a second: samples, progress, notes. */
#ifndef KB_MONITOR_H
#define KB_MONITOR_H

#include "guest/crew.h"
#include "guest/run.h"

struct monitor {
	struct crew *crew;
	const struct run_hooks *hooks;
	void (*begin)(void *context); /* called once, when recording starts */
	void *begin_context;
	int (*report)(void *context, uint64_t eta_us, struct error *e); /* called when a report in between is due */
	const volatile int *report_asked; /* counts what is asked for besides */
	int reports_told;
	uint64_t report_ns; /* when the last one was due */
	bool begun;
	uint64_t start_ns;    /* when the first clones were let go */
	uint64_t progress_ns; /* when progress was last told */
	char *states;         /* one letter per clone */
};

int monitor_open(struct monitor *m, struct error *e); /* crew, hooks and begin are set */
void monitor_close(struct monitor *m);

/*
 * Watch a wave until all of it is over. begin_ns: when to call begin, by clock_monotonic_ns. The clones
 * are not waited for. -1 and e when a report fails, which ends the run.
 */
int monitor_watch(struct monitor *m, unsigned wave, uint64_t begin_ns, struct error *e);

/*
 * Pass on what the clones that are over have to tell the user, before_go also those that wait to be let go;
 * say of each failure once.
 */
void monitor_tell(struct monitor *m, bool before_go);

#endif
