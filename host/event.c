/* The table of events: when each can be, and what it needs of the disk. */
#include "host/event.h"

#include <string.h>

#include "host/event_private.h"

/* ---- why not ---- */

static const char *never(const struct matrix_cell *cell)
{
	if (cell->readonly)
		return "the disk is read-only, and the job of an event writes";
	if (cell->settings.backend != BACKEND_FILE && cell->settings.backend != BACKEND_MEMORY)
		return "the disk has no file that could be looked at";
	if (cell->bytes < EVENT_LEAST)
		return "the disk is too small for a job that has a middle";
	return NULL;
}

static const char *without_cache(const struct matrix_cell *cell)
{
	if (!cell->write_cache)
		return "without a write cache the guest sends no flush";
	return never(cell);
}

static const char *without_hotplug(const struct matrix_cell *cell)
{
	if (cell->machine.type && !strncmp(cell->machine.type, "microvm", 7))
		return "a disk behind virtio-mmio cannot be unplugged";
	return never(cell);
}

/* ---- what the disk needs ---- */

static void needs_nothing(const struct matrix_cell *cell, struct event_needs *needs, struct text *room)
{
	(void)cell;
	(void)room;
	*needs = (struct event_needs){ .rule = NULL };
}

static void needs_no_log(const struct matrix_cell *cell, struct event_needs *needs, struct text *room)
{
	needs_nothing(cell, needs, room);
	needs->no_log = "the log of writes would begin anew when the guest is restored";
}

/* The first request of a kind that reaches over the place, and no other. */
static void fail_once(const struct matrix_cell *cell, const char *kind, int error, struct event_needs *needs, struct text *room)
{
	struct event_area area = event_area_of(cell->bytes);

	text_reset(room);
	text_add(room, "{\"event\":\"none\",\"iotype\":\"%s\",\"errno\":%d,", kind, error);
	if (strcmp(kind, "flush"))
		text_add(room, "\"sector\":%llu,", (unsigned long long)(area.place / 512));
	text_add(room, "\"once\":true,\"immediately\":false}");
	*needs = (struct event_needs){ .rule = text_get(room) };
}

/* QEMU's numbers of errors in a rule are Linux's, whatever the host is. */
enum { RULE_EIO = 5, RULE_ENOSPC = 28 };

static void needs_eio_read(const struct matrix_cell *cell, struct event_needs *needs, struct text *room)
{
	fail_once(cell, "read", RULE_EIO, needs, room);
	needs->policy = "report";
}

static void needs_eio_write(const struct matrix_cell *cell, struct event_needs *needs, struct text *room)
{
	fail_once(cell, "write", RULE_EIO, needs, room);
	needs->policy = "report";
}

static void needs_eio_flush(const struct matrix_cell *cell, struct event_needs *needs, struct text *room)
{
	fail_once(cell, "flush", RULE_EIO, needs, room);
	needs->policy = "report";
}

static void needs_enospc(const struct matrix_cell *cell, struct event_needs *needs, struct text *room)
{
	fail_once(cell, "write", RULE_ENOSPC, needs, room);
	needs->policy = "enospace";
}

static void needs_stop(const struct matrix_cell *cell, struct event_needs *needs, struct text *room)
{
	fail_once(cell, "write", RULE_EIO, needs, room);
	needs->policy = "stop";
}

static const struct event events[] = {
	{ "eio-read", "one read fails: EIO there, and nowhere else", never, needs_eio_read, event_run_eio_read },
	{ "eio-write", "one write fails: EIO there, and nowhere else", never, needs_eio_write, event_run_eio_write },
	{ "eio-flush", "one flush fails: one fsync says so", without_cache, needs_eio_flush, event_run_eio_flush },
	{ "enospc", "no space for a write: the emulator stops the guest until there is some", never, needs_enospc, event_run_stop },
	{ "werror-stop", "a write fails and stops the guest, which goes on and makes it again", never, needs_stop, event_run_stop },
	{ "throttle", "the device serves 20 requests a second for a while", never, needs_nothing, event_run_throttle },
	{ "reset", "the machine is reset: what was completed is on the disk", never, needs_nothing, event_run_reset },
	{ "pause", "the machine is paused for a while", never, needs_nothing, event_run_pause },
	{ "save-restore", "the guest is saved to a file, and goes on from it", never, needs_no_log, event_run_save },
	{ "resize", "the disk grows, and shrinks again", never, needs_nothing, event_run_resize },
	{ "unplug", "the disk is unplugged, and plugged again (Linux)", without_hotplug, needs_nothing, event_run_unplug },
	{ "rebind", "the driver lets go of the disk, and takes it again (Linux)", never, needs_nothing, event_run_rebind },
};

const struct event *event_row(size_t index)
{
	return index < sizeof(events) / sizeof(events[0]) ? &events[index] : NULL;
}

const struct event *event_get(const char *name)
{
	for (size_t i = 0; event_row(i); i++)
		if (!strcmp(events[i].name, name))
			return &events[i];
	return NULL;
}
