/* Shared by dataset.c (the folder and its trials), dataset_run.c (run.json) and the other files of its name. */
#ifndef KB_DATASET_PRIVATE_H
#define KB_DATASET_PRIVATE_H

#include "host/dataset.h"
#include "host/dataset_record.h"

/* A trial as the plan has it. */
struct planned_trial {
	unsigned number, boot, block, cell, variant; /* block 0.. */
	size_t slot;         /* cell and side: see dataset_baseline() */
	unsigned slot_block; /* within it: the block, or the run of a variant where these are not paired */
	size_t observation;
	struct trial_record *record;
};

/*
 * Read a JSON file of a folder and check that its schema is family ("kickbench-run") in a version that is
 * understood. Caller owns *out. *missing (may be NULL) tells a file that is not there from one that is bad; stamp
 * (may be NULL) is the file's at the time of reading. shown: how messages name the file, within the run folder, since
 * they end in reports, which may be read elsewhere.
 */
int dataset_read(int folder, const char *name, const char *shown, const char *family, json_t **out, bool *missing,
		 struct file_stamp *stamp, struct error *e);

/* Fill d from d->run and list the planned trials (caller frees *trial). */
int dataset_read_run(struct dataset *d, struct planned_trial **trial, struct error *e);

/* ---- what was seen in the guests ---- */

/* In object, the set named set: one more of text. */
void dataset_count(json_t *object, const char *set, const char *text);

/* The boots' "effective" objects by text. Set the first three, the rest zero. */
struct effective_counts {
	size_t nvariants, nguests;
	const char **guest; /* names */
	struct seen_effective **seen;
	size_t n;
};

/* One more boot of guest and variant has text, which has to live until the end; *mismatch: it tells one. -1: out of memory. */
int effective_count(struct effective_counts *c, unsigned guest, unsigned variant, struct shared_text *text,
		    bool *mismatch);

/* Add it all to an array of objects, one for each variant, in the form of dataset.h. -1: out of memory. */
int effective_finish(const struct effective_counts *c, json_t *by_variant);
void effective_free(struct effective_counts *c);

/* ---- what may be added up ---- */

/*
 * Trials of one cell and variant have one accelerator and one CPU model, all of a cell one host; where the blocks are shared
 * out over several hosts all of a cell and block have one. Those that have not make their observations a mismatch, and
 * d->effective tells which and why. trial: all that are planned.
 */
int identity_check(struct dataset *d, const struct planned_trial *trial, struct error *e);

#endif
