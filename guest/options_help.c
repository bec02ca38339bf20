#include "guest/options.h"

#include <string.h>

#include "guest/option_table.h"
#include "guest/output.h"

void options_version(FILE *out)
{
	fprintf(out, "%s\n", kickio_version);
}

void options_help(FILE *out)
{
	fprintf(out, "%s\n", kickio_version);
	fprintf(out, "kickio [options] [job options] <job file>\n");
	fprintf(out, "kickio agent DEVICE\tServe the jobs of a host over a serial port\n");
	fprintf(out, "kickio check DEVICE\tAsk what a disk's driver must get right at its edges (--help)\n");
	fprintf(out, "kickio info\t\tPrint system, clock and disks as JSON\n");
	for (const struct option *o = program_options; o->name; o++) {
		char name[64];

		snprintf(name, sizeof(name), "--%s%s", o->name,
			 o->kind == OPTION_ACTION_ON ? "[=name]" : option_value_optional(o) ? "" : "=value");
		fprintf(out, "  %-24s%s\n", name, o->help);
	}
	fprintf(out, "Job options are fio's: --cmdhelp lists them. A job starts with --name=NAME or a section of the\n"
		     "job file; options before the first are the defaults of all jobs.\n");
}

static void choices_help(FILE *out, const struct choice *choices)
{
	const char *title = "valid values";

	for (const struct choice *c = choices; c->name; c++) {
		if (c->value == CHOICE_REFUSED)
			continue;
		fprintf(out, "%20s: %-10s %s\n", title, c->name, c->help);
		title = "";
	}
}

static void option_help(FILE *out, const struct option *o)
{
	fprintf(out, "%20s: %s\n", o->name, o->help);
	if (o->alias)
		fprintf(out, "%20s: %s\n", "alias", o->alias);
	fprintf(out, "%20s: %s\n", "type", option_kind_help(o->kind));
	fprintf(out, "%20s: %s\n", "default", o->initial ? o->initial : "no default");
	if (o->kind == OPTION_UNSIGNED || o->kind == OPTION_COMPLEMENT || o->kind == OPTION_DIRECTIONS ||
	    o->kind == OPTION_BOOL || o->kind == OPTION_INVERSE)
		fprintf(out, "%20s: min=%llu, max=%llu\n", "range", (unsigned long long)o->min,
			(unsigned long long)o->max);
	if (o->engines)
		fprintf(out, "%20s: %s\n", "engines", o->engines);
	if (o->choices)
		choices_help(out, o->choices);
}

int options_cmdhelp(FILE *out, const char *name, struct error *e)
{
	const struct option *o;

	if (!name || strcmp(name, "all") == 0) {
		for (const struct option_section *s = job_sections; s->title; s++)
			for (o = s->options; o->name; o++)
				fprintf(out, "%-27s: %s\n", o->name, o->help);
		return 0;
	}
	o = job_option_find(name);
	if (!o)
		o = option_find(program_options, name);
	if (o) {
		option_help(out, o);
		return 0;
	}
	if (option_known_to_fio(name))
		return error_set(e, STATUS_FAILED, "option %s is known to fio but not supported by kickio", name);
	return error_set(e, STATUS_FAILED, "No such command: %s", name);
}

static void list_engines(FILE *out)
{
	fprintf(out, "Available IO engines:\n");
	for (size_t i = 0; engines[i]; i++)
		fprintf(out, "\t%-12s%s\n", engines[i]->name, engines[i]->help);
	for (const char *const *name = kickio_engines; *name; name++)
		if (!engine_find(*name))
			fprintf(out, "\t%-12snot in this build: %s\n", *name, engine_absent_reason(*name));
}

int options_enghelp(FILE *out, const char *name, struct error *e)
{
	const struct engine *engine;
	bool any = false;

	if (!name) {
		list_engines(out);
		return 0;
	}
	engine = engine_find(name);
	if (!engine && engine_absent_reason(name))
		return error_set(e, STATUS_FAILED, "engine %s is not in this build: %s", name,
				 engine_absent_reason(name));
	if (!engine)
		return error_set(e, STATUS_FAILED, engine_known_to_fio(name) ?
				 "engine %s is known to fio but not in this kickio" : "engine %s not loadable", name);
	fprintf(out, "%s: %s\n", engine->name, engine->help);
	for (const struct option *o = options_engine; o->name; o++) {
		if (!o->engines || !option_of_engine(o, name))
			continue;
		fprintf(out, "%-24s: %s\n", o->name, o->help);
		any = true;
	}
	if (!any)
		fprintf(out, "IO engine %s has no options\n", engine->name);
	return 0;
}
