#include "guest/agent_job.h"

#include <stdlib.h>
#include <string.h>

#include "guest/agent_serving.h"
#include "guest/json_read.h"
#include "guest/options.h"
#include "guest/output.h"
#include "guest/verify_store.h"

#define STATUS_INTERVAL_US 1000000
#define MAP_FRAME_BYTES 8192
#define MAP_FRAMES 64 /* at the end of a job */

/* What the host keeps of the maps outlives this machine; a frame at a time, so that the port stays free. */
static void on_maps(void *context, struct verify_store *maps, bool last)
{
	struct serving *s = context;
	bool more = true;

	for (unsigned i = 0; more && !serving_is_over(s) && i < (last ? MAP_FRAMES : 1); i++) {
		struct text t = serving_about(s);
		size_t before = t.length;

		more = verify_store_tell(maps, &t, MAP_FRAME_BYTES);
		if (t.length > before)
			serving_send(s, FRAME_STATUS, &t);
		else
			text_free(&t);
	}
	if (last && more)
		serving_note(s, "verify=: the host's copy of the generation maps is not complete: they changed faster than "
			"they could be told");
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
	struct text t = serving_about(s), fio = {0};

	output_json(&fio, jobs, result, true);
	/* As the exit status of the same command line. */
	text_add(&t, ",\"status\":%u,\"notes\":", result->failed_jobs < 255 ? result->failed_jobs : 255);
	text_add_json_string(&t, text_get(&s->notes));
	text_add(&t, ",");
	serving_add_counters(&t, &s->before, &s->after);
	text_add(&t, ",\"fio\":");
	add_squeezed(&t, &fio);
	text_free(&fio);
	if (t.failed || t.length >= FRAME_MAX_PAYLOAD) {
		text_free(&t);
		serving_error(s, "the result is too large for a frame");
	} else {
		serving_send(s, FRAME_RESULT, &t);
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
			serving_note(s, lines);
		lines = end ? end + 1 : NULL;
	}
}

static int run(struct serving *s, int argc, char **argv, struct error *e)
{
	struct run_hooks hooks = {.context = s, .begin = serving_begin, .progress = serving_progress, .end = serving_end,
				  .maps = on_maps, .note = serving_note,
				  .interval_us = STATUS_INTERVAL_US};
	struct run_result result = {0};
	struct text notes = {0};
	struct jobs jobs = {0};
	int ret;

	/* Before the options are read: a directory has to exist. */
	if (serving_mount(s, e) < 0)
		return -1;
	agent_alive_start(&s->alive);
	ret = options_parse(argc, argv, &jobs, &notes, e);
	send_notes(s, notes.data);
	if (ret == 0 && jobs.count == 0)
		ret = error_set(e, STATUS_FAILED, "no jobs defined");
	if (ret == 0 && jobs.parse_only)
		ret = error_set(e, STATUS_FAILED, "--parse-only measures nothing");
	if (ret == 0)
		ret = run_jobs(&jobs, &hooks, &result, e);
	ret = serving_unmount(s, ret, e);
	agent_alive_stop(&s->alive);
	serving_stop_listening(s);
	if (ret == 0)
		send_result(s, &jobs, &result);
	run_result_free(&result);
	jobs_free(&jobs);
	text_free(&notes);
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

static int run_tool(struct serving *s, int argc, char **argv, struct error *e)
{
	if (!s->tool)
		return run(s, argc, argv, e);
	if (strcmp(s->tool, "fio") == 0)
		return agent_job_fio(s, argc, argv, e);
	if (strcmp(s->tool, "check") == 0)
		return agent_job_check(s, argc, argv, e);
	return error_set(e, STATUS_FAILED, "tool %s: this agent knows check and fio", s->tool);
}

int agent_job_serve(struct agent_link *link, struct agent_actions *actions, const char *payload, struct error *e)
{
	struct serving s = {.link = link, .actions = actions, .e = e, .telling = PTHREAD_MUTEX_INITIALIZER};
	struct error failed = {0};
	char **argv = NULL;
	int argc = 0;

	if (parse_job(&s, payload, &argv, &argc, &failed) < 0 || serving_listen(&s, &failed) < 0 ||
	    run_tool(&s, argc, argv, &failed) < 0) {
		serving_stop_listening(&s);
		serving_error(&s, failed.text);
	}
	json_free_strings(argv);
	text_free(&s.notes);
	free(s.id);
	free(s.disk);
	free(s.filesystem);
	free(s.mount);
	free(s.tool);
	if (e->status)
		return -1;
	return serving_is_over(&s);
}
