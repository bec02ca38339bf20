/*
 * The embedded driver starts emulators as orphans, and to end one it polls until the process is gone, the zombie
 * too. Where process 1 collects zombies late (containers, small virtual machines) each end of a guest
 * takes a second or two, and a start that fails as well. So this process adopts the emulators that it starts and
 * collects them itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/hypervisor_libvirt.h"

#define TURN_US 10000
#define PATIENCE 10

struct hv_reaper {
	pthread_t thread;
	atomic_bool starting;
	pid_t pid; /* set before starting ends; -1: the start failed */
};

/* Session of a process, zombies included; -1 unknown. */
static pid_t session_of(pid_t pid)
{
	char path[64], words[1024];
	const char *at;
	ssize_t length;
	int fd, session;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	length = read(fd, words, sizeof(words) - 1);
	close(fd);
	if (length <= 0)
		return -1;
	words[length] = '\0';
	at = strrchr(words, ')');
	/* state ppid pgrp session */
	return at && sscanf(at + 1, " %*c %*d %*d %d", &session) == 1 ? session : -1;
}

/*
 * Collect one ended orphan. libvirt's own children must be left to libvirt: they are in our session, or lead
 * one of their own (the process between us and an emulator). That one libvirt waits for at once, so a leader that
 * stays for PATIENCE turns is an orphan too: an emulator that was probed with -daemonize leaves one behind.
 */
static void sweep(pid_t *leader, int *turns)
{
	siginfo_t ended = {0};
	pid_t session;

	if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) || ended.si_pid <= 0)
		return;
	session = session_of(ended.si_pid);
	if (session <= 0 || session == getsid(0))
		return;
	if (session == ended.si_pid) {
		*turns = *leader == ended.si_pid ? *turns + 1 : 0;
		*leader = ended.si_pid;
		if (*turns < PATIENCE)
			return;
	}
	waitpid(ended.si_pid, NULL, 0);
}

static void *reap(void *context)
{
	struct hv_reaper *reaper = context;
	pid_t leader = -1;
	int turns = 0;

	while (atomic_load(&reaper->starting)) {
		sweep(&leader, &turns);
		usleep(TURN_US);
	}
	if (reaper->pid < 0) /* the starter joins this thread and frees it */
		return NULL;
	while (waitpid(reaper->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(reaper);
	return NULL;
}

struct hv_reaper *hv_reaper_begin(void)
{
	struct hv_reaper *reaper = calloc(1, sizeof(*reaper));

	if (!reaper)
		return NULL;
	atomic_init(&reaper->starting, true);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) || pthread_create(&reaper->thread, NULL, reap, reaper)) {
		prctl(PR_SET_CHILD_SUBREAPER, 0);
		free(reaper);
		return NULL;
	}
	return reaper;
}

void hv_reaper_started(struct hv_reaper *reaper, pid_t pid)
{
	pthread_t thread;

	prctl(PR_SET_CHILD_SUBREAPER, 0); /* nothing else is to be adopted: nobody would collect it */
	if (!reaper)
		return;
	thread = reaper->thread;
	reaper->pid = pid > 0 ? pid : -1;
	if (pid > 0) {
		pthread_detach(thread);
		atomic_store(&reaper->starting, false); /* from here on the thread owns it */
		return;
	}
	atomic_store(&reaper->starting, false);
	pthread_join(thread, NULL);
	free(reaper);
}
