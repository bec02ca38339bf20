#include "host/progress.h"

#include <string.h>
#include <unistd.h>

#include "host/clock.h"

void progress_open(struct progress_view *v, FILE *out, size_t total, double expected)
{
	*v = (struct progress_view){ .out = out, .terminal = isatty(fileno(out)), .total = total, .started = clock_s(),
				     .expected = expected };
}

void progress_skip(struct progress_view *v, size_t trials)
{
	v->before += trials;
	v->done += trials;
}

void progress_clear(struct progress_view *v)
{
	if (v->terminal && v->width)
		fprintf(v->out, "\r%*s\r", (int)v->width, "");
	v->width = 0;
	fflush(v->out);
}

/* The plan's figure until a tenth is done, then what the trials so far have taken. */
static double time_left(const struct progress_view *v)
{
	double gone = clock_s() - v->started;

	size_t done = v->done - v->before, total = v->total - v->before;
	double expected;

	if (done == 0 || done * 10 < total) {
		expected = v->total ? v->expected * (double)total / (double)v->total : 0;
		return expected > gone ? expected - gone : 0;
	}
	return gone / (double)done * (double)(total - done);
}

void progress_show(struct progress_view *v, const char *what)
{
	int left = (int)(time_left(v) + 0.5), n;
	size_t before = v->width;

	if (!v->terminal)
		return;
	n = fprintf(v->out, "\r[%zu/%zu, %d:%02d left] %.80s", v->done, v->total, left / 60, left % 60, what);
	v->width = n > 1 ? (size_t)n - 1 : 0;
	if (v->width < before)
		fprintf(v->out, "%*s", (int)(before - v->width), "");
	fflush(v->out);
}

void progress_line(struct progress_view *v, const char *line)
{
	progress_clear(v);
	fprintf(v->out, "%s\n", line);
	fflush(v->out);
}
