#include "host/run_options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/command.h"

int run_options_set(struct run_options *o, const char *text, struct error *e)
{
	return command_keep(&o->set, &o->nset, text, e);
}

int run_options_set_blocks(struct run_options *o, char text[BLOCKS_TEXT_SIZE], struct error *e)
{
	if (!o->blocks)
		return 0;
	snprintf(text, BLOCKS_TEXT_SIZE, "scenario.blocks=%s", o->blocks);
	return run_options_set(o, text, e);
}

static int add_host(struct run_options *o, const char *uri, bool several, const char *command, struct error *e)
{
	if (command_keep(&o->host, &o->nhosts, uri, e))
		return -1;
	o->connect = o->host[0];
	for (size_t i = 0; i + 1 < o->nhosts; i++)
		if (!strcmp(o->host[i], uri))
			return error_set(e, STATUS_USAGE, "%s: --connect %s is there twice", command, uri);
	if (o->nhosts > 1 && !several)
		return error_set(e, STATUS_USAGE, "%s takes one --connect", command);
	return 0;
}

/* argv does not tell: the option's value can stand behind it. */
static const char *long_name(const struct option *longs, int c)
{
	while (longs->val != c)
		longs++;
	return longs->name;
}

int run_options_parse(int argc, char **argv, const char *allowed, struct run_options *o, struct error *e)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' }, { "set", required_argument, NULL, 's' },
		{ "resume", required_argument, NULL, 'r' }, { "connect", required_argument, NULL, 'c' },
		{ "fail-on", required_argument, NULL, 'f' }, { "xml", required_argument, NULL, 'x' },
		{ "bisect", no_argument, NULL, 'B' }, { "blocks", required_argument, NULL, 'b' },
		{ "shell", no_argument, NULL, 'h' }, { "tool", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	int c = 0, more;

	*o = (struct run_options){ 0 };
	while ((more = command_option(argv[0], argc, argv, longs, &c, e)) > 0) {
		if (!strchr(allowed, c))
			return error_set(e, STATUS_USAGE, "%s takes no option --%s (see kickbench help %s)", argv[0],
					 long_name(longs, c), argv[0]);
		if (c == 's' && run_options_set(o, optarg, e))
			return -1;
		if (c == 'o')
			o->output = optarg;
		else if (c == 'r')
			o->resume = optarg;
		else if (c == 'c' && add_host(o, optarg, strchr(allowed, 'C') != NULL, argv[0], e))
			return -1;
		else if (c == 'f')
			o->fail_on = optarg;
		else if (c == 'x')
			o->xml = optarg;
		else if (c == 'b')
			o->blocks = optarg;
		else if (c == 'B')
			o->bisect = true;
		else if (c == 'h')
			o->shell = true;
		else if (c == 't')
			o->tool = optarg;
	}
	if (more)
		return -1;
	if (argc - optind > 1)
		return error_set(e, STATUS_USAGE, "%s: one scenario at a time, here are %d: %s", argv[0], argc - optind,
				 argv[optind + 1]);
	o->scenario = optind < argc ? argv[optind] : NULL;
	return 0;
}

void run_options_free(struct run_options *o)
{
	free(o->set);
	free(o->host);
	o->set = o->host = NULL;
}
