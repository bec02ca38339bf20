/* Memory from a fixed arena; libc.c. */
#ifndef PROBE_STDLIB_H
#define PROBE_STDLIB_H

#include <stddef.h>

void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *old, size_t size);
void free(void *at);

#endif
