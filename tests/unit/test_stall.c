/*
 * host/stall.c and the pure parts of host/stall_snapshot.c: the judge over snapshots made by hand, replies as QEMU 7.2 gave
 * them, rings as memory has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/stall_snapshot.h"

/* ---- the judge ---- */

static const struct stall_nudge none, back = { .sent = true, .completed = true }, lost = { .sent = true },
	helped = { .sent = true, .completed = true, .resumed = true };

/* A queue of 256 at rest: everything is at n, and the guest tells what it has seen. */
static struct stall_queue rest(uint16_t n)
{
	return (struct stall_queue){ .size = 256, .known = true, .last_avail = n, .used = n, .guest_known = true, .avail = n,
				     .seen_known = true, .seen = n };
}

static struct stall_snapshot of(struct stall_queue *q, size_t n)
{
	return (struct stall_snapshot){ .queue = q, .nqueues = n, .state = HV_RUNNING, .talks = true };
}

static void judge_two(const struct stall_snapshot *a, const struct stall_snapshot *b, const struct stall_nudge *nudge,
		      enum stall_cause want, const char *words)
{
	struct text why = { 0 };
	enum stall_cause got = stall_judge(a, b, nudge, &why);

	if (got != want || !strstr(text_get(&why), words))
		fail_msg("%s: %s; wanted %s: %s", stall_cause_name(got), text_get(&why), stall_cause_name(want), words);
	text_free(&why);
}

static void judge(struct stall_queue *q, size_t n, const struct stall_nudge *nudge, enum stall_cause want, const char *words)
{
	struct stall_snapshot s = of(q, n);

	judge_two(&s, &s, nudge, want, words);
}

static void a_lost_kick_is_the_guest_ahead(void **state)
{
	struct stall_queue q = rest(1049);

	(void)state;
	q.avail = 1050;
	judge(&q, 1, &helped, STALL_KICK_LOST, "available up to 1050, the device has looked up to 1049; a further request came back, and the "
						"job went on");
	judge(&q, 1, &lost, STALL_KICK_LOST, "a further request does not come back either");
	q = rest(65535);
	q.avail = 0; /* the next after 65535 */
	judge(&q, 1, &none, STALL_KICK_LOST, "available up to 0, the device has looked up to 65535");
}

static void a_device_that_gives_nothing_back_holds(void **state)
{
	struct stall_queue q = rest(4);

	(void)state;
	q.used = q.seen = 65533;
	q.inuse = 7;
	judge(&q, 1, &lost, STALL_DEVICE_HOLDS, "has taken 7 requests up to 4, has given back up to 65533");
	/* What it has not looked at besides is no lost kick. */
	q.avail = 6;
	judge(&q, 1, &lost, STALL_DEVICE_HOLDS, "and has not looked at 2 more");
	/* Nor is what the guest has not seen a lost interrupt. */
	q.seen = 65532;
	judge(&q, 1, &lost, STALL_DEVICE_HOLDS, "queue 0");
}

static void a_lost_interrupt_is_the_guest_behind(void **state)
{
	struct stall_queue q = rest(1050);

	(void)state;
	q.seen = 1049;
	judge(&q, 1, &none, STALL_INTERRUPT_LOST, "the device is done up to 1050, the guest has seen up to 1049");
	q.signalled_known = true;
	q.signalled = 1049;
	judge(&q, 1, &none, STALL_INTERRUPT_LOST, "dealt with interrupts up to 1049");
	q = rest(1);
	q.seen = 65535;
	judge(&q, 1, &none, STALL_INTERRUPT_LOST, "done up to 1, the guest has seen up to 65535");
}

static void without_event_idx_nothing_outstanding_means_the_interrupt(void **state)
{
	struct stall_queue q = rest(9);

	(void)state;
	q.seen_known = false;
	judge(&q, 1, &none, STALL_INTERRUPT_LOST, "done with all");
	judge(&q, 1, &helped, STALL_INTERRUPT_LOST, "the job went on");
	judge(&q, 1, &lost, STALL_INTERRUPT_LOST, "does not come back either");
	/* Its own interrupt came, and would have shown what lay there. */
	judge(&q, 1, &back, STALL_UNKNOWN, "interrupts arrive");
	q.seen_known = true;
	judge(&q, 1, &none, STALL_UNKNOWN, "has seen all that is done");
}

static void the_first_queue_that_is_not_empty_counts(void **state)
{
	struct stall_queue q[3] = { rest(5), rest(6), rest(7) };
	struct stall_snapshot s = of(q, 3);

	(void)state;
	q[1].number = 1;
	q[2].number = 2;
	assert_int_equal(stall_queue_at_fault(&s, &s), -1);
	q[2].inuse = 1;
	judge(q, 3, &none, STALL_DEVICE_HOLDS, "queue 2");
	assert_int_equal(stall_queue_at_fault(&s, &s), 2);
	q[1].avail++;
	judge(q, 3, &none, STALL_KICK_LOST, "queue 1");
	assert_int_equal(stall_queue_at_fault(&s, &s), 1);
}

/* An iothread may be in the middle of it when the one look was taken. */
static void what_moves_between_two_looks_stands_not(void **state)
{
	struct stall_queue a = rest(10), b = rest(11);
	struct stall_snapshot first = of(&a, 1), second = of(&b, 1);

	(void)state;
	a.avail = 11;
	b.avail = 12;
	judge_two(&first, &second, &none, STALL_UNKNOWN, "the device goes on");
	b = rest(10); /* and the same indices, but only one of the looks saw more */
	b.seen_known = a.seen_known = false;
	judge_two(&first, &second, &none, STALL_INTERRUPT_LOST, "done with all");
}

static void packed_rings_have_places(void **state)
{
	struct stall_queue q = { .size = 256, .packed = true, .known = true, .guest_known = true, .last_avail = STALL_WRAP | 50,
				 .used = STALL_WRAP | 50, .seen_known = true, .seen = STALL_WRAP | 50, .pending = true };

	(void)state;
	judge(&q, 1, &helped, STALL_KICK_LOST, "descriptor at place 50");
	q.pending = false;
	judge(&q, 1, &none, STALL_UNKNOWN, "has seen all");
	q.used = q.last_avail = STALL_WRAP | 2;
	q.seen = 254; /* the lap before */
	judge(&q, 1, &none, STALL_INTERRUPT_LOST, "done up to 2, the guest has seen up to 254");
	q.inuse = 2;
	judge(&q, 1, &none, STALL_DEVICE_HOLDS, "2 descriptors");
}

static void what_cannot_be_asked_is_unknown(void **state)
{
	struct stall_queue q = rest(3);
	struct stall_snapshot s = of(NULL, 0);

	(void)state;
	judge_two(&s, &s, &helped, STALL_UNKNOWN, "does not tell how far its queues are; a further request came back, and the job went on");
	q.known = false; /* another process has the queue */
	q.avail = 4;
	judge(&q, 1, &none, STALL_UNKNOWN, "does not tell");
	q = rest(3);
	q.guest_known = q.seen_known = false;
	judge(&q, 1, &none, STALL_UNKNOWN, "cannot be read");
	q.inuse = 1; /* this, the device knows alone */
	judge(&q, 1, &none, STALL_DEVICE_HOLDS, "has taken 1 request ");
}

static void a_silent_guest_is_dead(void **state)
{
	struct stall_queue q = rest(3);
	struct stall_snapshot a = of(&q, 1), b = of(&q, 1);

	(void)state;
	a.talks = false;
	judge_two(&a, &b, &none, STALL_UNKNOWN, "has seen all"); /* once is enough */
	b.talks = false;
	a.vcpu_known = b.vcpu_known = true;
	a.at_ns = 1000000000;
	b.at_ns = 3000000000;
	b.vcpu_ns = 1000000000;
	strcpy(b.last_words, "Kernel panic - not syncing: x");
	judge_two(&a, &b, &none, STALL_GUEST_DEAD, "runs and does not answer, its vCPUs used 50 % of a CPU meanwhile; its console: Kernel "
						  "panic - not syncing: x");
	q.inuse = 1;
	judge_two(&a, &b, &none, STALL_GUEST_DEAD, "besides, queue 0: the device has taken 1 request");
	b.state = HV_CRASHED;
	b.talks = true;
	judge_two(&a, &b, &none, STALL_GUEST_DEAD, "crashed");
}

static void states_of_the_emulator(void **state)
{
	struct stall_snapshot s = of(NULL, 0);

	(void)state;
	s.state = HV_PAUSED;
	judge_two(&s, &s, &none, STALL_UNKNOWN, "paused");
	s.state = HV_IO_ERROR;
	judge_two(&s, &s, &none, STALL_DEVICE_HOLDS, "I/O error of the host");
	s.state = HV_RUNNING;
	s.talks = false;
	s.deaf = true;
	judge_two(&s, &s, &none, STALL_DEVICE_HOLDS, "does not answer its monitor");
}

/* ---- replies ---- */

#define STATUS(last, used, inuse) \
	"{\"signalled-used\": 1049, \"inuse\": " inuse ", \"name\": \"virtio-blk\", \"vring-align\": 4096, \"vring-desc\": 7598080, " \
	"\"signalled-used-valid\": true, \"vring-num-default\": 256, \"vring-avail\": 7602176, \"queue-index\": 0, \"last-avail-idx\": " last \
	", \"vring-used\": 7606272, \"used-idx\": " used ", \"shadow-avail-idx\": 1049, \"vring-num\": 256}"

static bool read_status(const char *text, struct stall_queue *q, struct stall_places *at)
{
	json_t *value = json_loads(text, 0, NULL);
	bool there = stall_read_status(value, q, at);

	json_decref(value);
	return there;
}

static void replies_of_qmp_are_read(void **state)
{
	struct stall_places at;
	struct stall_queue q;

	(void)state;
	assert_true(read_status(STATUS("1049", "1048", "1"), &q, &at));
	assert_true(q.known && q.signalled_known && !q.guest_known && !q.seen_known);
	assert_int_equal(q.last_avail, 1049);
	assert_int_equal(q.used, 1048);
	assert_int_equal(q.inuse, 1);
	assert_int_equal(q.signalled, 1049);
	assert_int_equal(q.size, 256);
	assert_true(at.desc == 0x73f000 && at.avail == 0x740000 && at.used == 0x741000);
	assert_true(read_status("{\"vring-desc\":4096,\"vring-num\":8,\"queue-index\":3}", &q, &at)); /* vhost keeps it */
	assert_true(!q.known && !q.signalled_known && q.number == 3);
	assert_false(read_status("{\"vring-desc\":0,\"vring-num\":256,\"last-avail-idx\":0,\"used-idx\":0}", &q, &at)); /* not set up */
	assert_false(read_status("[]", &q, &at));
	assert_false(read_status("{}", &q, &at));
}

static void words_of_xp_are_read(void **state)
{
	uint32_t w[8] = { 0 };

	(void)state;
	assert_int_equal(stall_read_words("0000000000740000: 0x0000 0x041a\r\n", w, 2), 2);
	assert_true(w[0] == 0 && w[1] == 0x41a);
	assert_int_equal(stall_read_words("000000000073f320: 0x00742ff0 0x00000000 0x00000010 0x00810000\r\n"
					  "000000000073f330: 0x00743000 0x00000000 0x00001001 0x00820000\r\n", w, 8), 8);
	assert_true(w[3] == 0x810000 && w[4] == 0x743000 && w[7] == 0x820000);
	assert_int_equal(stall_read_words("000000000073f320: 0x00742ff0 0x0000", w, 8), 2);
	assert_int_equal(stall_read_words("Cannot access memory\r\n", w, 8), 0);
	assert_int_equal(stall_read_words("unknown command: 'xp'\r\n", w, 8), 0);
	assert_int_equal(stall_read_words("", w, 8), 0);
	assert_int_equal(stall_read_words("1: 0x1 0x2 0x3", w, 2), 2);
}

static void what_a_split_ring_says(void **state)
{
	struct stall_queue q = rest(1049);

	(void)state;
	stall_read_split(&q, 1050, 1049, 1049);
	assert_true(q.guest_known && q.seen_known && q.avail == 1050 && q.seen == 1049);
	stall_read_split(&q, 1049, 0, 0); /* nobody writes avail_event without EVENT_IDX */
	assert_true(q.guest_known && !q.seen_known);
	stall_read_split(&q, 1049, 1049, 5); /* not where a device has looked */
	assert_false(q.seen_known);
	stall_read_split(&q, 1049, 500, 1049); /* a driver that wants no interrupt: as far off as it can be */
	assert_false(q.seen_known);
	q.used = q.last_avail = 2;
	stall_read_split(&q, 2, 65535, 65534); /* around the end */
	assert_true(q.seen_known && q.seen == 65535);
}

/* Flags of a driver's descriptors in lap w, of a chain's head that was given back in it. */
enum { A1 = 0x0080, A0 = 0x8000, U1 = 0x8080, U0 = 0x0000, CHAIN = 3 };

static struct stall_queue packed(unsigned size, uint16_t last, uint16_t used, unsigned inuse)
{
	return (struct stall_queue){ .size = size, .known = true, .last_avail = last, .used = used, .inuse = inuse };
}

static void what_a_packed_ring_says(void **state)
{
	/* As in memory behind the 1000th kick that was left out: chains of two, the third lap, which has bit 1. */
	const uint16_t seen[8] = { U1, A1 | CHAIN, U1, A1 | CHAIN, A1 | CHAIN, A1 | CHAIN, U0, A0 | CHAIN };
	struct stall_queue q = packed(8, 4, 4, 0);

	(void)state;
	stall_read_packed(&q, seen, STALL_WRAP | 4, 2);
	assert_true(q.packed && q.guest_known && q.pending && q.seen_known);
	assert_int_equal(q.last_avail, STALL_WRAP | 4);
	assert_int_equal(q.used, STALL_WRAP | 4);
	assert_int_equal(q.seen, STALL_WRAP | 4);
	/* The device is done with that one, the guest has not seen it. What stands next is of the lap before. */
	q = packed(8, 6, 6, 0);
	stall_read_packed(&q, (const uint16_t[8]){ U1, A1 | CHAIN, U1, A1 | CHAIN, U1, A1 | CHAIN, U0, A0 | CHAIN }, STALL_WRAP | 4, 2);
	assert_false(q.pending);
	assert_int_equal(q.used, STALL_WRAP | 6);
	assert_int_equal(q.seen, STALL_WRAP | 4);
	assert_true(q.seen_known);
	/* It has one in its hands. */
	q = packed(8, 6, 4, 2);
	stall_read_packed(&q, seen, STALL_WRAP | 4, 2);
	assert_false(q.pending);
	assert_int_equal(q.used, STALL_WRAP | 4);
	assert_int_equal(q.last_avail, STALL_WRAP | 6);
}

static void packed_laps(void **state)
{
	struct stall_queue q = packed(4, 0, 0, 0);

	(void)state;
	/* Nothing was done yet: the first lap has bit 1. The first request waits. */
	stall_read_packed(&q, (const uint16_t[4]){ A1, 0, 0, 0 }, 0, 0);
	assert_true(q.pending && !q.seen_known);
	assert_int_equal(q.used, STALL_WRAP);
	/* One whole lap is done, the next begins with bit 0: what the first lap left at place 0 is not available. */
	q = packed(4, 0, 0, 0);
	stall_read_packed(&q, (const uint16_t[4]){ U1, U1, U1, U1 }, STALL_WRAP | 3, 2);
	assert_false(q.pending);
	assert_int_equal(q.used, 0);
	assert_true(q.seen_known); /* one behind, around the end */
	q = packed(4, 0, 0, 0);
	stall_read_packed(&q, (const uint16_t[4]){ A0, U1, U1, U1 }, 0, 2);
	assert_true(q.pending);
	/* The inside of a chain has its flags still from when it was made available. */
	q = packed(4, 0, 0, 0);
	stall_read_packed(&q, (const uint16_t[4]){ U1, A1, U1, A1 }, 0, 2);
	assert_false(q.pending);
	assert_int_equal(q.used, 0);
	/* A device that has the whole ring looks at its first place again, in the next lap. */
	q = packed(4, 1, 1, 4);
	stall_read_packed(&q, (const uint16_t[4]){ A0, A1, A1, A1 }, STALL_WRAP | 1, 2);
	assert_false(q.pending);
	/* It has taken around the end. */
	q = packed(4, 1, 3, 2);
	stall_read_packed(&q, (const uint16_t[4]){ A0, A0, U1, A1 }, STALL_WRAP | 3, 2);
	assert_int_equal(q.used, STALL_WRAP | 3);
	assert_int_equal(q.last_avail, 1);
	assert_true(q.pending);
	/* Places that are none. */
	q = packed(4, 4, 1, 0);
	stall_read_packed(&q, (const uint16_t[4]){ 0, 0, 0, 0 }, 0, 0);
	assert_false(q.known);
}

static void consoles_and_interrupts_are_read(void **state)
{
	json_t *j = stall_read_interrupts("IRQ statistics for ioapic:\r\n 0: 71\r\n10: 1050\r\nIRQ statistics for isa-i8259:\r\n 0: 72\r\n");
	char *text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS), line[40];

	(void)state;
	assert_string_equal(text, "{\"ioapic\":{\"0\":71,\"10\":1050},\"isa-i8259\":{\"0\":72}}");
	free(text);
	json_decref(j);
	stall_read_console("a\r\n[ 1.0] BUG: x\r\n[ 2.0] Kernel panic - not syncing: y\x1b\r\nz", line, sizeof(line));
	assert_string_equal(line, "Kernel panic - not syncing: y?");
	stall_read_console("all is well\n", line, sizeof(line));
	assert_string_equal(line, "");
	stall_read_console("panic: a line that is much longer than there is room", line, 10);
	assert_string_equal(line, "panic: a ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lost_kick_is_the_guest_ahead),
		cmocka_unit_test(a_device_that_gives_nothing_back_holds),
		cmocka_unit_test(a_lost_interrupt_is_the_guest_behind),
		cmocka_unit_test(without_event_idx_nothing_outstanding_means_the_interrupt),
		cmocka_unit_test(the_first_queue_that_is_not_empty_counts),
		cmocka_unit_test(what_moves_between_two_looks_stands_not),
		cmocka_unit_test(packed_rings_have_places),
		cmocka_unit_test(what_cannot_be_asked_is_unknown),
		cmocka_unit_test(a_silent_guest_is_dead),
		cmocka_unit_test(states_of_the_emulator),
		cmocka_unit_test(replies_of_qmp_are_read),
		cmocka_unit_test(words_of_xp_are_read),
		cmocka_unit_test(what_a_split_ring_says),
		cmocka_unit_test(what_a_packed_ring_says),
		cmocka_unit_test(packed_laps),
		cmocka_unit_test(consoles_and_interrupts_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
