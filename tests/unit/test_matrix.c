/* host/matrix*.c: what is refused with its place, what values become, what cannot be together, and the cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/event.h"
#include "host/matrix_private.h"
#include "tests/unit/matrix_text.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void errors_name_the_place(void **state)
{
	static const struct { const char *text, *message; } rows[] = {
		{ "[disk]\nsize = 64M\n", FILE_NAME ": there is no section [matrix quick]" },
		{ "[matrix slow]\nring = split\n[matrix full]\nring = split\n",
		  "there is no section [matrix quick]; there are [matrix slow], [matrix full]" },
		{ "[matrix quick]\n", FILE_NAME ":1: [matrix quick] has no options" },
		{ "[matrix]\nring = split\n", FILE_NAME ":1: [matrix] needs a name" },
		{ "[matrix quick]\nrings = split\n", FILE_NAME ":2: there is no option rings; there are transport, ring, " },
		{ "[matrix quick]\nring = split\nnotify = on, of\n", FILE_NAME ":3: notify = of: expected off, on, iothread" },
		{ "[matrix quick]\nring = split, split\n", FILE_NAME ":2: ring = split, split: split stands here twice" },
		{ "[matrix quick]\nring = split,\n", FILE_NAME ":2: ring = split,: the list has an empty place" },
		{ "[matrix quick]\nring =\n", FILE_NAME ":2: ring has no value" },
		{ "[matrix quick]\nqueues = 1, 65\n", FILE_NAME ":2: queues = 65: expected a number from 1 to 64" },
		{ "[matrix quick]\nsize = 1M+7\n", FILE_NAME ":2: size = 1M+7: expected a size such as 64M" },
		{ "[matrix quick]\nsize = 64M-128M\n", "size = 64M-128M: expected" },
		{ "[matrix quick]\nsize = 64M+\n", "size = 64M+: expected" },
		{ "[matrix quick]\nring = split\npacked = on\n", FILE_NAME ":3: ring and packed both set packed" },
		{ "[matrix quick]\niothread = on\nnotify = on\n", FILE_NAME ":3: iothread and notify both set iothread" },
		{ "[matrix quick]\ncache = none\nwrite_cache = on\n", FILE_NAME ":3: cache and write_cache both set cache" },
		{ "[matrix quick]\nqemu.drive = x\n", FILE_NAME ":2: qemu.drive: kickbench sets this property itself" },
		{ "[matrix quick]\nevent = EIO!\n", FILE_NAME ":2: event = EIO!: expected none, eio-read, " },
		{ "[matrix quick]\nring = split\n[variant x]\n", FILE_NAME ":3: unknown section [variant]: expected scenario, guest, disk, matrix" },
		{ "[guest g]\ntool = probe\n[matrix quick]\nring = split\n", FILE_NAME ":1: [guest g]: the cells of a matrix need tool = kickio" },
		{ "[matrix quick]\nring = split\n[except a]\nring = split\nqueues = 1\n", FILE_NAME ":3: [except a] needs reason = TEXT" },
		{ "[matrix quick]\nring = split\n[except a]\nring = split\nreason = r\n", FILE_NAME ":3: [except a]: expected two options" },
		{ "[matrix quick]\nring = split\n[except a]\nring = round\nqueues = 1\nreason = r\n", FILE_NAME ":4: ring = round: expected split" },
		{ "[matrix quick]\nring = split\n[except a]\nring = split\nqeues = 1\nreason = r\n", FILE_NAME ":5: there is no option qeues" },
		{ "[matrix quick]\nring = packed\ntransport = legacy\n",
		  FILE_NAME ":1: [matrix quick]: the values exclude each other, not a single cell is possible: a legacy device has no VERSION_1" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct matrix_request request = { .file = FILE_NAME, .which = "quick" };

		write_file(rows[i].text);
		assert_refused(&request, rows[i].message);
	}
	unlink(FILE_NAME);
}

/* A matrix of one option with one value. */
static struct matrix *one(const char *disk, const char *option)
{
	char text[400];

	snprintf(text, sizeof(text), "[guest linux]\nvcpus = 4\n[disk]\n%s\n[matrix quick]\n%s\n", disk, option);
	return read_text(text);
}

static void values_become_settings(void **state)
{
	static const struct { const char *disk, *option, *key, *value; } rows[] = {
		{ "", "transport = modern", "model", "virtio-non-transitional" },
		{ "", "transport = transitional", "model", "virtio-transitional" },
		{ "model = virtio-transitional", "transport = legacy", "model", "virtio" },
		{ "", "transport = legacy", "qemu.disable-modern", "on" },
		{ "", "transport = legacy", "qemu.disable-legacy", "\"off\"" },
		{ "", "transport = modern", "qemu.disable-modern", "" },
		{ "model = virtio-transitional", "transport = mmio", "model", "virtio" },
		{ "", "transport = mmio", "machine", "microvm" },
		{ "", "ring = split", "packed", "off" },
		{ "", "ring = packed", "packed", "on" },
		{ "", "event_idx = off", "event_idx", "off" },
		{ "", "indirect_desc = off", "qemu.indirect_desc", "off" },
		{ "", "notify = off", "ioeventfd", "off" },
		{ "iothread = on", "notify = off", "iothread", "off" },
		{ "", "notify = on", "ioeventfd", "on" },
		{ "iothread = on", "notify = on", "iothread", "off" },
		{ "", "notify = iothread", "ioeventfd", "on" },
		{ "", "notify = iothread", "iothread", "on" },
		{ "", "queues = 4", "queues", "4" },
		{ "", "queue_size = 1024", "queue_size", "1024" },
		{ "", "block_size = 4096", "qemu.logical_block_size", "4096" },
		{ "", "block_size = 4096", "qemu.physical_block_size", "4096" },
		{ "", "write_cache = on", "cache", "writeback" },
		{ "", "write_cache = off", "cache", "writethrough" },
		{ "cache = none", "write_cache = on", "cache", "none" },
		{ "cache = none", "write_cache = off", "cache", "directsync" },
		{ "cache = directsync", "write_cache = on", "cache", "none" },
		{ "", "config_wce = off", "qemu.config-wce", "off" },
		{ "", "discard = on", "qemu.discard", "on" },
		{ "", "discard = off", "qemu.write-zeroes", "off" },
		{ "", "seg_max = 126", "qemu.seg-max-adjust", "off" },
		{ "", "seg_max = adjusted", "qemu.seg-max-adjust", "on" },
		{ "", "request_merging = off", "qemu.request-merging", "off" },
		{ "", "size = 64M+1536", "size", "67110400" },
		{ "", "size = 4G-4096", "size", "4194300K" },
		{ "", "qemu.page-per-vq = on", "qemu.page-per-vq", "on" },
		{ "", "kernel_args = nosmp", "kernel_args", "nosmp" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct matrix *m = one(rows[i].disk, rows[i].option);
		struct text t = { 0 };

		assert_int_equal(m->ncells, 1);
		settings_get(&m->cell[0].settings, rows[i].key, &t);
		if (!t.length)
			machine_get(&m->cell[0].machine, rows[i].key, &t);
		if (strcmp(text_get(&t), rows[i].value))
			fail_msg("%s: %s is \"%s\", not \"%s\"", rows[i].option, rows[i].key, text_get(&t), rows[i].value);
		text_free(&t);
		matrix_free(m);
	}
}

static void a_cell_says_what_checks_ask(void **state)
{
	static const struct { const char *disk, *option; bool readonly, discard, write_cache; unsigned block; uint64_t bytes; const char *event; }
	rows[] = {
		{ "size = 2M", "ring = split", false, false, true, 512, 2 << 20, "none" },
		{ "cache = directsync", "ring = split", false, false, false, 512, 256 << 20, "none" },
		{ "", "readonly = on", true, false, true, 512, 256 << 20, "none" },
		{ "", "discard = on", false, true, true, 512, 256 << 20, "none" },
		{ "", "discard = off", false, false, true, 512, 256 << 20, "none" },
		{ "", "write_cache = off", false, false, false, 512, 256 << 20, "none" },
		{ "", "qemu.write-cache = off", false, false, false, 512, 256 << 20, "none" },
		{ "cache = writethrough", "qemu.write-cache = on", false, false, true, 512, 256 << 20, "none" },
		{ "", "block_size = 4096", false, false, true, 4096, 256 << 20, "none" },
		{ "", "size = 2T+1M", false, false, true, 512, (UINT64_C(2) << 40) + (1 << 20), "none" },
		{ "", "event = reset", false, false, true, 512, 256 << 20, "reset" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct matrix *m = one(rows[i].disk, rows[i].option);
		const struct matrix_cell *c = &m->cell[0];

		if (c->readonly != rows[i].readonly || c->discard != rows[i].discard || c->write_cache != rows[i].write_cache ||
		    c->block_size != rows[i].block || c->bytes != rows[i].bytes || c->settings.size != rows[i].bytes ||
		    strcmp(c->event, rows[i].event))
			fail_msg("row %zu", i);
		matrix_free(m);
	}
}

/* Every value that the table names is taken, and changes no other option's key. */
static void the_table_is_true(void **state)
{
	const char *values, *help, *name;

	(void)state;
	for (size_t i = 0; (name = matrix_option_row(i, &values, &help)); i++) {
		char *copy = strdup(values), *save = NULL, line[100];

		assert_true(strlen(help) > 10);
		assert_true(matrix_option_is(name));
		for (char *v = strtok_r(copy, ", ", &save); v && strcmp(name, "size") && strcmp(name, "event"); v = strtok_r(NULL, ", ", &save)) {
			snprintf(line, sizeof(line), "%s = %s", name, v);
			matrix_free(one("", line));
		}
		free(copy);
	}
	assert_null(name);
}

static const char *why_not(const struct matrix *m, const char *a, const char *b)
{
	unsigned option[2] = { 0 }, value[2] = { 0 };
	const char *const pair[] = { a, b };

	for (int i = 0; i < 2; i++) {
		bool found = false;

		for (unsigned o = 0; o < m->noptions && !found; o++)
			for (unsigned v = 0; v < m->option[o].nvalues && !found; v++) {
				struct text t = { 0 };

				matrix_value_text(m, o, v, &t);
				found = !strcmp(text_get(&t), pair[i]);
				text_free(&t);
				option[i] = o;
				value[i] = v;
			}
		assert_true(found);
	}
	return option[0] < option[1] ? matrix_forbids(m, option[0], value[0], option[1], value[1])
				     : matrix_forbids(m, option[1], value[1], option[0], value[0]);
}

static void what_cannot_be_together_has_a_reason(void **state)
{
	static const struct { const char *guest, *matrix, *a, *b, *reason; } rows[] = {
		{ "", "transport = modern, legacy\nring = split, packed\n", "transport=legacy", "ring=packed", "no VERSION_1" },
		{ "", "transport = modern, legacy\nring = split, packed\n", "transport=legacy", "ring=split", NULL },
		{ "", "transport = modern, legacy\nring = split, packed\n", "transport=modern", "ring=packed", NULL },
		{ "", "transport = modern, mmio\nnotify = off, on, iothread\n", "transport=mmio", "notify=on", "under KVM only" },
		{ "", "transport = modern, mmio\nnotify = off, on, iothread\n", "transport=mmio", "notify=iothread", "under KVM only" },
		{ "", "transport = modern, mmio\nnotify = off, on, iothread\n", "transport=mmio", "notify=off", NULL },
		{ "accel = kvm\n", "transport = modern, mmio\nnotify = off, on, iothread\n", "transport=mmio", "notify=iothread", NULL },
		{ "", "transport = modern, mmio\nqueue_size = 256, 1024\n", "transport=mmio", "queue_size=256", "1024 entries" },
		{ "", "transport = modern, mmio\nqueue_size = 256, 1024\n", "transport=mmio", "queue_size=1024", NULL },
		{ "", "seg_max = adjusted, 126\nqueue_size = 64, 128\n", "seg_max=126", "queue_size=64", "more than the queue has entries" },
		{ "", "seg_max = adjusted, 126\nqueue_size = 64, 128\n", "seg_max=126", "queue_size=128", NULL },
		{ "", "seg_max = adjusted, 126\nqueue_size = 64, 128\n", "seg_max=adjusted", "queue_size=64", NULL },
		{ "", "queue_size = 2, 4\nring = split, packed\n", "queue_size=2", "ring=split", "4 entries at least" },
		{ "vcpus = 2\n", "queues = 2, 4\nring = split, packed\n", "queues=4", "ring=split", "no more queues than the guest has vCPUs" },
		{ "vcpus = 2\n", "queues = 2, 4\nring = split, packed\n", "queues=2", "ring=split", NULL },
		{ "", "block_size = 512, 4096\nsize = 64M, 64M+512\n", "block_size=4096", "size=64M+512", "no multiple" },
		{ "", "block_size = 512, 4096\nsize = 64M, 64M+512\n", "block_size=512", "size=64M+512", NULL },
		{ "", "readonly = on, off\ndiscard = on, off\n", "readonly=on", "discard=on", "read-only" },
		{ "", "readonly = on, off\ndiscard = on, off\n", "readonly=on", "discard=off", NULL },
		/* From settings.c: raw keys that cannot be together. */
		{ "", "ioeventfd = on, off\niothread = on, off\n", "ioeventfd=off", "iothread=on", "cannot be combined with an iothread" },
		/* A third option resolves it, or none does. */
		{ "", "poll_max_ns = 0, 9\nring = split, packed\nnotify = on, iothread\n", "poll_max_ns=0", "ring=split", NULL },
		{ "", "poll_max_ns = 0, 9\nring = split, packed\nnotify = on, iothread\n", "poll_max_ns=0", "notify=on", "iothread" },
		{ "", "ring = split, packed\nqueues = 1, 2\n[except x]\nqueues = 2\nring = packed, split\nreason = why not\n", "ring=packed",
		  "queues=2", "why not" },
		{ "", "ring = split, packed\nqueues = 1, 2\n[except x]\nqueues = 2\nring = packed\nreason = why not\n", "ring=split",
		  "queues=2", NULL },
		/* Of options and values that this matrix does not have. */
		{ "", "ring = split, packed\nqueues = 1, 2\n[except x]\nqueues = 4\nring = packed\nreason = why not\n[except y]\n"
		      "discard = on\nring = packed\nreason = why not\n", "ring=packed", "queues=2", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[600];
		struct matrix *m;
		const char *why;

		snprintf(text, sizeof(text), "[guest linux]\n%s%s[matrix quick]\n%s", strstr(rows[i].guest, "vcpus") ? "" : "vcpus = 4\n",
			 rows[i].guest, rows[i].matrix);
		m = read_text(text);
		why = why_not(m, rows[i].a, rows[i].b);
		if (rows[i].reason ? !why || !strstr(why, rows[i].reason) : why != NULL)
			fail_msg("row %zu: %s", i, why ? why : "it can be");
		matrix_free(m);
	}
}

#define SMALL "[matrix quick]\ntransport = modern, legacy\nring = split, packed\nqueues = 1\nblock_size = 512, 4096\n"

static void cells_keep_what_is_forbidden_apart(void **state)
{
	struct matrix *m = read_text(SMALL);
	struct text t = { 0 };

	(void)state;
	assert_int_equal(m->ncells, m->covering.nrows);
	for (size_t i = 0; i < m->ncells; i++) {
		assert_int_equal(m->cell[i].number, i + 1);
		assert_true(m->cell[i].settings.packed != TOGGLE_ON || m->cell[i].settings.model == MODEL_NON_TRANSITIONAL);
	}
	assert_int_equal(m->covering.nimpossible, 1);
	matrix_pair_text(m, &m->covering.impossible[0], &t);
	assert_string_equal(text_get(&t), "transport=legacy with ring=packed");
	assert_int_equal(m->covering.nuncovered, 0);
	text_free(&t);
	matrix_free(m);
}

static void set_changes_the_matrix(void **state)
{
	static const char *const set[] = { "matrix.quick.ring=packed", "matrix.quick.qemu.page-per-vq=on, off", "disk.size=16M" };
	static const char *const bad[] = { "matrix.quick.ring=round" }, *const unknown[] = { "matrix.slow.ring=split" };
	struct matrix_request request = { .file = FILE_NAME, .which = "quick", .set = set, .nset = COUNT(set), .seed = 1 };
	struct error e = { 0 };
	struct matrix *m;

	(void)state;
	write_file("[matrix quick]\nring = split, packed\n");
	if (matrix_read(&request, &m, &e))
		fail_msg("%s", e.text);
	assert_int_equal(m->ncells, 2);
	assert_string_equal(m->cell[0].name, "ring=packed,qemu.page-per-vq=on");
	assert_int_equal(m->cell[0].bytes, 16 << 20);
	matrix_free(m);
	request.nset = 1;
	request.set = bad;
	assert_refused(&request, "--set matrix.quick.ring=round: ring = round: expected split, packed");
	request.set = unknown;
	assert_refused(&request, "has no section [matrix slow]");
	unlink(FILE_NAME);
}

/* The scenario that comes with kickbench. */
static void the_quick_matrix_is_quick(void **state)
{
	char file[4200];
	struct matrix_request request = { .file = file, .which = "quick" };

	(void)state;
	snprintf(file, sizeof(file), "%s/scenarios/regress.ini", source_tree);
	for (request.seed = 0; request.seed < 20; request.seed++) {
		struct error e = { 0 };
		struct matrix *m;

		if (matrix_read(&request, &m, &e))
			fail_msg("%s", e.text);
		if (m->ncells > 20 || m->covering.nuncovered)
			fail_msg("seed %d: %zu cells, %zu uncovered", (int)request.seed, m->ncells, m->covering.nuncovered);
		matrix_free(m);
	}
}

/* It has every option of the table, and every event. */
static void the_full_matrix_is_full(void **state)
{
	char file[4200];
	const struct matrix_request request = { .file = file, .which = "full", .seed = 1 };
	struct error e = { 0 };
	struct matrix *m;
	unsigned events = 0;
	const char *name;

	(void)state;
	snprintf(file, sizeof(file), "%s/scenarios/regress.ini", source_tree);
	if (matrix_read(&request, &m, &e))
		fail_msg("%s", e.text);
	assert_int_equal(m->covering.nuncovered, 0);
	for (size_t i = 0; (name = matrix_option_row(i, NULL, NULL)); i++) {
		unsigned o = 0;

		while (o < m->noptions && strcmp(m->option[o].name, name))
			o++;
		if (o == m->noptions)
			fail_msg("%s is not there", name);
		if (!strcmp(name, "event"))
			events = m->option[o].nvalues;
	}
	for (size_t i = 0; event_row(i); i++)
		events--;
	assert_int_equal(events, 1); /* none */
	for (size_t i = 0; i < m->ncells; i++) { /* one that is refused in the run would take pairs with it that are told as covered */
		const struct event *event = event_get(m->cell[i].event);
		const char *why = event ? event->refused(&m->cell[i]) : NULL;

		if (why)
			fail_msg("%s: %s", m->cell[i].name, why);
	}
	matrix_free(m);
}

/* What host/event.h refuses is kept apart as everything else is. */
static void events_are_asked_whether_they_can_be(void **state)
{
	struct matrix *m = read_text("[disk]\nsize = 64M\n[matrix quick]\nevent = none, eio-flush, pause\nwrite_cache = on, off\n"
				     "readonly = off, on\n");

	(void)state;
	for (size_t i = 0; i < m->ncells; i++) {
		assert_true(strcmp(m->cell[i].event, "eio-flush") || m->cell[i].write_cache);
		assert_true(!strcmp(m->cell[i].event, "none") || !m->cell[i].readonly);
	}
	assert_int_equal(m->covering.nimpossible, 3);
	assert_non_null(why_not(m, "event=eio-flush", "write_cache=off"));
	assert_null(why_not(m, "event=pause", "write_cache=off"));
	matrix_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_name_the_place),
		cmocka_unit_test(values_become_settings),
		cmocka_unit_test(a_cell_says_what_checks_ask),
		cmocka_unit_test(the_table_is_true),
		cmocka_unit_test(what_cannot_be_together_has_a_reason),
		cmocka_unit_test(cells_keep_what_is_forbidden_apart),
		cmocka_unit_test(set_changes_the_matrix),
		cmocka_unit_test(the_quick_matrix_is_quick),
		cmocka_unit_test(the_full_matrix_is_full),
		cmocka_unit_test(events_are_asked_whether_they_can_be),
	};

	return cmocka_run_group_tests(tests, matrix_folder_enter, matrix_folder_leave);
}
