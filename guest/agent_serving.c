#include "guest/agent_serving.h"

#include <signal.h>
#include <time.h>

#define ALIVE_INTERVAL_MS 2000

uint64_t serving_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool serving_is_over(struct serving *s)
{
	return __atomic_load_n(&s->bye, __ATOMIC_ACQUIRE);
}

static void end_early(struct serving *s)
{
	__atomic_store_n(&s->bye, true, __ATOMIC_RELEASE);
}

struct text serving_about(const struct serving *s)
{
	struct text t = {0};

	text_add(&t, "{\"id\":");
	text_add_json_string(&t, s->id);
	return t;
}

/* A port that is gone ends the job and then the agent. */
void serving_send(struct serving *s, enum frame_type type, struct text *payload)
{
	text_add(payload, "}");
	pthread_mutex_lock(&s->telling);
	if (!serving_is_over(s) && agent_link_send(s->link, type, payload, s->e) < 0)
		end_early(s);
	pthread_mutex_unlock(&s->telling);
	text_free(payload);
}

static void send_clock(struct serving *s, enum frame_type type, uint64_t clock_ns)
{
	struct text t = serving_about(s);

	text_add(&t, ",\"clock_ns\":%llu", (unsigned long long)clock_ns);
	serving_send(s, type, &t);
}

void serving_error(struct serving *s, const char *message)
{
	struct text t = serving_about(s);

	text_add(&t, ",\"message\":");
	text_add_json_string(&t, message);
	serving_send(s, FRAME_ERROR, &t);
}

static void on_life(void *context)
{
	struct serving *s = context;
	struct text t = serving_about(s);

	text_add(&t, ",\"text\":\"working\"");
	serving_send(s, FRAME_LOG, &t);
}

/* ---- what the host says meanwhile, in a thread of its own ---- */

static void on_frame(void *context, const struct frame *frame)
{
	struct serving *s = context;

	if (frame->type == FRAME_BYE)
		end_early(s);
	else if (frame->type == FRAME_ACTION)
		agent_actions_serve(s->actions, frame->payload);
	else
		__atomic_fetch_add(&s->dropped, 1, __ATOMIC_RELAXED);
}

static void on_lost(void *context, const struct error *e)
{
	struct serving *s = context;

	pthread_mutex_lock(&s->telling);
	if (!s->e->status)
		*s->e = *e;
	pthread_mutex_unlock(&s->telling);
	end_early(s);
}

int serving_listen(struct serving *s, struct error *e)
{
	s->alive = (struct agent_alive){.disk = s->disk, .interval_ms = ALIVE_INTERVAL_MS, .beat = on_life, .context = s};
	s->listen = (struct agent_listen){.link = s->link, .take = on_frame, .lost = on_lost, .context = s};
	return agent_listen_start(&s->listen, e);
}

static void tell_dropped(struct serving *s)
{
	for (; s->dropped_told < __atomic_load_n(&s->dropped, __ATOMIC_RELAXED); s->dropped_told++)
		serving_note(s, "another job arrived while one runs; it is dropped");
}

void serving_stop_listening(struct serving *s)
{
	agent_listen_stop(&s->listen);
	tell_dropped(s);
}

/* ---- hooks of a run ---- */

/* The counters are read last, so that sending the frame is not counted as the job's. */
void serving_begin(void *context)
{
	struct serving *s = context;

	agent_alive_stop(&s->alive);
	send_clock(s, FRAME_BEGIN, serving_now_ns());
	agent_link_drain(s->link);
	os_counters(s->disk, &s->before);
}

void serving_end(void *context)
{
	struct serving *s = context;
	uint64_t clock_ns = serving_now_ns();

	os_counters(s->disk, &s->after);
	send_clock(s, FRAME_END, clock_ns);
	agent_alive_start(&s->alive);
}

void serving_note(void *context, const char *line)
{
	struct serving *s = context;
	struct text t = serving_about(s);

	text_add(&s->notes, "%s\n", line);
	text_add(&t, ",\"text\":");
	text_add_json_string(&t, line);
	serving_send(s, FRAME_LOG, &t);
}

void serving_progress(void *context, const struct progress *p)
{
	struct serving *s = context;
	struct text t;

	agent_alive_stop(&s->alive); /* in a ramp: the job itself tells now */
	tell_dropped(s);
	if (serving_is_over(s))
		run_terminate(SIGTERM);
	t = serving_about(s);
	text_add(&t, ",\"elapsed_us\":%llu,\"eta_us\":", (unsigned long long)p->elapsed_us);
	if (p->eta_us == UINT64_MAX)
		text_add(&t, "null");
	else
		text_add(&t, "%llu", (unsigned long long)p->eta_us);
	text_add(&t, ",\"running\":%u,\"read_bytes\":%llu,\"write_bytes\":%llu,\"read_ios\":%llu,\"write_ios\":%llu",
		 p->running, (unsigned long long)p->bytes[DDIR_READ], (unsigned long long)p->bytes[DDIR_WRITE],
		 (unsigned long long)p->ios[DDIR_READ], (unsigned long long)p->ios[DDIR_WRITE]);
	serving_send(s, FRAME_STATUS, &t);
}

void serving_moved(const struct os_counters *before, const struct os_counters *now, struct progress *p)
{
	if (!os_counters_same_disk(before, now))
		now = before;
	p->bytes[DDIR_READ] = now->read_bytes - before->read_bytes;
	p->bytes[DDIR_WRITE] = now->write_bytes - before->write_bytes;
	p->ios[DDIR_READ] = now->reads - before->reads;
	p->ios[DDIR_WRITE] = now->writes - before->writes;
}

/* Idle times go back a little now and then, says proc(5). */
static uint64_t difference(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static void add_difference(struct text *out, const char *key, uint64_t before, uint64_t after)
{
	text_add(out, "\"%s\":%llu,", key, (unsigned long long)difference(before, after));
}

static void add_disk_counters(struct text *out, const struct os_counters *b, const struct os_counters *a)
{
	if (!os_counters_same_disk(b, a)) {
		text_add(out, "\"disk\":null,");
		return;
	}
	text_add(out, "\"disk\":{");
	add_difference(out, "reads", b->reads, a->reads);
	add_difference(out, "writes", b->writes, a->writes);
	add_difference(out, "flushes", b->flushes, a->flushes);
	add_difference(out, "read_merges", b->read_merges, a->read_merges);
	add_difference(out, "write_merges", b->write_merges, a->write_merges);
	add_difference(out, "read_bytes", b->read_bytes, a->read_bytes);
	add_difference(out, "write_bytes", b->write_bytes, a->write_bytes);
	add_difference(out, "read_ms", b->read_ms, a->read_ms);
	add_difference(out, "write_ms", b->write_ms, a->write_ms);
	add_difference(out, "in_queue_ms", b->in_queue_ms, a->in_queue_ms);
	text_add(out, "\"busy_ms\":%llu},", (unsigned long long)difference(b->busy_ms, a->busy_ms));
}

void serving_add_counters(struct text *out, const struct os_counters *b, const struct os_counters *a)
{
	text_add(out, "\"counters\":{");
	add_disk_counters(out, b, a);
	if (os_counters_same_irq(b, a))
		add_difference(out, "interrupts", b->interrupts, a->interrupts);
	else
		text_add(out, "\"interrupts\":null,");
	if (b->have_cpu && a->have_cpu) {
		text_add(out, "\"cpu\":{");
		add_difference(out, "user_us", b->cpu_user_us, a->cpu_user_us);
		add_difference(out, "system_us", b->cpu_system_us, a->cpu_system_us);
		text_add(out, "\"idle_us\":%llu}", (unsigned long long)difference(b->cpu_idle_us, a->cpu_idle_us));
	} else {
		text_add(out, "\"cpu\":null");
	}
	text_add(out, "}");
}

int serving_mount(struct serving *s, struct error *e)
{
	if (!s->filesystem)
		return 0;
	if (!s->disk || !s->mount)
		return error_set(e, STATUS_FAILED, "a file system to mount without a disk or a folder");
	return os_mount(s->disk, s->filesystem, s->mount, e);
}

int serving_unmount(const struct serving *s, int ret, struct error *e)
{
	struct error failed = {0};

	if (!s->filesystem || os_unmount(s->mount, &failed) == 0 || ret < 0)
		return ret;
	return error_set(e, failed.status, "%s", failed.text);
}
