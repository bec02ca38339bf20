/* host/link.c against a guest in memory: numbers, damage, gaps, noise, ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/link.h"
#include "tests/unit/fake_guest.h"
#include "tests/unit/scratch.h"

struct fixture {
	struct hv_guest guest;
	struct link link;
	FILE *log;
	volatile sig_atomic_t interrupted;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->log = tmpfile();
	link_open(&f->link, &fake_ops, &f->guest, f->log, &f->interrupted);
	*state = f;
	return f->log ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	link_close(&f->link);
	fclose(f->log);
	fake_free(&f->guest);
	free(f);
	return 0;
}

/* The next message is of this type and its "n" is n. */
static void expect_message(struct fixture *f, enum frame_type type, int n)
{
	struct message m;
	struct error e = { 0 };
	int status = link_receive(&f->link, 1000, &m, &e);

	if (status != 1)
		fail_msg("message %d: status %d, %s", n, status, e.text);
	assert_int_equal(m.type, type);
	assert_int_equal(json_integer_value(json_object_get(m.body, "n")), n);
	assert_true(m.at_ns > 0);
	json_decref(m.body);
}

static void expect_nothing(struct fixture *f)
{
	struct message m;
	struct error e = { 0 };

	if (link_receive(&f->link, 20, &m, &e) != 0)
		fail_msg("something came, or: %s", e.text);
}

static void expect_end(struct fixture *f, const char *piece)
{
	struct message m;
	struct error e = { 0 };

	assert_int_equal(link_receive(&f->link, 1000, &m, &e), -1);
	assert_int_equal(e.status, STATUS_INCOMPLETE);
	holds(e.text, piece);
}

static void log_is(struct fixture *f, const char *want)
{
	char have[1024];
	size_t n;

	rewind(f->log);
	n = fread(have, 1, sizeof(have) - 1, f->log);
	have[n] = '\0';
	assert_string_equal(have, want);
}

static void messages_come_in_order(void **state)
{
	struct fixture *f = *state;

	f->guest.chunk = 1; /* a serial line owes nobody whole frames */
	fake_say(&f->guest, FRAME_HELLO, "{\"n\":1}");
	fake_say(&f->guest, FRAME_STATUS, "{\"n\":2}");
	fake_say(&f->guest, FRAME_RESULT, "{\"n\":3}");
	expect_message(f, FRAME_HELLO, 1);
	expect_message(f, FRAME_STATUS, 2);
	expect_message(f, FRAME_RESULT, 3);
	expect_nothing(f);
	assert_int_equal(f->guest.asked, 0);
}

static void noise_and_console_go_to_the_log(void **state)
{
	struct fixture *f = *state;

	text_add(&f->guest.link, "[    0.1] booting\r\nrandom: ");
	fake_say(&f->guest, FRAME_HELLO, "{\"n\":1}");
	text_add(&f->guest.link, "\n[    0.2] done\n");
	text_add(&f->guest.console, "login:");
	expect_message(f, FRAME_HELLO, 1);
	expect_nothing(f);
	log_is(f, "login:[    0.1] booting\nrandom: \n[    0.2] done\n");
	assert_int_equal(f->guest.asked, 0);
}

/* ---- damage and gaps ---- */

/* Says again what the host asks for: frame N is {"n":N}. */
static void repeat(struct hv_guest *g, const struct frame *f)
{
	unsigned seq;
	char payload[32];

	if (f->type != FRAME_AGAIN || sscanf(f->payload, "{\"seq\":%u}", &seq) != 1)
		return;
	snprintf(payload, sizeof(payload), "{\"n\":%u}", seq);
	fake_frame(g, seq, FRAME_STATUS, payload);
}

static void a_damaged_frame_is_asked_for(void **state)
{
	struct fixture *f = *state;

	f->guest.answer = repeat;
	fake_frame(&f->guest, 1, FRAME_STATUS, "{\"n\":1}");
	fake_damaged(&f->guest, 2, FRAME_STATUS, "{\"n\":2}");
	expect_message(f, FRAME_STATUS, 1);
	expect_message(f, FRAME_STATUS, 2);
	assert_string_equal(text_get(&f->guest.heard), "again {\"seq\":2}\n");
}

static void a_damaged_first_frame_is_asked_for(void **state)
{
	struct fixture *f = *state;

	f->guest.answer = repeat;
	fake_damaged(&f->guest, 1, FRAME_STATUS, "{\"n\":1}");
	expect_message(f, FRAME_STATUS, 1);
}

static void repeat_damaged(struct hv_guest *g, const struct frame *f)
{
	if (f->type == FRAME_AGAIN)
		fake_damaged(g, 2, FRAME_STATUS, "{\"n\":2}");
}

static void what_stays_damaged_ends_it(void **state)
{
	struct fixture *f = *state;

	f->guest.answer = repeat_damaged;
	fake_frame(&f->guest, 1, FRAME_STATUS, "{\"n\":1}");
	fake_damaged(&f->guest, 2, FRAME_STATUS, "{\"n\":2}");
	expect_message(f, FRAME_STATUS, 1);
	expect_end(f, "frame 2 of the guest stayed damaged after 5 repetitions");
	assert_int_equal(f->guest.asked, 5);
}

static void repetitions_that_nobody_needs_are_dropped(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3; i++)
		fake_frame(&f->guest, 1, FRAME_HELLO, "{\"n\":1}");
	fake_damaged(&f->guest, 1, FRAME_HELLO, "{\"n\":1}");
	fake_frame(&f->guest, 2, FRAME_STATUS, "{\"n\":2}");
	expect_message(f, FRAME_HELLO, 1);
	expect_message(f, FRAME_STATUS, 2);
	expect_nothing(f);
	assert_int_equal(f->guest.asked, 0);
}

/* Nothing new has to come for what stands behind a gap to be fetched; a burst behind it asks once. */
static void a_gap_is_filled_in_order(void **state)
{
	struct fixture *f = *state;

	f->guest.answer = repeat;
	fake_frame(&f->guest, 1, FRAME_STATUS, "{\"n\":1}");
	for (uint32_t n = 3; n <= 9; n++) {
		char payload[32];

		snprintf(payload, sizeof(payload), "{\"n\":%u}", n);
		fake_frame(&f->guest, n, FRAME_STATUS, payload);
	}
	for (int n = 1; n <= 9; n++)
		expect_message(f, FRAME_STATUS, n);
	expect_nothing(f);
	assert_int_equal(f->guest.asked, 8);
	holds(text_get(&f->guest.heard), "again {\"seq\":2}\nagain {\"seq\":3}\nagain {\"seq\":4}\n");
}

/* The guest numbers its requests like any frame. */
static void the_host_repeats_and_goes_on(void **state)
{
	struct fixture *f = *state;
	struct error e = { 0 };
	json_t *body = json_pack("{s:i}", "job", 7);

	f->guest.answer = repeat;
	fake_frame(&f->guest, 1, FRAME_HELLO, "{\"n\":1}");
	expect_message(f, FRAME_HELLO, 1);
	assert_int_equal(link_send(&f->link, FRAME_JOB, body, &e), 0);
	assert_int_equal(link_send(&f->link, FRAME_BYE, body, &e), 0);
	fake_frame(&f->guest, 2, FRAME_AGAIN, "{\"seq\":1}");
	fake_frame(&f->guest, 3, FRAME_AGAIN, "{\"seq\":2}");
	fake_frame(&f->guest, 4, FRAME_STATUS, "{\"n\":4}");
	expect_message(f, FRAME_STATUS, 4);
	assert_int_equal(f->guest.asked, 0);
	assert_string_equal(text_get(&f->guest.heard), "job {\"job\":7}\nbye {\"job\":7}\njob {\"job\":7}\nbye {\"job\":7}\n");
	json_decref(body);
}

static void what_is_not_kept_is_not_repeated(void **state)
{
	struct fixture *f = *state;
	struct error e = { 0 };
	json_t *body = json_object();

	for (int i = 0; i < LINK_KEPT + 2; i++)
		assert_int_equal(link_send(&f->link, FRAME_JOB, body, &e), 0);
	text_reset(&f->guest.heard);
	fake_say(&f->guest, FRAME_AGAIN, "{\"seq\":2}"); /* 3 to 10 are kept */
	fake_say(&f->guest, FRAME_AGAIN, "{\"seq\":11}");
	fake_say(&f->guest, FRAME_AGAIN, "{\"seq\":0}");
	fake_say(&f->guest, FRAME_AGAIN, "{}");
	fake_say(&f->guest, FRAME_AGAIN, "{\"seq\":3}");
	expect_nothing(f);
	assert_string_equal(text_get(&f->guest.heard), "job {}\n");
	json_decref(body);
}

static void silence_is_no_damage(void **state)
{
	struct fixture *f = *state;
	struct error e = { 0 };

	assert_int_equal(link_nudge(&f->link, &e), 0);
	assert_int_equal(f->guest.asked, 0); /* nothing to go on from */
	fake_say(&f->guest, FRAME_HELLO, "{\"n\":1}");
	expect_message(f, FRAME_HELLO, 1);
	for (int i = 0; i < 20; i++)
		assert_int_equal(link_nudge(&f->link, &e), 0);
	assert_int_equal(f->guest.asked, 20);
	holds(text_get(&f->guest.heard), "again {\"seq\":2}\n");
	fake_say(&f->guest, FRAME_STATUS, "{\"n\":2}");
	expect_message(f, FRAME_STATUS, 2);
}

static void a_frame_without_json_ends_it(void **state)
{
	struct fixture *f = *state;

	fake_say(&f->guest, FRAME_STATUS, "{\"n\":");
	expect_end(f, "a status frame of the guest is no JSON");
}

/* ---- ends ---- */

static void a_dead_guest_is_heard_out_first(void **state)
{
	struct fixture *f = *state;

	fake_say(&f->guest, FRAME_HELLO, "{\"n\":1}");
	f->guest.state = HV_OFF;
	expect_message(f, FRAME_HELLO, 1);
	expect_end(f, "the guest is off");
}

static void a_panic_is_named_with_the_end_of_the_console(void **state)
{
	struct fixture *f = *state;
	struct message m;
	struct error e = { 0 };

	for (int i = 0; i < 500; i++)
		text_add(&f->guest.console, "line %d\r\n", i);
	text_add(&f->guest.console, "[    1.0] Kernel panic - not syncing: \x1b[31mno init\xff\r\n");
	f->guest.state = HV_CRASHED;
	assert_int_equal(link_receive(&f->link, 1000, &m, &e), -1);
	assert_int_equal(e.status, STATUS_INCOMPLETE);
	holds(e.text, "the guest crashed: its kernel panicked: Kernel panic");
	holds(e.text, "\n  | line 499\n  | [    1.0] Kernel panic - not syncing: ?[31mno init?");
	assert_null(strstr(e.text, "line 490"));
}

static void every_end_has_words(void **state)
{
	static const struct { enum hv_state state; const char *words; } rows[] = {
		{ HV_OFF, "is off" }, { HV_CRASHED, "crashed" }, { HV_INTERNAL_ERROR, "internal error of the hypervisor" },
		{ HV_IO_ERROR, "I/O error of the host" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = *state;

		f->link.news.state = HV_RUNNING;
		f->guest.state = rows[i].state;
		expect_end(f, rows[i].words);
	}
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void time_runs_out(void **state)
{
	struct fixture *f = *state;
	struct message m;
	struct error e = { 0 };
	double start = seconds();

	assert_int_equal(link_receive(&f->link, 250, &m, &e), 0);
	assert_true(seconds() - start >= 0.249 && seconds() - start < 5);
	assert_int_equal(e.status, 0);
	assert_int_equal(link_receive(&f->link, 0, &m, &e), 0);
}

static void a_signal_ends_it(void **state)
{
	struct fixture *f = *state;

	f->interrupted = 15;
	expect_end(f, "interrupted by signal 15");
}

static void switch_off(struct hv_guest *g)
{
	if (g->counter++ == 2)
		g->state = HV_OFF;
	else
		fake_say(g, FRAME_LOG, "{}");
}

static void draining_waits_for_the_end(void **state)
{
	struct fixture *f = *state;

	f->guest.idle = switch_off;
	f->guest.idle_ms = 5;
	assert_true(link_drain(&f->link, 5000));
	assert_int_equal(f->guest.counter, 3);
}

static void draining_has_a_deadline(void **state)
{
	struct fixture *f = *state;

	assert_false(link_drain(&f->link, 50));
	f->interrupted = 2;
	assert_false(link_drain(&f->link, 60000));
}

/* The frames of a guest that was reset begin at 1 again, both ways; what the earlier one had still to say is left out. */
static void a_guest_that_was_reset_begins_anew(void **state)
{
	struct fixture *f = *state;
	struct error e = { 0 };
	json_t *body = json_pack("{s:i}", "n", 1);

	fake_say(&f->guest, FRAME_HELLO, "{\"n\":1}");
	fake_say(&f->guest, FRAME_STATUS, "{\"n\":2}");
	expect_message(f, FRAME_HELLO, 1);
	expect_message(f, FRAME_STATUS, 2);
	assert_int_equal(link_send(&f->link, FRAME_JOB, body, &e), 0);
	link_restart(&f->link);
	fake_say(&f->guest, FRAME_STATUS, "{\"n\":3}");
	fake_damaged(&f->guest, 4, FRAME_STATUS, "{\"n\":4}");
	fake_frame(&f->guest, 7, FRAME_HELLO, "{\"n\":7}"); /* a repetition of the earlier one's */
	expect_nothing(f);
	assert_int_equal(f->guest.asked, 0);
	fake_frame(&f->guest, 1, FRAME_HELLO, "{\"n\":10}");
	fake_frame(&f->guest, 2, FRAME_STATUS, "{\"n\":11}");
	expect_message(f, FRAME_HELLO, 10);
	expect_message(f, FRAME_STATUS, 11);
	assert_int_equal(link_send(&f->link, FRAME_JOB, body, &e), 0);
	assert_int_equal(f->link.sent, 1);
	json_decref(body);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(messages_come_in_order), TEST(noise_and_console_go_to_the_log), TEST(a_damaged_frame_is_asked_for),
		TEST(a_damaged_first_frame_is_asked_for), TEST(what_stays_damaged_ends_it),
		TEST(repetitions_that_nobody_needs_are_dropped), TEST(a_gap_is_filled_in_order),
		TEST(the_host_repeats_and_goes_on), TEST(what_is_not_kept_is_not_repeated), TEST(silence_is_no_damage),
		TEST(a_frame_without_json_ends_it), TEST(a_dead_guest_is_heard_out_first),
		TEST(a_panic_is_named_with_the_end_of_the_console), TEST(every_end_has_words), TEST(time_runs_out),
		TEST(a_signal_ends_it), TEST(draining_waits_for_the_end), TEST(draining_has_a_deadline),
		TEST(a_guest_that_was_reset_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
