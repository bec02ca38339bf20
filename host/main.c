#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host/command.h"
#include "host/help.h"
#include "host/version.h"

static int help(int argc, char **argv, struct error *e);
static int version(int argc, char **argv, struct error *e);

static const struct command cmd_help = { "help", "help [COMMAND | scenario | --man]", "this; a command; every key of a scenario; or the manual page, in mdoc", help };
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
	NULL,
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int help(int argc, char **argv, struct error *e)
{
	const struct command *about = argc > 1 ? find(argv[1]) : NULL;

	if (about)
		help_command(stdout, about);
	else if (argc == 1)
		help_usage(stdout, commands);
	else if (!strcmp(argv[1], "scenario"))
		help_keys(stdout);
	else if (!strcmp(argv[1], "--man"))
		help_manual(stdout, commands);
	else
		return error_set(e, STATUS_USAGE, "help: there is nothing about %s", argv[1]), e->status;
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
		help_usage(stderr, commands);
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
		help_command(stdout, c), status = STATUS_OK;
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
