#include "images/probe/blk.h"

#include <string.h>

#include "images/probe/clock.h"
#include "images/probe/machine.h"

#define FEATURE_READ_ONLY 5
#define FEATURE_FLUSH 9

#define TYPE_IN 0
#define TYPE_OUT 1
#define TYPE_FLUSH 4
#define TYPE_GET_ID 8

#define PAGE 4096
#define SERIAL_S 5

struct header {
	uint32_t type, reserved;
	uint64_t sector;
};

static const unsigned wanted[] = {
	FEATURE_READ_ONLY, FEATURE_FLUSH, VIRTIO_ANY_LAYOUT, VIRTIO_EVENT_IDX, VIRTIO_VERSION_1, VIRTIO_RING_PACKED,
};

static int check(const struct blk *b, struct error *e)
{
	const struct virtio *v = b->virtio;

	if (b->op == BLK_WRITE && virtio_has(v, FEATURE_READ_ONLY))
		return error_set(e, STATUS_FAILED, "op=write: the disk is read only");
	if (b->op == BLK_FLUSH && !virtio_has(v, FEATURE_FLUSH))
		return error_set(e, STATUS_FAILED, "op=flush: the disk does not offer VIRTIO_BLK_F_FLUSH (a cache mode without a "
				 "write cache)");
	if (b->op != BLK_GET_ID && b->sectors < b->bytes / BLK_SECTOR)
		return error_set(e, STATUS_FAILED, "bs=%u: the disk has only %llu bytes", (unsigned)b->bytes,
				 (unsigned long long)b->sectors * BLK_SECTOR);
	return 0;
}

/*
 * What the device reads and what it writes may each be one buffer, so that a queue of 256 holds 128 requests; a legacy
 * device that does not offer ANY_LAYOUT is to get header, data and status apart (5.2.6.1).
 */
static uint16_t pieces(const struct blk *b)
{
	bool any = virtio_has(b->virtio, VIRTIO_VERSION_1) || virtio_has(b->virtio, VIRTIO_ANY_LAYOUT);

	return any || b->op == BLK_FLUSH ? 2 : 3;
}

/* The ring, and behind it the requests. */
static int lay_out(struct blk *b, struct error *e)
{
	uint16_t size = b->virtio->ops->queue_size(b->virtio);
	bool packed = virtio_has(b->virtio, VIRTIO_RING_PACKED);
	size_t room, need;

	b->memory = machine_memory(&room);
	b->stride = (b->bytes + PAGE - 1) / PAGE * PAGE + PAGE;
	need = ring_bytes(packed, size) + PAGE + b->stride * (size / pieces(b));
	if (need > room)
		return error_set(e, STATUS_FAILED, "bs=%u: requests for a queue of %u entries need %llu bytes, the guest has %llu",
				 (unsigned)b->bytes, size, (unsigned long long)need, (unsigned long long)room);
	if (ring_init(&b->ring, packed, virtio_has(b->virtio, VIRTIO_EVENT_IDX), size, pieces(b), b->memory, e) < 0)
		return -1;
	b->ring.fence = machine_fence;
	b->memory += ring_bytes(packed, size);
	return 0;
}

int blk_start(struct blk *b, struct virtio *v, enum blk_op op, uint32_t bytes, struct error *e)
{
	uint64_t features = 0;

	*b = (struct blk){.virtio = v, .random = 88172645463325252u, .op = op};
	b->bytes = op == BLK_FLUSH ? 0 : op == BLK_GET_ID ? BLK_SERIAL : bytes;
	for (unsigned i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		features |= (uint64_t)1 << wanted[i];
	if (virtio_begin(v, features, e) < 0)
		return -1;
	b->sectors = v->ops->config32(v, 0) | (uint64_t)v->ops->config32(v, 4) << 32;
	if (check(b, e) < 0 || lay_out(b, e) < 0)
		return -1;
	if (b->bytes >= BLK_SECTOR)
		b->blocks = (uint32_t)(b->sectors > UINT32_MAX ? UINT32_MAX : b->sectors) / (b->bytes / BLK_SECTOR);
	if (v->ops->set_interrupt(v, e) < 0 || v->ops->set_queue(v, &b->ring, e) < 0)
		return -1;
	ring_quiet(&b->ring);
	v->ops->set_status(v, v->ops->status(v) | VIRTIO_DRIVER_OK);
	return 0;
}

/*
 * The data of a request begins at a page, as that of operating systems does (elsewhere QEMU would copy it for a file
 * that is opened with O_DIRECT); its header ends there, and its status byte follows.
 */
static char *data_of(const struct blk *b, uint16_t id)
{
	return b->memory + PAGE + id * b->stride;
}

static void describe(const struct blk *b, uint16_t id, uint32_t type, uint64_t sector, struct ring_buffer *buffer)
{
	char *data = data_of(b, id);
	struct header *h = (struct header *)(void *)data - 1;
	uint32_t read = b->op == BLK_WRITE ? b->bytes : 0, written = b->bytes - read;

	*h = (struct header){.type = type, .sector = sector};
	data[b->bytes] = (char)0xff;
	if (b->ring.chain == 2) {
		buffer[0] = (struct ring_buffer){.address = (uintptr_t)h, .length = sizeof(*h) + read};
		buffer[1] = (struct ring_buffer){.address = (uintptr_t)data + read, .length = written + 1,
						 .device_writes = true};
		return;
	}
	buffer[0] = (struct ring_buffer){.address = (uintptr_t)h, .length = sizeof(*h)};
	buffer[1] = (struct ring_buffer){.address = (uintptr_t)data, .length = b->bytes, .device_writes = !read};
	buffer[2] = (struct ring_buffer){.address = (uintptr_t)data + b->bytes, .length = 1, .device_writes = true};
}

/* The ring hands out the id that it will take: its buffers are found by it. */
static int add(struct blk *b, uint64_t sector, struct error *e)
{
	static const uint32_t type[] = {[BLK_READ] = TYPE_IN, [BLK_WRITE] = TYPE_OUT, [BLK_FLUSH] = TYPE_FLUSH,
					[BLK_GET_ID] = TYPE_GET_ID};
	struct ring_buffer buffer[RING_CHAIN_MAX];
	uint16_t id = b->ring.nfree ? b->ring.free[b->ring.nfree - 1] : 0;

	describe(b, id, type[b->op], sector, buffer);
	b->last_sector[id] = sector;
	return ring_add(&b->ring, buffer, &id, e);
}

int blk_serial(struct blk *b, char serial[BLK_SERIAL + 1], struct error *e)
{
	uint64_t start = machine_counter();
	struct ring_watch done = ring_watch(&b->ring, 1);

	serial[0] = '\0';
	if (add(b, 0, e) < 0)
		return -1;
	ring_publish(&b->ring);
	virtio_kick(&b->virtio->notify);
	while (!ring_seen(&done))
		if (machine_counter() - start > SERIAL_S * clock_hz())
			return blk_silent(b, SERIAL_S * 1000000000ull, e);
	if (blk_reap(b, e) < 0)
		return -1;
	memcpy(serial, data_of(b, b->ring.free[b->ring.nfree - 1]), BLK_SERIAL);
	serial[BLK_SERIAL] = '\0';
	return 0;
}

/* xorshift (Marsaglia 2003); the first 2 TiB are enough. */
static uint64_t next_sector(struct blk *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return ((b->random >> 32) * b->blocks >> 32) * (b->bytes / BLK_SECTOR);
}

int blk_add(struct blk *b, unsigned n, struct error *e)
{
	while (n--)
		if (add(b, b->blocks ? next_sector(b) : 0, e) < 0)
			return -1;
	return 0;
}

int blk_reap(struct blk *b, struct error *e)
{
	static const char *const op[] = {"read", "write", "flush", "request for its serial number"};
	int n = 0, got;
	uint16_t id;

	while ((got = ring_reap(&b->ring, &id, e)) > 0) {
		uint8_t status = (uint8_t)data_of(b, id)[b->bytes];

		if (status != 0)
			return error_set(e, STATUS_FAILED, "the disk failed a %s at sector %llu: status %u (%s)", op[b->op],
					 (unsigned long long)b->last_sector[id], status, status == 1 ? "I/O error" :
					 status == 2 ? "unsupported" : "not written by the device");
		n++;
	}
	return got < 0 ? -1 : n;
}

int blk_silent(struct blk *b, uint64_t ns, struct error *e)
{
	uint16_t out = b->ring.out;
	int got = blk_reap(b, e);
	uint8_t status = b->virtio->ops->status(b->virtio);

	if (got < 0)
		return -1;
	return error_set(e, STATUS_FAILED, "the device has not answered for %llu ms: %d of %u requests are done, its status is "
			 "%x%s", (unsigned long long)(ns / 1000000), got, out, status,
			 status & VIRTIO_NEEDS_RESET ? " (it wants a reset)" : "");
}
