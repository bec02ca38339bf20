/* Options that stand near a report of fio: in its header lines and in the command line above it. */
#ifndef KB_FIO_TEXT_OPTIONS_H
#define KB_FIO_TEXT_OPTIONS_H

#include <jansson.h>

/*
 * A header line, squeezed: "name: (g=0): rw=randread, bs=(R) 4096B-4096B, …, ioengine=sync, iodepth=1".
 * {"key":"0:name","options":{"rw","bs"|"bsrange","ioengine","iodepth"},"single":[R,W,T]}: options as fio takes them,
 * single the block size in bytes of each direction, 0 where it varies or was not printed. NULL: not a header, or no memory.
 */
json_t *fio_read_header(const char *line);

/*
 * A command line: {"global":{option:value…},"jobs":{name:{option:value…}}}, options under fio's first name for
 * them, "1" for one without a value. What concerns the report and not the job (output=, eta=, …) is left out.
 * NULL: no memory.
 */
json_t *fio_read_command(const char *line);

/* Options of the job: those of its header, and of the command line what the header does not tell. NULL: no memory. */
json_t *fio_job_options(json_t *header, json_t *command, const char *name);

/* Text as JSON; bytes beyond ASCII become '?' when they are no UTF-8. */
json_t *fio_json_text(const char *text, size_t length);

#endif
