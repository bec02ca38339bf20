#include "guest/agent_action.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "guest/action_answer.h"
#include "guest/agent.h"
#include "guest/json_read.h"
#include "guest/os.h"

#define MOST_AT_ONCE 64 /* a disk that hangs holds the thread of every action that asks it something */
#define MOST_CPUS 4096
#define MOST_UNBOUND 16
#define NUDGE_ALIGN 4096

/* A device whose driver was taken off: the disk's path is gone with it. */
struct unbound {
	char disk[128], device[64];
};

struct agent_actions {
	pthread_mutex_t lock;
	struct agent_link *link; /* NULL: the agent has ended */
	unsigned at_work, users; /* threads; those and the agent */
	struct unbound unbound[MOST_UNBOUND];
};

struct action;

struct kind {
	const char *name;
	bool needs_disk;
	void (*run)(struct action *w);
};

struct action {
	struct agent_actions *all;
	const struct kind *kind;
	uint64_t id;
	char *disk;
	bool any_cpu;
	uint64_t cpu;
};

/* ---- answers ---- */

/* A port that is gone shows itself to the one who listens. */
static void send_answer(struct agent_actions *a, struct text *t)
{
	struct error ignored = {0};

	text_add(t, "}");
	pthread_mutex_lock(&a->lock);
	if (a->link)
		agent_link_send(a->link, FRAME_ACTION, t, &ignored);
	pthread_mutex_unlock(&a->lock);
	text_free(t);
}

static struct text about(const struct action *w, const char *problem)
{
	return action_answer(w->id, w->kind->name, problem);
}

static void answer(struct action *w, const char *problem)
{
	struct text t = about(w, problem);

	send_answer(w->all, &t);
}

static void answer_with_disks(struct action *w)
{
	struct text t = about(w, NULL);

	text_add(&t, ",");
	agent_disks_json(&t);
	send_answer(w->all, &t);
}

/* ---- nudge ---- */

/* 0: bound; ENOTSUP: this system cannot. */
static int bind_to(const struct action *w)
{
	uint64_t bits[MOST_CPUS / 64] = {0};

	if (w->any_cpu)
		return ENOTSUP;
	if (w->cpu >= MOST_CPUS)
		return EINVAL;
	bits[w->cpu / 64] = UINT64_C(1) << w->cpu % 64;
	return os_bind_cpus(bits, MOST_CPUS);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* What can fail before the read is issued is told in the only answer. */
static void issue(struct action *w, int fd, void *buffer, size_t length, bool bound)
{
	struct text t = about(w, NULL);
	uint64_t start;
	ssize_t n;
	int error;

	text_add(&t, ",\"bound\":%s", bound ? "true" : "false");
	send_answer(w->all, &t);
	start = now_us();
	do
		n = pread(fd, buffer, length, 0);
	while (n < 0 && errno == EINTR);
	error = errno;
	t = about(w, n < 0 ? strerror(error) : (size_t)n < length ? "it ended before its first block did" : NULL);
	text_add(&t, ",\"done\":true,\"bound\":%s,\"us\":%llu", bound ? "true" : "false",
		 (unsigned long long)(now_us() - start));
	send_answer(w->all, &t);
}

static void nudge(struct action *w)
{
	struct os_target target = {0};
	struct error e = {0};
	int bound = bind_to(w), fd = -1;
	void *buffer = NULL;
	size_t length;

	if (bound != 0 && bound != ENOTSUP) {
		error_set(&e, STATUS_FAILED, "CPU %llu: %s", (unsigned long long)w->cpu, strerror(bound));
	} else if (os_inspect(w->disk, &target, &e) == 0) {
		/* A file's sector is a byte; direct reads of it go by its file system's blocks. */
		length = target.kind == OS_REGULAR || target.sector == 0 ? NUDGE_ALIGN : target.sector;
		if (posix_memalign(&buffer, NUDGE_ALIGN, length) != 0)
			error_set(&e, STATUS_FAILED, "out of memory");
		else if ((fd = os_open(w->disk, OS_READ | OS_DIRECT, &e)) >= 0)
			issue(w, fd, buffer, length, bound == 0);
	}
	if (fd < 0)
		answer(w, e.text);
	else
		close(fd);
	free(buffer);
}

/* ---- drivers ---- */

/* Keep which device that was, for bind. False: no room. */
static bool remember(struct agent_actions *a, const char *disk, const char *device)
{
	struct unbound *at = NULL;

	pthread_mutex_lock(&a->lock);
	for (unsigned i = 0; i < MOST_UNBOUND; i++) {
		struct unbound *u = &a->unbound[i];

		if (strcmp(u->disk, disk) == 0 || (!at && !u->disk[0]))
			at = u;
		if (at && strcmp(at->disk, disk) == 0)
			break;
	}
	if (at && strlen(disk) < sizeof(at->disk) && strlen(device) < sizeof(at->device)) {
		strcpy(at->disk, disk);
		strcpy(at->device, device);
	} else {
		at = NULL;
	}
	pthread_mutex_unlock(&a->lock);
	return at;
}

static bool recall(struct agent_actions *a, const char *disk, char *device, size_t size)
{
	bool found = false;

	pthread_mutex_lock(&a->lock);
	for (unsigned i = 0; !found && i < MOST_UNBOUND; i++) {
		found = strcmp(a->unbound[i].disk, disk) == 0;
		if (found)
			snprintf(device, size, "%s", a->unbound[i].device);
	}
	pthread_mutex_unlock(&a->lock);
	return found;
}

static void take_off(struct action *w)
{
	struct error e = {0};
	char device[64];

	if (os_device_name(w->disk, device, sizeof(device), &e) < 0)
		answer(w, e.text);
	else if (!remember(w->all, w->disk, device))
		answer(w, "too many disks have been unbound");
	else if (os_bind_driver(device, false, &e) < 0)
		answer(w, e.text);
	else
		answer_with_disks(w);
}

static void put_on(struct action *w)
{
	struct error e = {0};
	char device[64] = "";

	if (!recall(w->all, w->disk, device, sizeof(device)) && os_device_name(w->disk, device, sizeof(device), &e) < 0)
		answer(w, e.text);
	else if (os_bind_driver(device, true, &e) < 0)
		answer(w, e.text);
	else
		answer_with_disks(w);
}

/* ---- all of them ---- */

/* "ping" waits for nothing and nobody: its answer says that the agent hears. A list of disks asks each its serial number. */
static void ping(struct action *w)
{
	answer(w, NULL);
}

static const struct kind kinds[] = {
	{"bind", true, put_on},
	{"disks", false, answer_with_disks},
	{"nudge", true, nudge},
	{"ping", false, ping},
	{"unbind", true, take_off},
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

static void release(struct agent_actions *a, unsigned at_work)
{
	bool last;

	pthread_mutex_lock(&a->lock);
	a->at_work -= at_work;
	last = --a->users == 0;
	pthread_mutex_unlock(&a->lock);
	if (last) {
		pthread_mutex_destroy(&a->lock);
		free(a);
	}
}

static void *work(void *context)
{
	struct action *w = context;
	struct agent_actions *a = w->all;

	w->kind->run(w);
	free(w->disk);
	free(w);
	release(a, 1);
	return NULL;
}

/* 0 or errno. */
static int start_thread(struct action *w)
{
	sigset_t all, old;
	pthread_attr_t attributes;
	pthread_t thread;
	int failed;

	failed = pthread_attr_init(&attributes);
	if (failed)
		return failed;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	/* Signals are the job's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&thread, &attributes, work, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	return failed;
}

/* The thread owns w from then on. */
static int start(struct agent_actions *a, struct action *w)
{
	int failed = EAGAIN;
	bool room;

	pthread_mutex_lock(&a->lock);
	room = a->at_work < MOST_AT_ONCE;
	a->at_work += room;
	a->users += room;
	pthread_mutex_unlock(&a->lock);
	if (room)
		failed = start_thread(w);
	if (failed && room)
		release(a, 1);
	return failed;
}

static int parse(const char *payload, struct action *w, char **name, struct error *e)
{
	bool found;

	if (json_read_number(payload, "id", &w->id, e) < 0 || json_read_string(payload, "action", name, e) < 0 ||
	    json_read_string(payload, "disk", &w->disk, e) < 0 ||
	    json_read_number_if(payload, "cpu", &w->cpu, &found, e) < 0)
		return -1;
	w->any_cpu = !found;
	w->kind = find_kind(*name);
	if (!w->kind)
		return error_set(e, STATUS_FAILED, "this agent does not know the action %s", *name ? *name : "without a name");
	if (w->kind->needs_disk && !w->disk)
		return error_set(e, STATUS_FAILED, "the action %s needs a disk", *name);
	return 0;
}

void agent_actions_serve(struct agent_actions *a, const char *payload)
{
	struct action *w = calloc(1, sizeof(*w));
	struct error e = {0};
	char *name = NULL;
	struct text t;
	uint64_t id = 0;
	int failed;

	if (!w) {
		error_set(&e, STATUS_FAILED, "out of memory");
	} else {
		w->all = a;
		parse(payload, w, &name, &e);
		id = w->id;
		if (!e.status && w->kind->run == ping)
			ping(w);
		else if (!e.status && (failed = start(a, w)) == 0)
			w = NULL;
		else if (!e.status)
			error_set(&e, STATUS_FAILED, "no thread for it: %s", strerror(failed));
	}
	if (e.status) {
		t = action_answer(id, name ? name : "", e.text);
		send_answer(a, &t);
	}
	if (w)
		free(w->disk);
	free(w);
	free(name);
}

struct agent_actions *agent_actions_new(struct agent_link *link)
{
	struct agent_actions *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	pthread_mutex_init(&a->lock, NULL);
	a->link = link;
	a->users = 1;
	return a;
}

void agent_actions_end(struct agent_actions *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->link = NULL;
	pthread_mutex_unlock(&a->lock);
	release(a, 0);
}
