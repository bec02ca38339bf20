/*
 * The line protocol between the host and `kickio agent`.
 *
 *	@kb1 SEQ TYPE LENGTH CRC PAYLOAD\n
 *
 * SEQ counts the frames of one direction from 1, TYPE is one of the names in frame_type_name(),
 * LENGTH is the number of payload bytes, CRC is the CRC-32 (ISO 3309, as zlib) of
 * "SEQ TYPE LENGTH PAYLOAD" as eight hexadecimal digits, PAYLOAD one line of JSON without a newline.
 * What stands between frames is noise: skipped, and handed to whoever keeps the console log.
 * A damaged or missing frame is asked for with `again` {"seq":N}; the sender sends it once more with
 * its old number. No OS calls in here.
 */
#ifndef KB_FRAME_H
#define KB_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/text.h"

#define FRAME_MARKER "@kb1 "
#define FRAME_MAX_PAYLOAD (4u << 20)
#define FRAME_PROTOCOL 1

enum frame_type {
	FRAME_HELLO,  /* guest: who I am, which disks I see */
	FRAME_JOB,    /* host: run this argument vector */
	FRAME_BEGIN,  /* guest: recording starts now */
	FRAME_STATUS, /* guest: progress of the running job */
	FRAME_END,    /* guest: recording has ended */
	FRAME_RESULT, /* guest: the job's result */
	FRAME_ERROR,  /* guest: the job could not run */
	FRAME_LOG,    /* guest: a note for the log; host: its counters are taken, where a job has asked to wait for that */
	FRAME_ACTION, /* host: do this beside the job, if one runs; guest: what became of it, its body has "error" */
	FRAME_AGAIN,  /* both: send frame SEQ again */
	FRAME_BYE,    /* host: power off; guest: I do */
	FRAME_TYPES
};

const char *frame_type_name(enum frame_type type);

uint32_t frame_crc32(uint32_t crc, const void *bytes, size_t length); /* start with crc 0 */

/* Append one whole frame to out. */
void frame_encode(struct text *out, uint32_t seq, enum frame_type type, const char *payload, size_t length);

struct frame {
	uint32_t seq;
	enum frame_type type;
	const char *payload; /* NUL-terminated; valid until the next frame_reader_ call */
	size_t length;
};

enum frame_event {
	FRAME_NONE,    /* all input consumed */
	FRAME_GOOD,    /* *frame is set */
	FRAME_DAMAGED, /* a line began like a frame and was not one; frame->seq is its number or 0 */
	FRAME_NOISE,   /* a line (or piece of one) that is no frame: frame->payload, frame->length */
};

/* A reader keeps the partial line. Zero-initialise; frame_reader_free() at the end. */
struct frame_reader {
	struct text line;
	struct text done;
	size_t scanned;
};

/* Hand over received bytes; then call frame_reader_next until FRAME_NONE. */
void frame_reader_feed(struct frame_reader *r, const void *bytes, size_t length);
enum frame_event frame_reader_next(struct frame_reader *r, struct frame *frame);
void frame_reader_free(struct frame_reader *r);

#endif
