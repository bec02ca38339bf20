/* host/stall_explain.c and what host/stall_snapshot.c asks, against a guest in memory that has lost a kick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/stall.h"
#include "tests/unit/fake_guest.h"

#define STATUS \
	"{\"return\":{\"signalled-used\":1049,\"inuse\":0,\"vring-desc\":7598080,\"signalled-used-valid\":true,\"vring-avail\":7602176," \
	"\"queue-index\":0,\"last-avail-idx\":1049,\"vring-used\":7606272,\"used-idx\":1049,\"vring-num\":256}}"

struct whole {
	struct hv_guest guest;
	struct hv_ops ops;
	struct machine machine;
	struct boot boot;
	volatile sig_atomic_t interrupted;
};

static bool deaf;

static int qmp(struct hv_guest *g, const char *command, struct text *reply, struct error *e)
{
	(void)g;
	if (strstr(command, "queue-status") && strstr(command, "/machine/peripheral/ua-disk0/virtio-backend") && strstr(command, "\"queue\":0"))
		text_add(reply, "%s", STATUS);
	else if (strstr(command, "xp /2xh 0x740000"))
		text_add(reply, "{\"return\":\"0000000000740000: 0x0000 0x041a\\r\\n\"}");
	else if (strstr(command, "xp /1xh 0x740204") || strstr(command, "xp /1xh 0x741804"))
		text_add(reply, "{\"return\":\"0000000000740204: 0x0419\\r\\n\"}");
	else
		return error_set(e, STATUS_HOST, "the emulator refuses: %s", command);
	return 0;
}

static bool answers(struct hv_guest *g, int timeout_ms)
{
	(void)g;
	(void)timeout_ms;
	return !deaf;
}

static void answer(struct hv_guest *g, const struct frame *f)
{
	json_t *body = json_loads(f->payload, 0, NULL);
	const char *action = json_string_value(json_object_get(body, "action"));
	char said[128];

	if (f->type == FRAME_ACTION && action) {
		snprintf(said, sizeof(said), "{\"id\":%d,\"action\":\"%s\",\"error\":null}",
			 (int)json_integer_value(json_object_get(body, "id")), action);
		fake_say(g, FRAME_ACTION, said);
		if (!strcmp(action, "nudge")) {
			snprintf(said, sizeof(said), "{\"id\":%d,\"action\":\"nudge\",\"error\":null,\"done\":true,\"us\":7}",
				 (int)json_integer_value(json_object_get(body, "id")));
			fake_say(g, FRAME_ACTION, said);
			fake_say(g, FRAME_STATUS, "{\"id\":\"7\",\"read_ios\":1200,\"write_ios\":0}");
		}
	}
	json_decref(body);
}

static int open_whole(void **state)
{
	struct whole *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	w->ops = fake_ops;
	w->ops.qmp = qmp;
	w->ops.answers = answers;
	w->guest.answer = answer;
	w->guest.idle_ms = 20;
	w->boot = (struct boot){ .ops = &w->ops, .guest = &w->guest, .request.machine = &w->machine, .request.ndisks = 1 };
	strcpy(w->boot.disk_path[0], "/dev/vda");
	w->boot.hello = json_pack("{s:i}", "ncpus", 1);
	link_open(&w->boot.link, &w->ops, &w->guest, NULL, &w->interrupted);
	deaf = false;
	*state = w;
	return 0;
}

static int close_whole(void **state)
{
	struct whole *w = *state;

	json_decref(w->boot.hello);
	link_close(&w->boot.link);
	fake_free(&w->guest);
	free(w);
	return 0;
}

static void a_trial_is_explained(void **state)
{
	struct whole *w = *state;
	struct trial trial = { .status = TRIAL_STALLED, .message = "it stands at 999", .ios = 999 };
	struct error e = { 0 };
	json_t *queue;

	if (stall_of_trial(&w->boot, 0, &trial, &e))
		fail_msg("%s", e.text);
	assert_string_equal(trial.message, "it stands at 999; kick lost: queue 0: the guest has made requests available up to 1050, the device has "
					   "looked up to 1049; a further request came back, and the job went on");
	assert_string_equal(json_string_value(json_object_get(trial.stall, "cause")), "kick lost");
	assert_int_equal(json_array_size(json_object_get(trial.stall, "snapshots")), 3);
	assert_true(json_is_true(json_object_get(trial.stall, "resumed")));
	queue = json_array_get(json_object_get(json_array_get(json_object_get(trial.stall, "snapshots"), 1), "queues"), 0);
	assert_int_equal(json_integer_value(json_object_get(queue, "available")), 1050);
	assert_int_equal(json_integer_value(json_object_get(queue, "seen")), 1049);
	assert_true(strstr(text_get(&w->guest.heard), "action {\"id\":3,\"action\":\"nudge\",\"disk\":\"/dev/vda\"}") != NULL);
	trial_free(&trial);
}

/* Nothing is asked of an emulator that hangs: it would never be answered. */
static void an_emulator_that_hangs_is_not_asked(void **state)
{
	struct whole *w = *state;
	enum stall_cause cause;
	struct error e = { 0 };
	json_t *evidence;

	deaf = true;
	w->ops.qmp = NULL;
	assert_int_equal(stall_explain(&w->boot, 0, 1, &cause, &evidence, &e), 0);
	assert_int_equal(cause, STALL_DEVICE_HOLDS);
	assert_string_equal(text_get(&w->guest.heard), "");
	json_decref(evidence);
}

static void an_interruption_ends_it(void **state)
{
	struct whole *w = *state;
	enum stall_cause cause;
	struct error e = { 0 };
	json_t *evidence;

	w->interrupted = 15;
	assert_int_equal(stall_explain(&w->boot, 0, 1, &cause, &evidence, &e), -1);
	assert_null(evidence);
	assert_true(strstr(e.text, "signal 15") != NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_trial_is_explained, open_whole, close_whole),
		cmocka_unit_test_setup_teardown(an_emulator_that_hangs_is_not_asked, open_whole, close_whole),
		cmocka_unit_test_setup_teardown(an_interruption_ends_it, open_whole, close_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
