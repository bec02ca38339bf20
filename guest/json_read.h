/*
 * A small strict JSON reader (RFC 8259) for the few keys of the host's frames. Each call walks the whole
 * object once: a document that is damaged anywhere, or names a key twice, is refused whatever is asked for.
 * Keys that nobody asks for are skipped, so that a later host may send more. No OS calls in here.
 */
#ifndef KB_JSON_READ_H
#define KB_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"

/* The value of a string key: allocated, the caller frees it. *value is NULL when the key is missing or null. */
int json_read_string(const char *json, const char *key, char **value, struct error *e);

/* A key that holds a whole number from 0 to UINT64_MAX. A missing key is an error. */
int json_read_number(const char *json, const char *key, uint64_t *value, struct error *e);

/* The same, and a key that is missing or null is none: *found. */
int json_read_number_if(const char *json, const char *key, uint64_t *value, bool *found, struct error *e);

/*
 * A key that holds an array of strings: *values is one allocated array of *count strings with a NULL behind them, to be
 * given to json_free_strings(). A missing key is an error.
 */
int json_read_strings(const char *json, const char *key, char ***values, size_t *count, struct error *e);
void json_free_strings(char **values);

#endif
