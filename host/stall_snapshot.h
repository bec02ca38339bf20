/* Parts of stall_snapshot_take(), for the tests: what QMP and the monitor's xp say, and what a ring's memory means. Pure. */
#ifndef KB_STALL_SNAPSHOT_H
#define KB_STALL_SNAPSHOT_H

#include "host/stall.h"

/* Guest-physical places of a queue's parts; packed: avail is the driver's event suppression, used the device's. */
struct stall_places {
	uint64_t desc, avail, used;
};

/* What x-query-virtio-queue-status returned. False: it is none, or the guest has not set up the queue. */
bool stall_read_status(const json_t *value, struct stall_queue *q, struct stall_places *at);

/* The numbers in what xp printed ("ADDRESS: 0x… 0x…" lines), at most n; how many. */
size_t stall_read_words(const char *text, uint32_t *word, size_t n);

/* A split ring's words: avail index, used_event, avail_event. */
void stall_read_split(struct stall_queue *q, uint16_t avail, uint16_t used_event, uint16_t avail_event);

/*
 * A packed ring: flags of its q->size descriptors, the driver's event suppression. The device's answer has places without
 * their laps; these follow from the last descriptor that it has given back.
 */
void stall_read_packed(struct stall_queue *q, const uint16_t *flags, uint16_t driver_place, uint16_t driver_events);

/* The line of a console that tells of a guest's end, "" when there is none. */
void stall_read_console(const char *console, char *line, size_t room);

/* {"ioapic":{"10":1051}} of the monitor's "info irq". New. */
json_t *stall_read_interrupts(const char *text);

#endif
