#include "host/help.h"

#include "host/event.h"
#include "host/matrix.h"
#include "host/scenario.h"
#include "host/settings.h"
#include "host/version.h"

void help_command(FILE *out, const struct command *c)
{
	fprintf(out, "kickbench %s\n    %s\n", c->usage, c->help);
}

void help_usage(FILE *out, const struct command *const *commands)
{
	fprintf(out, "kickbench %s: by how much ioeventfd and its kin help virtio-blk, and how sure that is\n\n", KICKBENCH_VERSION);
	for (size_t i = 0; commands[i]; i++)
		help_command(out, commands[i]);
	fprintf(out, "\nSCENARIO is a file, or the name of one that comes with kickbench (quick when left out).\n"
		"Exit status: 0 complete, 1 a verdict of fail_on occurred or a cell of a matrix failed, 2 usage or scenario\n"
		"error, 3 run incomplete or all cells skipped, 4 this host cannot run it. --bisect: 0 good, 1 bad, 125 cannot tell.\n");
}

void help_each_key(FILE *out, const struct help_reader *r)
{
	static const char *const sections[][2] = { { "scenario", "scenario" }, { "guest NAME", "guest" } };
	const char *name, *values, *text;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		r->section(out, sections[i][0], "");
		for (size_t k = 0; (name = scenario_key(sections[i][1], k, &text)); k++)
			r->key(out, name, NULL, text);
	}
	r->section(out, "guest NAME", "and in [variant NAME] for that variant alone");
	for (size_t k = 0; (name = machine_key(k, &text)); k++)
		r->key(out, name, NULL, text);
	r->section(out, "disk", "and in [variant NAME] for that variant alone");
	for (size_t k = 0; (name = settings_key(k, &text)); k++)
		r->key(out, name, NULL, text);
	r->section(out, "workload NAME", "kickio's options (kickio --cmdhelp); a value with commas is a sweep");
	r->section(out, "matrix NAME", "for kickbench regress: these options, or keys of [disk] and the machine, with the values to try");
	for (size_t k = 0; (name = matrix_option_row(k, &values, &text)); k++)
		r->key(out, name, values, text);
	r->section(out, "matrix NAME", "the events");
	for (size_t k = 0; event_row(k); k++)
		r->key(out, event_row(k)->name, NULL, event_row(k)->help);
	r->section(out, "except NAME", "two options with values that are not to meet, and reason = TEXT");
}

static void print_section(FILE *out, const char *title, const char *about)
{
	fprintf(out, "[%s]%s%s\n", title, *about ? ", " : "", about);
}

static void print_key(FILE *out, const char *name, const char *values, const char *text)
{
	fprintf(out, "  %-15s %s\n", name, values ? values : text);
	if (values)
		fprintf(out, "                  %s\n", text);
}

void help_keys(FILE *out)
{
	static const struct help_reader reader = { print_section, print_key };

	help_each_key(out, &reader);
}
