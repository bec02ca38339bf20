#include "host/session.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/command.h"
#include "host/leftovers.h"
#include "host/lock.h"

int session_open(struct session *s, const char *uri, const char *what, struct error *e)
{
	*s = (struct session){ .ops = &hypervisor_libvirt, .lock = -1 };
	if (dirs_find(&s->dirs, e))
		return -1;
	s->lock = lock_take(what, e);
	if (s->lock < 0)
		return -1;
	if (s->ops->open(&s->hv, uri, s->dirs.state, e) || leftovers_destroy(s->ops, s->hv, command_say, e) < 0) {
		session_close(s);
		return -1;
	}
	return 0;
}

void session_close(struct session *s)
{
	if (s->hv)
		s->ops->close(s->hv);
	if (s->lock >= 0)
		close(s->lock);
	s->hv = NULL;
	s->lock = -1;
}

static int add_set(struct run_options *o, const char *text, struct error *e)
{
	const char **grown = realloc(o->set, (o->nset + 1) * sizeof(*grown));

	if (!grown)
		return error_set(e, STATUS_HOST, "out of memory");
	o->set = grown;
	o->set[o->nset++] = text;
	return 0;
}

int run_options_parse(int argc, char **argv, const char *allowed, struct run_options *o, struct error *e)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' }, { "set", required_argument, NULL, 's' },
		{ "resume", required_argument, NULL, 'r' }, { "connect", required_argument, NULL, 'c' },
		{ "fail-on", required_argument, NULL, 'f' }, { "xml", required_argument, NULL, 'x' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	*o = (struct run_options){ 0 };
	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:", longs, NULL)) != -1) {
		if (c == ':')
			return error_set(e, STATUS_USAGE, "%s: option %s needs a value", argv[0], argv[optind - 1]);
		if (c == '?' || !strchr(allowed, c))
			return error_set(e, STATUS_USAGE, "%s: unknown option %s (see kickbench help)", argv[0], argv[optind - 1]);
		if (c == 's' && add_set(o, optarg, e))
			return -1;
		if (c == 'o')
			o->output = optarg;
		else if (c == 'r')
			o->resume = optarg;
		else if (c == 'c')
			o->connect = optarg;
		else if (c == 'f')
			o->fail_on = optarg;
		else if (c == 'x')
			o->xml = optarg;
	}
	if (argc - optind > 1)
		return error_set(e, STATUS_USAGE, "%s: one scenario at a time, here are %d: %s", argv[0], argc - optind,
				 argv[optind + 1]);
	o->scenario = optind < argc ? argv[optind] : NULL;
	return 0;
}

void run_options_free(struct run_options *o)
{
	free(o->set);
	o->set = NULL;
}

int session_scenario(const struct dirs *d, const char *name, char *path, size_t room, struct error *e)
{
	snprintf(path, room, "%s", name);
	if (access(path, F_OK) == 0 || strchr(name, '/'))
		return 0; /* a path that does not exist is named by whoever opens it */
	for (size_t i = 0; i < 2; i++) {
		int n = snprintf(path, room, "%s/scenarios/%s%s", d->data, name, i ? ".ini" : "");

		if (n > 0 && (size_t)n < room && access(path, F_OK) == 0)
			return 0;
	}
	return error_set(e, STATUS_USAGE, "there is no scenario %s, neither here nor in %s/scenarios", name, d->data);
}
