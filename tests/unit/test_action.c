/* host/action.c against a guest in memory that answers, refuses, repeats itself, or says nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/action.h"
#include "host/clock.h"
#include "tests/unit/fake_guest.h"

struct fixture {
	struct hv_guest guest;
	struct boot boot;
	struct error e;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->boot = (struct boot){ .ops = &fake_ops, .guest = &f->guest };
	f->guest.idle_ms = 20;
	link_open(&f->boot.link, &fake_ops, &f->guest, NULL, NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	link_close(&f->boot.link);
	fake_free(&f->guest);
	free(f);
	return 0;
}

static void test_what_is_sent(void **state)
{
	struct fixture *f = *state;
	unsigned first, second;

	assert_int_equal(action_send(&f->boot, "nudge", "/dev/vda", 3, &first, &f->e), 0);
	assert_int_equal(action_send(&f->boot, "disks", NULL, -1, &second, &f->e), 0);
	assert_int_equal(first, 1);
	assert_int_equal(second, 2);
	assert_string_equal(text_get(&f->guest.heard), "action {\"id\":1,\"action\":\"nudge\",\"disk\":\"/dev/vda\",\"cpu\":3}\n"
			    "action {\"id\":2,\"action\":\"disks\"}\n");
}

static void test_what_answers(void **state)
{
	static const struct {
		enum frame_type type;
		const char *body;
		bool answers, done;
		const char *problem;
	} rows[] = {
		{ FRAME_ACTION, "{\"id\":7,\"action\":\"nudge\",\"error\":null}", true, false, NULL },
		{ FRAME_ACTION, "{\"id\":7,\"action\":\"nudge\",\"error\":null,\"done\":true}", true, true, NULL },
		{ FRAME_ACTION, "{\"id\":7,\"action\":\"nudge\",\"error\":\"no disk\",\"done\":true}", true, true, "no disk" },
		{ FRAME_ACTION, "{\"id\":7,\"action\":\"nudge\"}", true, false, "an answer that does not say whether it went well" },
		{ FRAME_ACTION, "{\"id\":8,\"action\":\"nudge\",\"error\":null}", false, false, NULL },
		{ FRAME_ACTION, "{\"id\":\"7\",\"error\":\"no disk\"}", false, false, NULL },
		{ FRAME_STATUS, "{\"id\":7,\"error\":\"no disk\",\"done\":true}", false, false, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct message m = { .type = rows[i].type, .body = json_loads(rows[i].body, 0, NULL) };
		const char *problem = "unset";

		assert_non_null(m.body);
		assert_int_equal(action_answers(&m, 7, &problem), rows[i].answers);
		assert_int_equal(action_answers(&m, 7, NULL), rows[i].answers);
		assert_int_equal(action_done(&m), rows[i].done);
		if (rows[i].problem)
			assert_string_equal(problem, rows[i].problem);
		else
			assert_null(problem);
		json_decref(m.body);
	}
}

/* A hello again and another action's late answer come first. */
static void say_disks(struct hv_guest *g, const struct frame *f)
{
	if (f->type != FRAME_ACTION)
		return;
	fake_say(g, FRAME_HELLO, "{\"id\":1}");
	fake_say(g, FRAME_ACTION, "{\"id\":4711,\"action\":\"nudge\",\"error\":\"late\"}");
	fake_say(g, FRAME_ACTION, "{\"id\":1,\"action\":\"disks\",\"error\":null,\"disks\":[{\"path\":\"/dev/vdb\"}]}");
}

static void test_call(void **state)
{
	struct fixture *f = *state;
	json_t *reply;

	f->guest.answer = say_disks;
	assert_int_equal(action_call(&f->boot, "disks", NULL, -1, 5, &reply, &f->e), 0);
	assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(reply, "disks"), 0), "path")),
			    "/dev/vdb");
	json_decref(reply);
}

static void refuse(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_ACTION)
		fake_say(g, FRAME_ACTION, "{\"id\":1,\"action\":\"unbind\",\"error\":\"/dev/vda is no virtio disk\"}");
}

static void test_refusal(void **state)
{
	struct fixture *f = *state;
	json_t *reply = json_true();

	f->guest.answer = refuse;
	assert_int_equal(action_call(&f->boot, "unbind", "/dev/vda", -1, 5, &reply, &f->e), -1);
	assert_null(reply);
	assert_string_equal(f->e.text, "the guest on unbind: /dev/vda is no virtio disk");
}

static void test_silence(void **state)
{
	struct fixture *f = *state;
	double start = clock_s();

	assert_int_equal(action_call(&f->boot, "ping", NULL, -1, 0.3, NULL, &f->e), -1);
	assert_non_null(strstr(f->e.text, "has not answered on ping"));
	assert_true(clock_s() - start >= 0.3 && clock_s() - start < 3);
}

/* The answer is lost under way, and comes when it is asked for. */
static void lose(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_ACTION)
		g->number++;
	else if (f->type == FRAME_AGAIN)
		fake_frame(g, g->number, FRAME_ACTION, "{\"id\":1,\"action\":\"ping\",\"error\":null}");
}

static void test_lost_answer(void **state)
{
	struct fixture *f = *state;
	json_t *reply;

	/* Nothing can be missed before anything was heard. */
	fake_say(&f->guest, FRAME_HELLO, "{}");
	f->guest.answer = lose;
	if (action_call(&f->boot, "ping", NULL, -1, 5, &reply, &f->e))
		fail_msg("%s", f->e.text);
	assert_int_equal(f->guest.asked, 1);
	json_decref(reply);
}

static void test_dead_guest(void **state)
{
	struct fixture *f = *state;

	f->guest.state = HV_CRASHED;
	assert_int_equal(action_call(&f->boot, "ping", NULL, -1, 5, NULL, &f->e), -1);
	assert_non_null(strstr(f->e.text, "crashed"));
}

#define WITH_GUEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_GUEST(test_what_is_sent),
		WITH_GUEST(test_what_answers),
		WITH_GUEST(test_call),
		WITH_GUEST(test_refusal),
		WITH_GUEST(test_silence),
		WITH_GUEST(test_lost_answer),
		WITH_GUEST(test_dead_guest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
