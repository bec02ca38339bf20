/*
 * What the host asks of the guest's agent beside a job, also while one runs or stands still (frame type "action"): body
 * {"id":N,"action":NAME,"disk":"/dev/vda","cpu":K} (disk, cpu: where the action needs them), answered with
 * {"id":N,"action":NAME,"error":null|"…",…}. The actions:
 *
 * ping    at once, from the thread that hears the host: nothing is asked of any disk.
 * disks   "disks":[…] as in the hello, fresh. Linux asks each disk its serial number with a request of its own: a disk that
 *         holds requests holds this answer, too.
 * nudge   one read of the disk's first block, past every cache, issued on a CPU. Answered when it is issued ("bound":false
 *         where it could not be bound to the CPU), and once more with "done":true,"us":N when it came back. An error before it
 *         was issued is the only answer.
 * unbind  the driver of the disk off its device, and
 * bind    on again: the disk is named as it was. Linux. Answered when that is done, with "disks" as it is then; may wait for I/O in flight.
 */
#ifndef KB_ACTION_H
#define KB_ACTION_H

#include <jansson.h>

#include "guest/error.h"
#include "host/boot.h"

/* Send it; *id: what its answer has. disk: as the guest calls it, NULL none; cpu: -1 any. */
int action_send(struct boot *b, const char *action, const char *disk, int cpu, unsigned *id, struct error *e);

/* Whether m answers id. *problem: what the guest has against it, NULL: nothing; it lives as long as m. */
bool action_answers(const struct message *m, unsigned id, const char **problem);

/* Whether an answer is the second one of a nudge. */
bool action_done(const struct message *m);

/*
 * Send it while no job runs, and wait for its (first) answer, *reply (may be NULL) the caller's. timeout: seconds.
 * -1 too: refused by the guest, or no answer in time. Other messages that come meanwhile are dropped.
 */
int action_call(struct boot *b, const char *action, const char *disk, int cpu, double timeout, json_t **reply, struct error *e);

#endif
