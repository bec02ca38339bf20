/* The JSON of a run folder, written: run.json and trials/N.json (formats: host/store.h). */
#ifndef KB_RUN_FILE_H
#define KB_RUN_FILE_H

#include "host/experiment.h"
#include "host/trial.h"

/* "2026-01-31T12:00:00Z" of now. */
void run_file_time(char out[32]);

/* run.json's "machines": what each guest is booted with in each variant. */
json_t *run_file_machines(const struct experiment *x);

/* As records name it; "unknown" with commands of the user's own, which a scenario need not tell of. */
const char *run_file_accel(enum accel accel);

/* A text as json_pack's "s?" takes it: NULL where there is none. */
const char *run_file_said(const char *text);

json_t *run_file_strings(char *const *list, size_t count);

/* The record of one trial; b: the boot, of which a hello may be missing when it has stalled. NULL: out of memory. */
json_t *run_file_trial(const struct experiment *x, const struct boot *b, const struct plan_trial *t,
		       const struct trial_request *request, const char *started, const struct trial *trial,
		       json_t *effective);
int run_file_store_trial(struct experiment *x, unsigned number, const json_t *record, struct error *e);

/*
 * Whether `now` (the same members of a run.json, made from what was read today) would measure what `kept` did:
 * settings, cells, order and seed's plan. An error names the part that differs; folder is for its text.
 */
int run_file_same_experiment(const json_t *kept, const json_t *now, const char *folder, struct error *e);

/* Write into run.json how this session ended: message NULL when it is complete. */
int run_file_end(struct experiment *x, const char *message, struct error *e);

#endif
