#include "guest/agent_job.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guest/agent_alive.h"
#include "guest/agent_tool.h"
#include "guest/json_read.h"
#include "guest/options.h"
#include "guest/os.h"
#include "guest/output.h"
#include "guest/run.h"
#include "guest/verify_store.h"

#define STATUS_INTERVAL_US 1000000
#define MAP_FRAME_BYTES 8192
#define MAP_FRAMES 64 /* at the end of a job */
#define ALIVE_INTERVAL_MS 2000

/* The job that runs. */
struct serving {
	struct agent_link *link;
	char *id, *disk;
	char *filesystem, *mount; /* of the disk, and where the job has its files; both NULL without */
	char *tool;               /* a program that is to run the job; NULL: this one */
	uint64_t began_ns;
	struct os_counters before, after;
	struct text notes;
	struct agent_alive alive; /* runs while nothing else tells of progress */
	pthread_mutex_t sending;  /* its words must not fall into another frame */
	bool bye;          /* the host said it, or the port is gone: do not wait for another job */
	struct error *e;   /* of the link */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Begin the payload of a frame about this job. */
static struct text about(const struct serving *s)
{
	struct text t = {0};

	text_add(&t, "{\"id\":");
	text_add_json_string(&t, s->id);
	return t;
}

/* End it and send it. A port that is gone ends the job and then the agent. */
static void send_about(struct serving *s, enum frame_type type, struct text *payload)
{
	text_add(payload, "}");
	pthread_mutex_lock(&s->sending);
	if (!s->bye && agent_link_send(s->link, type, payload, s->e) < 0) {
		s->bye = true;
		run_terminate(SIGTERM);
	}
	pthread_mutex_unlock(&s->sending);
	text_free(payload);
}

static void send_clock(struct serving *s, enum frame_type type, uint64_t clock_ns)
{
	struct text t = about(s);

	text_add(&t, ",\"clock_ns\":%llu", (unsigned long long)clock_ns);
	send_about(s, type, &t);
}

static void send_error(struct serving *s, const char *message)
{
	struct text t = about(s);

	text_add(&t, ",\"message\":");
	text_add_json_string(&t, message);
	send_about(s, FRAME_ERROR, &t);
}

static void on_life(void *context)
{
	struct serving *s = context;
	struct text t = about(s);

	text_add(&t, ",\"text\":\"working\"");
	send_about(s, FRAME_LOG, &t);
}

/* The counters are read last, so that sending the frame is not counted as the job's. */
static void on_begin(void *context)
{
	struct serving *s = context;

	agent_alive_stop(&s->alive);
	send_clock(s, FRAME_BEGIN, now_ns());
	agent_link_drain(s->link);
	os_counters(s->disk, &s->before);
}

static void on_end(void *context)
{
	struct serving *s = context;
	uint64_t clock_ns = now_ns();

	os_counters(s->disk, &s->after);
	send_clock(s, FRAME_END, clock_ns);
	agent_alive_start(&s->alive);
}

static void on_note(void *context, const char *line)
{
	struct serving *s = context;
	struct text t = about(s);

	text_add(&s->notes, "%s\n", line);
	text_add(&t, ",\"text\":");
	text_add_json_string(&t, line);
	send_about(s, FRAME_LOG, &t);
}

/* What the host says while a job runs, without waiting for it. */
static void look_for_bye(struct serving *s)
{
	struct frame frame;
	int got;

	while (!s->bye && (got = agent_link_receive(s->link, 0, &frame, s->e)) != 0) {
		if (got < 0 || frame.type == FRAME_BYE) {
			s->bye = true;
			run_terminate(SIGTERM);
		} else {
			on_note(s, "another job arrived while one runs; it is dropped");
		}
	}
}

static void on_progress(void *context, const struct progress *p)
{
	struct serving *s = context;
	struct text t;

	agent_alive_stop(&s->alive); /* in a ramp: the job itself tells now */
	look_for_bye(s);
	t = about(s);
	text_add(&t, ",\"elapsed_us\":%llu,\"eta_us\":", (unsigned long long)p->elapsed_us);
	if (p->eta_us == UINT64_MAX)
		text_add(&t, "null");
	else
		text_add(&t, "%llu", (unsigned long long)p->eta_us);
	text_add(&t, ",\"running\":%u,\"read_bytes\":%llu,\"write_bytes\":%llu,\"read_ios\":%llu,\"write_ios\":%llu",
		 p->running, (unsigned long long)p->bytes[DDIR_READ], (unsigned long long)p->bytes[DDIR_WRITE],
		 (unsigned long long)p->ios[DDIR_READ], (unsigned long long)p->ios[DDIR_WRITE]);
	send_about(s, FRAME_STATUS, &t);
}

/* What the host keeps of the maps outlives this machine; a frame at a time, so that the port stays free. */
static void on_maps(void *context, struct verify_store *maps, bool last)
{
	struct serving *s = context;
	bool more = true;

	for (unsigned i = 0; more && !s->bye && i < (last ? MAP_FRAMES : 1); i++) {
		struct text t = about(s);
		size_t before = t.length;

		more = verify_store_tell(maps, &t, MAP_FRAME_BYTES);
		if (t.length > before)
			send_about(s, FRAME_STATUS, &t);
		else
			text_free(&t);
	}
	if (last && more)
		on_note(s, "verify=: the host's copy of the generation maps is not complete: they changed faster than "
			   "they could be told");
}

static void add_difference(struct text *out, const char *key, uint64_t before, uint64_t after)
{
	text_add(out, "\"%s\":%llu,", key, (unsigned long long)(after - before));
}

static void add_disk_counters(struct text *out, const struct os_counters *b, const struct os_counters *a)
{
	if (!b->have_disk || !a->have_disk) {
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
	text_add(out, "\"busy_ms\":%llu},", (unsigned long long)(a->busy_ms - b->busy_ms));
}

static void add_counters(struct text *out, const struct os_counters *b, const struct os_counters *a)
{
	text_add(out, "\"counters\":{");
	add_disk_counters(out, b, a);
	if (b->have_irq && a->have_irq)
		add_difference(out, "interrupts", b->interrupts, a->interrupts);
	else
		text_add(out, "\"interrupts\":null,");
	if (b->have_cpu && a->have_cpu) {
		text_add(out, "\"cpu\":{");
		add_difference(out, "user_us", b->cpu_user_us, a->cpu_user_us);
		add_difference(out, "system_us", b->cpu_system_us, a->cpu_system_us);
		text_add(out, "\"idle_us\":%llu}", (unsigned long long)(a->cpu_idle_us - b->cpu_idle_us));
	} else {
		text_add(out, "\"cpu\":null");
	}
	text_add(out, "}");
}

/* A payload is one line: leave out the white space between the tokens. */
static void add_squeezed(struct text *out, const struct text *json)
{
	const char *p = text_get(json), *end = p + json->length, *from = p;
	bool inside = false;

	for (; p < end; p++) {
		if (inside && *p == '\\' && p + 1 < end) {
			p++;
		} else if (*p == '"') {
			inside = !inside;
		} else if (!inside && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) {
			text_add_bytes(out, from, (size_t)(p - from));
			from = p + 1;
		}
	}
	text_add_bytes(out, from, (size_t)(p - from));
	out->failed |= json->failed;
}

static void send_result(struct serving *s, const struct jobs *jobs, const struct run_result *result)
{
	struct text t = about(s), fio = {0};

	output_json(&fio, jobs, result, true);
	/* As the exit status of the same command line. */
	text_add(&t, ",\"status\":%u,\"notes\":", result->failed_jobs < 255 ? result->failed_jobs : 255);
	text_add_json_string(&t, text_get(&s->notes));
	text_add(&t, ",");
	add_counters(&t, &s->before, &s->after);
	text_add(&t, ",\"fio\":");
	add_squeezed(&t, &fio);
	text_free(&fio);
	if (t.failed || t.length >= FRAME_MAX_PAYLOAD) {
		text_free(&t);
		send_error(s, "the result is too large for a frame");
	} else {
		send_about(s, FRAME_RESULT, &t);
	}
}

/* Lines that parsing the options left for the user. */
static void send_notes(struct serving *s, char *lines)
{
	while (lines && *lines) {
		char *end = strchr(lines, '\n');

		if (end)
			*end = '\0';
		if (*lines)
			on_note(s, lines);
		lines = end ? end + 1 : NULL;
	}
}

/*
 * The file system is there for one job: every trial begins without what an earlier one left in the cache, and what
 * it wrote is written back in its own time. The files stay.
 */
static int mount_files(struct serving *s, struct error *e)
{
	if (!s->filesystem)
		return 0;
	if (!s->disk || !s->mount)
		return error_set(e, STATUS_FAILED, "a file system to mount without a disk or a folder");
	return os_mount(s->disk, s->filesystem, s->mount, e);
}

/* A job that failed keeps its own message. */
static int unmount(const struct serving *s, int ret, struct error *e)
{
	struct error failed = {0};

	if (!s->filesystem || os_unmount(s->mount, &failed) == 0 || ret < 0)
		return ret;
	return error_set(e, failed.status, "%s", failed.text);
}

static int run(struct serving *s, int argc, char **argv, struct error *e)
{
	struct run_hooks hooks = {.context = s, .begin = on_begin, .progress = on_progress, .end = on_end,
				  .maps = on_maps, .note = on_note,
				  .interval_us = STATUS_INTERVAL_US};
	struct run_result result = {0};
	struct text notes = {0};
	struct jobs jobs = {0};
	int ret;

	/* Before the options are read: a directory has to exist. */
	if (mount_files(s, e) < 0)
		return -1;
	s->alive.disk = s->disk;
	agent_alive_start(&s->alive);
	ret = options_parse(argc, argv, &jobs, &notes, e);
	send_notes(s, notes.data);
	if (ret == 0 && jobs.count == 0)
		ret = error_set(e, STATUS_FAILED, "no jobs defined");
	if (ret == 0 && jobs.parse_only)
		ret = error_set(e, STATUS_FAILED, "--parse-only measures nothing");
	if (ret == 0)
		ret = run_jobs(&jobs, &hooks, &result, e);
	ret = unmount(s, ret, e);
	agent_alive_stop(&s->alive);
	if (ret == 0)
		send_result(s, &jobs, &result);
	run_result_free(&result);
	jobs_free(&jobs);
	text_free(&notes);
	return ret;
}

/* ---- fio as the tool ---- */

/* What the disk has done so far stands for the job's progress: fio itself is only heard at its end. */
static bool tell_of_disk(void *context)
{
	struct serving *s = context;
	struct progress p = {.elapsed_us = (now_ns() - s->began_ns) / 1000, .eta_us = UINT64_MAX, .running = 1};
	struct os_counters now;

	os_counters(s->disk, &now);
	p.bytes[DDIR_READ] = now.read_bytes - s->before.read_bytes;
	p.bytes[DDIR_WRITE] = now.write_bytes - s->before.write_bytes;
	p.ios[DDIR_READ] = now.reads - s->before.reads;
	p.ios[DDIR_WRITE] = now.writes - s->before.writes;
	on_progress(s, &p);
	return !s->bye;
}

/* As a JSON string; what lines begin with is only there for the eye. */
static void add_output(struct text *out, const struct text *printed)
{
	struct text plain = {0};
	const char *p = text_get(printed);

	while (*p) {
		size_t length;

		p += strspn(p, " \t");
		length = strcspn(p, "\n");
		text_add_bytes(&plain, p, length + (p[length] == '\n'));
		p += length + (p[length] == '\n');
	}
	text_add_json_string(out, text_get(&plain));
	out->failed |= plain.failed || printed->failed;
	text_free(&plain);
}

static void send_output(struct serving *s, const struct agent_tool *t)
{
	struct text frame = about(s);

	text_add(&frame, ",\"tool\":");
	text_add_json_string(&frame, s->tool);
	text_add(&frame, ",\"status\":%d,\"notes\":", t->status);
	text_add_json_string(&frame, text_get(&t->complaints));
	text_add(&frame, ",");
	add_counters(&frame, &s->before, &s->after);
	text_add(&frame, ",\"output\":");
	add_output(&frame, &t->output);
	if (t->cut || frame.failed || frame.length >= FRAME_MAX_PAYLOAD) {
		text_free(&frame);
		send_error(s, "what fio printed is too large for a frame");
	} else {
		send_about(s, FRAME_RESULT, &frame);
	}
}

/* The line that fio gets: argv has kickio's name in front and ends with NULL. */
static char **fio_line(int argc, char **argv)
{
	static char *const ahead[] = {(char *)"fio", (char *)"--output-format=json+", (char *)"--eta=never"};
	const size_t n = sizeof(ahead) / sizeof(ahead[0]);
	char **line = calloc((size_t)argc + n, sizeof(*line));

	if (!line)
		return NULL;
	memcpy(line, ahead, sizeof(ahead));
	memcpy(line + n, argv + 1, (size_t)(argc - 1) * sizeof(*line));
	return line;
}

/* begin and end stand around the whole process: fio's start and its layout of files lie between them. */
static int run_fio(struct serving *s, int argc, char **argv, struct error *e)
{
	struct agent_tool t = {.second = tell_of_disk, .context = s};
	char path[256], **line;
	int ret;

	if (strcmp(s->tool, "fio") != 0)
		return error_set(e, STATUS_FAILED, "tool %s: this agent knows fio", s->tool);
	if (agent_tool_find(s->tool, path, sizeof(path), e) < 0 || mount_files(s, e) < 0)
		return -1;
	line = fio_line(argc, argv);
	s->alive.disk = s->disk;
	on_begin(s);
	s->began_ns = now_ns();
	if (!s->before.have_disk)
		ret = error_set(e, STATUS_FAILED, "fio cannot be watched: this system does not count what %s does", s->disk);
	else
		ret = line ? agent_tool_run(&t, path, line, e) : error_set(e, STATUS_FAILED, "out of memory");
	on_end(s);
	ret = unmount(s, ret, e);
	agent_alive_stop(&s->alive);
	if (ret == 0)
		send_output(s, &t);
	free(line);
	text_free(&t.output);
	text_free(&t.complaints);
	return ret;
}

/* Take the job frame apart; argv gets the program's name in front, as a command line has it. */
static int parse_job(struct serving *s, const char *payload, char ***argv, int *argc, struct error *e)
{
	char **list, **longer;
	size_t n;

	if (json_read_string(payload, "id", &s->id, e) < 0 || json_read_string(payload, "disk", &s->disk, e) < 0 ||
	    json_read_string(payload, "filesystem", &s->filesystem, e) < 0 ||
	    json_read_string(payload, "mount", &s->mount, e) < 0 || json_read_string(payload, "tool", &s->tool, e) < 0 ||
	    json_read_strings(payload, "argv", &list, &n, e) < 0)
		return -1;
	if (!s->id) {
		json_free_strings(list);
		return error_set(e, STATUS_FAILED, "a job without an id");
	}
	longer = malloc((n + 2) * sizeof(*longer));
	if (!longer) {
		json_free_strings(list);
		return error_set(e, STATUS_FAILED, "out of memory");
	}
	longer[0] = NULL;
	memcpy(longer + 1, list, (n + 1) * sizeof(*longer));
	free(list);
	longer[0] = strdup("kickio");
	*argv = longer;
	*argc = (int)n + 1;
	return 0;
}

int agent_job_serve(struct agent_link *link, const char *payload, struct error *e)
{
	struct serving s = {.link = link, .e = e, .sending = PTHREAD_MUTEX_INITIALIZER};
	struct error failed = {0};
	char **argv = NULL;
	int argc = 0;

	s.alive = (struct agent_alive){.interval_ms = ALIVE_INTERVAL_MS, .beat = on_life, .context = &s};
	if (parse_job(&s, payload, &argv, &argc, &failed) < 0 ||
	    (s.tool ? run_fio(&s, argc, argv, &failed) : run(&s, argc, argv, &failed)) < 0)
		send_error(&s, failed.text);
	json_free_strings(argv);
	text_free(&s.notes);
	free(s.id);
	free(s.disk);
	free(s.filesystem);
	free(s.mount);
	free(s.tool);
	if (e->status)
		return -1;
	return s.bye;
}
