/* Events against a guest in memory: that they come about, what is checked of them, and a guest that does not live through one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "guest/verify_block.h"
#include "host/event.h"
#include "tests/unit/fake_guest.h"
#include "tests/unit/scratch.h"

#define BEGIN "{\"id\":\"event\",\"clock_ns\":1000000}"
#define END "{\"id\":\"event\",\"clock_ns\":2000000}"
#define MAP ",\"verify_map\":[{\"path\":\"/dev/vda\",\"map\":\"00000000000000ab\",\"unit\":512,\"blocks\":8,\"runs\":\"0+4:1\"}]"
#define EMPTY_MAP ",\"verify_map\":[{\"path\":\"/dev/vda\",\"map\":\"00000000000000ab\",\"unit\":512,\"blocks\":8,\"runs\":\"\"}]"
#define STATUS "{\"id\":\"event\",\"elapsed_us\":2000000,\"read_ios\":5,\"write_ios\":4" MAP "}"
#define STATUS_ALONE "{\"id\":\"event\",\"elapsed_us\":2000000,\"read_ios\":5,\"write_ios\":4" EMPTY_MAP "}"
#define RESULT(status) "{\"id\":\"event\",\"status\":" status ",\"notes\":\"\",\"fio\":{\"jobs\":[]},\"counters\":null}"

/* What the guest does when it is asked for something, and what it is asked. */
static struct {
	struct text asked;     /* "stop cont " */
	const char *refused;   /* this one */
	const char *result;    /* said when the guest goes on, or at once without a stop */
	bool dies, moves;      /* when it is stopped; although it is */
	bool silent, short_job; /* tells of nothing that it wrote; the first job is over before it has told anything */
	struct text jobs;      /* "runtime" of each */
} play;

struct fixture {
	struct hv_guest guest;
	struct boot boot;
	struct matrix_cell cell;
	struct cell_result result;
	struct hv_ops ops;
	struct machine machine;
	struct scratch *scratch;
	uint64_t requests;
	bool gone;
};

static struct fixture *now; /* of the test that runs */

static void say_end(struct hv_guest *g)
{
	fake_say(g, FRAME_END, END);
	fake_say(g, FRAME_RESULT, play.result);
}

static int qmp(struct hv_guest *g, const char *command, struct text *reply, struct error *e)
{
	json_t *document = json_loads(command, 0, NULL);
	char name[64];

	snprintf(name, sizeof(name), "%s", json_string_value(json_object_get(document, "execute")));
	json_decref(document);
	text_add(&play.asked, "%s ", name);
	if (play.refused && !strcmp(name, play.refused))
		return error_set(e, STATUS_HOST, "the emulator refuses: not today");
	if (!strcmp(name, "stop"))
		g->state = play.dies ? HV_CRASHED : HV_PAUSED;
	if (!strcmp(name, "cont")) {
		g->state = HV_RUNNING;
		say_end(g);
	}
	if (!strcmp(name, "query-blockstats")) {
		now->requests += play.moves;
		text_add(reply, "{\"return\":[{\"qdev\":\"/machine/peripheral/other\"},{\"qdev\":\"/machine/peripheral/ua-disk0/virtio-backend\","
			 "\"stats\":{\"rd_operations\":100,\"wr_operations\":%d}}]}", (int)now->requests);
		return 0;
	}
	text_add(reply, "{\"return\":{}}");
	return 0;
}

static void answer(struct hv_guest *g, const struct frame *f)
{
	const char *runtime;

	if (f->type != FRAME_JOB)
		return;
	runtime = strstr(f->payload, "--runtime=");
	text_add(&play.jobs, "%.*s ", runtime ? (int)strcspn(runtime, "\"") : 0, runtime ? runtime : "");
	fake_say(g, FRAME_BEGIN, BEGIN);
	if (play.short_job) {
		play.short_job = false;
		say_end(g);
		return;
	}
	fake_say(g, FRAME_STATUS, play.silent ? STATUS_ALONE : STATUS);
	if (!strcmp(now->cell.event, "pause") && (!play.refused || strcmp(play.refused, "stop")))
		return;
	say_end(g);
}

static pid_t no_pid(struct hv_guest *g)
{
	(void)g;
	return -1;
}

/* The first four sectors as the map has them. */
static const char *make_image(struct scratch *s)
{
	static char bytes[8 * 512];

	for (unsigned i = 0; i < 4; i++) {
		struct verify_header h = { .map = 0xab, .offset = 512ull * i, .start = 512ull * i, .length = 512, .generation = 1,
					   .file = verify_file_number("/dev/vda"), .kind = VERIFY_CRC32C };

		sector_seal(bytes + 512 * i, &h);
	}
	return scratch_bytes(s, "disk.raw", bytes, sizeof(bytes));
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f || scratch_open((void **)&f->scratch))
		return -1;
	memset(&play, 0, sizeof(play));
	play.result = RESULT("0");
	machine_default(&f->machine);
	f->ops = fake_ops;
	f->ops.qmp = qmp;
	f->ops.pid = no_pid;
	f->boot = (struct boot){ .ops = &f->ops, .guest = &f->guest, .request.accel = ACCEL_TCG, .request.ndisks = 1,
				 .request.machine = &f->machine, .hello = json_pack("{s:s}", "os", "Linux") };
	strcpy(f->boot.disk_path[0], "/dev/vda");
	f->boot.request.source[0] = make_image(f->scratch);
	f->cell = (struct matrix_cell){ .number = 1, .bytes = 8 << 20 };
	f->guest.idle_ms = 20;
	f->guest.answer = answer;
	link_open(&f->boot.link, &f->ops, &f->guest, NULL, NULL);
	*state = now = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	link_close(&f->boot.link);
	json_decref(f->boot.hello);
	cell_result_free(&f->result);
	text_free(&play.asked);
	text_free(&play.jobs);
	machine_free(&f->machine);
	fake_free(&f->guest);
	scratch_close((void **)&f->scratch);
	free(f);
	return 0;
}

static void run(struct fixture *f, const char *event)
{
	struct error e = { 0 };

	f->cell.event = event;
	if (event_get(event)->run(&f->boot, &f->cell, &f->result, &f->gone, &e))
		fail_msg("%s", e.text);
}

/* The check of that name; message "" is that of one that passed. */
static void expect(const struct fixture *f, const char *name, enum cell_status status, const char *piece)
{
	for (size_t i = 0; i < f->result.nchecks; i++) {
		const struct cell_check *c = &f->result.check[i];

		if (strcmp(c->name, name))
			continue;
		if (c->status != status)
			fail_msg("%s: %s: %s", name, cell_status_name(c->status), c->message);
		holds(c->message, piece);
		return;
	}
	fail_msg("there is no check \"%s\"", name);
}

static void a_pause_is_gone_through(void **state)
{
	struct fixture *f = *state;

	run(f, "pause");
	assert_string_equal(text_get(&play.asked), "stop query-blockstats query-blockstats cont ");
	expect(f, "pause: nothing happens while the guest is paused", CELL_PASS, "");
	expect(f, "pause: the job ends well", CELL_PASS, "");
	expect(f, "pause: all that was written is on the disk", CELL_PASS, "");
	assert_int_equal(f->result.nchecks, 3);
	assert_int_equal(f->result.status, CELL_PASS);
	assert_false(f->gone);
}

static void io_in_a_pause_is_seen(void **state)
{
	struct fixture *f = *state;

	play.moves = true;
	run(f, "pause");
	expect(f, "pause: nothing happens while the guest is paused", CELL_FAIL, "I/O went on");
}

static void what_is_lost_in_a_pause_is_corrupt(void **state)
{
	struct fixture *f = *state;
	FILE *image = fopen(f->boot.request.source[0], "r+");
	char zeros[512] = { 0 };

	assert_non_null(image);
	fseek(image, 1024, SEEK_SET);
	fwrite(zeros, 1, sizeof(zeros), image);
	fclose(image);
	run(f, "pause");
	expect(f, "pause: all that was written is on the disk", CELL_CORRUPT, "1 of 4 blocks are wrong; offset 1024 holds zeros");
	assert_int_equal(f->result.status, CELL_CORRUPT);
}

static void a_disk_of_which_nothing_is_known_is_not_right(void **state)
{
	struct fixture *f = *state;

	play.silent = true;
	run(f, "pause");
	expect(f, "pause: all that was written is on the disk", CELL_FAIL, "told of nothing that it wrote");
}

/* As on a host that is so busy that the first word of progress comes behind the end. */
static void a_job_that_is_over_too_soon_is_run_again(void **state)
{
	struct fixture *f = *state;

	play.short_job = true;
	run(f, "pause");
	assert_string_equal(text_get(&play.jobs), "--runtime=4 --runtime=20 ");
	assert_int_equal(f->result.nchecks, 3);
	assert_int_equal(f->result.status, CELL_PASS);
}

static void a_guest_that_dies_is_told_of(void **state)
{
	struct fixture *f = *state;

	play.dies = true;
	run(f, "pause");
	assert_true(f->gone);
	assert_int_equal(f->result.nchecks, 1);
	expect(f, "pause: the guest lives through it", CELL_FAIL, "crashed");
	assert_non_null(f->result.check[0].evidence);
	assert_non_null(f->result.check[0].argv);
}

static void a_refusal_is_no_event(void **state)
{
	struct fixture *f = *state;

	play.refused = "stop";
	run(f, "pause");
	assert_int_equal(f->result.nchecks, 1);
	expect(f, "pause: it comes about", CELL_FAIL, "the emulator refuses: not today");
	assert_false(f->gone);
}

/* A guest that was stopped is not left so. */
static void a_pause_that_cannot_be_measured_is_ended(void **state)
{
	struct fixture *f = *state;

	play.refused = "query-blockstats";
	run(f, "pause");
	holds(text_get(&play.asked), "stop query-blockstats cont ");
	expect(f, "pause: it comes about", CELL_FAIL, "not today");
	assert_false(f->gone);
}

/* The rule never fired: the device has swallowed its own error. */
static void a_guest_that_is_not_stopped_fails(void **state)
{
	struct fixture *f = *state;

	run(f, "werror-stop");
	expect(f, "werror-stop: it comes about", CELL_FAIL, "the job ended before it");
}

static void an_error_that_nobody_sees_fails(void **state)
{
	struct fixture *f = *state;

	f->cell.event = "eio-write";
	run(f, "eio-write");
	expect(f, "eio-write: EIO is seen at its place and nowhere else", CELL_FAIL, "came back without an error");
	expect(f, "eio-write: the job goes on elsewhere", CELL_FAIL, "it ended with 0 of 1024 writes");
}

/* Only Linux guests have what it takes. */
static void others_are_not_unbound(void **state)
{
	struct fixture *f = *state;

	json_object_set_new(f->boot.hello, "os", json_string("NetBSD"));
	run(f, "rebind");
	expect(f, "rebind: the driver is unbound", CELL_SKIPPED, "only Linux");
	assert_int_equal(f->result.nchecks, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_pause_is_gone_through), TEST(io_in_a_pause_is_seen), TEST(what_is_lost_in_a_pause_is_corrupt),
		TEST(a_disk_of_which_nothing_is_known_is_not_right), TEST(a_job_that_is_over_too_soon_is_run_again),
		TEST(a_guest_that_dies_is_told_of), TEST(a_refusal_is_no_event),
		TEST(a_pause_that_cannot_be_measured_is_ended), TEST(a_guest_that_is_not_stopped_fails),
		TEST(an_error_that_nobody_sees_fails), TEST(others_are_not_unbound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
