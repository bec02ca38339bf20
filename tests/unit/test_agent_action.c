/* What the agent does besides kickio's jobs: actions, between jobs, while one runs, while a disk does not answer; checks. */
#include <errno.h>
#include <sys/stat.h>

#include "tests/unit/agent_bench.h"

/* Until the agent has the terminal it echoes. */
static struct host *greeted(void **state)
{
	struct host *h = *state;
	struct frame f;

	expect(h, &f, FRAME_HELLO);
	return h;
}

static void send_action(struct host *h, const char *format, const char *path)
{
	char body[512];

	snprintf(body, sizeof(body), format, path);
	send_next(h, FRAME_ACTION, body);
}

/* The next answer, whatever else comes in between. */
static void answer(struct host *h, struct frame *f, const char *begins)
{
	expect(h, f, FRAME_ACTION);
	if (strncmp(f->payload, begins, strlen(begins)) != 0)
		fail_msg("%s does not begin with %s", f->payload, begins);
}

static void test_ping(void **state)
{
	struct host *h = greeted(state);
	struct frame f;

	send_action(h, "{\"id\":5,\"action\":\"ping\"}", "");
	answer(h, &f, "{\"id\":5,\"action\":\"ping\",\"error\":null}");
	send_action(h, "{\"id\":4294967295,\"action\":\"ping\",\"disk\":null,\"cpu\":null}", "");
	answer(h, &f, "{\"id\":4294967295,\"action\":\"ping\",\"error\":null}");
	send_action(h, "{\"id\":7,\"action\":\"disks\"}", "");
	answer(h, &f, "{\"id\":7,\"action\":\"disks\",\"error\":null,\"disks\":[");
	say_bye(h);
}

/* Heard at once, not when the job tells of its progress, once a second; and the job's result is what it was. */
static void test_while_a_job_runs(void **state)
{
	struct host *h = greeted(state);
	struct frame f;
	int64_t sent, shortest = INT64_MAX;

	send_job(h, "1", ",\"--runtime=4s\",\"--time_based\"");
	expect(h, &f, FRAME_BEGIN);
	for (unsigned i = 0; i < 5; i++) {
		sent = now_ms();
		send_action(h, "{\"id\":9,\"action\":\"ping\"}", "");
		answer(h, &f, "{\"id\":9,");
		sent = now_ms() - sent;
		shortest = sent < shortest ? sent : shortest;
	}
	if (shortest >= 500) /* one alone may meet a host that is busy */
		fail_msg("answered after %d ms at best", (int)shortest);
	send_next(h, FRAME_JOB, "{\"id\":\"2\",\"argv\":[]}");
	expect(h, &f, FRAME_LOG);
	assert_has(&f, "another job arrived while one runs");
	expect(h, &f, FRAME_RESULT);
	assert_has(&f, "{\"id\":\"1\",\"status\":0,\"notes\":\"another job arrived");
	/* Between jobs again. */
	send_action(h, "{\"id\":10,\"action\":\"ping\"}", "");
	answer(h, &f, "{\"id\":10,");
	send_job(h, "3", ",\"--number_ios=8\"");
	expect(h, &f, FRAME_RESULT);
	assert_has(&f, "{\"id\":\"3\",\"status\":0,");
	say_bye(h);
}

static bool can_be_direct(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECT);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void test_nudge(void **state)
{
	struct host *h = greeted(state);
	struct frame f;

	if (!can_be_direct(h->file)) {
		send_action(h, "{\"id\":1,\"action\":\"nudge\",\"disk\":\"%s\"}", h->file);
		answer(h, &f, "{\"id\":1,\"action\":\"nudge\",\"error\":\"looks like");
		say_bye(h);
		skip();
	}
	send_action(h, "{\"id\":1,\"action\":\"nudge\",\"disk\":\"%s\"}", h->file);
	answer(h, &f, "{\"id\":1,\"action\":\"nudge\",\"error\":null,\"bound\":false}");
	answer(h, &f, "{\"id\":1,\"action\":\"nudge\",\"error\":null,\"done\":true,\"bound\":false,\"us\":");
	send_action(h, "{\"id\":2,\"action\":\"nudge\",\"disk\":\"%s\",\"cpu\":0}", h->file);
	answer(h, &f, "{\"id\":2,\"action\":\"nudge\",\"error\":null,\"bound\":true}");
	answer(h, &f, "{\"id\":2,\"action\":\"nudge\",\"error\":null,\"done\":true,\"bound\":true,\"us\":");
	/* Too short for a block: the read is issued, and fails. */
	assert_int_equal(truncate(h->file, 100), 0);
	send_action(h, "{\"id\":3,\"action\":\"nudge\",\"disk\":\"%s\"}", h->file);
	answer(h, &f, "{\"id\":3,\"action\":\"nudge\",\"error\":null,\"bound\":false}");
	answer(h, &f, "{\"id\":3,\"action\":\"nudge\",\"error\":\"it ended before its first block did\",\"done\":true,");
	say_bye(h);
}

static void test_refused(void **state)
{
	static const struct { const char *body, *begins, *has; } rows[] = {
		{"{\"id\":1,\"action\":\"dance\"}", "{\"id\":1,\"action\":\"dance\",\"error\":\"", "does not know the action dance"},
		{"{\"id\":2}", "{\"id\":2,\"action\":\"\",\"error\":\"", "without a name"},
		{"{\"action\":\"ping\"}", "{\"id\":0,\"action\":\"\",\"error\":\"", "\\\"id\\\" is missing"},
		{"{\"id\":3,\"action\":\"nudge\"}", "{\"id\":3,\"action\":\"nudge\",\"error\":\"", "needs a disk"},
		{"{\"id\":4,\"action\":\"nudge\",\"disk\":\"/nonexistent\"}", "{\"id\":4,", "cannot open /nonexistent"},
		{"{\"id\":5,\"action\":\"nudge\",\"disk\":\"%s\",\"cpu\":4095}", "{\"id\":5,", "CPU 4095: "},
		{"{\"id\":6,\"action\":\"nudge\",\"disk\":\"%s\",\"cpu\":4096}", "{\"id\":6,", "CPU 4096: "},
		{"{\"id\":7,\"action\":\"nudge\",\"disk\":\"%s\",\"cpu\":-1}", "{\"id\":7,", "whole number expected"},
		{"{\"id\":8,\"action\":\"unbind\",\"disk\":\"%s\"}", "{\"id\":8,\"action\":\"unbind\",", "is no virtio disk"},
		{"{\"id\":9,\"action\":\"bind\",\"disk\":\"/nonexistent\"}", "{\"id\":9,", "cannot look at /nonexistent"},
		{"{damaged", "{\"id\":0,\"action\":\"\",\"error\":\"", "JSON at byte 1"},
	};
	struct host *h = greeted(state);
	struct frame f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		send_action(h, rows[i].body, h->file);
		answer(h, &f, rows[i].begins);
		assert_has(&f, rows[i].has);
	}
	say_bye(h);
}

/*
 * Opening a pipe that nobody writes to waits for ever, as a disk does that keeps its requests: the agent goes on, up to
 * so many at once, and ends when it is told.
 */
static void test_never_waits(void **state)
{
	struct host *h = greeted(state);
	char pipe[128];
	struct frame f;

	snprintf(pipe, sizeof(pipe), "%s/pipe", h->folder);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	for (unsigned i = 0; i < 64; i++) {
		send_action(h, "{\"id\":1,\"action\":\"nudge\",\"disk\":\"%s\"}", pipe);
		send_action(h, "{\"id\":2,\"action\":\"ping\"}", "");
		answer(h, &f, "{\"id\":2,");
	}
	send_action(h, "{\"id\":3,\"action\":\"nudge\",\"disk\":\"%s\"}", pipe);
	answer(h, &f, "{\"id\":3,\"action\":\"nudge\",\"error\":\"no thread for it: ");
	send_job(h, "1", ",\"--number_ios=8\"");
	expect(h, &f, FRAME_RESULT);
	assert_has(&f, "{\"id\":\"1\",\"status\":0,");
	unlink(pipe);
	say_bye(h);
}

/* A terminal in between gives back what we say: an answer is no request, and has none of the host's numbers. */
static void test_echo(void **state)
{
	struct host *h = greeted(state);
	struct frame f;

	send_as(h, 1, FRAME_ACTION, "{\"id\":1,\"action\":\"ping\",\"error\":null}");
	/* A disk of that name makes no answer of a request. */
	send_next(h, FRAME_ACTION, "{\"id\":2,\"action\":\"ping\",\"disk\":\"\\\"error\\\":\"}");
	answer(h, &f, "{\"id\":2,");
	assert_int_equal(h->sent, 1);
	say_bye(h);
}

static void send_check(struct host *h, const char *options)
{
	char job[512];

	snprintf(job, sizeof(job), "{\"id\":\"c\",\"disk\":null,\"tool\":\"check\",\"argv\":[%s\"--filename=%s\"]}", options, h->file);
	send_next(h, FRAME_JOB, job);
}

/* The other tool of a job: what it found is the result, and what failed is in the notes. */
static void test_check_as_a_job(void **state)
{
	struct host *h = greeted(state);
	struct frame f;

	send_check(h, "\"--size=1m\",");
	expect(h, &f, FRAME_BEGIN);
	expect(h, &f, FRAME_END);
	expect(h, &f, FRAME_RESULT);
	assert_has(&f, "{\"id\":\"c\",\"tool\":\"check\",\"status\":0,\"notes\":\"\",\"counters\":{");
	assert_has(&f, "\"check\":{\"checks\":[{\"name\":\"size in bytes\",\"status\":\"pass\",\"message\":\"1048576\"},");
	send_check(h, "\"--size=2m\",\"--destroy=1\",");
	expect(h, &f, FRAME_RESULT);
	assert_has(&f, "\"status\":1,\"notes\":\"fail size in bytes: 1048576 instead of 2097152\\n\",");
	assert_has(&f, "{\"name\":\"flush\",\"status\":\"pass\",");
	send_check(h, "\"--nonsense=1\",");
	expect(h, &f, FRAME_ERROR);
	assert_has(&f, "{\"id\":\"c\",\"message\":\"check: there is no option --nonsense\"");
	send_check(h, "\"/nonexistent\",");
	expect(h, &f, FRAME_ERROR);
	assert_has(&f, "one device, not /nonexistent and ");
	assert_int_equal(truncate(h->file, 0), 0);
	send_check(h, "");
	expect(h, &f, FRAME_ERROR);
	assert_has(&f, "is empty, or tells no size");
	say_bye(h);
}

#define WITH_AGENT(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(test_ping),
		WITH_AGENT(test_while_a_job_runs),
		WITH_AGENT(test_nudge),
		WITH_AGENT(test_refused),
		WITH_AGENT(test_never_waits),
		WITH_AGENT(test_echo),
		WITH_AGENT(test_check_as_a_job),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
