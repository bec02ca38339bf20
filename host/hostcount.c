/* What a guest costs the host: CPU time by kind of thread from /proc, block and KVM statistics by the hypervisor. */
#include "host/hostcount.h"

#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static json_t *ask(const struct hv_ops *ops, struct hv_guest *guest, const char *command, struct error *e)
{
	struct text reply = {0};
	json_t *root = NULL, *value = NULL;

	if (!ops->qmp(guest, command, &reply, e)) {
		root = json_loads(text_get(&reply), 0, NULL);
		value = json_object_get(root, "return");
		if (value)
			json_incref(value);
		else
			error_set(e, STATUS_HOST, "the emulator's answer to %s cannot be read", command);
	}
	json_decref(root);
	text_free(&reply);
	return value;
}

/* Collect the member `thread-id` of each object of a list. */
static size_t thread_ids(const json_t *list, pid_t *out, size_t max)
{
	size_t i, n = 0;
	json_t *item;

	json_array_foreach(list, i, item) {
		json_t *id = json_object_get(item, "thread-id");

		if (json_is_integer(id) && n < max)
			out[n++] = (pid_t)json_integer_value(id);
	}
	return n;
}

int hostcount_threads(const struct hv_ops *ops, struct hv_guest *guest, struct hostcount_threads *t, struct error *e)
{
	json_t *vcpus, *iothreads;

	memset(t, 0, sizeof(*t));
	t->pid = ops->pid(guest);
	if (t->pid <= 0) /* elsewhere: there is no /proc to look at */
		return 0;
	vcpus = ask(ops, guest, "{\"execute\":\"query-cpus-fast\"}", e);
	if (!vcpus)
		return -1;
	t->nvcpus = thread_ids(vcpus, t->vcpu, sizeof(t->vcpu) / sizeof(t->vcpu[0]));
	json_decref(vcpus);
	iothreads = ask(ops, guest, "{\"execute\":\"query-iothreads\"}", e);
	if (!iothreads)
		return -1;
	t->niothreads = thread_ids(iothreads, t->iothread, sizeof(t->iothread) / sizeof(t->iothread[0]));
	json_decref(iothreads);
	return 0;
}

static ssize_t read_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -1;
	length = read(fd, out, size - 1);
	close(fd);
	if (length >= 0)
		out[length] = '\0';
	return length;
}

int hostcount_parse_stat(const char *stat, uint64_t *ticks)
{
	/* the name is in parentheses and may hold any of them itself: the last one closes it */
	const char *at = strrchr(stat, ')');
	unsigned long long user, system;

	/* state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime: proc(5) */
	if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2)
		return -1;
	*ticks = user + system;
	return 0;
}

int hostcount_parse_schedstat(const char *schedstat, uint64_t *ns)
{
	char *end;

	*ns = strtoull(schedstat, &end, 10);
	return end == schedstat || *end != ' ' ? -1 : 0;
}

/* CPU time of one thread: schedstat counts nanoseconds; a kernel without it leaves clock ticks. */
static int thread_ns(pid_t pid, pid_t tid, uint64_t *ns)
{
	char path[64], words[1024];
	uint64_t ticks;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	if (read_file(path, words, sizeof(words)) > 0 && !hostcount_parse_schedstat(words, ns))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	if (read_file(path, words, sizeof(words)) <= 0 || hostcount_parse_stat(words, &ticks))
		return -1;
	*ns = ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return 0;
}

/*
 * CPU time of the whole process, ended threads included. Its clock counts nanoseconds and any user may read it
 * (clock_getcpuclockid(3)); /proc/PID/stat only ticks.
 */
static int process_ns(pid_t pid, uint64_t *ns)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return -1;
	*ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return 0;
}

static int sum_ns(pid_t pid, const pid_t *tid, size_t n, uint64_t *sum)
{
	uint64_t ns;

	*sum = 0;
	for (size_t i = 0; i < n; i++) {
		if (thread_ns(pid, tid[i], &ns))
			return -1;
		*sum += ns;
	}
	return 0;
}

static void take_threads(const struct hostcount_threads *t, struct hostcount *out)
{
	uint64_t known, all;

	if (t->pid <= 0 || !t->nvcpus || sum_ns(t->pid, t->vcpu, t->nvcpus, &out->vcpu_ns) ||
	    sum_ns(t->pid, t->iothread, t->niothreads, &out->iothread_ns) || thread_ns(t->pid, t->pid, &out->main_ns) ||
	    process_ns(t->pid, &all))
		return;
	known = out->vcpu_ns + out->iothread_ns + out->main_ns;
	out->other_ns = all > known ? all - known : 0;
	out->have_threads = true;
}

/* query-stats of all vCPUs: {"return":[{"provider":"kvm","stats":[{"name":"exits","value":1},…]},…]}, summed by name. */
static void add_statistic(struct hostcount *out, const char *name, uint64_t value)
{
	for (size_t i = 0; i < out->nkvm; i++)
		if (!strcmp(out->kvm[i].name, name)) {
			out->kvm[i].value += value;
			return;
		}
	if (out->nkvm == HOSTCOUNT_MAX_KVM || strlen(name) >= sizeof(out->kvm[0].name))
		return;
	memcpy(out->kvm[out->nkvm].name, name, strlen(name) + 1);
	out->kvm[out->nkvm++].value = value;
}

static void take_kvm(const struct hv_ops *ops, struct hv_guest *guest, struct hostcount *out)
{
	struct error ignored = {0};
	json_t *list = ask(ops, guest, "{\"execute\":\"query-stats\",\"arguments\":{\"target\":\"vcpu\"}}", &ignored);
	json_t *vcpu, *item;
	size_t i, k;

	json_array_foreach(list, i, vcpu) {
		json_array_foreach(json_object_get(vcpu, "stats"), k, item) {
			const char *name = json_string_value(json_object_get(item, "name"));
			json_t *value = json_object_get(item, "value"); /* histograms are lists: left out */

			if (name && json_is_integer(value))
				add_statistic(out, name, (uint64_t)json_integer_value(value));
		}
	}
	json_decref(list);
}

void hostcount_take(const struct hv_ops *ops, struct hv_guest *guest, const struct hostcount_threads *t, unsigned disk,
		    bool kvm, struct hostcount *out)
{
	struct error ignored = {0};
	struct timespec now;

	memset(out, 0, sizeof(*out));
	clock_gettime(CLOCK_MONOTONIC, &now);
	out->at_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	take_threads(t, out);
	if (!out->have_threads && ops->vcpu_ns)
		out->have_vcpu = ops->vcpu_ns(guest, &out->vcpu_ns, &ignored) == 0 && out->vcpu_ns > 0;
	out->have_block = !ops->block(guest, disk, &out->block, &ignored);
	if (kvm)
		take_kvm(ops, guest, out);
}

/* A counter that went backwards (a thread that ended, a device that was reset) is no difference: 0. */
static uint64_t difference(uint64_t begin, uint64_t end)
{
	return end > begin ? end - begin : 0;
}

static void add_cpu(const struct hostcount *b, const struct hostcount *e, struct text *out)
{
	if (b->have_vcpu && e->have_vcpu) {
		text_add(out, ",\"cpu\":{\"vcpu_us\":%.3f}", (double)difference(b->vcpu_ns, e->vcpu_ns) / 1e3);
		return;
	}
	if (!b->have_threads || !e->have_threads) {
		text_add(out, ",\"cpu\":null");
		return;
	}
	text_add(out, ",\"cpu\":{\"vcpu_us\":%.3f,\"iothread_us\":%.3f,\"main_us\":%.3f,\"other_us\":%.3f}",
		 (double)difference(b->vcpu_ns, e->vcpu_ns) / 1e3,
		 (double)difference(b->iothread_ns, e->iothread_ns) / 1e3,
		 (double)difference(b->main_ns, e->main_ns) / 1e3, (double)difference(b->other_ns, e->other_ns) / 1e3);
}

static void add_block(const struct hostcount *begin, const struct hostcount *end, struct text *out)
{
	const struct hv_block *b = &begin->block, *e = &end->block;

	if (!begin->have_block || !end->have_block) {
		text_add(out, ",\"block\":null");
		return;
	}
	text_add(out,
		 ",\"block\":{\"rd_reqs\":%" PRIu64 ",\"rd_bytes\":%" PRIu64 ",\"rd_times_ns\":%" PRIu64
		 ",\"wr_reqs\":%" PRIu64 ",\"wr_bytes\":%" PRIu64 ",\"wr_times_ns\":%" PRIu64 ",\"fl_reqs\":%" PRIu64
		 ",\"fl_times_ns\":%" PRIu64 "}",
		 difference(b->rd_reqs, e->rd_reqs), difference(b->rd_bytes, e->rd_bytes),
		 difference(b->rd_times_ns, e->rd_times_ns), difference(b->wr_reqs, e->wr_reqs),
		 difference(b->wr_bytes, e->wr_bytes), difference(b->wr_times_ns, e->wr_times_ns),
		 difference(b->fl_reqs, e->fl_reqs), difference(b->fl_times_ns, e->fl_times_ns));
}

static void add_kvm(const struct hostcount *begin, const struct hostcount *end, struct text *out)
{
	const char *comma = "";

	if (!end->nkvm) {
		text_add(out, ",\"kvm\":null");
		return;
	}
	text_add(out, ",\"kvm\":{");
	for (size_t i = 0; i < end->nkvm; i++)
		for (size_t k = 0; k < begin->nkvm; k++)
			if (!strcmp(begin->kvm[k].name, end->kvm[i].name)) {
				text_add(out, "%s", comma);
				text_add_json_string(out, end->kvm[i].name);
				text_add(out, ":%" PRIu64, difference(begin->kvm[k].value, end->kvm[i].value));
				comma = ",";
			}
	text_add(out, "}");
}

void hostcount_json(const struct hostcount *begin, const struct hostcount *end, struct text *out)
{
	text_add(out, "{\"span_ns\":%" PRIu64, difference(begin->at_ns, end->at_ns));
	add_cpu(begin, end, out);
	add_block(begin, end, out);
	add_kvm(begin, end, out);
	text_add(out, "}");
}
