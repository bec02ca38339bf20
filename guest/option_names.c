/* Names that fio 3.33 knows (fio --cmdhelp, --help, --enghelp) and kickio does not support: refused by name. */
#include "guest/option_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static const char *const fio_options[] = {
	"alloc-size", "allow_file_create", "allrandrepeat", "append-terse", "arguments", "atomic",
	"aux-path", "bandwidth-log", "bindname", "block_error_percentiles", "brick", "busy_poll",
	"cgroup", "cgroup_nodelete", "cgroup_weight", "client", "clientname", "clustername", "cmd_type",
	"cmdprio", "cmdprio_bssplit", "cmdprio_class", "cmdprio_percentage", "conf", "cpuchunks",
	"cpuclock-test", "cpuload", "cpumask", "cpumode", "crctest", "create_fsync", "create_only",
	"create_serialize", "daemonize", "debug", "dedupe_global", "dedupe_mode",
	"dedupe_working_set_percentage", "disk_util", "donorname", "error_dump", "exec_postrun",
	"exec_prerun", "exit_on_io_done", "exit_what", "experimental_verify", "file_append",
	"fill_device", "fill_fs", "flow", "flow_id", "flow_sleep", "force_async", "fsync_on_close", "gid",
	"grace_time", "gtod_cpu", "hipri_percentage", "hostname", "hugepage-size", "idle-prof",
	"ignore_error", "ignore_zone_limits", "include", "inflate-log", "inplace", "interface",
	"io_submit_mode", "iomem", "ioscheduler", "job_max_open_zones", "kb_base", "listen", "lockfile",
	"lockmem", "log_alternate_epoch", "log_alternate_epoch_clock_id", "log_compression",
	"log_compression_cpus", "log_entries", "log_prio", "log_store_compressed", "log_unix_epoch",
	"max-jobs", "max_latency", "max_open_zones", "mem", "merge-blktrace-only", "merge_blktrace_file",
	"merge_blktrace_iters", "merge_blktrace_scalars", "mss", "nodelay", "numa_cpu_nodes",
	"numa_mem_policy", "offset_align", "opendir", "openfiles", "pingpong", "pool", "port", "pre_read", "prio",
	"prioclass", "profile", "program", "protocol", "random_generator", "rate_cycle",
	"rate_ignore_thinktime", "rate_iops_min", "rate_min", "ratecycle", "ratemin", "rbdname",
	"read_beyond_wp", "read_iolog", "read_iolog_chunked", "readfua", "remote-config", "replay_align",
	"replay_no_stall", "replay_redirect", "replay_scale", "replay_skip", "replay_time_scale",
	"rw_sequencer", "serialize_overlap", "server", "sg_write_mode", "showcmd", "significant_figures",
	"single-instance", "skip_bad", "sqthread_poll_cpu", "ss", "ss_dur", "ss_ramp", "stat_type",
	"stats", "std_redirect", "steadystate", "steadystate_duration", "steadystate_ramp_time",
	"stream_id", "sync_file_range", "thinktime_blocks_type", "thinktime_iotime", "thp",
	"touch_objects", "trigger", "trigger-file", "trigger-remote", "trigger-timeout", "trim_backlog",
	"trim_backlog_batch", "trim_percentage", "trim_verify_zero", "ttl", "uid", "uncached",
	"unified_rw_reporting", "unique_filename", "unit_base", "unlink_each_loop", "uri",
	"userspace_reap", "verb", "verify_async", "verify_backlog_batch", "verify_dump",
	"verify_interval", "verify_offset", "verify_state_load", "verify_state_save", "volume",
	"wait_for", "warnings-fatal", "window_size", "write_barrier", "write_hint", "write_iolog",
	"writefua", "zone_reset_frequency", "zone_reset_threshold", "zonecapacity", "zonemode",
	"zonerange", "zonesize", "zoneskip",
};

static const char *const fio_engines[] = {
	"cpuio", "dev-dax", "e4defrag", "exec", "falloc", "filecreate", "filedelete", "filestat",
	"ftruncate", "gfapi", "gfapi_async", "io_uring", "io_uring_cmd", "libaio", "libpmem", "mmap",
	"mtd", "nbd", "net", "netsplice", "null", "pmemblk", "posixaio", "psync", "pvsync", "pvsync2",
	"rados", "rbd", "rdma", "sg", "splice", "sync", "vsync",
};

const char *const kickio_engines[] = {
	"io_uring", "libaio", "null", "posixaio", "psync", "pvsync2", "sync", NULL,
};

/* Where an engine cannot be, whatever the build; system NULL: everywhere but on Linux. */
static const struct impossible {
	const char *engine, *system, *reason;
} impossible[] = {
	{ "io_uring", NULL, "only Linux has io_uring(7)" },
	{ "libaio", NULL, "only Linux has io_submit(2)" },
	{ "posixaio", "OpenBSD", "OpenBSD has no aio(3)" },
	{ "pvsync2", NULL, "only Linux has preadv2(2)" },
};

const char *engine_absent_reason(const char *name)
{
	struct utsname system;
	bool known = false;

	for (const char *const *e = kickio_engines; *e; e++)
		known |= strcmp(*e, name) == 0;
	if (!known)
		return NULL;
	if (uname(&system) < 0)
		return "left out when it was built";
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		const struct impossible *m = &impossible[i];

		if (strcmp(m->engine, name) == 0 &&
		    (m->system ? strcmp(system.sysname, m->system) == 0 : strcmp(system.sysname, "Linux") != 0))
			return m->reason;
	}
	if (strcmp(name, "posixaio") == 0)
		return "the libc that it was built with has no aio(3)";
	return "no library for it was found where it was built";
}

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

static void nearest_of(const char *name, const struct option *o, const char **best, unsigned *least)
{
	for (; o->name; o++) {
		nearer(name, o->name, best, least);
		nearer(name, o->alias, best, least);
	}
}

const char *option_nearest(const char *name)
{
	/* further away than this is a guess, not a slip of the finger */
	unsigned least = strlen(name) < 4 ? 2 : strlen(name) / 3 + 2;
	const char *best = NULL;

	for (const struct option_section *t = job_sections; t->title; t++)
		nearest_of(name, t->options, &best, &least);
	nearest_of(name, program_options, &best, &least);
	return best;
}
