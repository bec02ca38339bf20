/* virtio over PCI: modern (4.1) and legacy (4.1.4.8). */
#include "images/probe/virtio.h"

/* The vendor capabilities and their kinds. */
#define CAP_TYPE 3
#define CAP_BAR 4
#define CAP_OFFSET 8
#define CAP_LENGTH 12
#define CAP_STEP 16
#define KIND_COMMON 1
#define KIND_NOTIFY 2
#define KIND_ISR 3
#define KIND_DEVICE 4

#define NO_VECTOR 0xffff
#define MSIX_CONTROL 2
#define MSIX_TABLE 4
#define MSIX_ON 0x8000
#define MSIX_MASK_ALL 0x4000

/* ---- interrupts of both ---- */

static int set_message(struct virtio *v, uint64_t address, uint32_t data, struct error *e)
{
	uint32_t where = pci_read32(&v->pci, v->msix + MSIX_TABLE);
	struct pci_place table;

	if (pci_bar(&v->pci, where & 7, &table, e) < 0)
		return -1;
	table.at += where & ~7u;
	pci_write16(&v->pci, v->msix + MSIX_CONTROL, MSIX_ON | MSIX_MASK_ALL);
	pci_put32(&table, 0, (uint32_t)address);
	pci_put32(&table, 4, (uint32_t)(address >> 32));
	pci_put32(&table, 8, data);
	pci_put32(&table, 12, 0);
	pci_write16(&v->pci, v->msix + MSIX_CONTROL, MSIX_ON);
	v->message = true;
	return 0;
}

static void set_command(struct virtio *v, bool line)
{
	uint16_t command = PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;

	pci_write16(&v->pci, PCI_COMMAND, (uint16_t)(command | (line ? 0 : PCI_COMMAND_NO_LINE)));
}

int virtio_pci_interrupt(struct virtio *v, struct error *e)
{
	uint64_t address;
	uint32_t data;

	if (v->msix && machine_message(&address, &data))
		return set_message(v, address, data, e);
	v->message = false;
	set_command(v, true);
	return machine_line_pci(pci_read8(&v->pci, PCI_LINE), e);
}

/* Reading it takes the line back. */
static void acknowledge(struct virtio *v)
{
	if (!v->message)
		pci_get8(&v->isr, 0);
}

/* ---- modern ---- */

static uint8_t modern_status(struct virtio *v)
{
	return pci_get8(&v->common, 20);
}

static void modern_set_status(struct virtio *v, uint8_t status)
{
	pci_put8(&v->common, 20, status);
}

static uint64_t modern_features(struct virtio *v)
{
	uint64_t high;

	pci_put32(&v->common, 0, 1);
	high = pci_get32(&v->common, 4);
	pci_put32(&v->common, 0, 0);
	return high << 32 | pci_get32(&v->common, 4);
}

static void modern_set_features(struct virtio *v, uint64_t features)
{
	for (unsigned i = 0; i < 2; i++) {
		pci_put32(&v->common, 8, i);
		pci_put32(&v->common, 12, (uint32_t)(features >> 32 * i));
	}
}

static uint16_t modern_queue_size(struct virtio *v)
{
	pci_put16(&v->common, 22, 0);
	return pci_get16(&v->common, 24);
}

static void put_address(struct virtio *v, unsigned offset, const volatile void *at)
{
	pci_put32(&v->common, offset, (uint32_t)(uintptr_t)at);
	pci_put32(&v->common, offset + 4, (uint32_t)((uint64_t)(uintptr_t)at >> 32));
}

static int modern_set_queue(struct virtio *v, const struct ring *r, struct error *e)
{
	uint16_t vector = v->message ? 0 : NO_VECTOR;

	pci_put16(&v->common, 22, 0);
	pci_put16(&v->common, 24, r->size);
	pci_put16(&v->common, 16, NO_VECTOR);
	pci_put16(&v->common, 26, vector);
	if (pci_get16(&v->common, 26) != vector)
		return error_set(e, STATUS_FAILED, "the device has no interrupt vector for its queue");
	put_address(v, 32, r->desc);
	put_address(v, 40, r->driver);
	put_address(v, 48, r->device);
	pci_put16(&v->common, 28, 1);
	v->notify = (struct virtio_notify){.place = v->notify_base};
	v->notify.place.at += pci_get16(&v->common, 30) * v->notify_step;
	return 0;
}

static uint32_t config32(struct virtio *v, unsigned offset)
{
	return pci_get32(&v->device, offset);
}

static const struct virtio_ops modern_ops = {
	.name = "modern PCI",
	.status = modern_status,
	.set_status = modern_set_status,
	.features = modern_features,
	.set_features = modern_set_features,
	.queue_size = modern_queue_size,
	.set_queue = modern_set_queue,
	.set_interrupt = virtio_pci_interrupt,
	.acknowledge = acknowledge,
	.config32 = config32,
};

/* Of two places to notify at the one behind a port is taken: only a device that was asked to offer it does. */
static int take_capability(struct virtio *v, unsigned at, struct error *e)
{
	uint8_t kind = pci_read8(&v->pci, at + CAP_TYPE);
	struct pci_place place;

	if (kind < KIND_COMMON || kind > KIND_DEVICE)
		return 0;
	if (pci_bar(&v->pci, pci_read8(&v->pci, at + CAP_BAR), &place, e) < 0)
		return -1;
	place.at += pci_read32(&v->pci, at + CAP_OFFSET);
	if (kind == KIND_COMMON && !v->common.at)
		v->common = place;
	else if (kind == KIND_ISR && !v->isr.at)
		v->isr = place;
	else if (kind == KIND_DEVICE && !v->device.at)
		v->device = place;
	else if (kind == KIND_NOTIFY && (!v->notify_base.at || place.pio)) {
		v->notify_base = place;
		v->notify_step = pci_read32(&v->pci, at + CAP_STEP);
	}
	return 0;
}

int virtio_modern_probe(struct virtio *v, struct error *e)
{
	unsigned at = 0;

	while ((at = pci_capability(&v->pci, PCI_CAP_VENDOR, at)) != 0)
		if (take_capability(v, at, e) < 0)
			return -1;
	if (!v->common.at || !v->notify_base.at || !v->isr.at || !v->device.at)
		return 0;
	v->ops = &modern_ops;
	v->msix = pci_capability(&v->pci, PCI_CAP_MSIX, 0);
	set_command(v, false);
	return 1;
}

/* ---- legacy ---- */

static uint8_t legacy_status(struct virtio *v)
{
	return pci_get8(&v->common, 18);
}

static void legacy_set_status(struct virtio *v, uint8_t status)
{
	pci_put8(&v->common, 18, status);
}

static uint64_t legacy_features(struct virtio *v)
{
	return pci_get32(&v->common, 0);
}

static void legacy_set_features(struct virtio *v, uint64_t features)
{
	pci_put32(&v->common, 4, (uint32_t)features);
}

static uint16_t legacy_queue_size(struct virtio *v)
{
	pci_put16(&v->common, 14, 0);
	return pci_get16(&v->common, 12);
}

static int legacy_set_queue(struct virtio *v, const struct ring *r, struct error *e)
{
	pci_put16(&v->common, 14, 0);
	if (v->message) {
		pci_put16(&v->common, 20, NO_VECTOR);
		pci_put16(&v->common, 22, 0);
		if (pci_get16(&v->common, 22) != 0)
			return error_set(e, STATUS_FAILED, "the device has no interrupt vector for its queue");
	}
	pci_put32(&v->common, 8, (uint32_t)((uintptr_t)r->desc / RING_ALIGN));
	v->notify = (struct virtio_notify){.place = {.pio = v->common.pio, .at = v->common.at + 16}};
	return 0;
}

/* The device's own registers stand behind the two of MSI-X while that is on. */
static uint32_t legacy_config32(struct virtio *v, unsigned offset)
{
	bool on = v->msix && pci_read16(&v->pci, v->msix + MSIX_CONTROL) & MSIX_ON;

	return pci_get32(&v->common, (on ? 24 : 20) + offset);
}

static const struct virtio_ops legacy_ops = {
	.name = "legacy PCI",
	.status = legacy_status,
	.set_status = legacy_set_status,
	.features = legacy_features,
	.set_features = legacy_set_features,
	.queue_size = legacy_queue_size,
	.set_queue = legacy_set_queue,
	.set_interrupt = virtio_pci_interrupt,
	.acknowledge = acknowledge,
	.config32 = legacy_config32,
};

int virtio_legacy_probe(struct virtio *v, struct error *e)
{
	if (pci_bar(&v->pci, 0, &v->common, e) < 0)
		return -1;
	v->ops = &legacy_ops;
	v->legacy = true;
	v->isr = v->common;
	v->isr.at += 19;
	v->msix = pci_capability(&v->pci, PCI_CAP_MSIX, 0);
	set_command(v, false);
	return 1;
}
