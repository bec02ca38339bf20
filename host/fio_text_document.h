/* From blocks to the document of host/fio_import.h. */
#ifndef KB_FIO_TEXT_DOCUMENT_H
#define KB_FIO_TEXT_DOCUMENT_H

#include <jansson.h>
#include <stddef.h>

#include "host/fio_text_block.h"

/* What stands above the blocks of one output of fio. */
struct fio_preamble {
	size_t line;        /* of its first line, 0: none */
	char release[48];   /* "fio-3.12", "" when unknown */
	json_t *headers;    /* by "groupid:name"; two that differ under one key leave null */
	json_t *command;    /* of fio_read_command(), NULL: none above */
	json_t *section;    /* text, NULL: none */
	json_t *signals;    /* by pid: "got signal=6" */
	size_t interrupted; /* line of "terminating on signal", 0: none */
	size_t verify;      /* line of a verify failure, 0: none */
};

/* JOB of a block; NULL: no memory. Its share of the preamble is what the header and the notices say of it. */
json_t *fio_job_document(struct fio_block *b, const struct fio_preamble *above);

/* An element of "disk_util" from "sda: ios=49/0, merge=0/0, …, util=2.86%", squeezed; NULL: it is none, or no memory. */
json_t *fio_disk_document(const char *line);

#endif
