/* host/trial.c with `kickio check` as the tool: what it found is kept as it came, its status is the job's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/trial.h"
#include "tests/unit/fake_guest.h"

#define RESULT(status, notes, check) \
	"{\"id\":\"7\",\"tool\":\"check\",\"status\":" #status ",\"notes\":\"" notes "\",\"counters\":null,\"check\":" check "}"

static void find_nothing(struct hv_guest *g, const struct frame *f)
{
	if (f->type != FRAME_JOB)
		return;
	fake_say(g, FRAME_BEGIN, "{\"id\":\"7\",\"clock_ns\":1}");
	fake_say(g, FRAME_STATUS, "{\"id\":\"7\",\"elapsed_us\":1000000,\"read_ios\":3,\"write_ios\":4,\"read_bytes\":0,\"write_bytes\":0}");
	fake_say(g, FRAME_END, "{\"id\":\"7\",\"clock_ns\":2}");
	fake_say(g, FRAME_RESULT, RESULT(0, "", "{\"checks\":[{\"name\":\"flush\",\"status\":\"pass\",\"message\":\"direct\"}]}"));
}

static void find_something(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_JOB)
		fake_say(g, FRAME_RESULT, RESULT(1, "fail flush: direct: Input/output error\\n",
			 "{\"checks\":[{\"name\":\"flush\",\"status\":\"fail\",\"message\":\"direct: Input/output error\"}]}"));
}

static void run(void (*answer)(struct hv_guest *, const struct frame *), enum trial_status status, uint64_t ios,
		const char *message, const char *found)
{
	char *argv[] = { (char *)"--destroy=1" };
	struct trial_request request = { .id = "7", .argv = argv, .argc = 1, .tool = "check", .stall_timeout = 5 };
	struct hv_guest guest = { .idle_ms = 20, .answer = answer };
	struct boot boot = { .ops = &fake_ops, .guest = &guest, .request.ndisks = 1, .disk_path = { "/dev/vda" } };
	struct error e = { 0 };
	struct trial trial;
	const json_t *checks;

	link_open(&boot.link, &fake_ops, &guest, NULL, NULL);
	if (trial_run(&boot, &request, &trial, &e))
		fail_msg("%s", e.text);
	assert_string_equal(text_get(&guest.heard), "job {\"id\":\"7\",\"disk\":\"/dev/vda\",\"argv\":[\"--destroy=1\","
						    "\"--filename=/dev/vda\"],\"tool\":\"check\"}\n");
	assert_int_equal(trial.status, status);
	assert_int_equal(trial.ios, ios);
	assert_string_equal(trial.message, message);
	checks = json_object_get(json_object_get(trial.result, "check"), "checks");
	assert_string_equal(json_string_value(json_object_get(json_array_get(checks, 0), "status")), found);
	trial_free(&trial);
	link_close(&boot.link);
	fake_free(&guest);
}

static void what_it_found_is_kept(void **state)
{
	(void)state;
	run(find_nothing, TRIAL_OK, 7, "", "pass");
	run(find_something, TRIAL_FAILED, 0, "check ended with status 1: fail flush: direct: Input/output error", "fail");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_it_found_is_kept) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
