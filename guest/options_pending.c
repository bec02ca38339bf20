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
	"create_on_open",
	"dedupe_percentage",
	"do_verify",
	"fadvise_hint",
	"fallocate",
	"file_service_type",
	"filename_format",
	"filesize",
	"nrfiles",
	"offset_increment",
	"openfiles",
	"overwrite",
	"percentage_random",
	"random_distribution",
	"refill_buffers",
	"scramble_buffers",
	"stall_timeout",
	"status-interval",
	"sync",
	"unlink",
	"verify",
	"verify_backlog",
	"verify_fatal",
	"verify_map",
	"verify_only",
	"verify_pattern",
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
