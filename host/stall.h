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
#include "host/trial.h"

enum stall_cause { STALL_UNKNOWN, STALL_KICK_LOST, STALL_INTERRUPT_LOST, STALL_DEVICE_HOLDS, STALL_GUEST_DEAD };

/* "kick lost", "interrupt lost", "device holds it", "guest dead", "unknown" */
const char *stall_cause_name(enum stall_cause cause);

#define STALL_WRAP 0x8000u /* of a place in a packed ring: its lap */

/*
 * One queue, at one instant. Indices run freely modulo 65536 (split ring); in a packed ring they are places, with the lap of
 * the ring in the highest bit, as the guest's and the device's event suppression have them.
 */
struct stall_queue {
	unsigned number, size;
	bool packed;
	bool known;         /* the device's side could be asked for */
	uint16_t last_avail, used; /* the device: next it will look at, next it will fill */
	unsigned inuse;     /* requests (packed: descriptors) that it has taken and not given back */
	bool signalled_known;
	uint16_t signalled; /* up to where it has thought about an interrupt, without the lap */
	bool guest_known;   /* guest memory could be read */
	uint16_t avail;     /* the guest: what it has made available; not of a packed ring */
	bool seen_known;    /* the guest says up to where it has looked: used_event, negotiated with EVENT_IDX */
	uint16_t seen;
	bool pending;       /* packed: the descriptor at last_avail is available to the device */
};

struct stall_snapshot {
	struct stall_queue *queue; /* those that the guest has set up, by number */
	size_t nqueues;
	enum hv_state state;
	bool talks;          /* the guest's agent answered while this was taken */
	bool deaf;           /* the emulator does not answer its monitor; nothing else is known then */
	bool vcpu_known;
	uint64_t vcpu_ns, at_ns; /* CPU time of all vCPUs, and when that was (CLOCK_MONOTONIC) */
	char last_words[160]; /* a line of its console that tells of its end, "" none */
	json_t *interrupts;  /* what the emulator tells of its interrupt controllers, NULL: nothing */
};

/* What the nudge did. */
struct stall_nudge {
	bool sent, completed; /* the further request itself came back */
	bool resumed;         /* the job went on */
};

/*
 * Judge. Pure. why: one line with the numbers that decided. Of several queues, the first that is not empty, and stood
 * still between the two looks. A device that gives nothing back of what it has taken holds it, whatever else waits; else:
 * the guest's index ahead of the device's: the kick was lost; its used index ahead of what the guest has seen: the interrupt was
 * lost. Nothing outstanding at all while the guest waits, and it does not say what it has seen: the interrupt, unless a
 * further request came back and brought nothing on. A guest that does not talk is dead, whatever its vCPUs do; why tells that.
 */
enum stall_cause stall_judge(const struct stall_snapshot *first, const struct stall_snapshot *second,
			     const struct stall_nudge *nudge, struct text *why);

/* The number of the queue that decides, -1: none. Pure. */
int stall_queue_at_fault(const struct stall_snapshot *first, const struct stall_snapshot *second);

/*
 * Ask emulator and guest memory (QMP x-query-virtio-queue-status, human-monitor-command xp; never x-query-virtio-status,
 * which some builds do not survive) about test disk `disk`. What cannot be asked stays unknown; talks is the caller's.
 * -1: out of memory.
 */
int stall_snapshot_take(struct boot *b, size_t disk, struct stall_snapshot *out, struct error *e);
json_t *stall_snapshot_json(const struct stall_snapshot *s);
void stall_snapshot_free(struct stall_snapshot *s);

/*
 * All of it, for a job that stands still: two snapshots a second apart, a nudge, the verdict; five seconds or so, and up to
 * half a minute with many vCPUs or a guest that is silent. ios: how far the job was. What the guest says meanwhile is taken
 * from the link: the job is not to be waited for afterwards.
 * *evidence: {"cause","why","snapshots":[{"queues":[…],"state","talks","vcpu_ms",…}…],"nudges":[…],"resumed","console":"last lines"},
 * the caller's. -1: interrupted, or out of memory.
 */
int stall_explain(struct boot *b, size_t disk, uint64_t ios, enum stall_cause *cause, json_t **evidence, struct error *e);

/* What a trial's hook `stalled` can do: explain it, into trial->stall, and add cause and reason to trial->message. */
int stall_of_trial(struct boot *b, size_t disk, struct trial *trial, struct error *e);

#endif
