#include "images/probe/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/action_answer.h"
#include "guest/json_read.h"
#include "images/probe/blk.h"
#include "images/probe/clock.h"
#include "images/probe/console.h"
#include "images/probe/job.h"
#include "images/probe/measure.h"
#include "images/probe/tell.h"

#define HELLO_AGAIN_NS 1000000000u
#define COUNTED_NS 2000000000u /* a host that does not say that it has counted is not waited for any longer */
#define NAME "virtio"

/* The job that runs. */
struct serving {
	struct link *link;
	char *id;
	struct job job;
	struct blk blk;
	uint64_t begun;
	bool counted; /* wait at begin and end until the host has taken its counters: its looks take as long as a job */
	bool bye;     /* said, or nobody is there */
	bool nudge;   /* asked for, not yet taken up */
	uint64_t asked_id, nudge_id, nudge_at; /* of the one asked for last; of the one under way */
};

static struct measured measured; /* too large for a stack */

static struct text about(const struct serving *s)
{
	struct text t = {0};

	text_add(&t, "{\"id\":");
	text_add_json_string(&t, s->id);
	return t;
}

static void send(struct serving *s, enum frame_type type, struct text *t)
{
	text_add(t, "}");
	if (!link_send(s->link, type, t))
		s->bye = true;
	text_free(t);
}

static void send_error(struct serving *s, const struct error *e)
{
	struct text t = about(s);

	console("%s\n", e->text);
	text_add(&t, ",\"message\":");
	text_add_json_string(&t, e->text);
	send(s, FRAME_ERROR, &t);
}

static void send_clock(struct serving *s, enum frame_type type, uint64_t clock)
{
	struct text t = about(s);

	text_add(&t, ",\"clock_ns\":%llu", (unsigned long long)clock);
	send(s, type, &t);
}

static void await_count(struct serving *s)
{
	struct frame f;

	if (s->counted && link_receive(s->link, COUNTED_NS, &f) && f.type == FRAME_BYE)
		s->bye = true;
}

static void on_begin(void *context)
{
	struct serving *s = context;

	send_clock(s, FRAME_BEGIN, clock_now());
	serial_drain(s->link->port);
	await_count(s);
	s->begun = clock_now();
}

static void on_end(void *context)
{
	send_clock(context, FRAME_END, clock_now());
	await_count(context);
}

/* ---- actions: what the host asks beside a job (host/action.h) ---- */

static void send_answer(struct link *link, uint64_t id, const char *action, const char *problem, const char *more)
{
	struct text t = action_answer(id, action, problem);

	text_add(&t, "%s}", more);
	link_send(link, FRAME_ACTION, &t);
	text_free(&t);
}

/* s: the job that runs, NULL: none does. A nudge is answered by it. */
static void take_action(struct link *link, struct serving *s, const char *payload)
{
	char *action = NULL, problem[80] = "";
	struct error e = {0};
	uint64_t id = 0;

	if (json_read_number(payload, "id", &id, &e) < 0 || json_read_string(payload, "action", &action, &e) < 0)
		snprintf(problem, sizeof(problem), "%.79s", e.text);
	else if (!action || (strcmp(action, "nudge") != 0 && strcmp(action, "ping") != 0))
		snprintf(problem, sizeof(problem), "the probe does not know the action %.40s", action ? action : "without a name");
	else if (strcmp(action, "nudge") == 0 && (!s || (s->job.mode != JOB_EVENTS && s->job.mode != JOB_ALL)))
		snprintf(problem, sizeof(problem), "only a job that waits for interrupts (mode=events) can be nudged");
	if (s && !*problem && strcmp(action, "nudge") == 0) {
		s->nudge = true;
		s->asked_id = id;
	} else {
		send_answer(link, id, action ? action : "", *problem ? problem : NULL, "");
	}
	free(action);
}

static void hear(struct serving *s)
{
	struct frame f;

	while (!s->bye && link_receive(s->link, 0, &f))
		if (f.type == FRAME_BYE)
			s->bye = true;
		else if (f.type == FRAME_ACTION)
			take_action(s->link, s, f.payload);
}

static bool on_nudge(void *context)
{
	struct serving *s = context;
	bool asked;

	hear(s);
	asked = s->nudge;
	s->nudge = false;
	return asked;
}

static void on_nudged(void *context, const char *problem, bool is_done)
{
	struct serving *s = context;
	char more[60] = "";

	if (is_done) {
		snprintf(more, sizeof(more), ",\"done\":true,\"us\":%llu", (unsigned long long)((clock_now() - s->nudge_at) / 1000));
		send_answer(s->link, s->nudge_id, "nudge", NULL, more);
		return;
	}
	if (!problem) {
		s->nudge_id = s->asked_id;
		s->nudge_at = clock_now();
	}
	send_answer(s->link, s->asked_id, "nudge", problem, "");
}

/* ---- jobs ---- */

/* Flushes and empty kicks count among the writes and reads: they are progress. */
static bool on_progress(void *context, uint64_t done)
{
	struct serving *s = context;
	bool reads = s->job.op == BLK_READ;
	unsigned long long ios = done, bytes = s->job.op == BLK_FLUSH ? 0 : done * s->job.bytes;
	struct text t = about(s);

	text_add(&t, ",\"elapsed_us\":%llu,\"eta_us\":null,\"running\":1,\"read_bytes\":%llu,\"write_bytes\":%llu,"
		 "\"read_ios\":%llu,\"write_ios\":%llu", (unsigned long long)((clock_now() - s->begun) / 1000),
		 reads ? bytes : 0, reads ? 0 : bytes, reads ? ios : 0, reads ? 0 : ios);
	send(s, FRAME_STATUS, &t);
	hear(s);
	return !s->bye;
}

static void send_result(struct serving *s)
{
	struct text t = about(s);

	text_add(&t, ",\"status\":0,\"exit_status\":0,\"notes\":\"\",\"probe\":");
	tell_measured(&t, &s->job, s->blk.virtio ? &s->blk : NULL, &measured);
	send(s, FRAME_RESULT, &t);
}

/* The device of that name; without a name the first one. */
static struct virtio *find(struct virtio *devices, unsigned n, const char *name, struct error *e)
{
	char mine[16];

	if (n == 0) {
		error_set(e, STATUS_FAILED, "there is no virtio block device");
		return NULL;
	}
	for (unsigned i = 0; i < n; i++) {
		snprintf(mine, sizeof(mine), NAME "%u", i);
		if (!name || strcmp(name, mine) == 0)
			return &devices[i];
	}
	error_set(e, STATUS_FAILED, "there is no disk %.60s", name);
	return NULL;
}

static int run(struct serving *s, struct virtio *devices, unsigned n, const char *disk, char *const *argv, size_t argc,
	       struct error *e)
{
	const struct measure_hooks hooks = {.context = s, .begin = on_begin, .progress = on_progress, .end = on_end,
					    .nudge = on_nudge, .nudged = on_nudged};
	struct virtio *v;

	if (job_parse(argv, argc, disk ? disk : NAME "0", &s->job, e) < 0)
		return -1;
	if (s->job.mode != JOB_HEALTH) {
		v = find(devices, n, disk, e);
		for (unsigned i = 0; v && i < n; i++)
			virtio_reset(&devices[i]); /* one at a time: they share their memory */
		if (!v || blk_start(&s->blk, v, s->job.op, s->job.bytes, e) < 0)
			return -1;
	}
	return measure(&s->blk, &s->job, &hooks, &measured, e);
}

/* True when the host said bye meanwhile. The device stays as it is until the next job: the host asks about it. */
static bool serve_job(struct link *link, struct virtio *devices, unsigned n, const char *payload)
{
	static struct serving s;
	struct error e = {0};
	char **argv = NULL, *disk = NULL, *wait = NULL;
	size_t argc = 0;

	s = (struct serving){.link = link};
	if (json_read_string(payload, "id", &s.id, &e) < 0 || json_read_string(payload, "disk", &disk, &e) < 0 ||
	    json_read_string(payload, "wait", &wait, &e) < 0 || json_read_strings(payload, "argv", &argv, &argc, &e) < 0) {
		send_error(&s, &e);
		goto out;
	}
	s.counted = wait && strcmp(wait, "counted") == 0;
	if (run(&s, devices, n, disk, argv, argc, &e) < 0)
		send_error(&s, &e);
	else
		send_result(&s);
out:
	if (argv)
		json_free_strings(argv);
	free(wait);
	free(disk);
	free(s.id);
	return s.bye;
}

static void add_disks(struct text *t, struct virtio *devices, unsigned n)
{
	static struct blk blk;
	char serial[BLK_SERIAL + 1];

	for (unsigned i = 0; i < n; i++) {
		struct error e = {0};

		serial[0] = '\0';
		if (blk_start(&blk, &devices[i], BLK_GET_ID, 0, &e) < 0 || blk_serial(&blk, serial, &e) < 0)
			console("%s%u: %s\n", NAME, i, e.text);
		text_add(t, "%s{\"path\":\"%s%u\",\"serial\":", i ? "," : "", NAME, i);
		text_add_json_string(t, serial);
		text_add(t, ",\"bytes\":%llu,\"sector\":%u,\"transport\":\"%s\"}", (unsigned long long)blk.sectors * BLK_SECTOR,
			 BLK_SECTOR, devices[i].ops->name);
		virtio_reset(&devices[i]);
	}
}

static bool send_hello(struct link *link, struct virtio *devices, unsigned n)
{
	struct text t = {0};
	bool sent;

	text_add(&t, "{\"protocol\":%d,\"os\":\"probe\",\"machine\":\"%s\",\"clocksource\":\"tsc\",\"ncpus\":1,\"tsc_hz\":%llu,"
		 "\"disks\":[", FRAME_PROTOCOL, machine_name, (unsigned long long)clock_hz());
	add_disks(&t, devices, n);
	text_add(&t, "],\"uptime_ns\":%llu}", (unsigned long long)clock_now());
	sent = link_send(link, FRAME_HELLO, &t);
	text_free(&t);
	return sent;
}

void agent_serve(struct link *link, struct virtio *devices, unsigned n)
{
	struct text nothing = {0};
	struct frame f;
	bool bye = !send_hello(link, devices, n);

	while (!bye) {
		if (!link_receive(link, HELLO_AGAIN_NS, &f))
			/* The host may attach late, and has missed it then. */
			bye = link->received == 0 && !link_send_again(link, link->hello.seq);
		else if (f.type == FRAME_BYE)
			break;
		else if (f.type == FRAME_JOB)
			bye = serve_job(link, devices, n, f.payload);
		else if (f.type == FRAME_ACTION)
			take_action(link, NULL, f.payload);
	}
	text_add(&nothing, "{}");
	link_send(link, FRAME_BYE, &nothing);
	serial_drain(link->port);
	text_free(&nothing);
}
