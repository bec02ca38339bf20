/* The agent in a child process, and this program as its host at the other end of a pseudo terminal. */
#include <errno.h>
#include <termios.h>

#include "tests/unit/agent_bench.h"

#include "guest/agent_link.h"

static void test_hello_is_repeated(void **state)
{
	struct host *h = *state;
	struct frame f;
	char *first;

	expect(h, &f, FRAME_HELLO);
	assert_int_equal(f.seq, 1);
	assert_has(&f, "{\"protocol\":1,\"kickio\":\"kickio-");
	assert_has(&f, "\"disks\":[");
	first = strdup(f.payload);
	expect(h, &f, FRAME_HELLO);
	assert_int_equal(f.seq, 1);
	assert_string_equal(f.payload, first);
	free(first);
	say_bye(h);
}

static void test_job(void **state)
{
	struct host *h = *state;
	struct frame f;

	send_job(h, "000001", ",\"--runtime=1500ms\",\"--time_based\"");
	expect(h, &f, FRAME_BEGIN);
	assert_has(&f, "{\"id\":\"000001\",\"clock_ns\":");
	expect(h, &f, FRAME_STATUS);
	assert_has(&f, "{\"id\":\"000001\",\"elapsed_us\":");
	assert_has(&f, "\"running\":1,");
	expect(h, &f, FRAME_END);
	assert_has(&f, "{\"id\":\"000001\",\"clock_ns\":");
	expect(h, &f, FRAME_RESULT);
	assert_has(&f, "{\"id\":\"000001\",\"status\":0,");
	assert_has(&f, "\"counters\":{\"disk\":null,");
	assert_has(&f, "\"fio\":{\"fio version\":\"kickio-");
	assert_has(&f, "\"jobname\":\"t\"");
	assert_has(&f, "\"bins\":{");
	assert_null(strchr(f.payload, '\n'));
	say_bye(h);
}

static void test_bad_jobs(void **state)
{
	static const char *const payloads[] = {
		"{\"id\":\"7\",\"argv\":[\"--name=x\",\"--nosuchoption=1\"]}",
		"{\"id\":\"7\",\"argv\":[]}",
		"{\"id\":\"7\"}",
		"{\"id\":\"7\",\"argv\":[\"--name=x\",\"--filename=/dev/null/file\",\"--rw=read\",\"--size=4k\"]}",
	};
	struct host *h = *state;
	struct frame f;

	for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
		send_next(h, FRAME_JOB, payloads[i]);
		do {
			assert_true(next(h, &f, DEADLINE_MS));
		} while (f.type != FRAME_ERROR && f.type != FRAME_RESULT);
		assert_has(&f, "{\"id\":\"7\",");
		/* A file that cannot be opened makes a failed job; the others are refused before. */
		if (f.type == FRAME_RESULT)
			assert_null(strstr(f.payload, "\"status\":0,"));
		else
			assert_has(&f, "\"message\":\"");
	}
	send_next(h, FRAME_JOB, "{damaged");
	expect(h, &f, FRAME_ERROR);
	assert_has(&f, "{\"id\":null,\"message\":\"JSON at byte 1");
	say_bye(h);
}

/* A job that would mount what cannot be mounted is refused, and nothing is run in its place. */
static void test_mounts_are_refused(void **state)
{
	static const struct { const char *more, *why; } rows[] = {
		{ "\"disk\":\"%s\",\"filesystem\":\"kbfs\",\"mount\":\"%s/mnt\"", "kbfs" },
		{ "\"disk\":null,\"filesystem\":\"ext4\",\"mount\":\"%s/mnt\"", "without a disk or a folder" },
		{ "\"disk\":\"%s\",\"filesystem\":\"ext4\"", "without a disk or a folder" },
		{ "\"disk\":\"%s\",\"filesystem\":\"ext4\",\"mount\":\"%s/disk/mnt\"", "cannot make" },
	};
	struct host *h = *state;
	char more[512], job[1024];
	struct frame f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(more, sizeof(more), rows[i].more, i == 1 ? h->folder : h->file, h->folder);
		snprintf(job, sizeof(job), "{\"id\":\"7\",%s,\"argv\":[\"--name=x\",\"--directory=%s/mnt\",\"--size=4k\"]}", more,
			 h->folder);
		send_next(h, FRAME_JOB, job);
		do {
			assert_true(next(h, &f, DEADLINE_MS));
		} while (f.type != FRAME_ERROR && f.type != FRAME_RESULT);
		assert_int_equal(f.type, FRAME_ERROR);
		assert_has(&f, rows[i].why);
	}
	snprintf(more, sizeof(more), "%s/mnt", h->folder);
	rmdir(more);
	say_bye(h);
}

static void test_damaged_job(void **state)
{
	struct host *h = *state;
	struct frame f;

	expect(h, &f, FRAME_HELLO);
	put(h, "noise\n@kb1 1 job 12 00000000 {\"id\":\"cut\"\n");
	expect(h, &f, FRAME_AGAIN);
	assert_string_equal(f.payload, "{\"seq\":1}");
	send_job(h, "1", ",\"--number_ios=8\"");
	expect(h, &f, FRAME_RESULT);
	assert_has(&f, "{\"id\":\"1\",\"status\":0,");
	say_bye(h);
}

/* Frame 1 is lost as a whole: 2 comes too early, and both are asked for, in order. */
static void test_missing_frame(void **state)
{
	struct host *h = *state;
	struct frame f;

	send_as(h, 2, FRAME_BYE, "{}");
	expect(h, &f, FRAME_AGAIN);
	assert_string_equal(f.payload, "{\"seq\":1}");
	expect(h, &f, FRAME_AGAIN);
	assert_string_equal(f.payload, "{\"seq\":2}");
	send_job(h, "1", ",\"--number_ios=8\"");
	expect(h, &f, FRAME_RESULT);
	say_bye(h);
}

static void test_result_again(void **state)
{
	struct host *h = *state;
	struct frame f;
	char *first, again[64];
	uint32_t seq;

	send_job(h, "1", ",\"--number_ios=8\"");
	expect(h, &f, FRAME_RESULT);
	first = strdup(f.payload);
	seq = f.seq;
	snprintf(again, sizeof(again), "{\"seq\":%lu}", (unsigned long)seq);
	send_next(h, FRAME_AGAIN, again);
	expect(h, &f, FRAME_RESULT);
	assert_int_equal(f.seq, seq);
	assert_string_equal(f.payload, first);
	send_next(h, FRAME_AGAIN, "{\"seq\":999999}"); /* was never sent: passed over */
	free(first);
	say_bye(h);
}

/* What the host sends twice, because it was in doubt, is run once. */
static void test_job_twice(void **state)
{
	struct host *h = *state;
	struct frame f;
	int results = 0;

	send_job(h, "1", ",\"--number_ios=8\"");
	h->sent--;
	send_job(h, "1", ",\"--number_ios=8\"");
	send_next(h, FRAME_BYE, "{}");
	while (next(h, &f, DEADLINE_MS) && f.type != FRAME_BYE)
		results += f.type == FRAME_RESULT;
	assert_true(results <= 1); /* the bye may come while it runs */
	assert_int_equal(ended(h), 0);
}

static void test_bye_ends_a_job(void **state)
{
	struct host *h = *state;
	struct frame f;
	int64_t start_ms;

	send_job(h, "1", ",\"--runtime=60\",\"--time_based\"");
	expect(h, &f, FRAME_BEGIN);
	start_ms = now_ms();
	say_bye(h);
	assert_true(now_ms() - start_ms < 10000);
}

/* Another program as the tool: only fio, and only where the system counts what the disk does. */
static void test_tools(void **state)
{
	struct host *h = *state;
	struct frame f;

	send_next(h, FRAME_JOB, "{\"id\":\"1\",\"disk\":null,\"tool\":\"dd\",\"argv\":[]}");
	expect(h, &f, FRAME_ERROR);
	assert_has(&f, "tool dd: this agent knows check and fio");
	say_bye(h);
}

static void test_hang_up(void **state)
{
	struct host *h = *state;
	struct frame f;

	expect(h, &f, FRAME_HELLO);
	close(h->fd);
	h->fd = -1;
	assert_int_equal(ended(h), 1);
}

static void test_hang_up_ends_a_job(void **state)
{
	struct host *h = *state;
	struct frame f;

	send_job(h, "1", ",\"--runtime=60\",\"--time_based\"");
	expect(h, &f, FRAME_BEGIN);
	close(h->fd);
	h->fd = -1;
	assert_int_equal(ended(h), 1);
}

static void test_no_such_port(void **state)
{
	struct error e = {0};

	(void)state;
	assert_int_equal(agent_serve("/nonexistent/port", &e), -1);
	assert_non_null(strstr(e.text, "/nonexistent/port"));
}

#define WITH_AGENT(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(test_hello_is_repeated),
		WITH_AGENT(test_job),
		WITH_AGENT(test_bad_jobs),
		WITH_AGENT(test_mounts_are_refused),
		WITH_AGENT(test_damaged_job),
		WITH_AGENT(test_missing_frame),
		WITH_AGENT(test_result_again),
		WITH_AGENT(test_job_twice),
		WITH_AGENT(test_bye_ends_a_job),
		WITH_AGENT(test_tools),
		WITH_AGENT(test_hang_up),
		WITH_AGENT(test_hang_up_ends_a_job),
		cmocka_unit_test(test_no_such_port),
	};

	/* The system's calls write while the other side is gone. */
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
