#include "guest/option_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define J(field) offsetof(struct job, field)
#define P(field) offsetof(struct jobs, field)

static const struct choice rw_choices[] = {
	{ "read", RW_READ, "Sequential read" },
	{ "write", RW_WRITE, "Sequential write" },
	{ "randread", RW_RANDREAD, "Random read" },
	{ "randwrite", RW_RANDWRITE, "Random write" },
	{ "rw", RW_MIXED, "Sequential read and write mix" },
	{ "readwrite", RW_MIXED, "Sequential read and write mix" },
	{ "randrw", RW_RANDMIXED, "Random read and write mix" },
	{ "trim", CHOICE_REFUSED, NULL },
	{ "randtrim", CHOICE_REFUSED, NULL },
	{ "trimwrite", CHOICE_REFUSED, NULL },
	{ "randtrimwrite", CHOICE_REFUSED, NULL },
	{ NULL, 0, NULL },
};

static const struct choice clock_choices[] = {
	{ "gettimeofday", CLOCK_GETTIMEOFDAY, "Use gettimeofday(2) for timing" },
	{ "clock_gettime", CLOCK_GETTIME, "Use clock_gettime(2) for timing" },
	{ "cpu", CLOCK_CPU, "Use the CPU's own clock" },
	{ NULL, 0, NULL },
};

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
	{ "terse", CHOICE_REFUSED, NULL },
	{ "minimal", CHOICE_REFUSED, NULL },
	{ "csv", CHOICE_REFUSED, NULL },
	{ NULL, 0, NULL },
};

#define PERCENTILES "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99"

/* name, alias, kind, min, max, default, place, choices, help */
const struct option job_options[] = {
	{ "name", NULL, OPTION_STRING, 1, 0, NULL, J(name), NULL,
	  "Name of this job; on the command line it starts a new job" },
	{ "description", NULL, OPTION_STRING, 0, 0, NULL, J(description), NULL, "Text job description" },
	{ "rw", "readwrite", OPTION_CHOICE, 0, 0, "read", J(rw), rw_choices, "IO direction" },
	{ "rwmixread", NULL, OPTION_UNSIGNED, 0, 100, "50", J(rwmixread), NULL,
	  "Percentage of a mixed workload that is reads" },
	{ "rwmixwrite", NULL, OPTION_COMPLEMENT, 0, 100, NULL, J(rwmixread), NULL,
	  "Percentage of a mixed workload that is writes" },
	{ "bs", "blocksize", OPTION_DIRECTIONS, 1, UINT32_MAX, "4096", J(bs), NULL,
	  "Block size: one, or read,write" },
	{ "size", NULL, OPTION_EXTENT, 0, 0, NULL, J(size), NULL, "Total size of device or files" },
	{ "io_size", "io_limit", OPTION_EXTENT, 0, 0, NULL, J(io_size), NULL,
	  "Total size of I/O to be performed" },
	{ "offset", "fileoffset", OPTION_EXTENT, 0, 0, NULL, J(offset), NULL, "Start IO from this offset" },
	{ "number_ios", NULL, OPTION_NUMBER, 0, UINT64_MAX, "0", J(number_ios), NULL,
	  "Force job completion after this number of IOs" },
	{ "filename", NULL, OPTION_STRING, 1, 0, NULL, J(filename), NULL,
	  "File(s) to use for the workload, separated by ':'" },
	{ "directory", NULL, OPTION_DIRECTORY, 0, 0, NULL, J(directory), NULL, "Directory to store files in" },
	{ "direct", NULL, OPTION_BOOL, 0, 1, "0", J(direct), NULL, "Use O_DIRECT IO (negates buffered)" },
	{ "buffered", NULL, OPTION_INVERSE, 0, 1, NULL, J(direct), NULL, "Use buffered IO (negates direct)" },
	{ "numjobs", NULL, OPTION_UNSIGNED, 1, 65536, "1", J(numjobs), NULL,
	  "Duplicate this job this many times" },
	{ "thread", NULL, OPTION_FLAG, 0, 1, NULL, J(thread), NULL, "Use threads instead of processes" },
	{ "group_reporting", NULL, OPTION_FLAG, 0, 1, NULL, J(group_reporting), NULL,
	  "Do reporting on a per-group basis" },
	{ "new_group", NULL, OPTION_FLAG, 0, 1, NULL, J(new_group), NULL,
	  "Mark the start of a new group (for reporting)" },
	{ "ioengine", NULL, OPTION_ENGINE, 0, 0, "psync", J(engine), NULL, "IO engine to use" },
	{ "iodepth", NULL, OPTION_UNSIGNED, 1, 65536, "1", J(iodepth), NULL,
	  "Number of IO buffers to keep in flight" },
	{ "runtime", "timeout", OPTION_TIME, 0, 0, "0", J(runtime_us), NULL,
	  "Stop workload when this amount of time has passed" },
	{ "time_based", NULL, OPTION_FLAG, 0, 1, NULL, J(time_based), NULL,
	  "Keep running until runtime/timeout is met" },
	{ "ramp_time", NULL, OPTION_TIME, 0, 0, "0", J(ramp_us), NULL,
	  "Ramp up time before measuring performance" },
	{ "randseed", NULL, OPTION_SEED, 0, UINT64_MAX, NULL, 0, NULL,
	  "Set the random generator seed value (always honoured; fio before 3.35 ignores it unless randrepeat=0)" },
	{ "randrepeat", NULL, OPTION_BOOL, 0, 1, "1", J(randrepeat), NULL, "Use repeatable random IO pattern" },
	{ "norandommap", NULL, OPTION_FLAG, 0, 1, NULL, J(norandommap), NULL,
	  "Accept potential duplicate random blocks" },
	{ "fsync", NULL, OPTION_UNSIGNED, 0, UINT_MAX, "0", J(fsync), NULL,
	  "Issue fsync for writes every given number of blocks" },
	{ "end_fsync", NULL, OPTION_BOOL, 0, 1, "0", J(end_fsync), NULL, "Include fsync at the end of job" },
	{ "invalidate", NULL, OPTION_BOOL, 0, 1, "1", J(invalidate), NULL,
	  "Invalidate buffer/page cache prior to running job" },
	{ "clocksource", NULL, OPTION_CHOICE, 0, 0, NULL, J(clocksource), clock_choices,
	  "What type of timing source to use" },
	{ "percentile_list", NULL, OPTION_PERCENTILES, 0, 100, PERCENTILES, 0, NULL,
	  "Specify a custom list of percentiles to report" },
	{ NULL, NULL, OPTION_FLAG, 0, 0, NULL, 0, NULL, NULL },
};

const struct option program_options[] = {
	{ "output", NULL, OPTION_STRING, 1, 0, NULL, P(output), NULL, "Write output to file" },
	{ "output-format", NULL, OPTION_FORMATS, 0, 0, "normal", P(output_format), format_choices,
	  "Output format (normal,json,json+), a comma list" },
	{ "eta", NULL, OPTION_CHOICE, 0, 0, "auto", P(eta), eta_choices, "When ETA estimate should be printed" },
	{ "eta-newline", NULL, OPTION_TIME, 0, 0, "0", P(eta_newline_us), NULL,
	  "Force a new line for every 't' period passed" },
	{ "eta-interval", NULL, OPTION_TIME, 250000, 0, "1", P(eta_interval_us), NULL,
	  "Report ETA every 't' period (250msec min)" },
	{ "readonly", NULL, OPTION_FLAG, 0, 1, NULL, P(readonly), NULL,
	  "Turn on safety read-only checks, preventing writes" },
	{ "parse-only", NULL, OPTION_FLAG, 0, 1, NULL, P(parse_only), NULL,
	  "Parse options only, don't start any IO" },
	{ "version", NULL, OPTION_ACTION, 0, 0, NULL, 0, NULL, "Print version info and exit" },
	{ "help", "h", OPTION_ACTION, 0, 0, NULL, 0, NULL, "Print this page" },
	{ "cmdhelp", NULL, OPTION_ACTION_ON, 0, 0, NULL, 0, NULL, "Print help of a job option, or of all" },
	{ "enghelp", NULL, OPTION_ACTION_ON, 0, 0, NULL, 0, NULL, "Print help of an ioengine, or list them" },
	{ NULL, NULL, OPTION_FLAG, 0, 0, NULL, 0, NULL, NULL },
};

const struct option *option_find(const struct option *table, const char *name)
{
	for (const struct option *o = table; o->name; o++)
		if (strcmp(o->name, name) == 0 || (o->alias && strcmp(o->alias, name) == 0))
			return o;
	return NULL;
}

bool option_value_optional(const struct option *o)
{
	return o->kind == OPTION_FLAG || o->kind == OPTION_ACTION || o->kind == OPTION_ACTION_ON;
}

const char *option_kind_help(enum option_kind kind)
{
	static const char *const texts[] = {
		[OPTION_STRING] = "string", [OPTION_FLAG] = "empty or boolean value ([0|1])",
		[OPTION_BOOL] = "boolean value (0 or 1)", [OPTION_INVERSE] = "boolean value (0 or 1)",
		[OPTION_UNSIGNED] = "integer value", [OPTION_COMPLEMENT] = "integer value",
		[OPTION_NUMBER] = "integer value", [OPTION_SEED] = "integer value",
		[OPTION_DIRECTIONS] = "integer value, or read,write (4k or 4k,8k)",
		[OPTION_EXTENT] = "size or percentage (64m or 50%)",
		[OPTION_TIME] = "time: seconds, or with us ms s m h d (10 or 10s)",
		[OPTION_CHOICE] = "one of the valid values", [OPTION_FORMATS] = "valid values separated by ','",
		[OPTION_PERCENTILES] = "list of percentages separated by ':' (50:99:99.9)",
		[OPTION_ENGINE] = "name of an engine (see --enghelp)",
		[OPTION_DIRECTORY] = "directories separated by ':'",
		[OPTION_ACTION] = "no value", [OPTION_ACTION_ON] = "optional name",
	};

	return texts[kind];
}
