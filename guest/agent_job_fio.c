/* fio as the tool of a job. */
#include <stdlib.h>
#include <string.h>

#include "guest/agent_serving.h"
#include "guest/agent_tool.h"

/* What the disk has done so far stands for the job's progress: fio itself is only heard at its end. */
static bool tell_of_disk(void *context)
{
	struct serving *s = context;
	struct progress p = {.elapsed_us = (serving_now_ns() - s->began_ns) / 1000, .eta_us = UINT64_MAX, .running = 1};
	struct os_counters now;

	os_counters(s->disk, &now);
	serving_moved(&s->before, &now, &p);
	serving_progress(s, &p);
	return !serving_is_over(s);
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
	struct text frame = serving_about(s);

	text_add(&frame, ",\"tool\":");
	text_add_json_string(&frame, s->tool);
	text_add(&frame, ",\"status\":%d,\"notes\":", t->status);
	text_add_json_string(&frame, text_get(&t->complaints));
	text_add(&frame, ",");
	serving_add_counters(&frame, &s->before, &s->after);
	text_add(&frame, ",\"output\":");
	add_output(&frame, &t->output);
	if (t->cut || frame.failed || frame.length >= FRAME_MAX_PAYLOAD) {
		text_free(&frame);
		serving_error(s, "what fio printed is too large for a frame");
	} else {
		serving_send(s, FRAME_RESULT, &frame);
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
int agent_job_fio(struct serving *s, int argc, char **argv, struct error *e)
{
	struct agent_tool t = {.second = tell_of_disk, .context = s};
	char path[256], **line;
	int ret;

	if (agent_tool_find(s->tool, path, sizeof(path), e) < 0 || serving_mount(s, e) < 0)
		return -1;
	line = fio_line(argc, argv);
	serving_begin(s);
	s->began_ns = serving_now_ns();
	if (!s->before.have_disk)
		ret = error_set(e, STATUS_FAILED, "fio cannot be watched: this system does not count what %s does", s->disk);
	else
		ret = line ? agent_tool_run(&t, path, line, e) : error_set(e, STATUS_FAILED, "out of memory");
	serving_end(s);
	ret = serving_unmount(s, ret, e);
	agent_alive_stop(&s->alive);
	serving_stop_listening(s);
	if (ret == 0)
		send_output(s, &t);
	free(line);
	text_free(&t.output);
	text_free(&t.complaints);
	return ret;
}
