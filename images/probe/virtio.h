/*
 * A virtio device behind one of three transports: modern PCI, legacy PCI, MMIO (VIRTIO 1.1, 4.1 and 4.2). A device
 * that offers both PCI transports is taken by the modern one, as operating systems do. One queue, one interrupt.
 */
#ifndef PROBE_VIRTIO_H
#define PROBE_VIRTIO_H

#include "images/probe/machine.h"
#include "images/probe/pci.h"
#include "images/probe/ring.h"

#define VIRTIO_ANY_LAYOUT 27
#define VIRTIO_EVENT_IDX 29
#define VIRTIO_VERSION_1 32
#define VIRTIO_RING_PACKED 34

#define VIRTIO_ACKNOWLEDGE 1
#define VIRTIO_DRIVER 2
#define VIRTIO_DRIVER_OK 4
#define VIRTIO_FEATURES_OK 8
#define VIRTIO_NEEDS_RESET 64
#define VIRTIO_FAILED 128

#define VIRTIO_BLK 2

/* The write that is measured. */
struct virtio_notify {
	struct pci_place place;
	bool wide; /* 32 bits, as MMIO wants it */
};

static inline void virtio_kick(const struct virtio_notify *n)
{
	if (n->place.pio)
		machine_out16((uint16_t)n->place.at, 0);
	else if (n->wide)
		*(volatile uint32_t *)(uintptr_t)n->place.at = 0;
	else
		*(volatile uint16_t *)(uintptr_t)n->place.at = 0;
}

struct virtio;

struct virtio_ops {
	const char *name;
	uint8_t (*status)(struct virtio *v);
	void (*set_status)(struct virtio *v, uint8_t status); /* 0: reset */
	uint64_t (*features)(struct virtio *v);
	void (*set_features)(struct virtio *v, uint64_t features);
	uint16_t (*queue_size)(struct virtio *v);
	int (*set_queue)(struct virtio *v, const struct ring *r, struct error *e); /* and where to notify */
	int (*set_interrupt)(struct virtio *v, struct error *e); /* before set_queue */
	void (*acknowledge)(struct virtio *v); /* an interrupt, where it wants that */
	uint32_t (*config32)(struct virtio *v, unsigned offset);
};

struct virtio {
	const struct virtio_ops *ops;
	bool legacy;
	struct pci_function pci;
	struct pci_place common, isr, device, notify_base;
	uint32_t notify_step;
	unsigned msix;         /* offset of the capability, 0: none */
	unsigned number;       /* MMIO: of the transport */
	struct virtio_notify notify;
	uint64_t offered, negotiated;
	bool message;          /* interrupts are message-signalled */
};

#define VIRTIO_DEVICES 4

/*
 * The block devices of this machine, in the order of their places. A device that cannot be used is left out and *e
 * says why (of the first such); that is no failure.
 */
unsigned virtio_find(struct virtio devices[VIRTIO_DEVICES], struct error *e);

bool virtio_has(const struct virtio *v, unsigned feature);

/* Reset it and agree on those of the wanted features that it offers. */
int virtio_begin(struct virtio *v, uint64_t wanted, struct error *e);
void virtio_reset(struct virtio *v);

/* The transports, each in a file of its own. 1: it is one and set up, 0: it is none, -1: it cannot be used. */
int virtio_modern_probe(struct virtio *v, struct error *e);
int virtio_legacy_probe(struct virtio *v, struct error *e);
int virtio_mmio_probe(struct virtio *v, unsigned number);

/* MSI-X entry 0, where the machine takes messages and the device has them; else its line. Both PCI transports. */
int virtio_pci_interrupt(struct virtio *v, struct error *e);

#endif
