#include "guest/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/collect.h"
#include "guest/crew.h"
#include "guest/monitor.h"
#include "guest/offsets.h"
#include "guest/os.h"
#include "guest/snapshot.h"
#include "guest/stall.h"
#include "guest/verify_store.h"

#define DEFAULT_SEED 0x89

/* The only thing that a signal handler touches: the running run's stop word in shared memory. */
static volatile int *volatile stop_word;
static volatile int reports_asked; /* likewise: the monitor compares it with what it has seen */

struct run {
	const struct jobs *jobs;
	const struct run_hooks *hooks;
	struct run_result *result;
	struct note_sink notes;
	struct crew crew;
	struct monitor monitor;
	struct clock clock;
	struct disk_watch disks;
	unsigned waves;
	char *shared; /* one page with the stop word, then the slots, each with the histograms it needs */
	size_t shared_bytes, slot_bytes;
	uint64_t begun_ns;
};

void run_terminate(int signal)
{
	if (stop_word && *stop_word == 0)
		*stop_word = signal;
}

void run_ask_report(void)
{
	reports_asked++;
}

/* ---- setting up ---- */

static size_t round_up(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Percentiles of slat and lat are rare: only jobs that ask for them have the histograms, behind their slot. */
static void add_histograms(struct slot *slot, const struct job *job)
{
	struct histogram *h = (struct histogram *)(slot + 1);

	for (unsigned d = 0; d < DDIRS; d++) {
		if (job->slat_percentiles) {
			slot->result.dir[d].slat_histogram = h++;
			slot->snapshot.dir[d].slat_histogram = h++;
		}
		if (job->lat_percentiles) {
			slot->result.dir[d].lat_histogram = h++;
			slot->snapshot.dir[d].lat_histogram = h++;
		}
	}
}

static int open_shared(struct run *run, struct error *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	/* Memory that nobody touches costs nothing: all slots have room for all. */
	run->slot_bytes = round_up(sizeof(struct slot) + 4 * DDIRS * sizeof(struct histogram), page);
	run->shared_bytes = page + run->crew.count * run->slot_bytes;
	run->shared = mmap(NULL, run->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
	if (run->shared == MAP_FAILED) {
		run->shared = NULL;
		return error_errno(e, STATUS_FAILED, "cannot get %zu bytes of shared memory", run->shared_bytes);
	}
	run->crew.stop = (volatile int *)run->shared;
	for (unsigned i = 0; i < run->crew.count; i++) {
		struct clone *c = &run->crew.clone[i];

		c->slot = (struct slot *)(run->shared + page + i * run->slot_bytes);
		add_histograms(c->slot, c->job);
	}
	return 0;
}

static uint64_t entropy(void)
{
	int fd = open("/dev/urandom", O_RDONLY);
	uint64_t seed = 0;
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, &seed, sizeof(seed));
		close(fd);
	}
	return n == (ssize_t)sizeof(seed) ? seed : clock_monotonic_ns() ^ ((uint64_t)getpid() << 32);
}

static uint64_t job_seed(const struct job *job)
{
	if (job->randseed_set)
		return job->randseed;
	return job->randrepeat ? DEFAULT_SEED : entropy();
}

static uint64_t start_delay_ns(const struct job *job, uint64_t seed, unsigned index)
{
	struct random64 random = random64_stream(seed, 0x64656c6179 + (uint64_t)index);
	uint64_t width = job->startdelay_us.hi - job->startdelay_us.lo;

	return (job->startdelay_us.lo + (width ? random64_below(&random, width + 1) : 0)) * 1000;
}

static int open_clones(struct run *run, struct error *e)
{
	struct crew *crew = &run->crew;
	unsigned n = 0;

	for (size_t j = 0; j < run->jobs->count; j++)
		crew->count += run->jobs->job[j].numjobs;
	crew->clone = calloc(crew->count ? crew->count : 1, sizeof(*crew->clone));
	if (!crew->clone)
		return error_errno(e, STATUS_FAILED, "jobs");
	for (size_t j = 0; j < run->jobs->count; j++) {
		const struct job *job = &run->jobs->job[j];
		uint64_t seed = job_seed(job);

		if (j == 0 || job->stonewall)
			run->waves++;
		for (unsigned k = 0; k < job->numjobs; k++, n++)
			crew->clone[n] = (struct clone){
				.job = job, .jobnum = k, .index = n, .wave = run->waves - 1, .seed = seed,
				.crew = crew, .thread = job->thread || !os_has_processes,
				.delay_ns = start_delay_ns(job, seed, n),
			};
	}
	return 0;
}

/* Only one clock serves all jobs, as in fio: the first one that asks for another than the default. */
static int open_clock(struct run *run, struct error *e)
{
	enum clocksource source = CLOCK_DEFAULT;

	for (size_t j = 0; j < run->jobs->count && source == CLOCK_DEFAULT; j++)
		source = run->jobs->job[j].clocksource;
	return clock_init(&run->clock, source, e);
}

/* Files of all clones, one after the other. A clone without its files is a failed job; the others go on. */
static void prepare_files(struct run *run)
{
	for (unsigned i = 0; i < run->crew.count; i++) {
		struct clone *c = &run->crew.clone[i];
		struct job_result *r = &c->slot->result;
		bool readonly = run->jobs->readonly;

		r->job = c->job;
		r->groupid = c->job->groupid;
		r->members = 1;
		if (files_find(&c->files, c->job, c->jobnum, readonly, &run->notes, &r->failure) == 0 &&
		    files_size(&c->files, c->job, &run->notes, &r->failure) == 0 &&
		    files_lay_out(&c->files, c->job, readonly || c->job->verify_only, run->crew.stop, &run->notes,
				  &r->failure) == 0)
			continue;
		c->doomed = true;
		/* Not a failure of the job when the user ended the run during layout. */
		if (*run->crew.stop)
			r->failure = (struct failure){0};
	}
}

/* The generation maps of all clones that verify. */
static int open_verify(struct run *run, struct error *e)
{
	struct verify_client *client = calloc(run->crew.count + 1, sizeof(*client));
	unsigned n = 0;
	int r;

	if (!client)
		return error_errno(e, STATUS_FAILED, "verify");
	for (unsigned i = 0; i < run->crew.count; i++) {
		struct clone *c = &run->crew.clone[i];

		if (!c->doomed && c->job->verify != VERIFY_NONE)
			client[n++] = (struct verify_client){ c->job, &c->files };
	}
	r = verify_store_open(&run->crew.verify, client, n, &run->notes, e);
	free(client);
	return r;
}

static int run_open(struct run *run, struct error *e)
{
	if (open_clock(run, e) < 0 || open_clones(run, e) < 0 || open_shared(run, e) < 0)
		return -1;
	run->crew.clock = &run->clock;
	stop_word = run->crew.stop;
	return crew_open(&run->crew, e);
}

static void run_close(struct run *run)
{
	stop_word = NULL;
	monitor_close(&run->monitor);
	crew_close(&run->crew);
	disk_watch_free(&run->disks);
	if (crew_abandoned(&run->crew))
		return; /* it may come back any time */
	verify_store_close(run->crew.verify, true);
	stall_close(&run->crew);
	for (unsigned i = 0; i < run->crew.count && run->crew.clone; i++)
		files_free(&run->crew.clone[i].files);
	free(run->crew.clone);
	if (run->shared)
		munmap(run->shared, run->shared_bytes);
}

/* ---- running ---- */

static void begin(void *context)
{
	struct run *run = context;

	disk_watch_start(&run->disks);
	run->begun_ns = clock_monotonic_ns();
	if (run->hooks->begin)
		run->hooks->begin(run->hooks->context);
}

/* A report in between: the same as the last one, from what there is now. */
static int report_now(void *context, uint64_t eta_us, struct error *e)
{
	struct run *run = context;
	struct run_result now = {0};
	int r;

	if (!run->monitor.begun)
		return 0;
	r = snapshot_take(&run->crew, e);
	now.elapsed_us = (clock_monotonic_ns() - run->monitor.start_ns) / 1000;
	now.eta_us = eta_us;
	disk_watch_stop(&run->disks, (clock_monotonic_ns() - run->begun_ns) / 1000);
	if (r == 0)
		r = collect(&now, &run->crew, &run->disks, e);
	if (r == 0)
		run->hooks->report(run->hooks->context, &now);
	run_result_free(&now);
	snapshot_drop(&run->crew);
	return r;
}

static bool any_ready(const struct crew *crew, unsigned wave)
{
	for (unsigned i = 0; i < crew->count; i++)
		if (crew->clone[i].wave == wave && crew->clone[i].alive &&
		    slot_load(&crew->clone[i].slot->phase) == PHASE_READY)
			return true;
	return false;
}

/* Recording starts with the first clone whose delay and ramp are over. */
static uint64_t recording_begins_ns(const struct crew *crew, unsigned wave, uint64_t now)
{
	uint64_t earliest = UINT64_MAX;

	for (unsigned i = 0; i < crew->count; i++) {
		const struct clone *c = &crew->clone[i];

		uint64_t start = crew->born_ns + c->delay_ns;

		start = (start > now ? start : now) + c->job->ramp_us * 1000;
		if (c->wave == wave && !c->doomed && start < earliest)
			earliest = start;
	}
	return earliest;
}

static void begin_now(struct run *run)
{
	if (run->monitor.begun)
		return;
	run->monitor.begun = true;
	begin(run);
}

static int run_wave(struct run *run, unsigned wave, struct error *e)
{
	struct monitor *m = &run->monitor;
	uint64_t begin_ns, now;

	if (crew_start(&run->crew, wave, e) < 0)
		return -1;
	monitor_tell(m, true);
	if (!any_ready(&run->crew, wave)) {
		crew_go(&run->crew);
		crew_join(&run->crew, wave);
		return 0;
	}
	now = clock_monotonic_ns();
	begin_ns = recording_begins_ns(&run->crew, wave, now);
	if (!m->start_ns)
		m->start_ns = m->progress_ns = m->report_ns = now;
	if (begin_ns <= now)
		begin_now(run);
	crew_go(&run->crew);
	return monitor_watch(m, wave, begin_ns, e);
}

/* The last wave's clones are over, but not yet waited for: the end is told first. */
static void finish(struct run *run)
{
	int signal = *run->crew.stop;
	uint64_t now = clock_monotonic_ns();

	if (run->monitor.start_ns) {
		begin_now(run); /* all ended within their ramps */
		if (run->hooks->end)
			run->hooks->end(run->hooks->context);
		if (run->hooks->maps && run->crew.verify)
			run->hooks->maps(run->hooks->context, run->crew.verify, true);
		run->result->elapsed_us = (now - run->monitor.start_ns) / 1000;
	}
	disk_watch_stop(&run->disks, (now - run->begun_ns) / 1000);
	for (unsigned wave = 0; wave < run->waves; wave++)
		crew_join(&run->crew, wave);
	monitor_tell(&run->monitor, false);
	run->result->signal = signal > 0 ? signal : 0;
	if (signal > 0)
		note_send(&run->notes, "kickio: terminating on signal %d", signal);
}

static int run_waves(struct run *run, struct error *e)
{
	int r = 0;

	for (unsigned wave = 0; r == 0 && wave < run->waves && !*run->crew.stop; wave++) {
		if (wave > 0)
			crew_join(&run->crew, wave - 1);
		r = run_wave(run, wave, e);
	}
	finish(run);
	return r;
}

int run_jobs(const struct jobs *jobs, const struct run_hooks *hooks, struct run_result *result, struct error *e)
{
	struct run run = {
		.jobs = jobs, .hooks = hooks, .result = result,
		.notes = { hooks->note, hooks->context },
		.monitor = { .hooks = hooks, .begin = begin, .report = report_now, .report_asked = &reports_asked,
			     .reports_told = reports_asked },
	};
	int r = -1;

	*result = (struct run_result){0};
	run.crew.wake[0] = run.crew.wake[1] = run.crew.go[0] = run.crew.go[1] = -1;
	run.monitor.crew = &run.crew;
	run.monitor.begin_context = &run;
	if (run_open(&run, e) == 0 && monitor_open(&run.monitor, e) == 0) {
		prepare_files(&run);
		monitor_tell(&run.monitor, false);
		r = open_verify(&run, e) < 0 || stall_open(&run.crew, e) < 0 ? -1 : 0;
		if (r == 0)
			r = disk_watch_open(&run.disks, &run.crew, e);
		if (r == 0)
			r = run_waves(&run, e);
		if (r == 0)
			r = collect(result, &run.crew, &run.disks, e);
	}
	run_close(&run);
	if (r < 0)
		run_result_free(result);
	return r;
}
