/* Names that fio 3.33 knows (fio --cmdhelp, --help, --enghelp) and kickio does not support: refused by name. */
#include "guest/option_table.h"

#include <stdlib.h>
#include <string.h>

static const char *const fio_options[] = {
	"alloc-size", "allow_file_create", "allow_mounted_write", "allrandrepeat", "append-terse",
	"arguments", "atomic", "aux-path", "ba", "bandwidth-log", "bindname", "block_error_percentiles",
	"blockalign", "blocksize_range", "blocksize_unaligned", "brick", "bs_unaligned", "bsrange",
	"bssplit", "buffer_compress_chunk", "buffer_compress_percentage", "buffer_pattern", "busy_poll",
	"bwavgtime", "cgroup", "cgroup_nodelete", "cgroup_weight", "clat_percentiles", "client",
	"clientname", "clustername", "cmd_type", "cmdprio", "cmdprio_bssplit", "cmdprio_class",
	"cmdprio_percentage", "conf", "continue_on_error", "cpuchunks", "cpuclock-test", "cpuload",
	"cpumask", "cpumode", "cpus_allowed", "cpus_allowed_policy", "crctest", "create_fsync",
	"create_on_open", "create_only", "create_serialize", "daemonize", "debug", "dedupe_global",
	"dedupe_mode", "dedupe_percentage", "dedupe_working_set_percentage", "disable_bw",
	"disable_bw_measurement", "disable_clat", "disable_lat", "disable_slat", "disk_util", "do_verify",
	"donorname", "error_dump", "exec_postrun", "exec_prerun", "exit_on_io_done", "exit_what",
	"exitall", "exitall_on_error", "experimental_verify", "fadvise_hint", "fallocate", "fdatasync",
	"file_append", "file_service_type", "filename_format", "filesize", "fill_device",
	"fill_fs", "fixedbufs", "flow", "flow_id", "flow_sleep", "force_async", "fsync_on_close", "gid",
	"grace_time", "gtod_cpu", "gtod_reduce", "hipri", "hipri_percentage", "hostname", "hugepage-size",
	"idle-prof", "ignore_error", "ignore_zone_limits", "include", "inflate-log", "inplace",
	"interface", "io_submit_mode", "iodepth_batch", "iodepth_batch_complete",
	"iodepth_batch_complete_max", "iodepth_batch_complete_min", "iodepth_batch_submit", "iodepth_low",
	"iomem", "iopsavgtime", "ioscheduler", "job_max_open_zones", "kb_base", "lat_percentiles",
	"latency_percentile", "latency_run", "latency_target", "latency_window", "listen", "lockfile",
	"lockmem", "log_alternate_epoch", "log_alternate_epoch_clock_id", "log_avg_msec",
	"log_compression", "log_compression_cpus", "log_entries", "log_hist_coarseness", "log_hist_msec",
	"log_max_value", "log_offset", "log_prio", "log_store_compressed", "log_unix_epoch", "loops",
	"max-jobs", "max_latency", "max_open_zones", "mem", "merge-blktrace-only", "merge_blktrace_file",
	"merge_blktrace_iters", "merge_blktrace_scalars", "minimal", "mss", "nice", "nodelay",
	"nonvectored", "nowait", "nr_files", "nrfiles", "numa_cpu_nodes", "numa_mem_policy",
	"offset_align", "offset_increment", "opendir", "openfiles", "overwrite", "per_job_logs",
	"percentage_random", "pingpong", "pool", "port", "pre_read", "prio", "prioclass", "profile",
	"program", "protocol", "random_distribution", "random_generator", "rate", "rate_cycle",
	"rate_ignore_thinktime", "rate_iops", "rate_iops_min", "rate_min", "rate_process", "ratecycle",
	"ratemin", "rbdname", "read_beyond_wp", "read_iolog", "read_iolog_chunked", "readfua",
	"refill_buffers", "registerfiles", "remote-config", "replay_align", "replay_no_stall",
	"replay_redirect", "replay_scale", "replay_skip", "replay_time_scale", "rw_sequencer",
	"scramble_buffers", "section", "serialize_overlap", "server", "sg_write_mode", "showcmd",
	"significant_figures", "single-instance", "skip_bad", "slat_percentiles", "sqthread_poll",
	"sqthread_poll_cpu", "ss", "ss_dur", "ss_ramp", "startdelay", "stat_type", "stats",
	"status-interval", "std_redirect", "steadystate", "steadystate_duration", "steadystate_ramp_time",
	"stonewall", "stream_id", "sync", "sync_file_range", "terse-version", "thinktime",
	"thinktime_blocks", "thinktime_blocks_type", "thinktime_iotime", "thinktime_spin", "thp",
	"touch_objects", "trigger", "trigger-file", "trigger-remote", "trigger-timeout", "trim_backlog",
	"trim_backlog_batch", "trim_percentage", "trim_verify_zero", "ttl", "uid", "uncached",
	"unified_rw_reporting", "unique_filename", "unit_base", "unlink", "unlink_each_loop", "uri",
	"userspace_reap", "verb", "verify", "verify_async", "verify_backlog", "verify_backlog_batch",
	"verify_dump", "verify_fatal", "verify_interval", "verify_offset", "verify_only", "verify_pattern",
	"verify_state_load", "verify_state_save", "volume", "wait_for", "wait_for_previous",
	"warnings-fatal", "window_size", "write_barrier", "write_bw_log", "write_hint", "write_hist_log",
	"write_iolog", "write_iops_log", "write_lat_log", "writefua", "zero_buffers",
	"zone_reset_frequency", "zone_reset_threshold", "zonecapacity", "zonemode", "zonerange",
	"zonesize", "zoneskip",
};

static const char *const fio_engines[] = {
	"cpuio", "dev-dax", "e4defrag", "exec", "falloc", "filecreate", "filedelete", "filestat",
	"ftruncate", "gfapi", "gfapi_async", "io_uring", "io_uring_cmd", "libaio", "libpmem", "mmap",
	"mtd", "nbd", "net", "netsplice", "null", "pmemblk", "posixaio", "psync", "pvsync", "pvsync2",
	"rados", "rbd", "rdma", "sg", "splice", "sync", "vsync",
};

static bool listed(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool option_known_to_fio(const char *name)
{
	return listed(fio_options, sizeof(fio_options) / sizeof(fio_options[0]), name);
}

bool engine_known_to_fio(const char *name)
{
	return listed(fio_engines, sizeof(fio_engines) / sizeof(fio_engines[0]), name);
}

#define NAME_MAX_LENGTH 40

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Levenshtein distance; names longer than the limit are far from everything. */
static unsigned distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned row[NAME_MAX_LENGTH + 1];

	if (la > NAME_MAX_LENGTH || lb > NAME_MAX_LENGTH)
		return NAME_MAX_LENGTH;
	for (size_t j = 0; j <= lb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[lb];
}

static void nearer(const char *name, const char *candidate, const char **best, unsigned *least)
{
	unsigned d = candidate ? distance(name, candidate) : NAME_MAX_LENGTH;

	if (d < *least) {
		*least = d;
		*best = candidate;
	}
}

const char *option_nearest(const char *name)
{
	const struct option *const tables[] = { job_options, program_options };
	/* further away than this is a guess, not a slip of the finger */
	unsigned least = strlen(name) < 4 ? 2 : strlen(name) / 3 + 2;
	const char *best = NULL;

	for (size_t t = 0; t < 2; t++) {
		for (const struct option *o = tables[t]; o->name; o++) {
			nearer(name, o->name, &best, &least);
			nearer(name, o->alias, &best, &least);
		}
	}
	return best;
}
