/* Scanners for the values of a scenario. All return 0, or -1 and say nothing: the caller names the place. */
#ifndef KB_PARSE_H
#define KB_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/text.h"

int parse_u64(const char *text, uint64_t *value);                /* decimal digits only */
int parse_size(const char *text, uint64_t *bytes);               /* 512, 64k, 256M, 1G, 2T: powers of 1024 */
int parse_duration(const char *text, double *seconds);           /* 500ms, 2, 2s, 5m, 1h */
int parse_fraction(const char *text, double *fraction);          /* 3% or 0.03, from 0 and below 1 */
int parse_bool(const char *text, bool *value);                   /* on off yes no true false 1 0 */
bool parse_cpulist(const char *text);                            /* 0,2-3 */
/* parse_size() the other way round: in the largest unit that leaves no rest. */
void parse_size_back(uint64_t bytes, struct text *out);
/* Index in a NULL-ended list of words, -1 when absent. */
int parse_word(const char *text, const char *const *words);

#endif
