#include "host/regress_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/command.h"
#include "host/plan_shell.h"

static int choose(struct regress_options *o, const char *which, struct error *e)
{
	if (o->which && strcmp(o->which, which))
		return error_set(e, STATUS_USAGE, "regress: one matrix at a time, here are %s and %s", o->which, which);
	o->which = which;
	return 0;
}

static int take_seed(struct regress_options *o, const char *text, struct error *e)
{
	char *end;

	errno = 0;
	o->seed = strtoull(text, &end, 10);
	if (errno || *end || end == text || *text == '-')
		return error_set(e, STATUS_USAGE, "regress: --seed %s: expected a number", text);
	o->seed_set = true;
	return 0;
}

static int take(struct regress_options *o, int c, char *value, struct error *e)
{
	switch (c) {
	case 'o':
		o->output = value;
		return 0;
	case 'r':
		o->resume = value;
		return 0;
	case 'c':
		return o->connect ? error_set(e, STATUS_USAGE, "regress takes one --connect") : (o->connect = value, 0);
	case 's':
		return command_keep(&o->set, &o->nset, value, e);
	case 'n':
		return command_keep(&o->only, &o->nonly, value, e);
	case 'm':
		return choose(o, value, e);
	case 'q':
		return choose(o, "quick", e);
	case 'f':
		return choose(o, "full", e);
	case 'S':
		return take_seed(o, value, e);
	case 'l':
		o->list = true;
		return 0;
	case 'b':
		o->bisect = true;
		return 0;
	default: /* g */
		text_reset(&o->guest);
		text_add(&o->guest, "scenario.guests=%s", value);
		return o->guest.failed ? error_set(e, STATUS_HOST, "out of memory") : 0;
	}
}

int regress_options_parse(int argc, char **argv, struct regress_options *o, struct error *e)
{
	static const struct option longs[] = {
		{ "bisect", no_argument, NULL, 'b' }, { "connect", required_argument, NULL, 'c' },
		{ "full", no_argument, NULL, 'f' }, { "guest", required_argument, NULL, 'g' },
		{ "list", no_argument, NULL, 'l' }, { "matrix", required_argument, NULL, 'm' },
		{ "only", required_argument, NULL, 'n' }, { "output", required_argument, NULL, 'o' },
		{ "quick", no_argument, NULL, 'q' }, { "resume", required_argument, NULL, 'r' },
		{ "seed", required_argument, NULL, 'S' }, { "set", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	int c = 0, more;

	*o = (struct regress_options){ .seed = REGRESS_SEED };
	while ((more = command_option("regress", argc, argv, longs, &c, e)) > 0) {
		if (take(o, c, optarg, e))
			return -1;
	}
	if (more)
		return -1;
	if (argc - optind > 1)
		return error_set(e, STATUS_USAGE, "regress: one scenario at a time, here are %d: %s", argc - optind, argv[optind + 1]);
	o->scenario = optind < argc ? argv[optind] : NULL;
	if (o->resume && (o->scenario || o->which || o->nset || o->nonly || o->guest.length || o->output || o->seed_set || o->list))
		return error_set(e, STATUS_USAGE, "regress: --resume takes all from its folder: leave out SCENARIO, -o, --set, --guest, "
				 "--only, --seed, --list and the matrix");
	return o->guest.length ? command_keep(&o->set, &o->nset, text_get(&o->guest), e) : 0;
}

void regress_options_free(struct regress_options *o)
{
	free(o->set);
	free(o->only);
	text_free(&o->guest);
	o->set = o->only = NULL;
}

static void option(struct text *out, const char *name, const char *value)
{
	text_add(out, " %s ", name);
	plan_shell_quote(value, out);
}

void regress_reproduce(const struct regress_line *line, const char *cell, struct text *out)
{
	text_add(out, "kickbench regress");
	option(out, "--only", cell);
	if (line->which && strcmp(line->which, REGRESS_MATRIX))
		option(out, "--matrix", line->which);
	for (size_t i = 0; i < line->nset; i++)
		option(out, "--set", line->set[i]);
	if (line->connect)
		option(out, "--connect", line->connect);
	if (line->scenario) {
		text_add(out, " ");
		plan_shell_quote(line->scenario, out);
	}
}
