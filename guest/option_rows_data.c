/* Rows of the option table: offsets at random, caches, data, verification, processors, reports and logs. */
#include "guest/option_table.h"

#include <limits.h>

#define J JOB_FIELD

static const struct choice distribution_choices[] = {
	{ "random", DISTRIBUTION_RANDOM, "Completely random" },
	{ "zipf", DISTRIBUTION_ZIPF, "Zipf distribution" },
	{ "pareto", DISTRIBUTION_PARETO, "Pareto distribution" },
	{ "normal", DISTRIBUTION_NORMAL, "Normal (Gaussian) distribution" },
	{ "zoned", DISTRIBUTION_ZONED, "Zoned random distribution" },
	{ "zoned_abs", CHOICE_REFUSED, NULL },
	{ NULL, 0, NULL },
};

static const struct choice sync_choices[] = {
	{ "none", SYNC_NONE, "Writes are not synchronous" },
	{ "0", SYNC_NONE, "Alias for none" },
	{ "sync", SYNC_SYNC, "Open with O_SYNC" },
	{ "1", SYNC_SYNC, "Alias for sync" },
	{ "dsync", SYNC_DSYNC, "Open with O_DSYNC" },
	{ NULL, 0, NULL },
};

static const struct choice advice_choices[] = {
	{ "0", ADVICE_NONE, "Don't issue fadvise" },
	{ "1", ADVICE_PATTERN, "Advise using the IO pattern of the job" },
	{ "random", ADVICE_RANDOM, "Advise using FADV_RANDOM" },
	{ "sequential", ADVICE_SEQUENTIAL, "Advise using FADV_SEQUENTIAL" },
	{ NULL, 0, NULL },
};

static const struct choice verify_choices[] = {
	{ "0", VERIFY_NONE, "Don't do IO verification" },
	{ "none", VERIFY_NONE, "Alias for 0" },
	{ "crc32c", VERIFY_CRC32C, "Use crc32c checksums" },
	{ "crc32c-intel", VERIFY_CRC32C, "Alias for crc32c" },
	{ "crc32", VERIFY_CRC32, "Use crc32 checksums" },
	{ "md5", VERIFY_MD5, "Use md5 checksums" },
	{ "sha256", VERIFY_SHA256, "Use sha256 checksums" },
	{ "xxhash", VERIFY_XXHASH, "Use xxhash checksums" },
	{ "crc64", CHOICE_REFUSED, NULL },
	{ "crc16", CHOICE_REFUSED, NULL },
	{ "crc7", CHOICE_REFUSED, NULL },
	{ "sha1", CHOICE_REFUSED, NULL },
	{ "sha512", CHOICE_REFUSED, NULL },
	{ "sha3-224", CHOICE_REFUSED, NULL },
	{ "sha3-256", CHOICE_REFUSED, NULL },
	{ "sha3-384", CHOICE_REFUSED, NULL },
	{ "sha3-512", CHOICE_REFUSED, NULL },
	{ "meta", CHOICE_REFUSED, NULL },
	{ "pattern", CHOICE_REFUSED, NULL },
	{ "null", CHOICE_REFUSED, NULL },
	{ NULL, 0, NULL },
};

#define CONTINUE_IO (CONTINUE_READ | CONTINUE_WRITE)

static const struct choice continue_choices[] = {
	{ "none", CONTINUE_NONE, "Exit when an error is encountered" },
	{ "read", CONTINUE_READ, "Continue on read errors only" },
	{ "write", CONTINUE_WRITE, "Continue on write errors only" },
	{ "io", CONTINUE_IO, "Continue on any IO errors" },
	{ "verify", CONTINUE_VERIFY, "Continue on verify errors only" },
	{ "all", CONTINUE_IO | CONTINUE_VERIFY, "Continue on all io and verify errors" },
	{ "0", CONTINUE_NONE, "Alias for none" },
	{ "1", CONTINUE_IO | CONTINUE_VERIFY, "Alias for all" },
	{ NULL, 0, NULL },
};

static const struct choice policy_choices[] = {
	{ "shared", CPUS_SHARED, "All clones share the CPUs of cpus_allowed" },
	{ "split", CPUS_SPLIT, "Each clone gets a CPU of its own from cpus_allowed" },
	{ NULL, 0, NULL },
};

static const struct choice clock_choices[] = {
	{ "gettimeofday", CLOCK_GETTIMEOFDAY, "Use gettimeofday(2) for timing" },
	{ "clock_gettime", CLOCK_GETTIME, "Use clock_gettime(2) for timing" },
	{ "cpu", CLOCK_CPU, "Use the CPU's own clock" },
	{ NULL, 0, NULL },
};

#define PERCENTILES "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99"

/* name, alias, kind, min, max, default, place, choices, help, engines */
const struct option options_random[] = {
	{ "randseed", NULL, OPTION_SEED, 0, UINT64_MAX, NULL, NO_FIELD, NULL,
	  "Set the random generator seed value (always honoured; fio before 3.35 ignores it unless randrepeat=0)",
	  NULL },
	{ "randrepeat", NULL, OPTION_BOOL, 0, 1, "1", J(randrepeat), NULL, "Use repeatable random IO pattern", NULL },
	{ "norandommap", NULL, OPTION_FLAG, 0, 1, NULL, J(norandommap), NULL,
	  "Accept potential duplicate random blocks", NULL },
	{ "random_distribution", NULL, OPTION_DISTRIBUTION, 0, 0, "random", J(distribution), distribution_choices,
	  "Random offset distribution generator (zipf:1.1, pareto:0.2 and normal:0 unless given)", NULL },
	{ "percentage_random", NULL, OPTION_DIRECTIONS, 0, 100, "100", J(percentage_random), NULL,
	  "Percentage of seq/random mix that should be random", NULL },
	OPTION_END,
};

const struct option options_cache[] = {
	{ "direct", NULL, OPTION_BOOL, 0, 1, "0", J(direct), NULL, "Use O_DIRECT IO (negates buffered)", NULL },
	{ "buffered", NULL, OPTION_INVERSE, 0, 1, NULL, J(direct), NULL, "Use buffered IO (negates direct)", NULL },
	{ "sync", NULL, OPTION_CHOICE, 0, 0, "none", J(sync), sync_choices, "Use synchronous write IO", NULL },
	{ "fsync", NULL, OPTION_UNSIGNED, 0, UINT_MAX, "0", J(fsync), NULL,
	  "Issue fsync for writes every given number of blocks", NULL },
	{ "fdatasync", NULL, OPTION_UNSIGNED, 0, UINT_MAX, "0", J(fdatasync), NULL,
	  "Issue fdatasync for writes every given number of blocks", NULL },
	{ "end_fsync", NULL, OPTION_BOOL, 0, 1, "0", J(end_fsync), NULL, "Include fsync at the end of job", NULL },
	{ "invalidate", NULL, OPTION_BOOL, 0, 1, "1", J(invalidate), NULL,
	  "Invalidate buffer/page cache prior to running job", NULL },
	{ "fadvise_hint", NULL, OPTION_CHOICE, 0, 0, "1", J(fadvise_hint), advice_choices,
	  "Use fadvise to advise the kernel on IO pattern", NULL },
	OPTION_END,
};

const struct option options_data[] = {
	{ "zero_buffers", NULL, OPTION_FLAG, 0, 1, NULL, J(zero_buffers), NULL, "Init IO buffers to all zeroes", NULL },
	{ "refill_buffers", NULL, OPTION_FLAG, 0, 1, NULL, J(refill_buffers), NULL,
	  "Refill IO buffers on every IO submit (also with verify, dedupe and compression)", NULL },
	{ "scramble_buffers", NULL, OPTION_BOOL, 0, 1, "1", J(scramble_buffers), NULL,
	  "Slightly scramble buffers on every IO submit", NULL },
	{ "buffer_pattern", NULL, OPTION_PATTERN, 0, 0, NULL, J(buffer_pattern), NULL,
	  "Fill pattern for IO buffers", NULL },
	{ "buffer_compress_percentage", NULL, OPTION_UNSIGNED, 0, 100, "0", J(buffer_compress_percentage), NULL,
	  "How compressible the buffer is (approximately)", NULL },
	{ "buffer_compress_chunk", NULL, OPTION_UNSIGNED, 1, UINT_MAX, "512", J(buffer_compress_chunk), NULL,
	  "Size of compressible region in buffer", NULL },
	{ "dedupe_percentage", NULL, OPTION_UNSIGNED, 0, 100, "0", J(dedupe_percentage), NULL,
	  "Percentage of buffers that are dedupable", NULL },
	OPTION_END,
};

const struct option options_verify[] = {
	{ "verify", NULL, OPTION_CHOICE, 0, 0, "0", J(verify), verify_choices, "Verify data written", NULL },
	{ "do_verify", NULL, OPTION_BOOL, 0, 1, "1", J(do_verify), NULL, "Run verification stage after write", NULL },
	{ "verify_fatal", NULL, OPTION_BOOL, 0, 1, "0", J(verify_fatal), NULL,
	  "Exit on a single verify failure, don't continue", NULL },
	{ "verify_only", NULL, OPTION_FLAG, 0, 1, NULL, J(verify_only), NULL,
	  "Verifies previously written data is still valid", NULL },
	{ "verify_backlog", NULL, OPTION_NUMBER, 0, UINT64_MAX, "0", J(verify_backlog), NULL,
	  "Verify after this number of blocks are written", NULL },
	{ "verify_pattern", NULL, OPTION_PATTERN, 0, 0, NULL, J(verify_pattern), NULL,
	  "Fill pattern for the data behind a block's header", NULL },
	{ "verify_map", NULL, OPTION_STRING, 1, 0, NULL, J(verify_map), NULL,
	  "File that keeps which generation of each block was written (kickio's own)", NULL },
	{ "verify_name", NULL, OPTION_STRING, 1, 0, NULL, J(verify_name), NULL,
	  "Name that headers and map know the file by, instead of its path (kickio's own)", NULL },
	{ "continue_on_error", NULL, OPTION_CHOICE, 0, 0, "none", J(continue_on_error), continue_choices,
	  "Continue on non-fatal errors during IO", NULL },
	OPTION_END,
};

const struct option options_cpu[] = {
	{ "cpus_allowed", NULL, OPTION_CPUS, 0, 0, NULL, J(cpus_allowed), NULL, "Set CPUs allowed", NULL },
	{ "cpus_allowed_policy", NULL, OPTION_CHOICE, 0, 0, "shared", J(cpus_allowed_policy), policy_choices,
	  "Distribution policy for cpus_allowed", NULL },
	{ "nice", NULL, OPTION_SIGNED, 0, 0, "0", J(nice), NULL, "Set job CPU nice value", NULL },
	OPTION_END,
};

const struct option options_report[] = {
	{ "clocksource", NULL, OPTION_CHOICE, 0, 0, NULL, J(clocksource), clock_choices,
	  "What type of timing source to use", NULL },
	{ "gtod_reduce", NULL, OPTION_BOOL, 0, 1, "0", J(gtod_reduce), NULL,
	  "Greatly reduce number of clock reads: no latencies", NULL },
	{ "disable_lat", NULL, OPTION_BOOL, 0, 1, "0", J(disable_lat), NULL, "Disable latency numbers", NULL },
	{ "disable_clat", NULL, OPTION_BOOL, 0, 1, "0", J(disable_clat), NULL,
	  "Disable completion latency numbers", NULL },
	{ "disable_slat", NULL, OPTION_BOOL, 0, 1, "0", J(disable_slat), NULL,
	  "Disable submission latency numbers", NULL },
	{ "disable_bw", "disable_bw_measurement", OPTION_BOOL, 0, 1, "0", J(disable_bw), NULL,
	  "Disable bandwidth logging", NULL },
	{ "clat_percentiles", NULL, OPTION_BOOL, 0, 1, "1", J(clat_percentiles), NULL,
	  "Enable the reporting of completion latency percentiles", NULL },
	{ "slat_percentiles", NULL, OPTION_BOOL, 0, 1, "0", J(slat_percentiles), NULL,
	  "Enable the reporting of submission latency percentiles", NULL },
	{ "lat_percentiles", NULL, OPTION_BOOL, 0, 1, "0", J(lat_percentiles), NULL,
	  "Enable the reporting of IO latency percentiles", NULL },
	{ "percentile_list", NULL, OPTION_PERCENTILES, 0, 100, PERCENTILES, NO_FIELD, NULL,
	  "Specify a custom list of percentiles to report", NULL },
	{ "bwavgtime", NULL, OPTION_UNSIGNED, 1, UINT_MAX, "500", J(bwavgtime_ms), NULL,
	  "Time window over which to calculate bandwidth (msec)", NULL },
	{ "iopsavgtime", NULL, OPTION_UNSIGNED, 1, UINT_MAX, "500", J(iopsavgtime_ms), NULL,
	  "Time window over which to calculate IOPS (msec)", NULL },
	OPTION_END,
};

const struct option options_log[] = {
	{ "write_lat_log", NULL, OPTION_LOG, 0, 0, NULL, J(write_lat_log), NULL, "Write log of latency during run", NULL },
	{ "write_bw_log", NULL, OPTION_LOG, 0, 0, NULL, J(write_bw_log), NULL, "Write log of bandwidth during run", NULL },
	{ "write_iops_log", NULL, OPTION_LOG, 0, 0, NULL, J(write_iops_log), NULL, "Write log of IOPS during run", NULL },
	{ "write_hist_log", NULL, OPTION_LOG, 0, 0, NULL, J(write_hist_log), NULL,
	  "Write log of latency histograms during run", NULL },
	{ "log_avg_msec", NULL, OPTION_UNSIGNED, 0, UINT_MAX, "0", J(log_avg_msec), NULL,
	  "Average bw/iops/lat logs over this period of time", NULL },
	{ "log_hist_msec", NULL, OPTION_UNSIGNED, 0, UINT_MAX, "0", J(log_hist_msec), NULL,
	  "Dump completion latency histograms at frequency of this time value", NULL },
	{ "log_hist_coarseness", NULL, OPTION_UNSIGNED, 0, 6, "0", J(log_hist_coarseness), NULL,
	  "Higher coarseness outputs fewer histogram bins per sample, half of them each step", NULL },
	{ "log_max_value", NULL, OPTION_BOOL, 0, 1, "0", J(log_max_value), NULL,
	  "Log max sample in a window instead of average", NULL },
	{ "log_offset", NULL, OPTION_BOOL, 0, 1, "0", J(log_offset), NULL,
	  "Include offset of IO for each log entry", NULL },
	{ "per_job_logs", NULL, OPTION_BOOL, 0, 1, "1", J(per_job_logs), NULL,
	  "Include job number in generated log files or not", NULL },
	OPTION_END,
};
