#include "host/trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/clock.h"
#include "host/filesystem.h"
#include "host/fio_import.h"

#define LOST_FRAME_S 3.0 /* silence after which a lost frame is asked for */

/* What is known while the job runs. */
struct watch {
	struct boot *b;
	const struct trial_request *request;
	struct trial *trial;
	struct hostcount begin, end;
	bool began, ended;
	uint64_t guest_begin_ns, guest_end_ns;
	uint64_t begin_seen_ns, end_seen_ns; /* host clock: frame arrived */
	struct trial_progress now;
	double last_word, last_nudge, last_progress; /* host clock, seconds */
};

const char *trial_status_name(enum trial_status status)
{
	static const char *const names[] = { "ok", "failed", "stalled", "corrupt" };

	return names[status];
}

static void count(struct watch *w, struct hostcount *into)
{
	hostcount_take(w->b->ops, w->b->guest, &w->b->threads, (unsigned)w->request->disk,
		       w->b->request.accel == ACCEL_KVM, into);
}

/* Whoever waits for it goes on. */
static void say_counted(struct watch *w)
{
	json_t *nothing = json_object();

	if (w->request->wait_for_count && nothing)
		link_send(&w->b->link, FRAME_LOG, nothing, &(struct error){ 0 }); /* a lost link shows itself in the next wait */
	json_decref(nothing);
}

static uint64_t number(const json_t *body, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(body, key));
}

static int send_job(struct watch *w, struct error *e)
{
	const struct trial_request *r = w->request;
	json_t *argv = json_array(), *body;
	char filename[160];
	int status;

	for (size_t i = 0; i < r->argc; i++)
		json_array_append_new(argv, json_string(r->argv[i]));
	snprintf(filename, sizeof(filename), "--filename=%s", w->b->disk_path[r->disk]);
	if (!r->filesystem)
		json_array_append_new(argv, json_string(filename));
	body = json_pack("{s:s,s:s,s:o}", "id", r->id, "disk", w->b->disk_path[r->disk], "argv", argv);
	if (body && r->filesystem) {
		json_object_set_new(body, "filesystem", json_string(r->filesystem));
		json_object_set_new(body, "mount", json_string(FILESYSTEM_PATH));
	}
	if (body && r->wait_for_count)
		json_object_set_new(body, "wait", json_string("counted"));
	if (body && r->tool)
		json_object_set_new(body, "tool", json_string(r->tool));
	if (!body)
		return error_set(e, STATUS_HOST, "out of memory");
	status = link_send(&w->b->link, FRAME_JOB, body, e);
	json_decref(body);
	return status;
}

static void take_status(struct watch *w, const json_t *body)
{
	struct trial_progress p = {
		.elapsed_s = (double)number(body, "elapsed_us") / 1e6,
		.ios = number(body, "read_ios") + number(body, "write_ios"),
		.bytes = number(body, "read_bytes") + number(body, "write_bytes"),
	};

	/* One that only tells of what was written says nothing about progress. */
	if (!json_object_get(body, "read_ios"))
		return;
	if (p.ios != w->now.ios)
		w->last_progress = clock_s();
	w->now = p;
	w->trial->ios = p.ios;
	if (w->request->progress)
		w->request->progress(w->request->context, &p);
}

/* The guest's own view of the recorded span against ours: what of it the host counters missed. */
static void finish_host(struct watch *w)
{
	struct text t = { 0 };
	double host_span, guest_span;

	if (!w->began || !w->ended)
		return;
	hostcount_json(&w->begin, &w->end, &t);
	w->trial->host = t.failed ? NULL : json_loads(text_get(&t), 0, NULL);
	text_free(&t);
	if (!w->trial->host)
		return;
	host_span = (double)(w->end.at_ns - w->begin.at_ns);
	guest_span = (double)(w->guest_end_ns - w->guest_begin_ns);
	json_object_set_new(w->trial->host, "begin_delay_us",
			    json_real((double)(w->begin.at_ns - w->begin_seen_ns) / 1e3));
	json_object_set_new(w->trial->host, "end_delay_us", json_real((double)(w->end.at_ns - w->end_seen_ns) / 1e3));
	json_object_set_new(w->trial->host, "span_difference_us", json_real((host_span - guest_span) / 1e3));
}

/* One line of ASCII: a message is cut to its room, and half a character would not go into JSON. */
static void make_plain(char *message)
{
	for (char *p = message; *p; p++)
		if (*p == '\n')
			*p = p[1] ? ';' : '\0';
		else if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			*p = '?';
}

/* The longest of what a document's jobs ran, in ms. */
static double longest_runtime(const json_t *fio)
{
	static const char *const direction[] = { "read", "write", "trim", "mixed" };
	const json_t *job;
	double longest = 0;
	size_t i;

	json_array_foreach(json_object_get(fio, "jobs"), i, job)
		for (size_t d = 0; d < sizeof(direction) / sizeof(direction[0]); d++) {
			double ms = json_number_value(json_object_get(json_object_get(job, direction[d]), "runtime"));

			longest = ms > longest ? ms : longest;
		}
	return longest;
}

/* What another tool printed becomes "fio", in the form that kickio's has. 1: there is nothing in it. */
static int read_output(struct watch *w, const char *output)
{
	struct fio_import read = { 0 };
	struct error e = { 0 };
	double span = (double)(w->guest_end_ns - w->guest_begin_ns) / 1e6;
	int status = fio_import_bytes(output, strlen(output), &read, &e);
	json_t *fio = json_array_get(read.outputs, json_array_size(read.outputs) - 1);

	if (status == 0 && fio) {
		json_object_set(w->trial->result, "fio", fio);
		if (w->began && w->ended && span > 0)
			w->trial->covered = longest_runtime(fio) / span;
	}
	json_object_del(w->trial->result, "output");
	json_decref(read.outputs);
	json_decref(read.notes);
	return status || !json_object_get(w->trial->result, "fio");
}

/* What kickio and fio print when data read back are not what was written. */
static bool tells_of_corruption(const char *notes)
{
	static const char *const words[] = { "kickio: verify: ", "verify: bad ", ": verify failed at " };

	for (size_t i = 0; notes && i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(notes, words[i]))
			return true;
	return false;
}

static void take_result(struct watch *w, json_t *body)
{
	struct trial *t = w->trial;
	const char *notes = json_string_value(json_object_get(body, "notes"));
	const char *output = json_string_value(json_object_get(body, "output"));
	const char *tool = w->request->tool ? w->request->tool : "kickio";
	const json_t *status = json_object_get(body, "status");

	t->result = json_incref(body);
	finish_host(w);
	if (output && read_output(w, output) && json_integer_value(status) == 0) {
		t->status = TRIAL_FAILED;
		snprintf(t->message, sizeof(t->message), "%s ended well and printed no result%s%.400s", tool,
			 notes && *notes ? ": " : "", notes ? notes : "");
		make_plain(t->message);
		return;
	}
	if (!json_is_integer(status)) {
		t->status = TRIAL_FAILED;
		snprintf(t->message, sizeof(t->message), "the guest's result has no status");
		return;
	}
	if (json_integer_value(status) == 0) {
		t->status = TRIAL_OK;
		return;
	}
	/* Its errno has another number in every system; the line is the same. */
	t->status = tells_of_corruption(notes) ? TRIAL_CORRUPT : TRIAL_FAILED;
	snprintf(t->message, sizeof(t->message), "%s ended with status %d%s%.400s", tool, (int)json_integer_value(status),
		 notes && *notes ? ": " : "", notes ? notes : "");
	make_plain(t->message);
}

/* 1: it is malformed, and the trial failed. */
static int take_maps(struct watch *w, const json_t *body)
{
	struct trial *t = w->trial;
	struct error e = {0};

	if (!json_object_get(body, "verify_map"))
		return 0;
	if (!t->maps)
		t->maps = map_copy_new();
	if (t->maps && map_copy_take(t->maps, body, &e) == 0)
		return 0;
	t->status = TRIAL_FAILED;
	snprintf(t->message, sizeof(t->message), "%.400s", t->maps ? e.text : "no memory for the generation maps");
	make_plain(t->message);
	return 1;
}

/* 1: the job is over; -1: somebody who acts in it cannot go on. */
static int take_message(struct watch *w, struct message *m, struct error *e)
{
	struct trial *t = w->trial;

	w->last_word = w->last_nudge = clock_s();
	switch (m->type) {
	case FRAME_BEGIN:
		count(w, &w->begin);
		say_counted(w);
		w->began = true;
		w->begin_seen_ns = m->at_ns;
		w->guest_begin_ns = number(m->body, "clock_ns");
		return 0;
	case FRAME_END:
		count(w, &w->end);
		say_counted(w);
		w->ended = true;
		w->end_seen_ns = m->at_ns;
		w->guest_end_ns = number(m->body, "clock_ns");
		return 0;
	case FRAME_STATUS:
		take_status(w, m->body);
		return take_maps(w, m->body);
	case FRAME_RESULT:
		take_result(w, m->body);
		return 1;
	case FRAME_ERROR:
		t->status = TRIAL_FAILED;
		snprintf(t->message, sizeof(t->message), "%s",
			 json_string_value(json_object_get(m->body, "message")) ?: "the guest refused the job without a reason");
		make_plain(t->message);
		return 1;
	default: /* hello again, log */
		return w->request->message ? w->request->message(w->request->context, m, t, e) : 0;
	}
}

static int give_up(struct watch *w, struct error *e)
{
	w->trial->status = TRIAL_STALLED;
	return w->request->stalled && w->request->stalled(w->request->context, w->trial, e) ? -1 : 1;
}

/* Silence and standstill. 1: the trial has stalled. */
static int check_deadlines(struct watch *w, struct error *e)
{
	double now = clock_s(), limit = w->request->stall_timeout;

	if (now - w->last_nudge > LOST_FRAME_S) {
		w->last_nudge = now;
		if (link_nudge(&w->b->link, e))
			return -1;
	}
	if (now - w->last_word > limit) {
		snprintf(w->trial->message, sizeof(w->trial->message),
			 "the guest %s and has not said anything for %.0f s, in the middle of a job",
			 hv_state_words(w->b->ops->state(w->b->guest)), limit);
		return give_up(w, e);
	}
	if (w->began && !w->ended && now - w->last_progress > limit) {
		snprintf(w->trial->message, sizeof(w->trial->message),
			 "no I/O has completed for %.0f s while the guest runs: it stands at %llu", limit,
			 (unsigned long long)w->now.ios);
		return give_up(w, e);
	}
	return 0;
}

int trial_run(struct boot *b, const struct trial_request *request, struct trial *trial, struct error *e)
{
	struct watch w = { .b = b, .request = request, .trial = trial };
	double start = clock_s();
	int status;

	*trial = (struct trial){ .status = TRIAL_FAILED, .covered = NAN };
	w.last_word = w.last_nudge = w.last_progress = start;
	if (send_job(&w, e))
		return -1;
	b->link.tolerated = request->tolerated;
	do {
		struct message m;
		bool began = w.began;

		status = link_receive(&b->link, 500, &m, e);
		if (status < 0)
			break;
		if (status > 0) {
			status = take_message(&w, &m, e);
			json_decref(m.body);
			if (w.began != began)
				w.last_progress = clock_s();
		}
		if (status == 0 && request->tick)
			status = request->tick(request->context, &w.now, trial, e);
		if (status == 0)
			status = check_deadlines(&w, e);
	} while (status == 0);
	b->link.tolerated = 0;
	trial->seconds = clock_s() - start;
	return status < 0 ? -1 : 0;
}

void trial_free(struct trial *trial)
{
	json_decref(trial->result);
	json_decref(trial->host);
	json_decref(trial->stall);
	map_copy_free(trial->maps);
	*trial = (struct trial){ 0 };
}
