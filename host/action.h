/*
 * What the host asks of the guest's agent beside a job, also while one runs (frame type "action"): body
 * {"id":N,"action":"nudge"|"unbind"|"bind"|"disks","disk":"/dev/vda","cpu":K}, answered with
 * {"id":N,"action":…,"error":null|"…"} and for "disks" "disks":[…] as in the hello. A nudge (one read of the disk's first block, past
 * every cache, issued on a given CPU) is answered when it is issued, and once more with "done":true when it came back.
 */
#ifndef KB_ACTION_H
#define KB_ACTION_H

#include <jansson.h>

#include "guest/error.h"
#include "host/boot.h"

/* Send it; *id: what its answer has. disk: as the guest calls it, NULL none; cpu: -1 any. */
int action_send(struct boot *b, const char *action, const char *disk, int cpu, unsigned *id, struct error *e);

/* Whether m answers id. *problem: what the guest has against it, NULL: nothing; it lives as long as m. */
int action_answers(const struct message *m, unsigned id, const char **problem);

/* Send it while no job runs, and wait for its answer, *reply (may be NULL) the caller's. -1 too: refused by the guest, or no answer in time. */
int action_call(struct boot *b, const char *action, const char *disk, int cpu, double timeout, json_t **reply, struct error *e);

#endif
