/* The manual page kickio.1, in mdoc, from the option table. */
#include "guest/options.h"

#include <string.h>

#include "guest/check.h"
#include "guest/option_table.h"

/* Text in a line of its own or inside quotes: what roff would take for something else is escaped. */
static void plain(FILE *out, const char *s)
{
	if (*s == '.' || *s == '\'')
		fputs("\\&", out);
	for (; *s; s++) {
		if (*s == '\\')
			fputs("\\e", out);
		else if (*s == '"')
			fputs("\\(dq", out);
		else
			fputc(*s, out);
	}
}

#define LINE 72

/* In lines of at most LINE bytes, broken between words, with a full stop. */
static void sentence(FILE *out, const char *s)
{
	char line[LINE + 1];

	while (strlen(s) > LINE) {
		size_t length = LINE;

		while (length && s[length] != ' ')
			length--;
		if (length == 0)
			break;
		memcpy(line, s, length);
		line[length] = '\0';
		plain(out, line);
		fputc('\n', out);
		s += length + 1;
	}
	plain(out, s);
	fputs(".\n", out);
}

static void choices_of(FILE *out, const struct choice *choices)
{
	fputs(".Bl -tag -width sequential -compact\n", out);
	for (const struct choice *c = choices; c->name; c++) {
		if (c->value == CHOICE_REFUSED)
			continue;
		fputs(".It Cm \"", out);
		plain(out, c->name);
		fputs("\"\n", out);
		sentence(out, c->help);
	}
	fputs(".El\n", out);
}

static bool has_range(const struct option *o)
{
	return (o->kind == OPTION_UNSIGNED || o->kind == OPTION_COMPLEMENT) && o->max <= 65536;
}

static void facts(FILE *out, const struct option *o)
{
	sentence(out, o->help);
	if (o->kind == OPTION_ACTION || o->kind == OPTION_ACTION_ON)
		return;
	fputs("Value:\n", out);
	sentence(out, option_kind_help(o->kind));
	if (has_range(o))
		fprintf(out, "From %llu to %llu.\n", (unsigned long long)o->min, (unsigned long long)o->max);
	if (o->initial) {
		fputs("Default:\n.Cm \"", out);
		plain(out, o->initial);
		fputs("\" .\n", out);
	}
	if (o->alias)
		fprintf(out, "Alias:\n.Cm %s .\n", o->alias);
	if (o->engines)
		fprintf(out, "Only of the engines:\n.Cm %s .\n", o->engines);
	if (o->choices)
		choices_of(out, o->choices);
}

static void program_part(FILE *out)
{
	fputs(".Sh OPTIONS\nThe options of the program, on the command line only:\n"
	      ".Bl -tag -width Ds\n", out);
	for (const struct option *o = program_options; o->name; o++) {
		fprintf(out, ".It Fl Fl %s%s\n", o->name,
			o->kind == OPTION_ACTION_ON ? " Ns Op = Ns Ar name" :
			option_value_optional(o) ? "" : " Ns = Ns Ar value");
		facts(out, o);
	}
	fputs(".El\n", out);
}

static void job_part(FILE *out)
{
	fputs(".Sh JOB OPTIONS\n"
	      "On the command line with two dashes, in a job file without.\n", out);
	for (const struct option_section *s = job_sections; s->title; s++) {
		fprintf(out, ".Ss %s\n.Bl -tag -width Ds\n", s->title);
		for (const struct option *o = s->options; o->name; o++) {
			fprintf(out, ".It Cm %s%s\n", o->name, option_value_optional(o) ? "" : " Ns = Ns Ar value");
			facts(out, o);
		}
		fputs(".El\n", out);
	}
}

static void engine_part(FILE *out)
{
	fputs(".Sh ENGINES\n.Bl -tag -width posixaio\n", out);
	for (const char *const *name = kickio_engines; *name; name++) {
		const struct engine *engine = engine_find(*name);

		fprintf(out, ".It Cm %s\n", *name);
		if (!engine)
			fputs("Not in this build: ", out);
		sentence(out, engine ? engine->help : engine_absent_reason(*name));
	}
	fputs(".El\n", out);
}

static void check_part(FILE *out)
{
	fputs(".Sh CHECKING A DISK\n.Nm\n.Cm check\n"
	      "asks a disk what its driver must get right at its edges:\n"
	      "size and names, the first and the last sector, requests past the end, unaligned ones,\n"
	      "a read-only disk, flush, discard, zeroes, the largest requests and the most pieced ones.\n"
	      "Each answer is a line that begins with\n.Ql pass ,\n.Ql fail\nor\n.Ql skip .\n"
	      "What the system shall say of the disk is compared where it is given:\n", out);
	check_man(out);
}

void options_man(FILE *out)
{
	fputs(".Dd December 1, 2026\n.Dt KICKIO 1\n.Os\n"
	      ".Sh NAME\n.Nm kickio\n.Nd measure disks with the jobs of fio\n"
	      ".Sh SYNOPSIS\n.Nm\n.Op Ar option ...\n.Op Ar job-option ...\n.Op Ar job-file ...\n"
	      ".Nm\n.Cm agent\n.Ar device\n.Nm\n.Cm check\n.Ar device\n.Op Ar check-option ...\n.Nm\n.Cm info\n"
	      ".Sh DESCRIPTION\n.Nm\nruns the jobs that its command line and its job files describe\n"
	      "and reports their rates and latencies.\n"
	      "It takes the options and the job files of fio 3.33;\n"
	      "what it does not support it refuses by name.\n"
	      ".Pp\nA job starts with\n.Fl Fl name Ns = Ns Ar name\n"
	      "or with a section of a job file.\n"
	      "Options before the first job, or in a section whose name begins with\n.Cm global ,\n"
	      "are the defaults of the jobs that follow.\n"
	      "The jobs of a second job file wait for those of the first.\n"
	      ".Pp\n.Nm\n.Cm agent\nserves the jobs of a host over a serial port;\n.Nm\n.Cm check\n"
	      "asks a disk what its driver must get right;\n.Nm\n.Cm info\n"
	      "prints system, clock and disks as JSON.\n", out);
	program_part(out);
	job_part(out);
	engine_part(out);
	check_part(out);
	fputs(".Sh JOB FILES\n"
	      "A line is a section in brackets, an option with its value, or\n.Cm include\n.Ar file ,\n"
	      "which inserts the options of another file.\n"
	      "What follows a\n.Ql \\&;\nor a\n.Ql #\nis a comment.\n"
	      "Variables of the environment are written as\n.Ql ${NAME} .\n"
	      ".Sh EXIT STATUS\n"
	      "0 when all jobs succeeded, the number of failed jobs otherwise,\n"
	      "1 when the options are wrong, 128 after SIGINT or SIGTERM.\n"
	      "Of\n.Cm check :\n1 when something is wrong with the disk.\n"
	      ".Sh SEE ALSO\n.Xr fio 1\n", out);
}
