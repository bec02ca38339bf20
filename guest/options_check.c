/* The checks that need a whole job. */
#include "guest/options.h"

#include <string.h>

#include "guest/option_table.h"
#include "guest/os.h"

static bool uses(const struct job *job, int ddir)
{
	return ddir == DDIR_READ ? rw_reads(job->rw) : ddir == DDIR_WRITE && rw_writes(job->rw);
}

static uint64_t least_block(const struct job *job)
{
	uint64_t least = job_bs_min(job, DDIR_READ);

	for (int d = 1; d < DDIRS; d++)
		if (job_bs_min(job, (enum ddir)d) < least)
			least = job_bs_min(job, (enum ddir)d);
	return least;
}

/* The extremes of a bssplit stand where those of a bsrange do. */
static int check_blocks(struct job *job, struct text *notes, struct error *e)
{
	bool aligned = false;

	for (int d = 0; d < DDIRS; d++) {
		const struct bssplit *split = &job->bssplit[d];
		struct range r = { .lo = UINT64_MAX };

		aligned |= job->blockalign[d] && uses(job, d) && job->blockalign[d] != job_bs_min(job, (enum ddir)d);
		if (split->count == 0)
			continue;
		if (job->bs_range[d].hi)
			return error_set(e, STATUS_FAILED, "bsrange and bssplit are mutually exclusive");
		for (unsigned i = 0; i < split->count; i++) {
			r.lo = split->part[i].bs < r.lo ? split->part[i].bs : r.lo;
			r.hi = split->part[i].bs > r.hi ? split->part[i].bs : r.hi;
		}
		job->bs_range[d] = r;
	}
	if (job->bs_unaligned && job->direct)
		text_add(notes, "kickio: bs_unaligned may not work with raw io\n");
	if (aligned && !job->norandommap) {
		text_add(notes, "kickio: Any use of blockalign= turns off randommap\n");
		job->norandommap = true;
	}
	if (job->size.bytes && job->size.bytes < least_block(job))
		return error_set(e, STATUS_FAILED,
				 "size too small, must not be less than minimum block size: %llu < %llu",
				 (unsigned long long)job->size.bytes, (unsigned long long)least_block(job));
	return 0;
}

static int check_engine(struct job *job, struct text *notes, const struct job *initial, struct error *e)
{
	for (const struct option *o = options_engine; o->name; o++)
		if (!option_of_engine(o, job->engine->name) && !option_same(o, job, initial))
			return error_set(e, STATUS_FAILED, "engine %s has no option %s; it belongs to: %s",
					 job->engine->name, o->name, o->engines);
	if (job->engine->diskless && job->verify != VERIFY_NONE)
		return error_set(e, STATUS_FAILED, "engine %s keeps no data that verify= could look at", job->engine->name);
	if (job->engine->synchronous && job->iodepth > 1)
		text_add(notes, "note: both iodepth >= 1 and synchronous I/O engine are selected, "
				"queue depth will be capped at 1\n");
	if (job->iodepth_batch > job->iodepth)
		job->iodepth_batch = job->iodepth;
	if (job->iodepth_low > job->iodepth || job->iodepth_low == 0)
		job->iodepth_low = job->iodepth;
	if (job->iodepth_batch_complete_min > job->iodepth)
		job->iodepth_batch_complete_min = job->iodepth;
	if (job->iodepth_batch_complete_max && job->iodepth_batch_complete_max < job->iodepth_batch_complete_min)
		job->iodepth_batch_complete_max = job->iodepth_batch_complete_min;
	return 0;
}

static int check_time(struct job *job, struct text *notes, struct error *e)
{
	for (int d = 0; d < DDIRS; d++)
		if (job->rate[d] && job->rate_iops[d])
			return error_set(e, STATUS_FAILED, "rate and rate_iops are mutually exclusive");
	if (job->thinktime_spin_us > job->thinktime_us)
		return error_set(e, STATUS_FAILED, "thinktime_spin is a part of thinktime and cannot be longer");
	if (job->latency_target_us == 0 && (job->latency_window_us || job->latency_run))
		return error_set(e, STATUS_FAILED, "latency_window and latency_run need a latency_target");
	if (job->time_based && !job->runtime_us) {
		text_add(notes, "kickio: time_based requires a runtime/timeout setting\n");
		job->time_based = false;
	}
	return 0;
}

static int check_data(struct job *job, struct text *notes, struct error *e)
{
	bool fresh = job->dedupe_percentage || job->buffer_compress_percentage || job->verify != VERIFY_NONE;

	for (int d = 0; d < DDIRS; d++)
		job->norandommap |= uses(job, d) && rw_random(job->rw) &&
				    job->distribution[d].kind != DISTRIBUTION_RANDOM;
	if (job->buffer_pattern.length && job->zero_buffers)
		return error_set(e, STATUS_FAILED, "buffer_pattern and zero_buffers are mutually exclusive");
	if (job->buffer_pattern.length || job->zero_buffers)
		job->scramble_buffers = false;
	if (job->buffer_pattern.length && !job->buffer_compress_percentage)
		job->refill_buffers = false;
	else if (fresh)
		job->refill_buffers = true;
	if (job->verify == VERIFY_NONE && (job->verify_only || job->verify_backlog || job->verify_map || job->verify_name ||
					   job->verify_pattern.length))
		return error_set(e, STATUS_FAILED,
				 "verify_only, verify_backlog, verify_pattern, verify_map and verify_name need verify=");
	if (job->verify != VERIFY_NONE && rw_writes(job->rw) && job->do_verify && job->numjobs > 1 && job->filename)
		text_add(notes, "kickio: multiple writers may overwrite blocks that belong to other jobs. "
				"This can cause verification failures.\n");
	if (job->gtod_reduce)
		job->disable_lat = job->disable_clat = job->disable_slat = true;
	return 0;
}

int options_check_job(const struct jobs *jobs, struct job *job, struct text *notes, struct error *e)
{
	struct job initial;
	int rc;

	if (jobs->readonly && rw_writes(job->rw))
		return error_set(e, STATUS_FAILED,
				 "job <%s> has write or trim bit set, but kickio is in read-only mode", job->name);
	if (!os_has_processes && !job->thread)
		text_add(notes, "kickio: this platform does not support process shared mutexes, forcing use of threads. "
				"Use the 'thread' option to get rid of this warning.\n");
	if (job_defaults(&initial, e))
		return -1;
	rc = check_blocks(job, notes, e);
	if (rc == 0)
		rc = check_time(job, notes, e);
	if (rc == 0)
		rc = check_data(job, notes, e);
	if (rc == 0)
		rc = check_engine(job, notes, &initial, e);
	job_release(&initial);
	return rc;
}
