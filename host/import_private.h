/* Shared by import.c (documents to trials) and import_run.c (the run folder). */
#ifndef KB_IMPORT_PRIVATE_H
#define KB_IMPORT_PRIVATE_H

#include "host/import.h"
#include "host/store.h"

struct import {
	const struct import_request *r;
	struct store *store; /* of an earlier import; else made when it is written */
	json_t *run;
	json_t *names;       /* of cells: {name:true} */
	json_t *cell_index;  /* {cell's key:index} */
	json_t *highest;     /* {"CELL VARIANT":highest block with a run} */
	json_t *boot_of;     /* {"CELL VARIANT BLOCK":boot} */
	json_t *repeats;     /* {"CELL BOOT":trials} */
	json_t *boot_index;  /* {"BOOT":the boot in the plan} */
	json_t *digests;     /* {digest of an output:number of a trial} */
	json_t *trials;      /* new ones, to be written */
	json_int_t last_trial, last_boot;
	size_t taken;
};

struct slot {
	char cell_variant[600], with_block[640], cell_boot[64]; /* keys of highest, boot_of, repeats */
};

struct slot import_slot(json_int_t cell, const char *variant, json_int_t block, json_int_t boot);

/* A counter in an object; 0 when it is not there. */
json_int_t import_count(const json_t *object, const char *key);
void import_set_count(json_t *object, const char *key, json_int_t value);

/* A trial is there: of this cell, of the variant, in this block and boot. Returns its number among the boot's repeats. */
json_int_t import_occupy(struct import *i, json_int_t cell, const char *variant, json_int_t block, json_int_t boot);

json_t *import_boots(const struct import *i); /* of the plan */
void import_index_boot(struct import *i, json_t *boot);

#endif
