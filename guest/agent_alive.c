#include "guest/agent_alive.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "guest/os.h"

/* Anything that grows with data that moves: what was written to a cache counts for this process at once. */
static uint64_t moved(const struct agent_alive *a)
{
	struct os_counters c;
	struct rusage r = {0};

	os_counters(a->disk, &c);
	getrusage(RUSAGE_SELF, &r);
	return c.read_bytes + c.write_bytes + c.reads + c.writes + c.flushes + (uint64_t)r.ru_inblock + (uint64_t)r.ru_oublock;
}

/* False when it is to stop. */
static bool wait_a_while(struct agent_alive *a)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += a->interval_ms / 1000;
	until.tv_nsec += a->interval_ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	while (!a->stop && pthread_cond_timedwait(&a->wake, &a->lock, &until) != ETIMEDOUT)
		;
	return !a->stop;
}

static void *look(void *context)
{
	struct agent_alive *a = context;
	uint64_t before = moved(a), now;

	pthread_mutex_lock(&a->lock);
	while (wait_a_while(a)) {
		pthread_mutex_unlock(&a->lock);
		now = moved(a);
		if (now != before)
			a->beat(a->context);
		before = now;
		pthread_mutex_lock(&a->lock);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

void agent_alive_start(struct agent_alive *a)
{
	sigset_t all, old;

	if (a->runs)
		return;
	a->stop = false;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->wake, NULL);
	/* Signals are the job's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	a->runs = pthread_create(&a->thread, NULL, look, a) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!a->runs) {
		pthread_cond_destroy(&a->wake);
		pthread_mutex_destroy(&a->lock);
	}
}

void agent_alive_stop(struct agent_alive *a)
{
	if (!a->runs)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->wake);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->wake);
	pthread_mutex_destroy(&a->lock);
	a->runs = false;
}
