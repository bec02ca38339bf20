#include "guest/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int crew_open(struct crew *crew, struct error *e)
{
	crew->runner = getpid();
	crew->wake[0] = crew->wake[1] = crew->go[0] = crew->go[1] = -1;
	if (pipe(crew->wake) < 0)
		return error_errno(e, STATUS_FAILED, "pipe");
	/* A clone must never wait for a monitor that is late; one byte in the pipe wakes it as well as many. */
	for (int i = 0; i < 2; i++)
		if (fcntl(crew->wake[i], F_SETFL, O_NONBLOCK) < 0)
			return error_errno(e, STATUS_FAILED, "pipe");
	return 0;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void crew_close(struct crew *crew)
{
	for (int i = 0; i < 2; i++) {
		close_end(&crew->wake[i]);
		close_end(&crew->go[i]);
	}
}

/* ---- in the clone ---- */

static void tell(const struct crew *crew)
{
	char byte = 0;

	while (write(crew->wake[1], &byte, 1) < 0 && errno == EINTR)
		;
}

/* False when the end of file comes from the runner's death: nobody would look at what follows. */
static bool wait_for_go(const struct clone *c)
{
	char byte;

	while (read(c->crew->go[0], &byte, 1) < 0 && errno == EINTR)
		;
	/* What the runner did before is over for a thread, too: the end of a pipe orders no memory. */
	(void)slot_load(&c->crew->gone);
	return c->thread || getppid() == c->crew->runner;
}

/* False when the run ends before the delay does. */
static bool wait_for_start(const struct clone *c)
{
	const struct crew *crew = c->crew;
	uint64_t then = crew->born_ns + c->delay_ns, now;

	while (!*crew->stop && !slot_load(&c->slot->stop)) {
		struct timespec nap = { .tv_nsec = 20000000 };

		now = clock_monotonic_ns();
		if (now >= then)
			return true;
		if (then - now < (uint64_t)nap.tv_nsec)
			nap.tv_nsec = (long)(then - now);
		nanosleep(&nap, NULL);
	}
	return false;
}

static void clone_main(struct clone *c)
{
	struct crew *crew = c->crew;
	struct worker_setup setup = {
		.job = c->job, .index = c->index, .seed = c->seed, .thread = c->thread, .files = &c->files,
		.clock = crew->clock, .stop = &c->slot->stop, .slot = c->slot,
		.verify = crew->verify, .flights = c->flights,
	};
	struct worker *w = worker_open(&setup);

	if (w) {
		slot_store(&c->slot->phase, PHASE_READY);
		tell(crew);
		if (wait_for_go(c) && wait_for_start(c))
			worker_run(w);
	}
	slot_store(&c->slot->phase, PHASE_DONE);
	tell(crew);
	worker_close(w);
}

static void *thread_main(void *arg)
{
	clone_main(arg);
	return NULL;
}

/* ---- in the runner ---- */

static int start_process(struct clone *c, struct error *e)
{
	c->pid = fork();
	if (c->pid < 0)
		return error_errno(e, STATUS_FAILED, "cannot start a process for job %s", c->job->name);
	if (c->pid == 0) {
		close_end(&c->crew->go[1]);
		close_end(&c->crew->wake[0]);
		clone_main(c);
		_exit(0);
	}
	c->slot->result.pid = c->pid;
	c->alive = true;
	return 0;
}

static int start_thread(struct clone *c, struct error *e)
{
	int error = pthread_create(&c->handle, NULL, thread_main, c);

	if (error) {
		errno = error;
		return error_errno(e, STATUS_FAILED, "cannot start a thread for job %s", c->job->name);
	}
	c->slot->result.pid = getpid();
	c->alive = true;
	return 0;
}

static bool all_ready(const struct crew *crew, unsigned wave)
{
	for (unsigned i = 0; i < crew->count; i++) {
		const struct clone *c = &crew->clone[i];

		if (c->wave == wave && c->alive && slot_load(&c->slot->phase) < PHASE_READY)
			return false;
	}
	return true;
}

/* Processes before threads: only a process with a single thread may safely be forked. */
static int start_all(struct crew *crew, unsigned wave, struct error *e)
{
	for (int threads = 0; threads < 2; threads++) {
		for (unsigned i = 0; i < crew->count; i++) {
			struct clone *c = &crew->clone[i];

			if (c->wave != wave || c->doomed || c->thread != (threads == 1))
				continue;
			if ((c->thread ? start_thread : start_process)(c, e) < 0)
				return -1;
		}
	}
	return 0;
}

int crew_start(struct crew *crew, unsigned wave, struct error *e)
{
	if (!crew->born_ns)
		crew->born_ns = clock_monotonic_ns();
	close_end(&crew->go[0]);
	if (pipe(crew->go) < 0)
		return error_errno(e, STATUS_FAILED, "pipe");
	if (start_all(crew, wave, e) < 0) {
		*crew->stop = -1;
		crew_go(crew);
		crew_join(crew, wave);
		return -1;
	}
	while (!all_ready(crew, wave)) {
		crew_wait(crew, 100000000);
		crew_check(crew, wave);
	}
	return 0;
}

void crew_go(struct crew *crew)
{
	slot_store(&crew->gone, crew->gone + 1);
	close_end(&crew->go[1]);
}

void crew_wait(struct crew *crew, uint64_t ns)
{
	struct pollfd p = { .fd = crew->wake[0], .events = POLLIN };
	char bytes[64];

	if (poll(&p, 1, (int)((ns + 999999) / 1000000)) > 0)
		while (read(crew->wake[0], bytes, sizeof(bytes)) > 0)
			;
}

/*
 * The counts of a process that died are good up to its end, but it did not get to say how long it took:
 * without that they would be reported as done in one millisecond. Those of a ramp are not to be reported.
 */
static void settle(struct clone *c)
{
	struct job_result *r = &c->slot->result;
	uint64_t us = (clock_monotonic_ns() - slot_load(&c->slot->recording_ns)) / 1000;

	if (slot_load(&c->slot->phase) < PHASE_RUN) {
		for (unsigned d = 0; d < DDIRS; d++)
			direction_reset(&r->dir[d]);
		return;
	}
	worker_complete_result(r, c->slot->class_count, us * 1000);
	for (unsigned d = 0; d < DDIRS; d++)
		if (!r->dir[d].ios)
			r->dir[d].runtime_us = 0;
}

/* What waitpid said about a process: one that did not come to its end is a failed job. */
static void bury(struct clone *c, int status)
{
	struct failure *failure = &c->slot->result.failure;
	bool whole = slot_load(&c->slot->phase) >= PHASE_DONE, told = failure->error != 0;

	c->alive = false;
	if (WIFSIGNALED(status))
		c->killed_by = WTERMSIG(status);
	if (!whole)
		settle(c);
	if (!whole || c->killed_by) {
		FAIL(failure, EINTR, "process died");
		if (c->killed_by && !told)
			snprintf(failure->text, sizeof(failure->text), "killed by signal %d (%s)", c->killed_by,
				 strsignal(c->killed_by));
	}
	slot_store(&c->slot->phase, PHASE_REAPED);
}

void crew_check(struct crew *crew, unsigned wave)
{
	for (unsigned i = 0; i < crew->count; i++) {
		struct clone *c = &crew->clone[i];
		int status;

		if (c->wave == wave && c->alive && !c->thread && slot_load(&c->slot->phase) < PHASE_DONE &&
		    waitpid(c->pid, &status, WNOHANG) == c->pid)
			bury(c, status);
	}
}

void crew_stop_group(struct crew *crew, unsigned groupid, const struct clone *but)
{
	for (unsigned i = 0; i < crew->count; i++) {
		struct clone *c = &crew->clone[i];

		if (c != but && c->job->groupid == groupid)
			slot_store(&c->slot->stop, 1);
	}
}

void crew_give_up(struct crew *crew, struct clone *c)
{
	static const struct timespec nap = { .tv_nsec = 20000000 };
	int status;

	(void)crew;
	FAIL(&c->slot->result.failure, ETIMEDOUT, "hangs");
	for (int tries = 0; !c->thread && tries < 100; tries++) {
		kill(c->pid, SIGKILL);
		if (waitpid(c->pid, &status, WNOHANG) == c->pid) {
			bury(c, status);
			return;
		}
		nanosleep(&nap, NULL);
	}
	settle(c);
	c->abandoned = true;
	c->alive = false;
	if (c->thread)
		pthread_detach(c->handle);
}

bool crew_abandoned(const struct crew *crew)
{
	bool any = false;

	for (unsigned i = 0; i < crew->count; i++)
		any |= crew->clone[i].abandoned;
	return any;
}

void crew_join(struct crew *crew, unsigned wave)
{
	for (unsigned i = 0; i < crew->count; i++) {
		struct clone *c = &crew->clone[i];
		int status = 0;

		if (c->wave != wave || !c->alive)
			continue;
		if (c->thread) {
			pthread_join(c->handle, NULL);
			c->alive = false;
			slot_store(&c->slot->phase, PHASE_REAPED);
			continue;
		}
		while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
			;
		bury(c, status);
	}
}
