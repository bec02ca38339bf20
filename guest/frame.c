#include "guest/frame.h"

#include <string.h>

#define MARKER_LENGTH (sizeof(FRAME_MARKER) - 1)

/* SEQ, TYPE, LENGTH and CRC with their spaces; a longer header is no header. */
#define MAX_HEADER 64

/* A line beyond any frame's size is handed out in pieces, so that noise cannot eat the memory. */
#define MAX_NOISE 4096

static const char *const type_names[FRAME_TYPES] = {
	[FRAME_HELLO] = "hello",
	[FRAME_JOB] = "job",
	[FRAME_BEGIN] = "begin",
	[FRAME_STATUS] = "status",
	[FRAME_END] = "end",
	[FRAME_RESULT] = "result",
	[FRAME_ERROR] = "error",
	[FRAME_LOG] = "log",
	[FRAME_ACTION] = "action",
	[FRAME_AGAIN] = "again",
	[FRAME_BYE] = "bye",
};

const char *frame_type_name(enum frame_type type)
{
	return (unsigned)type < FRAME_TYPES ? type_names[type] : "?";
}

/* Four bits a step: a table of 16 entries that anyone can recompute, fast enough for a serial line. */
uint32_t frame_crc32(uint32_t crc, const void *bytes, size_t length)
{
	static const uint32_t nibble[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const unsigned char *p = bytes;

	crc = ~crc;
	while (length--) {
		crc ^= *p++;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return ~crc;
}

void frame_encode(struct text *out, uint32_t seq, enum frame_type type, const char *payload, size_t length)
{
	struct text head = {0};
	uint32_t crc;

	text_add(&head, "%lu %s %zu ", (unsigned long)seq, frame_type_name(type), length);
	crc = frame_crc32(0, text_get(&head), head.length);
	crc = frame_crc32(crc, payload, length);
	text_add(out, "%s%s%08lx ", FRAME_MARKER, text_get(&head), (unsigned long)crc);
	text_add_bytes(out, payload, length);
	text_add_bytes(out, "\n", 1);
	out->failed |= head.failed;
	text_free(&head);
}

void frame_reader_feed(struct frame_reader *r, const void *bytes, size_t length)
{
	text_add_bytes(&r->line, bytes, length);
}

void frame_reader_free(struct frame_reader *r)
{
	text_free(&r->line);
	text_free(&r->done);
	r->scanned = 0;
}

static void drop_front(struct text *t, size_t count)
{
	t->length -= count;
	memmove(t->data, t->data + count, t->length + 1);
}

/* A decimal number without sign or leading zero, ended by a space. */
static bool take_number(const char **p, uint32_t *value)
{
	const char *s = *p;
	uint64_t v = 0;

	if (*s < '1' || *s > '9') {
		if (s[0] != '0' || s[1] != ' ')
			return false;
	}
	for (; *s >= '0' && *s <= '9'; s++) {
		v = v * 10 + (uint64_t)(*s - '0');
		if (v > UINT32_MAX)
			return false;
	}
	if (*s != ' ')
		return false;
	*value = (uint32_t)v;
	*p = s + 1;
	return true;
}

static bool take_type(const char **p, enum frame_type *type)
{
	for (unsigned i = 0; i < FRAME_TYPES; i++) {
		size_t n = strlen(type_names[i]);

		if (strncmp(*p, type_names[i], n) == 0 && (*p)[n] == ' ') {
			*type = (enum frame_type)i;
			*p += n + 1;
			return true;
		}
	}
	return false;
}

static bool take_crc(const char **p, uint32_t *crc)
{
	const char *s = *p;

	*crc = 0;
	for (int i = 0; i < 8; i++, s++) {
		if (*s >= '0' && *s <= '9')
			*crc = *crc << 4 | (uint32_t)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			*crc = *crc << 4 | (uint32_t)(*s - 'a' + 10);
		else
			return false;
	}
	if (*s != ' ')
		return false;
	*p = s + 1;
	return true;
}

/*
 * Is text, which follows a marker and reaches to the end of its line, a frame? frame->seq is set as soon as it is
 * known, even when the rest is damaged: it is what a request to send again names.
 */
static bool parse(const char *text, size_t length, struct frame *frame)
{
	const char *p = text, *header_end, *end = text + length;
	uint32_t size, crc;

	frame->seq = 0;
	if (!take_number(&p, &frame->seq) || !take_type(&p, &frame->type) || !take_number(&p, &size))
		return false;
	header_end = p;
	if (size > FRAME_MAX_PAYLOAD || !take_crc(&p, &crc) || (size_t)(end - p) != size)
		return false;
	if (frame_crc32(frame_crc32(0, text, (size_t)(header_end - text)), p, size) != crc)
		return false;
	frame->payload = p;
	frame->length = size;
	return true;
}

/* Where the next marker begins, or NULL. memmem is not everywhere. */
static const char *find_marker(const char *from, const char *end)
{
	while ((size_t)(end - from) >= MARKER_LENGTH) {
		const char *at = memchr(from, FRAME_MARKER[0], (size_t)(end - from) - (MARKER_LENGTH - 1));

		if (!at || memcmp(at, FRAME_MARKER, MARKER_LENGTH) == 0)
			return at;
		from = at + 1;
	}
	return NULL;
}

/* Move count bytes at the front of the input to r->done, drop another few, and hand the former out. */
static enum frame_event give(struct frame_reader *r, struct frame *frame, enum frame_event event, size_t count,
			     size_t drop)
{
	text_reset(&r->done);
	text_add_bytes(&r->done, r->line.data, count);
	drop_front(&r->line, count + drop);
	r->scanned = 0;
	frame->payload = text_get(&r->done);
	frame->length = r->done.length;
	if (r->done.failed) {
		frame->seq = 0;
		return FRAME_DAMAGED;
	}
	return event;
}

/* The frame at the front of the input is good; its payload goes to r->done. */
static enum frame_event give_frame(struct frame_reader *r, struct frame *frame, size_t line_length)
{
	size_t head = (size_t)(frame->payload - r->line.data), length = frame->length;

	drop_front(&r->line, head);
	return give(r, frame, FRAME_GOOD, length, line_length - head - length + 1);
}

/*
 * A whole line of that length stands at the front of the input. Console output can stand before a frame, and a frame
 * that was cut off has the next one directly behind it; but a payload may contain the marker, too. So the markers are
 * tried from the first on, and what stands before a good frame is handed out first.
 */
static enum frame_event take_line(struct frame_reader *r, struct frame *frame, size_t line_length)
{
	const char *line = r->line.data, *end = line + line_length, *at;
	bool damaged = false;
	uint32_t seq = 0;

	while (end > line && end[-1] == '\r') /* a terminal driver in between made CR LF of it */
		end--;
	for (at = find_marker(line, end); at; at = find_marker(at + MARKER_LENGTH, end)) {
		bool good = parse(at + MARKER_LENGTH, (size_t)(end - at) - MARKER_LENGTH, frame);

		if (good && at == line)
			return give_frame(r, frame, line_length);
		if (good) {
			frame->seq = seq;
			return give(r, frame, damaged ? FRAME_DAMAGED : FRAME_NOISE, (size_t)(at - line), 0);
		}
		if (!damaged)
			seq = frame->seq;
		/* "@kb1 " in the middle of a console line and no number behind it: somebody talks about frames. */
		damaged |= at == line || seq != 0;
	}
	frame->seq = seq;
	return give(r, frame, damaged ? FRAME_DAMAGED : FRAME_NOISE, (size_t)(end - line),
		    line_length - (size_t)(end - line) + 1);
}

/* No newline yet. Long noise is handed out in pieces, and a frame must not grow without end. */
static enum frame_event take_piece(struct frame_reader *r, struct frame *frame)
{
	const char *line = r->line.data, *at;
	size_t keep = MARKER_LENGTH - 1;

	if (r->line.length < MAX_NOISE)
		return FRAME_NONE;
	frame->seq = 0;
	at = find_marker(line, line + r->line.length);
	if (!at)
		return give(r, frame, FRAME_NOISE, r->line.length - keep, 0);
	if (r->line.length < (size_t)(at - line) + MARKER_LENGTH + MAX_HEADER + FRAME_MAX_PAYLOAD)
		return FRAME_NONE;
	parse(at + MARKER_LENGTH, r->line.length - (size_t)(at - line) - MARKER_LENGTH, frame);
	return give(r, frame, FRAME_DAMAGED, r->line.length, 0);
}

enum frame_event frame_reader_next(struct frame_reader *r, struct frame *frame)
{
	const char *newline;

	*frame = (struct frame){.payload = ""};
	if (r->line.failed) {
		text_reset(&r->line);
		r->scanned = 0;
		return FRAME_DAMAGED;
	}
	if (r->line.length == 0)
		return FRAME_NONE;
	newline = memchr(r->line.data + r->scanned, '\n', r->line.length - r->scanned);
	if (newline)
		return take_line(r, frame, (size_t)(newline - r->line.data));
	r->scanned = r->line.length;
	return take_piece(r, frame);
}
