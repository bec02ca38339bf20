/*
 * Documents of fio (host/fio_import.h) to a run folder that reports and comparisons read like any other: schema
 * kickbench-run/1 with
 *	"imported":true, "files":[{"path","size","mtime"}], "scenario":{"name":"import","pairing":"none"|"boots",…},
 *	"guests":[] (nothing is known of them but the names in the cells), "environment":{}, "sessions":[],
 * cells with "options" (host/import_cell.h), and trials with "source":{"file","line"} and "marks":[{"line","what"}].
 *
 * A boot is one output, a run of fio, unless the user says what ran in one boot. Jobs of one output that are clones
 * of each other are one trial with several jobs[]. The plan's trials have a "digest" of their output. A block is the
 * number of a run among those of its variant and cell; with blocks given by the user they pair the variants. A trial
 * without numbers to trust is "failed", and its message begins with "no data: " or "inconsistent: " when fio itself did
 * not fail. What fio printed as the date stays text, in the trial's fio.time: local time of printing, without a zone. So an
 * import has no "started" and no course over time.
 */
#ifndef KB_IMPORT_H
#define KB_IMPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "guest/error.h"

struct import_request {
	const char *variant, *guest; /* names; guest NULL: "unknown" */
	const char *section;         /* only outputs below a heading that contains this; NULL: all */
	unsigned block, boot;        /* 1..; 0: not given */
	bool baseline;               /* this variant is the baseline */
	const char *folder;          /* NULL: results/<time>-import; an earlier import is added to */
};

struct import;

/* Begin, or take up the import that lies in r->folder. r and its texts have to live as long. */
int import_open(const struct import_request *r, struct import **out, struct error *e);

/*
 * One file's documents. path is kept as valid UTF-8. size in bytes, mtime in s since 1970 (negative: not known). An
 * output that is there already, to the last number, is no second run: left out, with a {"line","message"} in notes.
 */
int import_add(struct import *i, const char *path, long long size, long long mtime, const json_t *outputs,
	       json_t *notes, struct error *e);

/* Outputs that were taken so far. */
size_t import_taken(const struct import *i);

/* Write it. Until here nothing on the disk has changed. *path: of the folder, the import's. */
int import_store(struct import *i, const char **path, struct error *e);
void import_free(struct import *i);

/* Whether a document is one of those that a request's section means. */
bool import_wanted(const json_t *document, const char *section);

#endif
