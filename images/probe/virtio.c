#include "images/probe/virtio.h"

#include "images/probe/clock.h"

#define VENDOR 0x1af4
#define TRANSITIONAL_BLK 0x1001
#define MODERN_BLK (0x1040 + VIRTIO_BLK)
#define RESET_S 2
#define MMIO_TRANSPORTS 24

struct search {
	struct virtio *devices;
	unsigned n;
	struct error *e;
};

static bool visit(const struct pci_function *f, void *context)
{
	struct search *s = context;
	struct virtio *v = &s->devices[s->n];
	int got;

	if (f->vendor != VENDOR || (f->device != TRANSITIONAL_BLK && f->device != MODERN_BLK))
		return true;
	*v = (struct virtio){.pci = *f};
	got = virtio_modern_probe(v, s->e);
	if (got == 0)
		got = virtio_legacy_probe(v, s->e);
	s->n += got > 0;
	return s->n < VIRTIO_DEVICES;
}

unsigned virtio_find(struct virtio devices[VIRTIO_DEVICES], struct error *e)
{
	struct search s = {.devices = devices, .e = e};

	pci_each(visit, &s);
	for (unsigned i = 0; i < MMIO_TRANSPORTS && s.n < VIRTIO_DEVICES; i++) {
		devices[s.n] = (struct virtio){.number = i};
		s.n += virtio_mmio_probe(&devices[s.n], i) > 0;
	}
	return s.n;
}

bool virtio_has(const struct virtio *v, unsigned feature)
{
	return v->negotiated >> feature & 1;
}

void virtio_reset(struct virtio *v)
{
	v->ops->set_status(v, 0);
}

static int await_reset(struct virtio *v, struct error *e)
{
	uint64_t start = machine_counter();

	virtio_reset(v);
	while (v->ops->status(v) != 0)
		if (machine_counter() - start > RESET_S * clock_hz())
			return error_set(e, STATUS_FAILED, "the device does not reset: its status stays %x after %d s",
					 v->ops->status(v), RESET_S);
	return 0;
}

int virtio_begin(struct virtio *v, uint64_t wanted, struct error *e)
{
	uint64_t version_1 = (uint64_t)1 << VIRTIO_VERSION_1;

	if (await_reset(v, e) < 0)
		return -1;
	v->ops->set_status(v, VIRTIO_ACKNOWLEDGE);
	v->ops->set_status(v, VIRTIO_ACKNOWLEDGE | VIRTIO_DRIVER);
	v->offered = v->ops->features(v);
	v->negotiated = v->offered & wanted;
	if (v->legacy)
		v->negotiated &= UINT32_MAX;
	else if (!(v->offered & version_1))
		return error_set(e, STATUS_FAILED, "the device has the registers of virtio 1 and does not offer "
				 "VIRTIO_F_VERSION_1 (features %llx)", (unsigned long long)v->offered);
	v->ops->set_features(v, v->negotiated);
	if (v->legacy)
		return 0;
	v->ops->set_status(v, VIRTIO_ACKNOWLEDGE | VIRTIO_DRIVER | VIRTIO_FEATURES_OK);
	if (!(v->ops->status(v) & VIRTIO_FEATURES_OK))
		return error_set(e, STATUS_FAILED, "the device does not accept the features %llx of the %llx that it offers",
				 (unsigned long long)v->negotiated, (unsigned long long)v->offered);
	return 0;
}
