/* Shared by dataset.c (the folder and its trials) and dataset_run.c (run.json). */
#ifndef KB_DATASET_PRIVATE_H
#define KB_DATASET_PRIVATE_H

#include "host/dataset.h"

/* A trial as the plan has it. */
struct planned_trial {
	unsigned number, boot, block, cell, variant; /* block 0.. */
	size_t observation;
};

/*
 * Read a JSON file of the folder and check that its schema is family ("kickbench-run") in a version that is
 * understood. Caller owns *out. *missing (may be NULL) tells a file that is not there from one that is bad.
 * Messages name the file within the folder: they end in reports, which may be read elsewhere.
 */
int dataset_read(const char *path, const char *name, const char *family, json_t **out, bool *missing,
		 struct error *e);

/* Fill d from d->run and list the planned trials (caller frees *trial). */
int dataset_read_run(struct dataset *d, struct planned_trial **trial, struct error *e);

#endif
