/* The program's own options, and how the rows of all options are found. */
#include "guest/option_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define P JOBS_FIELD

static const struct choice eta_choices[] = {
	{ "auto", ETA_AUTO, "When the output is a terminal" },
	{ "always", ETA_ALWAYS, "Always" },
	{ "never", ETA_NEVER, "Never" },
	{ NULL, 0, NULL },
};

static const struct choice format_choices[] = {
	{ "normal", OUTPUT_NORMAL, "Text for people" },
	{ "json", OUTPUT_JSON, "One JSON document" },
	{ "json+", OUTPUT_JSON | OUTPUT_JSON_PLUS, "The same with the bins of every latency" },
	{ "terse", OUTPUT_TERSE, "One line for each job, fields separated by semicolons" },
	{ "minimal", OUTPUT_TERSE, "Alias for terse" },
	{ "csv", OUTPUT_TERSE, "Alias for terse" },
	{ NULL, 0, NULL },
};

/* name, alias, kind, min, max, default, place, choices, help, engines */
const struct option program_options[] = {
	{ "output", NULL, OPTION_STRING, 1, 0, NULL, P(output), NULL, "Write output to file", NULL },
	{ "output-format", NULL, OPTION_FORMATS, 0, 0, "normal", P(output_format), format_choices,
	  "Output format (normal,json,json+,terse), a comma list", NULL },
	{ "minimal", NULL, OPTION_FLAG, 0, 1, NULL, P(minimal), NULL, "Minimal (terse) output", NULL },
	{ "terse-version", NULL, OPTION_UNSIGNED, 3, 3, "3", P(terse_version), NULL,
	  "Version of the terse output (only 3)", NULL },
	{ "eta", NULL, OPTION_CHOICE, 0, 0, "auto", P(eta), eta_choices, "When ETA estimate should be printed", NULL },
	{ "eta-newline", NULL, OPTION_TIME, 0, 0, "0", P(eta_newline_us), NULL,
	  "Force a new line for every 't' period passed", NULL },
	{ "eta-interval", NULL, OPTION_TIME, 250000, 0, "1", P(eta_interval_us), NULL,
	  "Report ETA every 't' period (250msec min)", NULL },
	{ "status-interval", NULL, OPTION_TIME, 0, 0, "0", P(status_interval_us), NULL,
	  "Force full status dump every 't' period passed", NULL },
	{ "readonly", NULL, OPTION_FLAG, 0, 1, NULL, P(readonly), NULL,
	  "Turn on safety read-only checks, preventing writes", NULL },
	{ "section", NULL, OPTION_SECTION, 0, 0, NULL, NO_FIELD, NULL,
	  "Only run this section of the job file; may be given again", NULL },
	{ "parse-only", NULL, OPTION_FLAG, 0, 1, NULL, P(parse_only), NULL,
	  "Parse options only, don't start any IO", NULL },
	{ "version", NULL, OPTION_ACTION, 0, 0, NULL, NO_FIELD, NULL, "Print version info and exit", NULL },
	{ "help", "h", OPTION_ACTION, 0, 0, NULL, NO_FIELD, NULL, "Print this page", NULL },
	{ "man", NULL, OPTION_ACTION, 0, 0, NULL, NO_FIELD, NULL, "Print the manual page (mdoc)", NULL },
	{ "cmdhelp", NULL, OPTION_ACTION_ON, 0, 0, NULL, NO_FIELD, NULL,
	  "Print help of a job option, or of all", NULL },
	{ "enghelp", NULL, OPTION_ACTION_ON, 0, 0, NULL, NO_FIELD, NULL,
	  "Print help of an ioengine, or list them", NULL },
	OPTION_END,
};

const struct option_section job_sections[] = {
	{ "Jobs and groups", options_grouping },
	{ "Kind and size of I/O", options_io },
	{ "Files", options_files },
	{ "Engine and queue", options_engine },
	{ "Time and rate", options_time },
	{ "Random behaviour", options_random },
	{ "Cache and integrity", options_cache },
	{ "Data", options_data },
	{ "Verify and errors", options_verify },
	{ "Processors", options_cpu },
	{ "Measuring and reporting", options_report },
	{ "Logs", options_log },
	{ NULL, NULL },
};

const struct option *option_find(const struct option *table, const char *name)
{
	for (const struct option *o = table; o->name; o++)
		if (strcmp(o->name, name) == 0 || (o->alias && strcmp(o->alias, name) == 0))
			return o;
	return NULL;
}

const struct option *job_option_find(const char *name)
{
	const struct option *o = NULL;

	for (const struct option_section *s = job_sections; s->title && !o; s++)
		o = option_find(s->options, name);
	return o;
}

bool option_value_optional(const struct option *o)
{
	return o->kind == OPTION_FLAG || o->kind == OPTION_ACTION || o->kind == OPTION_ACTION_ON;
}

bool option_of_engine(const struct option *o, const char *engine)
{
	size_t length = strlen(engine);

	if (!o->engines)
		return true;
	for (const char *p = o->engines; *p;) {
		size_t word = strcspn(p, " ");

		if (word == length && memcmp(p, engine, word) == 0)
			return true;
		p += word + (p[word] == ' ');
	}
	return false;
}

bool option_same(const struct option *o, const void *a, const void *b)
{
	const char *x = (const char *)a + o->offset, *y = (const char *)b + o->offset;
	const char *s, *t;

	switch (o->kind) {
	case OPTION_STRING:
	case OPTION_LOG:
	case OPTION_DIRECTORY:
		memcpy(&s, x, sizeof(s));
		memcpy(&t, y, sizeof(t));
		return s && t ? strcmp(s, t) == 0 : s == t;
	default:
		return memcmp(x, y, o->size) == 0;
	}
}

const char *option_kind_help(enum option_kind kind)
{
	static const char *const texts[] = {
		[OPTION_STRING] = "string", [OPTION_FLAG] = "empty or boolean value ([0|1])",
		[OPTION_LOG] = "prefix of file names (in a job file it may be missing)",
		[OPTION_BOOL] = "boolean value (0 or 1)", [OPTION_INVERSE] = "boolean value (0 or 1)",
		[OPTION_UNSIGNED] = "integer value", [OPTION_COMPLEMENT] = "integer value",
		[OPTION_SIGNED] = "integer value, may be negative", [OPTION_NUMBER] = "integer value",
		[OPTION_SEED] = "integer value",
		[OPTION_DIRECTIONS] = "integer value, or read,write (4k or 4k,8k)",
		[OPTION_RANGE] = "size, or lowest-highest (1m or 1m-8m)",
		[OPTION_RANGES] = "lowest-highest, or the same for read,write (1k-4k,2k-8k)",
		[OPTION_TIME_RANGE] = "time, or lowest-highest: seconds, or with us ms s m h d (5 or 1s-5s)",
		[OPTION_BSSPLIT] = "size/percentage separated by ':', or the same for read,write (4k/60:64k/40)",
		[OPTION_EXTENT] = "size or percentage (64m or 50%)",
		[OPTION_TIME] = "time: seconds, or with us ms s m h d (10 or 10s)",
		[OPTION_MICROSECONDS] = "time: microseconds, or with us ms s m h d (10 or 10ms)",
		[OPTION_CHOICE] = "one of the valid values", [OPTION_FORMATS] = "valid values separated by ','",
		[OPTION_SERVICE] = "one of the valid values, random and roundrobin with :N (random:8)",
		[OPTION_DISTRIBUTION] = "zipf:theta, pareto:h, normal:deviation or zoned:access/size:..., or read,write",
		[OPTION_PERCENTILES] = "list of percentages separated by ':' (50:99:99.9)",
		[OPTION_PERCENTAGE] = "percentage, with decimals (99.9)",
		[OPTION_PATTERN] = "bytes: 0x..., a decimal number, \"text\", 'file', or several of them",
		[OPTION_CPUS] = "numbers and ranges separated by ',' (0,2-4)",
		[OPTION_ENGINE] = "name of an engine (see --enghelp)",
		[OPTION_DIRECTORY] = "directories separated by ':'", [OPTION_SECTION] = "name of a section",
		[OPTION_ACTION] = "no value", [OPTION_ACTION_ON] = "optional name",
	};

	return texts[kind];
}
