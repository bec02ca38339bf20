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
#define JOB_MAX_SPLITS 64   /* sizes of a bssplit, zones of a distribution: per direction */
#define JOB_MAX_PATTERN 512 /* bytes of a pattern */
#define JOB_MAX_CPUS 1024

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

/* Both ends belong to it. One value: lo == hi. Not given: both 0. */
struct range {
	uint64_t lo, hi;
};

/* Block sizes by weight; the percentages of one direction add up to 100. count 0: none. */
struct bssplit {
	unsigned count;
	struct {
		uint64_t bs;
		unsigned percent;
	} part[JOB_MAX_SPLITS];
};

enum distribution_kind { DISTRIBUTION_RANDOM, DISTRIBUTION_ZIPF, DISTRIBUTION_PARETO, DISTRIBUTION_NORMAL, DISTRIBUTION_ZONED };

/* How random offsets of one direction are drawn. */
struct distribution {
	enum distribution_kind kind;
	double parameter; /* zipf: theta, pareto: h, normal: deviation in percent */
	unsigned nzones;
	struct {
		unsigned access_percent, size_percent; /* in order from the start; each adds up to 100 */
	} zone[JOB_MAX_SPLITS];
};

/* Bytes to repeat; length 0: none. */
struct pattern {
	unsigned length;
	unsigned char bytes[JOB_MAX_PATTERN];
};

/* CPU n is bit n % 64 of word n / 64. count 0: not given, all. */
struct cpu_list {
	unsigned count;
	uint64_t bits[JOB_MAX_CPUS / 64];
};

enum service_kind { SERVICE_ROUNDROBIN, SERVICE_RANDOM, SERVICE_SEQUENTIAL };

/* Which file the next I/O goes to. */
struct file_service {
	enum service_kind kind;
	unsigned every; /* stay on a file for that many I/Os (not sequential, which finishes it) */
};

enum clocksource { CLOCK_DEFAULT, CLOCK_GETTIME, CLOCK_GETTIMEOFDAY, CLOCK_CPU };
enum sync_mode { SYNC_NONE, SYNC_SYNC, SYNC_DSYNC }; /* O_SYNC, O_DSYNC */
enum fallocate_mode { FALLOCATE_NATIVE, FALLOCATE_NONE, FALLOCATE_POSIX, FALLOCATE_KEEP, FALLOCATE_TRUNCATE };
enum advice { ADVICE_PATTERN, ADVICE_NONE, ADVICE_RANDOM, ADVICE_SEQUENTIAL };
enum rate_process { RATE_LINEAR, RATE_POISSON };
enum cpu_policy { CPUS_SHARED, CPUS_SPLIT };
enum verify_kind { VERIFY_NONE, VERIFY_CRC32C, VERIFY_CRC32, VERIFY_MD5, VERIFY_SHA256, VERIFY_XXHASH };
enum continue_on { CONTINUE_NONE, CONTINUE_READ = 1, CONTINUE_WRITE = 2, CONTINUE_VERIFY = 4 }; /* mask */

/* An option as the user wrote it, for the JSON report; value NULL: written without one. */
struct written {
	char *name;
	char *value;
};

/*
 * One job section. Where a comment says "0: …", that is also what a struct of zeros means. Values per
 * direction are indexed by enum ddir. Strings may be NULL.
 */
struct job {
	/* ---- job and group ---- */
	char *name;
	char *description;
	unsigned numjobs;
	bool thread;
	bool group_reporting, new_group, stonewall;
	struct range startdelay_us; /* after the start of the run; a random time within when lo != hi */
	bool exitall;               /* the end of one ends all jobs of the group */
	bool exitall_on_error;      /* the same, when it ends in an error */
	unsigned loops;             /* whole passes; 0: 1 */

	/* ---- kind and size of I/O ---- */
	enum rw rw;
	unsigned rwmixread; /* percent; rwmixwrite is stored here as well */
	uint64_t bs[DDIRS];
	struct range bs_range[DDIRS]; /* of bsrange, or the extremes of bssplit; hi 0: bs. See job_bs_min() */
	struct bssplit bssplit[DDIRS];
	bool bs_unaligned;           /* sizes of bs_range may be any number of bytes */
	uint64_t blockalign[DDIRS];  /* bytes; 0: the least block size. Given: norandommap is set, too */
	struct extent size, io_size, offset;
	struct extent offset_increment; /* times the clone's number, added to offset */
	uint64_t number_ios;            /* 0: no limit */

	/* ---- files ---- */
	char *filename;        /* list separated by ':', NULL: generated names */
	char *directory;       /* list separated by ':' */
	char *filename_format; /* NULL: $jobname.$jobnum.$filenum */
	struct range filesize; /* bytes of each file; hi 0: from size */
	unsigned nrfiles;      /* 0: 1 */
	struct file_service file_service;
	bool overwrite;      /* lay out before writing */
	bool create_on_open; /* no layout: the run's own open creates */
	enum fallocate_mode fallocate;
	bool unlink; /* remove the files at the end of the job */
	bool allow_mounted_write;

	/* ---- engine, depth and batches; options of engines ---- */
	const struct engine *engine;
	unsigned iodepth;
	unsigned iodepth_batch;              /* submit at once; 0: what is ready. At most iodepth */
	unsigned iodepth_batch_complete_min; /* reap at least; 0: only look. At most iodepth */
	unsigned iodepth_batch_complete_max; /* reap at most; 0: not given. Else at least ..._min */
	unsigned iodepth_low;                /* refill when the queue has drained to this; 0: iodepth */
	bool hipri;         /* pvsync2, io_uring: poll for completions */
	bool nowait;        /* pvsync2: RWF_NOWAIT */
	bool fixedbufs;     /* io_uring */
	bool registerfiles; /* io_uring */
	bool sqthread_poll; /* io_uring */
	bool nonvectored;   /* io_uring: read/write instead of readv/writev */

	/* ---- time and rate ---- */
	uint64_t runtime_us, ramp_us;
	bool time_based;
	uint64_t rate[DDIRS];      /* bytes per second; 0: unlimited. Never with rate_iops of that direction */
	uint64_t rate_iops[DDIRS]; /* per second; 0: unlimited */
	enum rate_process rate_process;
	uint64_t thinktime_us, thinktime_spin_us; /* the spin is a part of thinktime */
	unsigned thinktime_blocks;                /* I/Os between two pauses; 0: 1 */
	uint64_t latency_target_us;               /* 0: none. Search for the depth (up to iodepth) that keeps it */
	uint64_t latency_window_us;               /* time to sustain it at one depth */
	double latency_percentile;                /* of the I/Os that must be within the target; 0: 100 */
	bool latency_run;                         /* go on adjusting instead of ending when it is found */
	uint64_t stall_timeout_us;                /* an I/O in flight for longer is reported; 0: wait for ever */

	/* ---- random behaviour ---- */
	uint64_t randseed;
	bool randseed_set, randrepeat;
	bool norandommap; /* also set by blockalign and any distribution but random */
	struct distribution distribution[DDIRS];
	uint64_t percentage_random[DDIRS]; /* percent of a random job's I/Os that are random, 100: all */

	/* ---- cache and integrity ---- */
	bool direct;        /* buffered is its inverse */
	enum sync_mode sync;
	unsigned fsync;     /* before the next write after every N writes; 0 never */
	unsigned fdatasync; /* the same */
	bool end_fsync;
	bool invalidate;
	enum advice fadvise_hint;

	/* ---- data ---- */
	bool zero_buffers;
	bool refill_buffers;   /* also set by verify, dedupe and compression */
	bool scramble_buffers; /* off with zero_buffers and buffer_pattern */
	struct pattern buffer_pattern;
	unsigned buffer_compress_percentage; /* 0: off */
	unsigned buffer_compress_chunk;      /* bytes */
	unsigned dedupe_percentage;          /* 0: off */

	/* ---- verify and errors ---- */
	enum verify_kind verify;
	bool do_verify;          /* read back after writing */
	bool verify_fatal;       /* stop at the first bad block */
	bool verify_only;        /* no writes: check what an earlier run of this job wrote */
	uint64_t verify_backlog; /* check after that many written blocks; 0: at the end */
	struct pattern verify_pattern;
	char *verify_map;           /* path of the generation map */
	char *verify_name;          /* what headers and map call the file; NULL: its path */
	unsigned continue_on_error; /* mask of enum continue_on */

	/* ---- processors ---- */
	struct cpu_list cpus_allowed;
	enum cpu_policy cpus_allowed_policy; /* split: clone n gets the n-th (modulo the count) */
	int nice;                            /* -20..19 */

	/* ---- measuring and reporting ---- */
	enum clocksource clocksource;
	bool gtod_reduce; /* sets disable_lat, _clat and _slat */
	bool disable_lat, disable_clat, disable_slat, disable_bw;
	bool clat_percentiles, slat_percentiles, lat_percentiles;
	double percentiles[JOB_MAX_PERCENTILES]; /* ascending, in percent */
	unsigned npercentiles;
	unsigned percentile_precision; /* decimals to print */
	unsigned bwavgtime_ms, iopsavgtime_ms; /* sampling windows */

	/* ---- logs: NULL: not written, "": the job's name is the prefix ---- */
	char *write_lat_log, *write_bw_log, *write_iops_log, *write_hist_log;
	unsigned log_avg_msec;        /* 0: every I/O */
	unsigned log_hist_msec;       /* 0: off */
	unsigned log_hist_coarseness; /* 0..6 */
	bool log_max_value, log_offset, per_job_logs;

	unsigned groupid; /* set while parsing */
	struct written *written;
	size_t nwritten;
};

/* Extremes of the block size of a direction, with bs, bsrange and bssplit. */
uint64_t job_bs_min(const struct job *job, enum ddir ddir);
uint64_t job_bs_max(const struct job *job, enum ddir ddir);

/* The extremes of the directions that the job uses. */
uint64_t job_smallest_bs(const struct job *job);
uint64_t job_largest_bs(const struct job *job);

/* Free what a job owns, its written options too, and forget it. */
void job_release(struct job *job);

/* A copy with strings of its own and without written options and name. On error `to` owns nothing. */
int job_copy(struct job *to, const struct job *from, struct error *e);

enum eta_mode { ETA_AUTO, ETA_ALWAYS, ETA_NEVER };
enum output_format { OUTPUT_NORMAL = 1, OUTPUT_JSON = 2, OUTPUT_JSON_PLUS = 4, OUTPUT_TERSE = 8 };

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
	uint64_t status_interval_us; /* a full report each time; 0: only at the end */
	bool minimal;                /* the same as output-format terse; set in output_format, too */
	unsigned terse_version;
	char **section; /* job file sections to run; none: all */
	size_t nsections;
	bool readonly;
	bool parse_only;
};

void jobs_free(struct jobs *jobs);

#endif
