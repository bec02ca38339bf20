/*
 * What the user asked for: fio's job options, parsed and checked. Filled by options.c (command line)
 * and jobfile.c, read by the runner and the reports. Values are in base units: bytes, microseconds.
 */
#ifndef KB_JOB_H
#define KB_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/engine.h"
#include "guest/error.h"

#define JOB_MAX_PERCENTILES 20

enum rw { RW_READ, RW_WRITE, RW_RANDREAD, RW_RANDWRITE, RW_MIXED, RW_RANDMIXED };

static inline bool rw_reads(enum rw rw) { return rw != RW_WRITE && rw != RW_RANDWRITE; }
static inline bool rw_writes(enum rw rw) { return rw != RW_READ && rw != RW_RANDREAD; }
static inline bool rw_mixes(enum rw rw) { return rw == RW_MIXED || rw == RW_RANDMIXED; }
static inline bool rw_random(enum rw rw) { return rw == RW_RANDREAD || rw == RW_RANDWRITE || rw == RW_RANDMIXED; }

const char *rw_name(enum rw rw); /* as fio prints it: read write randread randwrite rw randrw */

/* A size that may be given as a percentage of the file or device. */
struct extent {
	uint64_t bytes;
	unsigned percent; /* 1..100, else 0 and bytes counts */
};

enum clocksource { CLOCK_DEFAULT, CLOCK_GETTIME, CLOCK_GETTIMEOFDAY, CLOCK_CPU };

/* An option as the user wrote it, for the JSON report; value NULL: written without one. */
struct written {
	char *name;
	char *value;
};

struct job {
	char *name;
	char *description;
	enum rw rw;
	unsigned rwmixread; /* percent */
	uint64_t bs[DDIRS];
	struct extent size, io_size, offset;
	uint64_t number_ios;
	char *filename; /* list separated by ':', NULL: generated names */
	char *directory;
	bool direct;
	unsigned numjobs;
	bool thread;
	bool group_reporting, new_group, stonewall;
	const struct engine *engine;
	unsigned iodepth;
	uint64_t runtime_us, ramp_us;
	bool time_based;
	uint64_t randseed;
	bool randseed_set, randrepeat, norandommap;
	unsigned fsync; /* before the next write after every N writes; 0 never */
	bool end_fsync;
	bool invalidate;
	enum clocksource clocksource;
	double percentiles[JOB_MAX_PERCENTILES]; /* ascending, in percent */
	unsigned npercentiles;
	unsigned percentile_precision; /* decimals to print */

	unsigned groupid; /* set while parsing */
	struct written *written;
	size_t nwritten;
};

/* The largest block among the directions that the job uses. */
static inline uint64_t job_largest_bs(const struct job *job)
{
	uint64_t r = rw_reads(job->rw) ? job->bs[DDIR_READ] : 0;
	uint64_t w = rw_writes(job->rw) ? job->bs[DDIR_WRITE] : 0;

	return r > w ? r : w;
}

enum eta_mode { ETA_AUTO, ETA_ALWAYS, ETA_NEVER };
enum output_format { OUTPUT_NORMAL = 1, OUTPUT_JSON = 2, OUTPUT_JSON_PLUS = 4 };

/* One whole invocation. */
struct jobs {
	struct job *job;
	size_t count;
	struct written *global; /* options given before the first job */
	size_t nglobal;

	char *output;          /* NULL: stdout */
	unsigned output_format; /* mask of enum output_format */
	enum eta_mode eta;
	uint64_t eta_newline_us; /* 0: never */
	uint64_t eta_interval_us;
	bool readonly;
	bool parse_only;
};

void jobs_free(struct jobs *jobs);

#endif
