/* Every job option by its row: the field that it fills, what it refuses, and the checks of a whole job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/option_table.h"
#include "guest/options.h"

/* A job with these words, not checked as a whole; "name=value" or "name". */
static int set(struct job *job, const char *const *words, struct error *e)
{
	if (job_defaults(job, e))
		return -1;
	for (; *words; words++) {
		char name[64];
		size_t length = strcspn(*words, "=");
		const struct option *o;

		memcpy(name, *words, length);
		name[length] = '\0';
		o = job_option_find(name);
		if (!o)
			fail_msg("no option %s", name);
		if (option_store(o, job, (*words)[length] ? *words + length + 1 : NULL, e))
			return -1;
	}
	return 0;
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define JOB(variable, ...) struct job variable = job_of(WORDS(__VA_ARGS__))

static struct job job_of(const char *const *words)
{
	struct error e = {0};
	struct job job;

	if (set(&job, words, &e))
		fail_msg("%s: %s", words[0], e.text);
	return job;
}

static void refuses(const char *word, const char *text)
{
	struct error e = {0};
	struct job job;

	if (set(&job, WORDS(word), &e) == 0)
		fail_msg("%s was taken", word);
	if (!strstr(e.text, text))
		fail_msg("%s: \"%s\" lacks \"%s\"", word, e.text, text);
	job_release(&job);
}

static void defaults(void **state)
{
	JOB(j, "name=a");

	(void)state;
	assert_int_equal(j.loops, 1);
	assert_int_equal(j.nrfiles, 1);
	assert_int_equal(j.file_service.kind, SERVICE_ROUNDROBIN);
	assert_int_equal(j.file_service.every, 1);
	assert_int_equal(j.fallocate, FALLOCATE_NATIVE);
	assert_int_equal(j.iodepth_batch_complete_min, 1);
	assert_int_equal(j.thinktime_blocks, 1);
	assert_true(j.latency_percentile == 100);
	assert_int_equal(j.percentage_random[DDIR_TRIM], 100);
	assert_int_equal(j.fadvise_hint, ADVICE_PATTERN);
	assert_true(j.scramble_buffers && j.do_verify && j.clat_percentiles && j.per_job_logs);
	assert_false(j.slat_percentiles || j.lat_percentiles || j.verify_fatal || j.refill_buffers);
	assert_int_equal(j.buffer_compress_chunk, 512);
	assert_int_equal(j.bwavgtime_ms, 500);
	assert_int_equal(j.iopsavgtime_ms, 500);
	assert_int_equal(job_bs_min(&j, DDIR_READ), 4096);
	assert_int_equal(job_bs_max(&j, DDIR_READ), 4096);
	job_release(&j);
}

static void sizes(void **state)
{
	JOB(j, "bsrange=8k-4k,1k:2k", "bssplit=4k/50:8k/:16k,64k", "bs_unaligned", "ba=512,1k", "filesize=1m-2m",
	    "offset_increment=10%", "bs=1k,2k,3k");

	(void)state;
	assert_int_equal(j.bs_range[DDIR_READ].lo, 4096);
	assert_int_equal(j.bs_range[DDIR_READ].hi, 8192);
	assert_int_equal(j.bs_range[DDIR_TRIM].hi, 2048);
	assert_int_equal(job_bs_max(&j, DDIR_WRITE), 2048);
	assert_int_equal(j.bssplit[DDIR_READ].count, 3);
	assert_int_equal(j.bssplit[DDIR_READ].part[1].bs, 8192);
	assert_int_equal(j.bssplit[DDIR_READ].part[1].percent, 25);
	assert_int_equal(j.bssplit[DDIR_READ].part[2].percent, 25);
	assert_int_equal(j.bssplit[DDIR_WRITE].count, 1);
	assert_int_equal(j.bssplit[DDIR_TRIM].part[0].percent, 100);
	assert_true(j.bs_unaligned);
	assert_int_equal(j.blockalign[DDIR_TRIM], 1024);
	assert_int_equal(j.filesize.lo, 1048576);
	assert_int_equal(j.filesize.hi, 2097152);
	assert_int_equal(j.offset_increment.percent, 10);
	assert_int_equal(j.bs[DDIR_TRIM], 3072);
	job_release(&j);
	refuses("bsrange=4k", "not a range");
	refuses("bsrange=", "not a range");
	refuses("bsrange=0-4k", "min value");
	refuses("bsrange=1k-2k,1k-2k,1k-2k,1k-2k", "more than three");
	refuses("bsrange=4kib-8k", "fio would take this for 4000");
	refuses("bssplit=4k/50:8k/40", "add up to 90%, not 100%");
	refuses("bssplit=4k/50:8k/60", "add up to 110%, not 100%");
	refuses("bssplit=4k/x", "no whole percentage");
	refuses("bssplit=", "not a number");
	refuses("bssplit=0/100", "block size is from 1");
	refuses("filesize=0", "min value");
	refuses("filesize=10%", "fio would take this for 10");
	refuses("loops=0", "min value");
}

static void files(void **state)
{
	JOB(j, "nr_files=8", "file_service_type=random:8", "overwrite=1", "create_on_open=1",
	    "fallocate=keep", "unlink=1", "filename_format=$jobname/$filenum", "allow_mounted_write=1");

	(void)state;
	assert_int_equal(j.nrfiles, 8);
	assert_int_equal(j.file_service.kind, SERVICE_RANDOM);
	assert_int_equal(j.file_service.every, 8);
	assert_true(j.overwrite && j.create_on_open && j.unlink && j.allow_mounted_write);
	assert_int_equal(j.fallocate, FALLOCATE_KEEP);
	assert_string_equal(j.filename_format, "$jobname/$filenum");
	job_release(&j);
	refuses("file_service_type=sequential:2", "fio ignores the number");
	refuses("file_service_type=zipf:1.2", "zipf is known to fio");
	refuses("file_service_type=random:0", "from 1 to");
	refuses("fallocate=maybe", "valid values: native none 0 posix 1 keep truncate");
}

static void times(void **state)
{
	JOB(j, "startdelay=5s-1", "rate=,500k", "rate_iops=10,20", "rate_process=poisson", "thinktime=10",
	    "thinktime_spin=1ms", "thinktime_blocks=4", "latency_target=10ms", "latency_window=1s",
	    "latency_percentile=99.9", "latency_run=1", "stall_timeout=30");

	(void)state;
	assert_int_equal(j.startdelay_us.lo, 1000000);
	assert_int_equal(j.startdelay_us.hi, 5000000);
	assert_int_equal(j.rate[DDIR_READ], 0);
	assert_int_equal(j.rate[DDIR_WRITE], 512000);
	assert_int_equal(j.rate_iops[DDIR_WRITE], 20);
	assert_int_equal(j.rate_process, RATE_POISSON);
	assert_int_equal(j.thinktime_us, 10);
	assert_int_equal(j.thinktime_spin_us, 1000);
	assert_int_equal(j.thinktime_blocks, 4);
	assert_int_equal(j.latency_target_us, 10000);
	assert_int_equal(j.latency_window_us, 1000000);
	assert_true(j.latency_percentile == 99.9 && j.latency_run);
	assert_int_equal(j.stall_timeout_us, 30000000);
	job_release(&j);
	refuses("thinktime=10sec", "fio would take this for 10 microseconds; write 10s");
	refuses("thinktime=1.5", "fio would take this for 1 microsecond");
	refuses("startdelay=1:3", "one of the list");
	refuses("latency_percentile=101", "range max: 100");
	refuses("latency_percentile=a", "not a number");
}

static void distributions(void **state)
{
	JOB(j, "random_distribution=zipf:1.2,zoned:60/10:40/,50/20:50/80", "percentage_random=50,60");

	(void)state;
	assert_int_equal(j.distribution[0].kind, DISTRIBUTION_ZIPF);
	assert_true(j.distribution[0].parameter == 1.2);
	assert_int_equal(j.distribution[1].kind, DISTRIBUTION_ZONED);
	assert_int_equal(j.distribution[1].nzones, 2);
	assert_int_equal(j.distribution[1].zone[1].access_percent, 40);
	assert_int_equal(j.distribution[1].zone[1].size_percent, 90);
	assert_int_equal(j.distribution[2].zone[0].size_percent, 20);
	assert_int_equal(j.percentage_random[1], 60);
	job_release(&j);
	j = job_of(WORDS("random_distribution=pareto"));
	assert_true(j.distribution[2].kind == DISTRIBUTION_PARETO && j.distribution[2].parameter == 0.2);
	job_release(&j);
	refuses("random_distribution=zipf:1.0", "different from 1.0");
	refuses("random_distribution=zipf:1.2:0.5", "centre is known to fio");
	refuses("random_distribution=pareto:1", "0 < input < 1.0");
	refuses("random_distribution=normal:100", "0 <= input < 100.0");
	refuses("random_distribution=random:1", "no parameter");
	refuses("random_distribution=zoned", "share of the accesses");
	refuses("random_distribution=zoned:50/10:40/90", "accesses add up to 90%");
	refuses("random_distribution=zoned:50/10:50/80", "size add up to 90%");
	refuses("random_distribution=zoned_abs:50/10", "known to fio");
	refuses("percentage_random=101", "max value");
}

static void expect_pattern(const char *text, const char *bytes, unsigned length)
{
	char word[128];
	struct job j;

	snprintf(word, sizeof(word), "buffer_pattern=%s", text);
	j = job_of(WORDS(word));
	assert_int_equal(j.buffer_pattern.length, length);
	assert_memory_equal(j.buffer_pattern.bytes, bytes, length);
	job_release(&j);
}

/* What fio 3.33 wrote to a file with the same patterns. */
static void patterns(void **state)
{
	char path[] = "/tmp/kickio-pattern-XXXXXX", text[64];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "hello", 5), 5);
	close(fd);
	expect_pattern("0x12345", "\x01\x23\x45", 3);
	expect_pattern("0xDEADbeef", "\xde\xad\xbe\xef", 4);
	expect_pattern("0x0000ff", "\0\0\xff", 3);
	expect_pattern("256", "\0\1", 2);
	expect_pattern("65536", "\0\0\1", 3);
	expect_pattern("0", "\0", 1);
	expect_pattern("010", "\n", 1);
	expect_pattern("\"abc\"0x41\"d\" 7", "abcAd\7", 6);
	expect_pattern("\"a\\nb\"", "a\\nb", 4);
	expect_pattern("0x410x42", "AB", 2);
	snprintf(text, sizeof(text), "'%s'0x00", path);
	expect_pattern(text, "hello\0", 6);
	unlink(path);
	refuses("buffer_pattern=", "empty");
	refuses("buffer_pattern=abc", "a pattern is");
	refuses("buffer_pattern=1k", "a pattern is");
	refuses("buffer_pattern=-5", "a pattern is");
	refuses("buffer_pattern=0x", "without digits");
	refuses("buffer_pattern=4294967296", "at most 4294967295");
	refuses("buffer_pattern=\"abc", "second \" is missing");
	refuses("buffer_pattern=''", "nothing between");
	refuses("buffer_pattern='/nonexistent'", "cannot open /nonexistent");
	refuses("verify_pattern=%o", "%o is known to fio");
}

static void cpus(void **state)
{
	JOB(j, "cpus_allowed=0,2-4,70,70", "cpus_allowed_policy=split", "nice=-20");

	(void)state;
	assert_int_equal(j.cpus_allowed.count, 5);
	assert_int_equal(j.cpus_allowed.bits[0], 0x1d);
	assert_int_equal(j.cpus_allowed.bits[1], 0x40);
	assert_int_equal(j.cpus_allowed_policy, CPUS_SPLIT);
	assert_int_equal(j.nice, -20);
	job_release(&j);
	refuses("cpus_allowed=4-2", "not a list");
	refuses("cpus_allowed=1,", "not a list");
	refuses("cpus_allowed=99999999999999999999", "too large (max 1023)");
	refuses("nice=20", "max value out of range: 20 (19 max)");
	refuses("nice=-21", "min value");
	refuses("nice=1k", "whole number");
}

static void choices(void **state)
{
	JOB(j, "sync=dsync", "fdatasync=3", "fadvise_hint=0", "verify=crc32c-intel", "verify_only", "verify_backlog=1k",
	    "verify_map=m", "verify_name=n", "continue_on_error=io", "write_bw_log", "write_lat_log=p", "log_hist_coarseness=6",
	    "hipri", "gtod_reduce=1", "dedupe_percentage=30", "zero_buffers", "exitall", "loops=3");

	(void)state;
	assert_int_equal(j.sync, SYNC_DSYNC);
	assert_int_equal(j.fdatasync, 3);
	assert_int_equal(j.fadvise_hint, ADVICE_NONE);
	assert_int_equal(j.verify, VERIFY_CRC32C);
	assert_true(j.verify_only && j.hipri && j.gtod_reduce && j.zero_buffers && j.exitall);
	assert_int_equal(j.verify_backlog, 1024);
	assert_string_equal(j.verify_map, "m");
	assert_string_equal(j.verify_name, "n");
	assert_int_equal(j.continue_on_error, CONTINUE_READ | CONTINUE_WRITE);
	assert_string_equal(j.write_bw_log, "");
	assert_string_equal(j.write_lat_log, "p");
	assert_null(j.write_iops_log);
	assert_int_equal(j.log_hist_coarseness, 6);
	assert_int_equal(j.dedupe_percentage, 30);
	job_release(&j);
	refuses("verify=sha512", "sha512 is known to fio");
	refuses("verify=foo", "valid values: 0 none crc32c");
	refuses("sync=2", "valid values: none 0 sync 1 dsync");
	refuses("log_hist_coarseness=7", "max value");
	refuses("write_iops_log=--size=1m", "prefix of the file names");
}

static void checked(struct job *job, const char *const *words, const char *expected_notes)
{
	struct jobs jobs = { .count = 0 };
	struct text notes = {0};
	struct error e = {0};

	*job = job_of(words);
	if (options_check_job(&jobs, job, &notes, &e))
		fail_msg("%s: %s", words[0], e.text);
	assert_string_equal(text_get(&notes), expected_notes);
	text_free(&notes);
}

static void check_refuses(const char *const *words, const char *text)
{
	struct jobs jobs = { .count = 0 };
	struct text notes = {0};
	struct error e = {0};
	struct job job = job_of(words);

	if (options_check_job(&jobs, &job, &notes, &e) == 0)
		fail_msg("%s %s was taken", words[0], words[1]);
	if (!strstr(e.text, text))
		fail_msg("%s: \"%s\" lacks \"%s\"", words[0], e.text, text);
	text_free(&notes);
	job_release(&job);
}

static void adjustments(void **state)
{
	struct job j;

	(void)state;
	checked(&j, WORDS("iodepth_batch=8", "iodepth_batch_complete_min=7", "iodepth_batch_complete_max=1"), "");
	assert_int_equal(j.iodepth_batch, 1);
	assert_int_equal(j.iodepth_low, 1);
	assert_int_equal(j.iodepth_batch_complete_min, 1);
	assert_int_equal(j.iodepth_batch_complete_max, 1);
	job_release(&j);
	checked(&j, WORDS("rw=randread", "ba=512"), "kickio: Any use of blockalign= turns off randommap\n");
	assert_true(j.norandommap);
	job_release(&j);
	checked(&j, WORDS("rw=randread", "random_distribution=zipf"), "");
	assert_true(j.norandommap);
	job_release(&j);
	checked(&j, WORDS("bssplit=1k/50:64k/50"), "");
	assert_int_equal(job_bs_min(&j, DDIR_READ), 1024);
	assert_int_equal(job_bs_max(&j, DDIR_READ), 65536);
	job_release(&j);
	checked(&j, WORDS("rw=write", "dedupe_percentage=10"), "");
	assert_true(j.refill_buffers);
	job_release(&j);
	checked(&j, WORDS("rw=write", "buffer_pattern=0x41", "refill_buffers"), "");
	assert_false(j.refill_buffers || j.scramble_buffers);
	job_release(&j);
	checked(&j, WORDS("gtod_reduce=1"), "");
	assert_true(j.disable_lat && j.disable_clat && j.disable_slat);
	assert_false(j.disable_bw);
	job_release(&j);
}

static void conflicts(void **state)
{
	(void)state;
	check_refuses(WORDS("rate=1m", "rate_iops=10"), "rate and rate_iops are mutually exclusive");
	check_refuses(WORDS("bsrange=1k-2k", "bssplit=1k/100"), "bsrange and bssplit");
	check_refuses(WORDS("hipri", "ioengine=psync"), "engine psync has no option hipri; it belongs to: pvsync2 io_uring");
	check_refuses(WORDS("thinktime=1", "thinktime_spin=2"), "thinktime_spin is a part");
	check_refuses(WORDS("latency_window=1s", "rw=read"), "need a latency_target");
	check_refuses(WORDS("verify_only", "rw=write"), "need verify=");
	check_refuses(WORDS("verify_name=x", "rw=write"), "need verify=");
	check_refuses(WORDS("verify=crc32c", "rw=write", "ioengine=null"), "engine null keeps no data");
	check_refuses(WORDS("zero_buffers", "buffer_pattern=1"), "mutually exclusive");
	check_refuses(WORDS("bsrange=64k-128k", "size=4k"), "4096 < 65536");
}

static void copies(void **state)
{
	JOB(a, "name=a", "filename=f", "write_bw_log=x", "verify_map=m", "verify_name=n", "loops=3");
	struct error e = {0};
	struct job b;

	(void)state;
	assert_int_equal(job_copy(&b, &a, &e), 0);
	job_release(&a);
	assert_null(b.name);
	assert_string_equal(b.filename, "f");
	assert_string_equal(b.write_bw_log, "x");
	assert_string_equal(b.verify_map, "m");
	assert_string_equal(b.verify_name, "n");
	assert_int_equal(b.loops, 3);
	job_release(&b);
}

/* Every list of the page is closed, every option in it, and no line begins with a stray control character. */
static void manual(void **state)
{
	char *text = NULL, *copy, *save = NULL;
	size_t length = 0;
	FILE *f = open_memstream(&text, &length);
	int open = 0, items = 0;

	(void)state;
	assert_non_null(f);
	options_man(f);
	fclose(f);
	assert_int_equal(strncmp(text, ".Dd ", 4), 0);
	for (const struct option_section *s = job_sections; s->title; s++) {
		for (const struct option *o = s->options; o->name; o++) {
			char line[80];

			snprintf(line, sizeof(line), "\n.It Cm %s", o->name);
			assert_non_null(strstr(text, line));
		}
	}
	copy = strdup(text);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		open += strncmp(line, ".Bl", 3) == 0;
		open -= strncmp(line, ".El", 3) == 0;
		items += strncmp(line, ".It", 3) == 0;
		assert_true(open >= 0 && line[0] != '\'');
		assert_true(line[0] != '.' || (line[1] >= 'A' && line[1] <= 'Z'));
	}
	assert_int_equal(open, 0);
	assert_true(items > 130);
	free(copy);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),    cmocka_unit_test(sizes),	   cmocka_unit_test(files),
		cmocka_unit_test(times),       cmocka_unit_test(distributions), cmocka_unit_test(patterns),
		cmocka_unit_test(cpus),	       cmocka_unit_test(choices),  cmocka_unit_test(adjustments),
		cmocka_unit_test(conflicts),   cmocka_unit_test(copies),
		cmocka_unit_test(manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
