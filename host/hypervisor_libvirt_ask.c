/* What can be asked of a running guest through libvirt. */
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/hypervisor_libvirt.h"

#define BLOCK_PARAMETERS 16 /* a daemon refuses who asks for more */

/* libvirt hands a refusal over like any reply; make it an error. */
static int check_reply(const char *reply, struct error *e)
{
	json_t *root = json_loads(reply, 0, NULL);
	json_t *error = json_object_get(root, "error");
	const char *text = json_string_value(json_object_get(error, "desc"));
	int rc = 0;

	if (error)
		rc = error_set(e, STATUS_HOST, "the emulator refuses: %s", text ? text : "no reason given");
	json_decref(root);
	return rc;
}

int hv_guest_qmp(struct hv_guest *guest, const char *command, struct text *reply, struct error *e)
{
	char *result = NULL;
	int rc;

	if (virDomainQemuMonitorCommand(guest->domain, command, &result, VIR_DOMAIN_QEMU_MONITOR_COMMAND_DEFAULT) < 0)
		return hv_libvirt_error(e, STATUS_HOST, "the emulator's monitor");
	rc = check_reply(result, e);
	if (!rc)
		text_add(reply, "%s", result);
	free(result);
	return rc;
}

/* A question that may never be answered: whoever of the two leaves last frees it. */
struct question {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	virDomainPtr domain;
	bool is_answered, left;
};

static void free_question(struct question *q)
{
	virDomainFree(q->domain);
	pthread_cond_destroy(&q->answered);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

static void *ask_status(void *context)
{
	struct question *q = context;
	char *result = NULL;
	bool last;

	virDomainQemuMonitorCommand(q->domain, "{\"execute\":\"query-status\"}", &result, VIR_DOMAIN_QEMU_MONITOR_COMMAND_DEFAULT);
	free(result);
	pthread_mutex_lock(&q->lock);
	q->is_answered = true; /* a refusal, too */
	last = q->left;
	pthread_cond_signal(&q->answered);
	pthread_mutex_unlock(&q->lock);
	if (last)
		free_question(q);
	return NULL;
}

static struct question *make_question(struct hv_guest *guest)
{
	struct question *q = calloc(1, sizeof(*q));
	pthread_condattr_t attributes;

	if (!q || virDomainRef(guest->domain) < 0) {
		free(q);
		return NULL;
	}
	q->domain = guest->domain;
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&q->answered, &attributes);
	pthread_condattr_destroy(&attributes);
	return q;
}

/* libvirt knows no deadline for a monitor. Whoever waits in there is let go when the emulator is killed. */
bool hv_guest_answers(struct hv_guest *guest, int timeout_ms)
{
	struct question *q = make_question(guest);
	struct timespec end;
	pthread_t thread;
	bool answered;

	if (!q)
		return true;
	if (pthread_create(&thread, NULL, ask_status, q)) {
		free_question(q);
		return true;
	}
	pthread_detach(thread);
	end = hv_in_ms(timeout_ms);
	pthread_mutex_lock(&q->lock);
	while (!q->is_answered && pthread_cond_timedwait(&q->answered, &q->lock, &end) == 0)
		;
	answered = q->is_answered;
	q->left = true;
	pthread_mutex_unlock(&q->lock);
	if (answered)
		free_question(q);
	return answered;
}

int hv_guest_live_xml(struct hv_guest *guest, struct text *xml, struct error *e)
{
	char *result = virDomainGetXMLDesc(guest->domain, 0);

	if (!result)
		return hv_libvirt_error(e, STATUS_HOST, "the guest's XML");
	text_add(xml, "%s", result);
	free(result);
	return 0;
}

static uint64_t counter(virTypedParameterPtr list, int count, const char *name)
{
	long long value = 0;

	if (virTypedParamsGetLLong(list, count, name, &value) <= 0 || value < 0)
		return 0; /* libvirt writes -1 for what it does not know */
	return (uint64_t)value;
}

int hv_guest_block(struct hv_guest *guest, unsigned disk, struct hv_block *stats, struct error *e)
{
	virTypedParameter list[BLOCK_PARAMETERS];
	int count = (int)(sizeof(list) / sizeof(list[0]));

	if (disk >= DOMAIN_MAX_DISKS)
		return error_set(e, STATUS_HOST, "block statistics: there is no disk %u", disk);
	memset(list, 0, sizeof(list));
	if (virDomainBlockStatsFlags(guest->domain, guest->target[disk], list, &count, 0) < 0)
		return hv_libvirt_error(e, STATUS_HOST, "block statistics");
	stats->rd_reqs = counter(list, count, VIR_DOMAIN_BLOCK_STATS_READ_REQ);
	stats->rd_bytes = counter(list, count, VIR_DOMAIN_BLOCK_STATS_READ_BYTES);
	stats->rd_times_ns = counter(list, count, VIR_DOMAIN_BLOCK_STATS_READ_TOTAL_TIMES);
	stats->wr_reqs = counter(list, count, VIR_DOMAIN_BLOCK_STATS_WRITE_REQ);
	stats->wr_bytes = counter(list, count, VIR_DOMAIN_BLOCK_STATS_WRITE_BYTES);
	stats->wr_times_ns = counter(list, count, VIR_DOMAIN_BLOCK_STATS_WRITE_TOTAL_TIMES);
	stats->fl_reqs = counter(list, count, VIR_DOMAIN_BLOCK_STATS_FLUSH_REQ);
	stats->fl_times_ns = counter(list, count, VIR_DOMAIN_BLOCK_STATS_FLUSH_TOTAL_TIMES);
	virTypedParamsClear(list, count);
	return 0;
}

int hv_guest_vcpu_ns(struct hv_guest *guest, uint64_t *ns, struct error *e)
{
	virDomainPtr domains[2] = { guest->domain, NULL };
	virDomainStatsRecordPtr *records = NULL;
	unsigned count = 0;
	char name[64];

	*ns = 0;
	if (virDomainListGetStats(domains, VIR_DOMAIN_STATS_VCPU, &records, 0) < 1) {
		virDomainStatsRecordListFree(records);
		return hv_libvirt_error(e, STATUS_HOST, "vCPU statistics");
	}
	virTypedParamsGetUInt(records[0]->params, records[0]->nparams, "vcpu.current", &count);
	for (unsigned i = 0; i < count; i++) {
		unsigned long long time = 0;

		snprintf(name, sizeof(name), "vcpu.%u.time", i);
		virTypedParamsGetULLong(records[0]->params, records[0]->nparams, name, &time);
		*ns += time;
	}
	virDomainStatsRecordListFree(records);
	return 0;
}

/* Whether the process was started with "-uuid UUID", as libvirt starts emulators. */
static bool has_uuid(const char *pid, const char *uuid)
{
	char path[64], words[65536];
	ssize_t length;
	size_t at = 0;
	bool option = false;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, words, sizeof(words) - 1);
	close(fd);
	if (length <= 0)
		return false;
	words[length] = '\0';
	while (at < (size_t)length) {
		if (option && !strcmp(words + at, uuid))
			return true;
		option = !strcmp(words + at, "-uuid");
		at += strlen(words + at) + 1;
	}
	return false;
}

/* libvirt has no call for it, and where it keeps its pid files depends on driver and user: so look through /proc. */
pid_t hv_guest_pid(struct hv_guest *guest)
{
	char uuid[VIR_UUID_STRING_BUFLEN];
	struct dirent *entry;
	DIR *proc;

	if (guest->pid || !guest->hv->local)
		return guest->pid ? guest->pid : -1;
	guest->pid = -1;
	proc = opendir("/proc");
	if (!proc || virDomainGetUUIDString(guest->domain, uuid) < 0)
		goto out;
	while ((entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && has_uuid(entry->d_name, uuid)) {
			guest->pid = (pid_t)atol(entry->d_name);
			break;
		}
out:
	if (proc)
		closedir(proc);
	return guest->pid;
}
