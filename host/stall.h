/*
 * A stall told apart: who has dropped it, guest, notification or device. Ring indices of guest and device, taken twice,
 * and what one further request on the same queue does.
 */
#ifndef KB_STALL_H
#define KB_STALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "guest/error.h"
#include "host/boot.h"

enum stall_cause { STALL_UNKNOWN, STALL_KICK_LOST, STALL_INTERRUPT_LOST, STALL_DEVICE_HOLDS, STALL_GUEST_DEAD };

/* "kick lost", "interrupt lost", "device holds it", "guest dead", "unknown" */
const char *stall_cause_name(enum stall_cause cause);

/* One queue, at one instant. Indices run freely modulo 65536 (split ring). */
struct stall_queue {
	unsigned number;
	bool packed;
	bool known;         /* the device's side could be asked for */
	uint16_t last_avail, used; /* the device: next it will look at, next it will fill */
	unsigned inuse;     /* requests that it has taken and not given back */
	bool guest_known;   /* guest memory could be read */
	uint16_t avail;     /* the guest: what it has made available */
	bool seen_known;    /* the guest says up to where it has looked: used_event, negotiated with EVENT_IDX */
	uint16_t seen;
	bool pending;       /* packed: the descriptor at last_avail is available to the device */
};

struct stall_snapshot {
	struct stall_queue *queue;
	size_t nqueues;
	enum hv_state state;
	bool talks; /* the guest's agent answered while this was taken */
};

/* What the nudge did. */
struct stall_nudge {
	bool sent, completed; /* the further request itself came back */
	bool resumed;         /* the job went on */
};

/*
 * Judge. Pure. why: one line with the numbers that decided. Of several queues, the first that is not empty.
 * The guest's index ahead of the device's: the kick was lost. The device ahead of its used index: it holds the
 * request. Its used index ahead of what the guest has seen, or nothing outstanding at all while the guest waits, and the guest
 * talks: the interrupt was lost. A guest that does not talk and whose vCPUs are not at work: dead.
 */
enum stall_cause stall_judge(const struct stall_snapshot *first, const struct stall_snapshot *second,
			     const struct stall_nudge *nudge, struct text *why);

/*
 * Ask emulator and guest memory (QMP x-query-virtio-queue-status, human-monitor-command xp) about test disk `disk`. What cannot be
 * asked stays unknown; only a lost connection is an error. ask_virtio_status: see boot_request.
 */
int stall_snapshot_take(struct boot *b, size_t disk, struct stall_snapshot *out, struct error *e);
void stall_snapshot_free(struct stall_snapshot *s);

/*
 * All of it, for a job that stands still: two snapshots a second apart, a nudge, the verdict. ios: how far the job was.
 * *evidence: {"cause","why","snapshots":[…],"nudge":{…},"interrupts":…,"state","console":"last lines"}, the caller's.
 */
int stall_explain(struct boot *b, size_t disk, uint64_t ios, enum stall_cause *cause, json_t **evidence, struct error *e);

#endif
