/* A virtio block device with one queue: started for a job, filled with requests, emptied, and checked. */
#ifndef PROBE_BLK_H
#define PROBE_BLK_H

#include "images/probe/ring.h"
#include "images/probe/virtio.h"

#define BLK_SECTOR 512
#define BLK_BYTES_MAX 65536
#define BLK_SERIAL 20

enum blk_op { BLK_READ, BLK_WRITE, BLK_FLUSH, BLK_GET_ID };

struct blk {
	struct virtio *virtio;
	struct ring ring;
	char *memory;       /* of the requests, behind the ring */
	size_t stride;      /* of a request's data, its status behind and its header in front of it */
	uint64_t sectors;
	enum blk_op op;
	uint32_t bytes;     /* of a request */
	uint32_t blocks;    /* of that size, on the disk */
	uint64_t random;    /* state of the generator of places */
	uint64_t last_sector[RING_SIZE_MAX]; /* for messages */
};

/*
 * Reset, negotiate, set up the queue for requests of that kind. The device is then ready; one device of the machine
 * at a time. Fails when the device or the memory does not allow it. bytes: of a read or write, a multiple of BLK_SECTOR.
 */
int blk_start(struct blk *b, struct virtio *v, enum blk_op op, uint32_t bytes, struct error *e);

/* Its serial number, "" when it has none; of one that was started with BLK_GET_ID. */
int blk_serial(struct blk *b, char serial[BLK_SERIAL + 1], struct error *e);

/* Put n requests at places of no order into the ring; not published. */
int blk_add(struct blk *b, unsigned n, struct error *e);

/* Take back what is done; each must have succeeded. The number, or -1. */
int blk_reap(struct blk *b, struct error *e);

/* Nothing was heard for ns: say what the ring and the device look like. Always -1. */
int blk_silent(struct blk *b, uint64_t ns, struct error *e);

#endif
