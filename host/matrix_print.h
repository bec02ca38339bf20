/* What commands do with a regress folder: print it, keep its report beside it, compare it. */
#ifndef KB_MATRIX_PRINT_H
#define KB_MATRIX_PRINT_H

#include <stdio.h>

#include "guest/error.h"
#include "host/matrix_report.h"
#include "host/report.h"
#include "host/store.h"

/*
 * The text to out (NULL: nowhere; coloured when it is a terminal) and report.txt, report.html, report.json and report.xml (JUnit)
 * into the folder. *f (may be NULL) is what was read, the caller's.
 */
int matrix_print_keep(struct store *store, FILE *out, struct matrix_folder *f, struct error *e);

/*
 * `kickbench report DIR`: as asked, plain: the text, and the folder's own report brought up to date. Returns an exit status:
 * that of the matrix, or an error's.
 */
int matrix_print(const char *path, const struct report_request *request, bool plain, struct error *e);

/* `kickbench compare A B`: 1 when a cell failed newly, 3 when one of B is missing or all of B were skipped, or an error's. */
int matrix_print_compare(const char *before, const char *after, const struct report_request *request, struct error *e);

#endif
