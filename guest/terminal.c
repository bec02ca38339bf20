#include "guest/terminal.h"

#include <string.h>
#include <unistd.h>

#include "guest/output.h"
#include "guest/text.h"

/* fio's rule: no progress into a document that goes to stdout, nor where nobody looks. */
static bool wants_eta(const struct jobs *jobs, bool normal)
{
	if (!normal && !jobs->output)
		return false;
	if (jobs->eta == ETA_AUTO)
		return isatty(STDOUT_FILENO);
	return jobs->eta == ETA_ALWAYS;
}

int terminal_open(struct terminal *t, const struct jobs *jobs, struct error *e)
{
	*t = (struct terminal){ .jobs = jobs, .report = stdout };
	t->normal = jobs->output_format & OUTPUT_NORMAL;
	t->eta = wants_eta(jobs, t->normal);
	if (!jobs->output)
		return 0;
	t->report = fopen(jobs->output, "w");
	if (!t->report)
		return error_errno(e, STATUS_FAILED, "cannot write %s", jobs->output);
	return 0;
}

int terminal_close(struct terminal *t, struct error *e)
{
	bool failed;

	if (!t->report)
		return 0;
	failed = fflush(t->report) != 0 || ferror(t->report);
	if (t->report != stdout && fclose(t->report) != 0)
		failed = true;
	t->report = NULL;
	if (failed)
		return error_errno(e, STATUS_FAILED, "cannot write the report");
	return 0;
}

static bool begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

/*
 * What fio says on stderr. That a job has failed (unless it never got a pid) and that a signal ends the run is
 * part of the report.
 */
static bool is_error(const char *line)
{
	if (begins(line, "kickio: terminating on signal"))
		return false;
	if (begins(line, "kickio: pid="))
		return begins(line, "kickio: pid=0,");
	return begins(line, "kickio: ") || begins(line, "fio: ") || strstr(line, ": you need to specify ");
}

/* Without the text form everything but the JSON document goes to stderr, so that stdout can be parsed. */
void terminal_note(void *context, const char *line)
{
	struct terminal *t = context;
	size_t length = strlen(line);
	FILE *to = is_error(line) || !t->normal ? stderr : t->report;

	/* without the text form fio keeps the layout lines to itself */
	if (!t->normal && strstr(line, ": Laying out IO file"))
		return;
	/* the blank line also gets the cursor off a progress line and off the ^C */
	if (begins(line, "kickio: terminating on signal"))
		fputc('\n', to);
	fprintf(to, "%s%s", line, length && line[length - 1] == '\n' ? "" : "\n");
	fflush(to);
}

void terminal_progress(void *context, const struct progress *now)
{
	struct terminal *t = context;
	struct text line = {0};
	uint64_t newline = t->jobs->eta_newline_us;
	int pad;

	if (!t->eta || !t->report)
		return;
	output_eta(&line, t->jobs, now, &t->before);
	if (t->newline_us == 0)
		t->newline_us = now->elapsed_us;
	if (newline && now->elapsed_us - t->newline_us > newline) {
		t->newline_us = now->elapsed_us;
		fputc('\n', stdout);
		t->shown = 0;
	}
	pad = t->shown > line.length ? (int)(t->shown - line.length) : 0;
	printf("%s%*s\r", text_get(&line), pad, "");
	fflush(stdout);
	t->shown = line.length;
	t->before = *now;
	t->before.states = NULL;
	text_free(&line);
}
