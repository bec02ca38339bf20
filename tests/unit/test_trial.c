/* host/trial.c against a guest in memory that answers a job: results, failures, stalls, the host's counters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/trial.h"
#include "tests/unit/fake_guest.h"
#include "tests/unit/scratch.h"

#define BEGIN "{\"id\":\"7\",\"clock_ns\":1000000}"
#define STATUS_AT(ios) "{\"id\":\"7\",\"elapsed_us\":500000,\"read_ios\":" #ios ",\"read_bytes\":8,\"write_ios\":1,\"write_bytes\":2}"
#define END "{\"id\":\"7\",\"clock_ns\":2000000}"
#define RESULT "{\"id\":\"7\",\"status\":0,\"notes\":\"\",\"fio\":{\"jobs\":[]},\"counters\":null}"

struct fixture {
	struct hv_guest guest;
	struct boot boot;
	struct trial trial;
	struct trial_progress last;
	unsigned shown;
	volatile sig_atomic_t interrupted;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->boot = (struct boot){ .ops = &fake_ops, .guest = &f->guest, .request.accel = ACCEL_TCG, .request.ndisks = 2 };
	strcpy(f->boot.disk_path[0], "/dev/vda");
	strcpy(f->boot.disk_path[1], "/dev/vdb");
	f->guest.idle_ms = 20;
	link_open(&f->boot.link, &fake_ops, &f->guest, NULL, &f->interrupted);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	link_close(&f->boot.link);
	trial_free(&f->trial);
	fake_free(&f->guest);
	free(f);
	return 0;
}

static void show(void *context, const struct trial_progress *p)
{
	struct fixture *f = context;

	f->last = *p;
	f->shown++;
}

static int run(struct fixture *f, double stall_timeout, struct error *e)
{
	char *argv[] = { (char *)"--name=w", (char *)"--rw=read" };
	struct trial_request request = { .id = "7", .argv = argv, .argc = 2, .disk = 1, .stall_timeout = stall_timeout,
					 .progress = show, .context = f };

	return trial_run(&f->boot, &request, &f->trial, e);
}

/* Run one that gets a status. */
static void run_through(struct fixture *f, double stall_timeout)
{
	struct error e = { 0 };

	if (run(f, stall_timeout, &e))
		fail_msg("%s", e.text);
}

static void answer_well(struct hv_guest *g, const struct frame *f)
{
	if (f->type != FRAME_JOB)
		return;
	fake_say(g, FRAME_LOG, "{\"text\":\"by the way\"}");
	fake_say(g, FRAME_BEGIN, BEGIN);
	fake_say(g, FRAME_STATUS, STATUS_AT(41));
	fake_say(g, FRAME_END, END);
	fake_say(g, FRAME_RESULT, RESULT);
}

/* A guest that waits says the next thing when it has heard that the counters are taken. */
static void answer_when_counted(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_JOB) {
		fake_say(g, FRAME_BEGIN, BEGIN);
	} else if (f->type == FRAME_LOG && g->number == 1) {
		fake_say(g, FRAME_END, END);
	} else if (f->type == FRAME_LOG) {
		fake_say(g, FRAME_RESULT, RESULT);
	}
}

static void a_guest_that_waits_is_told_of_the_count(void **state)
{
	struct fixture *f = *state;
	char *argv[] = { (char *)"--name=w" };
	struct trial_request request = { .id = "7", .argv = argv, .argc = 1, .wait_for_count = true, .stall_timeout = 5 };
	struct error e = { 0 };

	f->guest.answer = answer_when_counted;
	if (trial_run(&f->boot, &request, &f->trial, &e))
		fail_msg("%s", e.text);
	assert_int_equal(f->trial.status, TRIAL_OK);
	holds(text_get(&f->guest.heard), "\"wait\":\"counted\"}\nlog {}\nlog {}\n");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(f->trial.host, "block"), "rd_reqs")), 100);
}

static void a_job_is_run_and_counted(void **state)
{
	struct fixture *f = *state;
	json_t *block;

	f->guest.answer = answer_well;
	run_through(f, 5);
	assert_int_equal(f->trial.status, TRIAL_OK);
	assert_string_equal(f->trial.message, "");
	assert_string_equal(text_get(&f->guest.heard), "job {\"id\":\"7\",\"disk\":\"/dev/vdb\",\"argv\":[\"--name=w\",\"--rw=read\","
						       "\"--filename=/dev/vdb\"]}\n");
	assert_int_equal(f->shown, 1);
	assert_true(f->last.elapsed_s == 0.5 && f->last.ios == 42 && f->last.bytes == 10);
	assert_non_null(json_object_get(f->trial.result, "fio"));
	assert_true(f->trial.seconds >= 0 && f->trial.seconds < 5);
	/* The statistics were looked at twice, 100 requests and 4096 bytes further. */
	block = json_object_get(f->trial.host, "block");
	assert_int_equal(json_integer_value(json_object_get(block, "rd_reqs")), 100);
	assert_int_equal(json_integer_value(json_object_get(block, "rd_bytes")), 4096);
	assert_true(json_is_null(json_object_get(f->trial.host, "cpu")));
	assert_true(json_is_null(json_object_get(f->trial.host, "kvm")));
	assert_true(json_integer_value(json_object_get(f->trial.host, "span_ns")) > 0);
	assert_true(json_number_value(json_object_get(f->trial.host, "begin_delay_us")) >= 0);
	assert_true(json_number_value(json_object_get(f->trial.host, "end_delay_us")) >= 0);
	assert_true(json_is_number(json_object_get(f->trial.host, "span_difference_us")));
}

/* A job on files names them itself, and says what is to be mounted where. */
static void a_file_system_is_asked_for(void **state)
{
	struct fixture *f = *state;
	char *argv[] = { (char *)"--name=w", (char *)"--directory=/mnt/kb" };
	struct trial_request request = { .id = "7", .argv = argv, .argc = 2, .disk = 0, .filesystem = "xfs", .stall_timeout = 5 };
	struct error e = { 0 };

	f->guest.answer = answer_well;
	if (trial_run(&f->boot, &request, &f->trial, &e))
		fail_msg("%s", e.text);
	assert_string_equal(text_get(&f->guest.heard), "job {\"id\":\"7\",\"disk\":\"/dev/vda\",\"argv\":[\"--name=w\","
						       "\"--directory=/mnt/kb\"],\"filesystem\":\"xfs\",\"mount\":\"/mnt/kb\"}\n");
}

/* fio's JSON of one job of 900 ms, as fio 3.33 prints it but for what nobody reads, with a note in front, as a JSON string. */
#define FIO(error) \
	"note: something\\n{\\n\\\"fio version\\\" : \\\"fio-3.33\\\",\\n\\\"jobs\\\" : [{\\\"jobname\\\" : \\\"w\\\"," \
	"\\\"error\\\" : " error ",\\n\\\"read\\\" : {\\\"io_bytes\\\" : 4096000,\\\"bw_bytes\\\" : 4551111," \
	"\\\"iops\\\" : 1111.1,\\\"runtime\\\" : 900,\\\"total_ios\\\" : 1000,\\\"clat_ns\\\" : {\\\"min\\\" : 1000," \
	"\\\"max\\\" : 9000,\\\"mean\\\" : 2000.0,\\\"stddev\\\" : 1.0,\\\"N\\\" : 1000," \
	"\\\"bins\\\" : {\\\"2000\\\" : 1000}}}}]}\\n"
#define FIO_RESULT(status, notes, output) \
	"{\"id\":\"7\",\"tool\":\"fio\",\"status\":" #status ",\"notes\":\"" notes "\",\"counters\":null,\"output\":\"" output "\"}"

static void answer_as_fio(struct hv_guest *g, const struct frame *f)
{
	if (f->type != FRAME_JOB)
		return;
	fake_say(g, FRAME_BEGIN, "{\"id\":\"7\",\"clock_ns\":1000000000}");
	fake_say(g, FRAME_END, "{\"id\":\"7\",\"clock_ns\":2200000000}");
	fake_say(g, FRAME_RESULT, FIO_RESULT(0, "", FIO("0")));
}

static void answer_as_fio_without_result(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_JOB)
		fake_say(g, FRAME_RESULT, FIO_RESULT(0, "fio: out of luck\\n", "nothing"));
}

static void answer_as_fio_that_fails(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_JOB)
		fake_say(g, FRAME_RESULT, FIO_RESULT(1, "fio: engine nonsense not loadable\\n", ""));
}

static void answer_as_fio_that_verifies(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_JOB)
		fake_say(g, FRAME_RESULT, FIO_RESULT(1, "crc32c: verify failed at file /dev/vda offset 0, length 4096\\n", FIO("84")));
}

static void run_fio(struct fixture *f, void (*answer)(struct hv_guest *, const struct frame *), enum trial_status status,
		    const char *message)
{
	char *argv[] = { (char *)"--name=w" };
	struct trial_request request = { .id = "7", .argv = argv, .argc = 1, .tool = "fio", .stall_timeout = 5 };
	struct error e = { 0 };

	trial_free(&f->trial);
	f->guest.answer = answer;
	if (trial_run(&f->boot, &request, &f->trial, &e))
		fail_msg("%s", e.text);
	assert_string_equal(f->trial.message, message);
	assert_int_equal(f->trial.status, status);
	assert_null(json_object_get(f->trial.result, "output"));
}

/* What fio printed becomes the result that kickio sends, and how much of the span it measured is known. */
static void fio_runs_a_job(void **state)
{
	struct fixture *f = *state;
	json_t *job, *read;

	run_fio(f, answer_as_fio, TRIAL_OK, "");
	assert_string_equal(text_get(&f->guest.heard), "job {\"id\":\"7\",\"disk\":\"/dev/vda\",\"argv\":[\"--name=w\","
						       "\"--filename=/dev/vda\"],\"tool\":\"fio\"}\n");
	job = json_array_get(json_object_get(json_object_get(f->trial.result, "fio"), "jobs"), 0);
	read = json_object_get(job, "read");
	assert_int_equal(json_integer_value(json_object_get(read, "total_ios")), 1000);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(json_object_get(read, "clat_ns"), "bins"), "2000")),
			 1000);
	assert_string_equal(json_string_value(json_object_get(json_object_get(f->trial.result, "fio"), "fio version")),
			    "fio-3.33");
	assert_true(fabs(f->trial.covered - 0.75) < 1e-9); /* 900 of 1200 ms */
}

static void fio_fails_at_a_job(void **state)
{
	struct fixture *f = *state;

	run_fio(f, answer_as_fio_without_result, TRIAL_FAILED, "fio ended well and printed no result: fio: out of luck");
	run_fio(f, answer_as_fio_that_fails, TRIAL_FAILED, "fio ended with status 1: fio: engine nonsense not loadable");
	run_fio(f, answer_as_fio_that_verifies, TRIAL_CORRUPT,
		"fio ended with status 1: crc32c: verify failed at file /dev/vda offset 0, length 4096");
	assert_true(isnan(f->trial.covered));
}

static void threads_and_kvm_are_counted(void **state)
{
	struct fixture *f = *state;
	json_t *cpu;

	f->boot.request.accel = ACCEL_KVM;
	f->boot.threads = (struct hostcount_threads){ .pid = getpid(), .vcpu = { getpid() }, .nvcpus = 1 };
	f->guest.answer = answer_well;
	run_through(f, 5);
	cpu = json_object_get(f->trial.host, "cpu");
	assert_true(json_number_value(json_object_get(cpu, "vcpu_us")) > 0); /* this very thread */
	assert_int_equal(json_integer_value(json_object_get(json_object_get(f->trial.host, "kvm"), "exits")), 7);
}

static void answer_without_begin(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_JOB)
		fake_say(g, FRAME_RESULT, RESULT);
}

static void without_a_span_there_are_no_counters(void **state)
{
	struct fixture *f = *state;

	f->guest.answer = answer_without_begin;
	run_through(f, 5);
	assert_int_equal(f->trial.status, TRIAL_OK);
	assert_null(f->trial.host);
}

static void answer_failed(struct hv_guest *g, const struct frame *f)
{
	if (f->type != FRAME_JOB)
		return;
	fake_say(g, FRAME_BEGIN, BEGIN);
	fake_say(g, FRAME_END, END);
	fake_say(g, FRAME_RESULT, "{\"id\":\"7\",\"status\":1,\"notes\":\"kickio: caf\\u00e9\\nio_u error\\n\",\"fio\":{}}");
}

static void a_failed_job_keeps_its_notes(void **state)
{
	struct fixture *f = *state;

	f->guest.answer = answer_failed;
	run_through(f, 5);
	assert_int_equal(f->trial.status, TRIAL_FAILED);
	assert_string_equal(f->trial.message, "kickio ended with status 1: kickio: caf??;io_u error");
	assert_non_null(f->trial.result);
	assert_non_null(f->trial.host);
}

static void answer_corrupt(struct hv_guest *g, const struct frame *f)
{
	if (f->type != FRAME_JOB)
		return;
	fake_say(g, FRAME_BEGIN, BEGIN);
	fake_say(g, FRAME_STATUS, "{\"id\":\"7\",\"verify_map\":[{\"path\":\"/dev/vda\",\"map\":\"00000000000000ab\","
				  "\"unit\":4096,\"blocks\":100,\"runs\":\"0+2:1\"}]}");
	fake_say(g, FRAME_END, END);
	fake_say(g, FRAME_RESULT, "{\"id\":\"7\",\"status\":1,\"notes\":\"kickio: verify: torn (x) at file f offset 0\\n\"}");
}

static void bad_blocks_are_corruption(void **state)
{
	struct fixture *f = *state;

	f->guest.answer = answer_corrupt;
	run_through(f, 5);
	assert_int_equal(f->trial.status, TRIAL_CORRUPT);
	assert_non_null(f->trial.maps);
	assert_false(map_copy_empty(f->trial.maps));
}

static void answer_bad_map(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_JOB)
		fake_say(g, FRAME_STATUS, "{\"id\":\"7\",\"verify_map\":[{\"path\":\"/dev/vda\"}]}");
}

static void a_malformed_map_fails_the_trial(void **state)
{
	struct fixture *f = *state;

	f->guest.answer = answer_bad_map;
	run_through(f, 5);
	assert_int_equal(f->trial.status, TRIAL_FAILED);
	assert_string_equal(f->trial.message, "the guest's generation map is malformed");
}

static void answer_error(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_JOB)
		fake_say(g, FRAME_ERROR, "{\"id\":\"7\",\"message\":\"bs: no such size\"}");
}

static void answer_error_without_words(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_JOB)
		fake_say(g, FRAME_ERROR, "{}");
}

static void a_refused_job_says_why(void **state)
{
	struct fixture *f = *state;

	f->guest.answer = answer_error;
	run_through(f, 5);
	assert_int_equal(f->trial.status, TRIAL_FAILED);
	assert_string_equal(f->trial.message, "bs: no such size");
	assert_null(f->trial.result);
	trial_free(&f->trial);
	f->guest.answer = answer_error_without_words;
	run_through(f, 5);
	assert_int_equal(f->trial.status, TRIAL_FAILED);
	holds(f->trial.message, "without a reason");
}

/* ---- stalls ---- */

static void silence_is_a_stall(void **state)
{
	struct fixture *f = *state;

	run_through(f, 0.3);
	assert_int_equal(f->trial.status, TRIAL_STALLED);
	holds(f->trial.message, "the guest runs and has not said anything for");
	assert_null(f->trial.result);
	assert_true(f->trial.seconds >= 0.3 && f->trial.seconds < 5);
}

/* Longer than the host takes to ask for lost frames: asking does not make it an error. */
static void silence_is_a_stall_after_questions_too(void **state)
{
	struct fixture *f = *state;
	struct error e = { 0 };
	struct message m;

	fake_say(&f->guest, FRAME_HELLO, "{}");
	assert_int_equal(link_receive(&f->boot.link, 100, &m, &e), 1);
	json_decref(m.body);
	run_through(f, 3.3);
	assert_int_equal(f->trial.status, TRIAL_STALLED);
	assert_int_equal(f->guest.asked, 1);
	holds(text_get(&f->guest.heard), "again {\"seq\":2}\n");
}

static void begin_only(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_JOB)
		fake_say(g, FRAME_BEGIN, BEGIN);
}

static void same_status(struct hv_guest *g)
{
	fake_say(g, FRAME_STATUS, STATUS_AT(5));
}

static void talk_without_progress_is_a_stall(void **state)
{
	struct fixture *f = *state;

	f->guest.answer = begin_only;
	f->guest.idle = same_status;
	run_through(f, 1);
	assert_int_equal(f->trial.status, TRIAL_STALLED);
	holds(f->trial.message, "no I/O has completed for");
	holds(f->trial.message, "it stands at 6");
	assert_true(f->shown > 3);
}

static void slow_progress(struct hv_guest *g)
{
	char status[128];

	snprintf(status, sizeof(status), "{\"elapsed_us\":1,\"read_ios\":%llu}", (unsigned long long)++g->counter);
	fake_say(g, FRAME_STATUS, status);
	if (g->counter == 120) {
		fake_say(g, FRAME_END, END);
		fake_say(g, FRAME_RESULT, RESULT);
	}
}

/* 120 times 20 ms with an I/O each: longer than the timeout, and no stall. */
static void slow_is_not_stalled(void **state)
{
	struct fixture *f = *state;

	f->guest.answer = begin_only;
	f->guest.idle = slow_progress;
	run_through(f, 2);
	assert_int_equal(f->trial.status, TRIAL_OK);
	assert_true(f->trial.seconds > 2.2);
}

/* Before the span begins nothing is measured: layout and ramp may take their time, as long as the guest talks. */
static void talk_before_the_span(struct hv_guest *g)
{
	if (++g->counter < 120)
		fake_say(g, FRAME_STATUS, STATUS_AT(0));
	else if (g->counter == 120)
		fake_say(g, FRAME_BEGIN, BEGIN);
	else
		fake_say(g, FRAME_RESULT, RESULT);
}

static void preparation_is_not_stalled(void **state)
{
	struct fixture *f = *state;

	f->guest.idle = talk_before_the_span;
	run_through(f, 2);
	assert_int_equal(f->trial.status, TRIAL_OK);
	assert_true(f->trial.seconds > 2.2);
}

/* ---- ends ---- */

static void die(struct hv_guest *g, const struct frame *f)
{
	if (f->type != FRAME_JOB)
		return;
	fake_say(g, FRAME_BEGIN, BEGIN);
	text_add(&g->console, "Kernel panic - not syncing: Fatal exception\n");
	g->state = HV_CRASHED;
}

static void a_guest_that_dies_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct error e = { 0 };

	f->guest.answer = die;
	assert_int_equal(run(f, 5, &e), -1);
	assert_int_equal(e.status, STATUS_INCOMPLETE);
	holds(e.text, "the guest crashed: its kernel panicked");
}

static void a_signal_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct error e = { 0 };

	f->interrupted = 2;
	assert_int_equal(run(f, 5, &e), -1);
	assert_int_equal(e.status, STATUS_INCOMPLETE);
	holds(e.text, "interrupted by signal 2");
}

static void statuses_have_names(void **state)
{
	(void)state;
	assert_string_equal(trial_status_name(TRIAL_OK), "ok");
	assert_string_equal(trial_status_name(TRIAL_FAILED), "failed");
	assert_string_equal(trial_status_name(TRIAL_STALLED), "stalled");
	assert_string_equal(trial_status_name(TRIAL_CORRUPT), "corrupt");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_job_is_run_and_counted), TEST(a_guest_that_waits_is_told_of_the_count),
		TEST(a_file_system_is_asked_for), TEST(fio_runs_a_job), TEST(fio_fails_at_a_job),
		TEST(threads_and_kvm_are_counted), TEST(without_a_span_there_are_no_counters),
		TEST(a_failed_job_keeps_its_notes),
		TEST(bad_blocks_are_corruption),
		TEST(a_malformed_map_fails_the_trial), TEST(a_refused_job_says_why), TEST(silence_is_a_stall),
		TEST(silence_is_a_stall_after_questions_too), TEST(talk_without_progress_is_a_stall), TEST(slow_is_not_stalled),
		TEST(preparation_is_not_stalled), TEST(a_guest_that_dies_is_an_error), TEST(a_signal_is_an_error),
		TEST(statuses_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
