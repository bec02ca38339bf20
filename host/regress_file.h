/* run.json of a regression matrix (format: host/cell.h). */
#ifndef KB_REGRESS_FILE_H
#define KB_REGRESS_FILE_H

#include "host/regress.h"

/* A new folder's, without sessions; x.facts are taken. NULL: out of memory, or a name is no UTF-8. */
json_t *regress_file_make(const struct regress *r);

/* Whether the folder's cells are those that this matrix has, of the accelerator, the emulator and the kernel of now. */
int regress_file_same(const struct regress *r, const json_t *kept, struct error *e);

/* What a folder's command line was, for one that goes on: texts point into run. lists are the caller's to free. */
struct regress_file_line {
	const char *which;
	const char **set, **only;
	size_t nset, nonly;
	uint64_t seed;
};
int regress_file_line(const json_t *run, struct regress_file_line *out, struct error *e);
void regress_file_line_free(struct regress_file_line *line);

#endif
