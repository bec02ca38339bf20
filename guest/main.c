/* kickio: fio's command line, `kickio agent`, `kickio check`, `kickio info`, and the init of a Linux guest. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "guest/agent.h"
#include "guest/check.h"
#include "guest/init.h"
#include "guest/options.h"
#include "guest/output.h"
#include "guest/run.h"
#include "guest/terminal.h"

#define EXIT_SIGNAL 128 /* fio's status after SIGINT or SIGTERM */

static int complain(const struct error *e)
{
	fprintf(stderr, "kickio: %s\n", e->text);
	return STATUS_FAILED;
}

static void on_signal(int signal)
{
	run_terminate(signal);
}

static void on_report_signal(int signal)
{
	(void)signal;
	run_ask_report();
}

static void catch_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	action.sa_handler = on_report_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
}

/* Hand the lines of the parser on, one by one. */
static void show_notes(struct terminal *t, const struct text *notes)
{
	const char *p = text_get(notes);

	while (*p) {
		size_t length = strcspn(p, "\n");
		struct text line = {0};

		text_add_bytes(&line, p, length);
		terminal_note(t, text_get(&line));
		text_free(&line);
		p += length + (p[length] == '\n');
	}
}

static void report(struct terminal *t, const struct jobs *jobs, const struct run_result *result, struct error *e)
{
	struct text out = {0};

	output_all(&out, jobs, result);
	if (out.failed)
		error_set(e, STATUS_HOST, "out of memory");
	fputs(text_get(&out), t->report);
	text_free(&out);
}

static void report_between(void *context, const struct run_result *now)
{
	struct terminal *t = context;
	struct error e = {0};

	report(t, t->jobs, now, &e);
	fflush(t->report);
}

static int exit_status(const struct run_result *result)
{
	if (result->signal)
		return EXIT_SIGNAL;
	return result->failed_jobs < 255 ? (int)result->failed_jobs : 255;
}

static int run(struct terminal *t, const struct jobs *jobs, const struct text *notes, struct error *e)
{
	struct run_hooks hooks = {
		.context = t,
		.progress = terminal_progress,
		.interval_us = jobs->eta_interval_us,
		.note = terminal_note,
		.report = report_between,
		.report_interval_us = jobs->status_interval_us,
	};
	struct run_result result = { .report = NULL };
	struct text header = {0};
	int status;

	if (t->normal) {
		output_text_header(&header, jobs);
		fputs(text_get(&header), t->report);
		text_free(&header);
	}
	show_notes(t, notes);
	/* what a forked job inherits unwritten would be written twice */
	fflush(NULL);
	catch_signals();
	if (run_jobs(jobs, &hooks, &result, e))
		return -1;
	report(t, jobs, &result, e);
	status = exit_status(&result);
	run_result_free(&result);
	return e->status ? -1 : status;
}

static int benchmark(int argc, char **argv)
{
	struct error e = {0}, late = {0};
	struct text notes = {0};
	struct jobs jobs;
	struct terminal t = { .report = NULL };
	int status;

	status = options_information(argc, argv, stdout, &e);
	if (status)
		return status < 0 ? complain(&e) : STATUS_OK;
	if (options_parse(argc, argv, &jobs, &notes, &e)) {
		complain(&e);
		if (strcmp(e.text, options_no_jobs) == 0)
			options_help(stderr);
		text_free(&notes);
		return STATUS_FAILED;
	}
	status = STATUS_OK;
	if (!jobs.parse_only) {
		status = terminal_open(&t, &jobs, &e);
		if (status == 0)
			status = run(&t, &jobs, &notes, &e);
		if (terminal_close(&t, &late) && status >= 0) {
			e = late;
			status = -1;
		}
	}
	text_free(&notes);
	jobs_free(&jobs);
	return status < 0 ? complain(&e) : status;
}

static int agent(int argc, char **argv)
{
	struct error e = {0};

	if (argc != 3) {
		fprintf(stderr, "usage: kickio agent DEVICE\n");
		return STATUS_FAILED;
	}
	return agent_serve(argv[2], &e) ? complain(&e) : STATUS_OK;
}

static int check(int argc, char **argv)
{
	struct check_report report = {.line = NULL};
	struct check_options options;
	struct text out = {0};
	struct error e = {0};
	int status;

	if (argc == 0 || strcmp(argv[0], "--help") == 0) {
		check_help(argc ? stdout : stderr);
		return argc ? STATUS_OK : STATUS_FAILED;
	}
	if (check_parse(argc, argv, &options, &e) || check_run(&options, &report, &e))
		return complain(&e);
	check_text(&report, false, &out);
	fputs(text_get(&out), stdout);
	status = check_exit_status(&report);
	text_free(&out);
	check_report_free(&report);
	return fflush(stdout) ? STATUS_FAILED : status;
}

static int info(void)
{
	struct text out = {0};

	agent_info_json(&out);
	printf("%s\n", text_get(&out));
	text_free(&out);
	return fflush(stdout) ? STATUS_FAILED : STATUS_OK;
}

int main(int argc, char **argv)
{
	if (init_wanted()) {
		struct error e = {0};

		init_run(&e);
		return complain(&e);
	}
	if (argc > 1 && strcmp(argv[1], "agent") == 0)
		return agent(argc, argv);
	if (argc > 1 && strcmp(argv[1], "check") == 0)
		return check(argc - 2, argv + 2);
	if (argc > 1 && strcmp(argv[1], "info") == 0)
		return info();
	return benchmark(argc, argv);
}
