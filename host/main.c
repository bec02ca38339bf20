#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host/command.h"
#include "host/event.h"
#include "host/matrix.h"
#include "host/scenario.h"
#include "host/settings.h"
#include "host/version.h"

static int help(int argc, char **argv, struct error *e);
static int version(int argc, char **argv, struct error *e);

static const struct command cmd_help = { "help", "help [COMMAND|scenario]", "this; a command; or every key of a scenario", help };
static const struct command cmd_version = { "version", "version", "print the version", version };

/* In the order of the help. */
static const struct command *const commands[] = {
	&cmd_run,
	&cmd_regress,
	&cmd_kick,
	&cmd_selftest,
	&cmd_plan,
	&cmd_report,
	&cmd_compare,
	&cmd_history,
	&cmd_import,
	&cmd_image,
	&cmd_doctor,
	&cmd_clean,
	&cmd_help,
	&cmd_version,
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int usage_of(const struct command *c)
{
	printf("kickbench %s\n    %s\n", c->usage, c->help);
	return STATUS_OK;
}

static void usage(FILE *out)
{
	fprintf(out, "kickbench %s: by how much ioeventfd and its kin help virtio-blk, and how sure that is\n\n", KICKBENCH_VERSION);
	for (size_t i = 0; i < NCOMMANDS; i++)
		fprintf(out, "kickbench %s\n    %s\n", commands[i]->usage, commands[i]->help);
	fprintf(out, "\nSCENARIO is a file, or the name of one that comes with kickbench (quick when left out).\n"
		"Exit status: 0 complete, 1 a verdict of fail_on occurred or a cell of a matrix failed, 2 usage or scenario\n"
		"error, 3 run incomplete or all cells skipped, 4 this host cannot run it. --bisect: 0 good, 1 bad, 125 cannot tell.\n");
}

static void help_section(const char *title, const char *section)
{
	const char *name, *text;

	printf("[%s]\n", title);
	for (size_t k = 0; (name = scenario_key(section, k, &text)); k++)
		printf("  %-14s %s\n", name, text);
}

static void help_matrix(void)
{
	const char *name, *values, *text;

	printf("[matrix NAME], for kickbench regress: these options, or keys of [disk] and the machine, with the values to try\n");
	for (size_t k = 0; (name = matrix_option_row(k, &values, &text)); k++)
		printf("  %-15s %s\n                  %s\n", name, values, text);
	printf("  events:\n");
	for (size_t k = 0; event_row(k); k++)
		printf("    %-13s %s\n", event_row(k)->name, event_row(k)->help);
	printf("[except NAME]\n  two options with values that are not to meet, and reason = TEXT\n");
}

static int help(int argc, char **argv, struct error *e)
{
	const struct command *about = argc > 1 ? find(argv[1]) : NULL;
	const char *name, *text;

	if (about)
		return usage_of(about);
	if (argc > 1 && strcmp(argv[1], "scenario"))
		return error_set(e, STATUS_USAGE, "help: there is nothing about %s", argv[1]), e->status;
	if (argc == 1) {
		usage(stdout);
		return STATUS_OK;
	}
	help_section("scenario", "scenario");
	help_section("guest NAME", "guest");
	printf("[guest NAME], and in [variant NAME] for that variant alone\n");
	for (size_t k = 0; (name = machine_key(k, &text)); k++)
		printf("  %-14s %s\n", name, text);
	printf("[disk], and in [variant NAME] for that variant alone\n");
	for (size_t k = 0; (name = settings_key(k, &text)); k++)
		printf("  %-14s %s\n", name, text);
	printf("[workload NAME]\n  kickio's options (kickio --cmdhelp); a value with commas is a sweep\n");
	help_matrix();
	return STATUS_OK;
}

static int version(int argc, char **argv, struct error *e)
{
	(void)argc;
	(void)argv;
	(void)e;
	printf("kickbench %s\n", KICKBENCH_VERSION);
	return STATUS_OK;
}

/* Anywhere among the words, as long as no "--" says that what follows are names. */
static bool asks_for_help(int argc, char **argv)
{
	for (int i = 2; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	return false;
}

static void on_signal(int number)
{
	command_signal = number;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction before;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup stays nohup */
			sigaction(numbers[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	const struct command *c;
	struct error e = { 0 };
	int status, lost;

	if (argc < 2) {
		usage(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		argv[1] = (char *)"help";
	if (!strcmp(argv[1], "--version"))
		argv[1] = (char *)"version";
	catch_signals();
	c = find(argv[1]);
	status = STATUS_USAGE;
	if (!c)
		error_set(&e, status, "unknown command %s (see kickbench help)", argv[1]);
	else if (asks_for_help(argc, argv))
		status = usage_of(c);
	else
		status = c->run(argc - 1, argv + 1, &e);
	errno = 0;
	lost = fflush(stdout) || ferror(stdout); /* before the error: they may go to one place */
	if (e.status)
		command_print(stderr, "kickbench: ", e.text);
	if (lost && !status) {
		fprintf(stderr, "kickbench: the output could not be written: %s\n", errno ? strerror(errno) : "a part is lost");
		return STATUS_INCOMPLETE;
	}
	return status;
}
