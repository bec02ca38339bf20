/* `kickio check` as the tool of a job: in a thread, so that the host hears of it and is heard while a disk does not answer. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guest/agent_serving.h"
#include "guest/check.h"

#define SECOND_NS 1000000000u
#define PATIENCE_NS (3 * (uint64_t)SECOND_NS) /* after the host has said bye */

/* Whoever of the two comes last frees it: a request that never comes back holds the thread. */
struct checking {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned users;
	bool over;
	int argc, ret;
	char **argv;
	struct check_report report;
	struct error e;
};

static void release(struct checking *k)
{
	bool last;

	pthread_mutex_lock(&k->lock);
	last = --k->users == 0;
	pthread_mutex_unlock(&k->lock);
	if (!last)
		return;
	for (int i = 0; i < k->argc; i++)
		free(k->argv[i]);
	free(k->argv);
	check_report_free(&k->report);
	pthread_cond_destroy(&k->changed);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

static void *work(void *context)
{
	struct checking *k = context;
	struct check_options options;
	int ret = check_parse(k->argc, k->argv, &options, &k->e);

	if (ret == 0)
		ret = check_run(&options, &k->report, &k->e);
	pthread_mutex_lock(&k->lock);
	k->ret = ret;
	k->over = true;
	pthread_cond_signal(&k->changed);
	pthread_mutex_unlock(&k->lock);
	release(k);
	return NULL;
}

/* With its own copy of the options, which the job's do not outlive. */
static struct checking *new_checking(int argc, char **argv)
{
	struct checking *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->changed, NULL);
	k->users = 1;
	k->argv = calloc((size_t)argc + 1, sizeof(*k->argv));
	while (k->argv && k->argc < argc && (k->argv[k->argc] = strdup(argv[k->argc])))
		k->argc++;
	if (k->argv && k->argc == argc)
		return k;
	release(k);
	return NULL;
}

static int start(struct checking *k, struct error *e)
{
	sigset_t all, old;
	pthread_t thread;
	int failed;

	k->users++;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&thread, NULL, work, k);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed) {
		release(k);
		return error_set(e, STATUS_FAILED, "no thread for the check: %s", strerror(failed));
	}
	pthread_detach(thread);
	return 0;
}

/* True when it is over within a second. */
static bool wait_a_second(struct checking *k)
{
	struct timespec until;
	bool over;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	pthread_mutex_lock(&k->lock);
	while (!k->over && pthread_cond_timedwait(&k->changed, &k->lock, &until) != ETIMEDOUT)
		;
	over = k->over;
	pthread_mutex_unlock(&k->lock);
	return over;
}

/* False: given up. Requests that came back are its progress. */
static bool watch(struct serving *s, struct checking *k)
{
	uint64_t told = 0;

	while (!wait_a_second(k)) {
		struct progress p = {.elapsed_us = (serving_now_ns() - s->began_ns) / 1000, .eta_us = UINT64_MAX, .running = 1};

		p.ios[DDIR_READ] = __atomic_load_n(&k->report.reads, __ATOMIC_RELAXED);
		p.ios[DDIR_WRITE] = __atomic_load_n(&k->report.writes, __ATOMIC_RELAXED);
		serving_progress(s, &p);
		if (serving_is_over(s) && !told)
			told = serving_now_ns();
		if (told && serving_now_ns() - told > PATIENCE_NS)
			return false;
	}
	return true;
}

static void send_report(struct serving *s, const struct check_report *report)
{
	struct text t = serving_about(s), failed = {0};

	check_text(report, true, &failed);
	text_add(&t, ",\"tool\":\"check\",\"status\":%d,\"notes\":", check_exit_status(report));
	text_add_json_string(&t, text_get(&failed));
	text_add(&t, ",");
	serving_add_counters(&t, &s->before, &s->after);
	text_add(&t, ",\"check\":");
	check_json(report, &t);
	text_free(&failed);
	if (t.failed) {
		text_free(&t);
		serving_error(s, "out of memory for what the check found");
	} else {
		serving_send(s, FRAME_RESULT, &t);
	}
}

int agent_job_check(struct serving *s, int argc, char **argv, struct error *e)
{
	struct checking *k = new_checking(argc - 1, argv + 1);
	bool over = false;
	int ret;

	if (!k)
		return error_set(e, STATUS_FAILED, "out of memory");
	serving_begin(s);
	s->began_ns = serving_now_ns();
	ret = start(k, e);
	if (ret == 0)
		over = watch(s, k);
	serving_end(s);
	agent_alive_stop(&s->alive);
	serving_stop_listening(s);
	if (over)
		ret = k->ret;
	if (over && ret < 0)
		error_set(e, k->e.status, "%s", k->e.text);
	else if (over)
		send_report(s, &k->report);
	release(k);
	return ret;
}
