/*
 * Options that are parsed and checked, but whose behaviour does not exist yet: any value but the default is
 * refused, so that none is ever ignored. Who makes one work removes its name here.
 */
#include "guest/option_table.h"

#include <string.h>

static const char *const pending[] = {
	"allow_mounted_write",
	"ba",
	"bs_unaligned",
	"bsrange",
	"bssplit",
	"buffer_compress_chunk",
	"buffer_compress_percentage",
	"buffer_pattern",
	"bwavgtime",
	"continue_on_error",
	"cpus_allowed",
	"cpus_allowed_policy",
	"create_on_open",
	"dedupe_percentage",
	"disable_clat",
	"disable_lat",
	"disable_slat",
	"do_verify",
	"exitall",
	"exitall_on_error",
	"fadvise_hint",
	"fallocate",
	"fdatasync",
	"file_service_type",
	"filename_format",
	"filesize",
	"fixedbufs",
	"gtod_reduce",
	"hipri",
	"iodepth_batch",
	"iodepth_batch_complete_max",
	"iodepth_batch_complete_min",
	"iodepth_low",
	"iopsavgtime",
	"lat_percentiles",
	"latency_percentile",
	"latency_run",
	"latency_target",
	"latency_window",
	"log_avg_msec",
	"log_hist_coarseness",
	"log_hist_msec",
	"log_max_value",
	"log_offset",
	"loops",
	"nice",
	"nonvectored",
	"nowait",
	"nrfiles",
	"offset_increment",
	"openfiles",
	"overwrite",
	"per_job_logs",
	"percentage_random",
	"random_distribution",
	"rate",
	"rate_iops",
	"rate_process",
	"refill_buffers",
	"registerfiles",
	"scramble_buffers",
	"slat_percentiles",
	"sqthread_poll",
	"stall_timeout",
	"startdelay",
	"status-interval",
	"sync",
	"thinktime",
	"thinktime_blocks",
	"thinktime_spin",
	"unlink",
	"verify",
	"verify_backlog",
	"verify_fatal",
	"verify_map",
	"verify_only",
	"verify_pattern",
	"write_bw_log",
	"write_hist_log",
	"write_iops_log",
	"write_lat_log",
	"zero_buffers",
};

static bool is_pending(const char *name)
{
	for (size_t i = 0; i < sizeof(pending) / sizeof(pending[0]); i++)
		if (strcmp(pending[i], name) == 0)
			return true;
	return false;
}

int option_refuse_pending(const struct option *o, const void *base, const void *initial, struct error *e)
{
	if (!is_pending(o->name) || option_same(o, base, initial))
		return 0;
	return error_set(e, STATUS_FAILED, "%s is not supported yet", o->name);
}
