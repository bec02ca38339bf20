#include "guest/agent_listen.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void *listen_to(void *context)
{
	struct agent_listen *l = context;
	struct error e = {0};

	while (!__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE)) {
		struct frame frame;
		int got = agent_link_receive(l->link, INT_MAX, &frame, &e);

		if (got > 0)
			l->take(l->context, &frame);
		if (got < 0) {
			l->lost(l->context, &e);
			break;
		}
	}
	return NULL;
}

static void close_both(const int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

int agent_listen_start(struct agent_listen *l, struct error *e)
{
	sigset_t all, old;
	int failed;

	if (pipe(l->wake) < 0)
		return error_errno(e, STATUS_FAILED, "a pipe for listening to the host");
	for (int i = 0; i < 2; i++)
		fcntl(l->wake[i], F_SETFD, FD_CLOEXEC);
	l->stop = false;
	l->link->wake = l->wake[0];
	/* Signals are the job's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&l->thread, NULL, listen_to, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	l->runs = failed == 0;
	if (l->runs)
		return 0;
	l->link->wake = -1;
	close_both(l->wake);
	return error_set(e, STATUS_FAILED, "no thread to listen to the host: %s", strerror(failed));
}

void agent_listen_stop(struct agent_listen *l)
{
	if (!l->runs)
		return;
	__atomic_store_n(&l->stop, true, __ATOMIC_RELEASE);
	while (write(l->wake[1], "", 1) < 0) /* interrupted: the pipe is empty */
		;
	pthread_join(l->thread, NULL);
	l->link->wake = -1;
	close_both(l->wake);
	l->runs = false;
}
