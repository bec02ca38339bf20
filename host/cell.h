/*
 * What became of one cell of a regression matrix, as it is stored: cells/000001.json of a regress folder.
 *
 * {"schema":"kickbench-cell/1","cell":1,"name":"transport=modern,ring=packed","options":{"transport":"modern",…},
 *  "status":"pass"|"fail"|"stalled"|"corrupt"|"skipped","reason":null|"one line","seconds":N,"started":"…Z",
 *  "accel","qemu_version","guest_kernel","effective":{…}|null,
 *  "checks":[{"name":"verify randwrite 4k depth 32","status":…,"message":null|"…","seconds":N,"argv":[…]|null,
 *             "evidence":{…}|null}],
 *  "console":"console/000001.log","reproduce":"kickbench regress --only …"}
 *
 * and run.json of the same folder:
 * {"schema":"kickbench-regress/1","kickbench","started","scenario":{"name","file","matrix":"quick"},"set":[…],"seed":N,"only":[…],
 *  "options":[{"name","values":[…]}],"impossible":[{"pair":"…","reason":"…"}],"uncovered":["…"],"pairs":N,
 *  "cells":[{"cell":1,"name","options":{…}}],"accel":{"used","why","qemu_version"},"versions":{…},
 *  "guest":{"name","image","kernel","machine"},"environment":{…},
 *  "sessions":[{"started","ended":"…"|null,"status","message"}]}
 */
#ifndef KB_CELL_H
#define KB_CELL_H

#include <jansson.h>
#include <stddef.h>

#include "guest/error.h"
#include "guest/text.h"
#include "host/matrix.h"

#define CELL_SCHEMA "kickbench-cell/1"
#define REGRESS_SCHEMA "kickbench-regress/1"

/* In order of weight: of several the heaviest is the whole's. */
enum cell_status { CELL_PASS, CELL_SKIPPED, CELL_FAIL, CELL_STALLED, CELL_CORRUPT, CELL_STATUSES };

const char *cell_status_name(enum cell_status status);
int cell_status_parse(const char *name, enum cell_status *out); /* -1: no such status */

/* One thing that was asked of the cell. */
struct cell_check {
	char name[96];
	enum cell_status status;
	char message[512]; /* "" when it passed; skipped: why */
	double seconds;
	json_t *argv;      /* of the guest's job, NULL: none */
	json_t *evidence;  /* object, NULL: none */
};

struct cell_result {
	enum cell_status status;
	char reason[512]; /* of the heaviest check, "" when all passed */
	double seconds;
	char started[32];
	struct cell_check *check;
	size_t nchecks, room;
	json_t *effective; /* domain_verify()'s object, NULL unknown */
	char accel[8], qemu_version[160], guest_kernel[160];
};

/*
 * Add a check; its argv and evidence belong to the result from here on. The result's status and reason follow the heaviest.
 * A skipped check does not make its cell skipped: cell_skip() does.
 */
int cell_add(struct cell_result *r, const struct cell_check *check, struct error *e);

/* The whole cell could not be tried. Says nothing over what has failed already. */
void cell_skip(struct cell_result *r, const char *reason);
void cell_result_free(struct cell_result *r);

/* The record, NULL when memory ran out. again: the command that tries this cell alone. */
json_t *cell_json(const struct matrix *m, const struct matrix_cell *cell, const struct cell_result *r, const char *again);

#endif
