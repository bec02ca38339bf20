/*
 * Where in some bytes JSON objects of fio lie: between prose, log lines and other JSON, or inside other JSON.
 * One pass, whatever the bytes are.
 */
#ifndef KB_FIO_JSON_SCAN_H
#define KB_FIO_JSON_SCAN_H

#include <stddef.h>

#include "guest/error.h"
#include "guest/text.h"

enum extent_kind {
	EXTENT_FIO,    /* a whole object of fio */
	EXTENT_BROKEN, /* it begins as one, and is no JSON from some place on */
	EXTENT_CUT,    /* the bytes end inside of it */
	EXTENT_DEEP,   /* objects nested deeper than any of fio's */
};

struct extent {
	enum extent_kind kind;
	size_t from, to;   /* bytes from..to-1 */
	size_t line, last; /* lines (1..) of its begin and its end */
};

struct extents {
	struct extent *list;
	size_t count, room;
	size_t others, other_line; /* whole objects, not within another, that are not fio's; line of the first */
};

/* Far deeper than fio's (7), and below jansson's limit. */
#define FIO_JSON_DEPTH 512

/* The caller calls fio_json_scan_free(), also after an error. */
int fio_json_scan(const char *bytes, size_t length, struct extents *out, struct error *e);
void fio_json_scan_free(struct extents *extents);

/*
 * A copy that a strict parser takes, with the same lines: what is not UTF-8 becomes U+FFFD; control characters and
 * lone backslashes (Windows paths in fio 2.x) are escaped; nan and inf become null; a whole number that no
 * int64 holds becomes a real one; quotation marks of a mail at the begin of a line are dropped.
 */
void fio_json_repair(const char *bytes, size_t length, struct text *out);

#endif
