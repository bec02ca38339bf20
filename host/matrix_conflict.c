/*
 * What cannot be together in one cell, each with its reason. Tried with QEMU 7.2 and Linux 6.1, unless a source is named.
 */
#include <stdlib.h>
#include <string.h>

#include "host/matrix_private.h"

static bool property_is(const struct matrix_cell *cell, const char *name, const char *value)
{
	struct text have = { 0 };
	bool same;

	machine_get(&cell->machine, name, &have);
	same = !strcmp(text_get(&have), value);
	text_free(&have);
	return same;
}

static bool legacy_and_packed(const struct matrix_cell *cell)
{
	return cell->settings.packed == TOGGLE_ON && property_is(cell, "qemu.disable-modern", "on");
}

/* Whether there will be KVM is not known before the run: only who asks for it gets such cells. */
static bool mmio_and_ioeventfd(const struct matrix_cell *cell)
{
	return machine_is_mmio(&cell->machine) && cell->machine.accel != ACCEL_KVM &&
	       (cell->settings.ioeventfd == TOGGLE_ON || cell->settings.iothread == TOGGLE_ON);
}

static bool mmio_and_queue_size(const struct matrix_cell *cell)
{
	return machine_is_mmio(&cell->machine) && cell->settings.queue_size && cell->settings.queue_size != 1024;
}

static bool segments_and_queue(const struct matrix_cell *cell)
{
	return cell->settings.queue_size && cell->settings.queue_size < 128 && property_is(cell, "qemu.seg-max-adjust", "off");
}

static bool small_queue(const struct matrix_cell *cell)
{
	return cell->settings.queue_size && cell->settings.queue_size < 4;
}

static bool queues_and_processors(const struct matrix_cell *cell)
{
	return cell->machine.vcpus && cell->settings.queues > cell->machine.vcpus;
}

static bool block_and_size(const struct matrix_cell *cell)
{
	return cell->bytes % cell->block_size != 0;
}

static bool readonly_and_discard(const struct matrix_cell *cell)
{
	return cell->readonly && cell->discard;
}

static const struct {
	bool (*holds)(const struct matrix_cell *cell);
	const char *reason;
} conflicts[] = {
	/* Asked for both, QEMU starts, and Linux negotiates a split ring. VIRTIO 1.2, 6.1: RING_PACKED is only for modern devices. */
	{ legacy_and_packed, "a legacy device has no VERSION_1, without which there is no packed ring" },
	/* Asked for, ioeventfd stays off; with an iothread QEMU ends: "ioeventfd is required for iothread". */
	{ mmio_and_ioeventfd, "virtio-mmio has ioeventfd under KVM only (accel = kvm)" },
	/* With queue_size 4 and 4 queues Linux found 1024 requests a queue. QEMU's hw/virtio/virtio-mmio.c, VIRTIO_MMIO_QUEUE_NUM_MAX. */
	{ mmio_and_queue_size, "QEMU's virtio-mmio offers queues of 1024 entries, whatever queue_size is" },
	/* "invalid queue-size property (2), must be > 2": header and status leave no descriptor for data. */
	{ small_queue, "QEMU wants queues of 4 entries at least: a request is a header, data, and a status" },
	/*
	 * Without indirect descriptors a write of 4 MiB hung for ever with queue_size 64, one of 64 KiB with 4; with 128 both went
	 * through. With them QEMU takes longer chains than VIRTIO allows (1.2, 2.7.5.3.1).
	 */
	{ segments_and_queue, "126 segments, a header and a status are more than the queue has entries: Linux would wait for ever" },
	{ queues_and_processors, "Linux uses no more queues than the guest has vCPUs" },
	/* QEMU and Linux take it, and round up: of a disk of 512 bytes reading the one block of 4096 is EIO. */
	{ block_and_size, "the disk's size is no multiple of its block size: its last block would not be whole" },
	/* blkdev_issue_discard() in Linux' block/blk-lib.c: -EPERM, before the driver is asked. */
	{ readonly_and_discard, "no system discards anything on a read-only disk: its driver would not be asked" },
};

const char *matrix_conflict(const struct matrix_cell *cell)
{
	const char *why = settings_conflict(&cell->settings);

	if (!why)
		why = machine_conflict(&cell->machine);
	if (!why)
		why = machine_disk_conflict(&cell->machine, &cell->settings);
	for (size_t i = 0; !why && i < sizeof(conflicts) / sizeof(conflicts[0]); i++)
		if (conflicts[i].holds(cell))
			why = conflicts[i].reason;
	return why ? why : matrix_event_refused(cell);
}

void matrix_cell_derive(struct matrix_cell *cell)
{
	static const char *const sizes[] = { "512", "1024", "2048", "4096" };
	enum cache cache = cell->settings.cache;

	cell->bytes = cell->settings.size;
	cell->block_size = 512;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (property_is(cell, "qemu.logical_block_size", sizes[i]))
			cell->block_size = 512u << i;
	cell->write_cache = cache != CACHE_WRITETHROUGH && cache != CACHE_DIRECTSYNC;
	if (property_is(cell, "qemu.write-cache", "on") || property_is(cell, "qemu.write-cache", "off"))
		cell->write_cache = property_is(cell, "qemu.write-cache", "on");
}
