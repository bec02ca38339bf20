/* virtio over MMIO (4.2), both versions, where QEMU's microvm has its transports. */
#include "images/probe/virtio.h"

#define FIRST 0xfeb00000u
#define EACH 512

#define MAGIC 0x00
#define VERSION 0x04
#define DEVICE_ID 0x08
#define FEATURES 0x10
#define FEATURES_SELECT 0x14
#define DRIVER_FEATURES 0x20
#define DRIVER_FEATURES_SELECT 0x24
#define PAGE_SIZE 0x28
#define QUEUE_SELECT 0x30
#define QUEUE_SIZE_MAX 0x34
#define QUEUE_SIZE 0x38
#define QUEUE_ALIGN 0x3c
#define QUEUE_PAGE 0x40
#define QUEUE_READY 0x44
#define NOTIFY 0x50
#define INTERRUPT_STATUS 0x60
#define INTERRUPT_DONE 0x64
#define STATUS 0x70
#define QUEUE_DESC 0x80
#define QUEUE_DRIVER 0x90
#define QUEUE_DEVICE 0xa0
#define CONFIG 0x100

static uint8_t status(struct virtio *v)
{
	return (uint8_t)pci_get32(&v->common, STATUS);
}

static void set_status(struct virtio *v, uint8_t s)
{
	pci_put32(&v->common, STATUS, s);
}

static uint64_t features(struct virtio *v)
{
	uint64_t high;

	pci_put32(&v->common, FEATURES_SELECT, 1);
	high = pci_get32(&v->common, FEATURES);
	pci_put32(&v->common, FEATURES_SELECT, 0);
	return high << 32 | pci_get32(&v->common, FEATURES);
}

static void set_features(struct virtio *v, uint64_t f)
{
	for (unsigned i = 0; i < 2; i++) {
		pci_put32(&v->common, DRIVER_FEATURES_SELECT, i);
		pci_put32(&v->common, DRIVER_FEATURES, (uint32_t)(f >> 32 * i));
	}
}

static uint16_t queue_size(struct virtio *v)
{
	pci_put32(&v->common, QUEUE_SELECT, 0);
	return (uint16_t)pci_get32(&v->common, QUEUE_SIZE_MAX);
}

static void put_address(struct virtio *v, unsigned offset, const volatile void *at)
{
	pci_put32(&v->common, offset, (uint32_t)(uintptr_t)at);
	pci_put32(&v->common, offset + 4, (uint32_t)((uint64_t)(uintptr_t)at >> 32));
}

static int set_queue(struct virtio *v, const struct ring *r, struct error *e)
{
	(void)e;
	pci_put32(&v->common, QUEUE_SELECT, 0);
	pci_put32(&v->common, QUEUE_SIZE, r->size);
	if (v->legacy) {
		pci_put32(&v->common, PAGE_SIZE, RING_ALIGN);
		pci_put32(&v->common, QUEUE_ALIGN, RING_ALIGN);
		pci_put32(&v->common, QUEUE_PAGE, (uint32_t)((uintptr_t)r->desc / RING_ALIGN));
	} else {
		put_address(v, QUEUE_DESC, r->desc);
		put_address(v, QUEUE_DRIVER, r->driver);
		put_address(v, QUEUE_DEVICE, r->device);
		pci_put32(&v->common, QUEUE_READY, 1);
	}
	v->notify = (struct virtio_notify){.place = {.at = v->common.at + NOTIFY}, .wide = true};
	return 0;
}

static int set_interrupt(struct virtio *v, struct error *e)
{
	return machine_line_platform(v->number, e);
}

static void acknowledge(struct virtio *v)
{
	pci_put32(&v->common, INTERRUPT_DONE, pci_get32(&v->common, INTERRUPT_STATUS));
}

static uint32_t config32(struct virtio *v, unsigned offset)
{
	return pci_get32(&v->common, CONFIG + offset);
}

static const struct virtio_ops ops = {
	.name = "MMIO",
	.status = status,
	.set_status = set_status,
	.features = features,
	.set_features = set_features,
	.queue_size = queue_size,
	.set_queue = set_queue,
	.set_interrupt = set_interrupt,
	.acknowledge = acknowledge,
	.config32 = config32,
};

int virtio_mmio_probe(struct virtio *v, unsigned number)
{
	uint32_t version;

	v->common = (struct pci_place){.at = FIRST + number * EACH};
	if (pci_get32(&v->common, MAGIC) != 0x74726976 || pci_get32(&v->common, DEVICE_ID) != VIRTIO_BLK)
		return 0;
	version = pci_get32(&v->common, VERSION);
	if (version != 1 && version != 2)
		return 0;
	v->ops = &ops;
	v->legacy = version == 1;
	return 1;
}
