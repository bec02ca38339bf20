/*
 * What the failing cells of a matrix have in common that no passing cell has: a value of one option, or a pair of values.
 * Pure.
 */
#ifndef KB_MATRIX_COMMON_H
#define KB_MATRIX_COMMON_H

#include <stdbool.h>
#include <stddef.h>

#include "guest/error.h"

enum matrix_outcome { MATRIX_PASSED, MATRIX_FAILED, MATRIX_UNTRIED };

struct matrix_factor {
	unsigned a, value_a;
	bool pair;           /* with b, else of a alone */
	unsigned b, value_b; /* a < b */
	unsigned cells;      /* that have it and fail; none that has it passes */
};

struct matrix_common {
	unsigned passed, failed;
	bool all; /* each factor is in every failing cell; else each is in two of them at least */
	struct matrix_factor *factor; /* values before pairs, then those in most cells first, then by option */
	size_t nfactors;
};

/*
 * value: by cell, then by option. Where all failing cells have factors in common, those; else factors that two failing cells or
 * more have. A pair that holds a value which is a factor alone is left out, and where no cell passes there are none.
 * -1: out of memory.
 */
int matrix_common_find(const unsigned *value, const enum matrix_outcome *outcome, size_t ncells, size_t noptions,
		       struct matrix_common *out, struct error *e);
void matrix_common_free(struct matrix_common *c);

#endif
