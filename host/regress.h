/* A regression matrix, run: every cell its own guest, judged by the guest's checks, the events, and a second opinion. */
#ifndef KB_REGRESS_H
#define KB_REGRESS_H

#include "host/cell.h"
#include "host/experiment.h"
#include "host/matrix.h"
#include "host/regress_options.h"
#include "host/session.h"

struct regress {
	const struct matrix *matrix;
	struct regress_line line;  /* what was asked for, but for the cells */
	const char *const *only;
	size_t nonly;
	struct session *session;
	struct store *store;
	const volatile sig_atomic_t *interrupted;
	struct experiment x;       /* host, image, accelerator and run.json of the matrix's guest, who is its only one */
	char kickio[1200];         /* this host's program */
	struct progress_view view;
	char no_log[200];          /* why writes cannot be logged here, "" they can */
};

/* Image, emulator, accelerator; run.json of a new folder, or that of one which is resumed. */
int regress_prepare(struct regress *r, bool resume, void (*say)(const char *line), struct error *e);

/* Every cell that is not stored yet. 0: all are; -1: it stopped early. No guest and no disk is left either way. */
int regress_run(struct regress *r, struct error *e);
void regress_free(struct regress *r);

/* One cell, from its disk to the second opinion (regress_cell.c). -1: interrupted, or the host cannot go on (its disk is full). */
int regress_cell(struct regress *r, const struct matrix_cell *cell, struct cell_result *result, struct error *e);

#endif
