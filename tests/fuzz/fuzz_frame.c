/*
 * The serial line. First byte below 128: the rest is what arrives, in pieces of that many bytes. From 128: the rest is the
 * payload of a good frame (a line that does not end in a carriage return, as no JSON does): it has to come back. What comes
 * is read as the host's and the guest's JSON readers do.
 */
#include <jansson.h>
#include <string.h>

#include "guest/error.h"
#include "guest/frame.h"
#include "guest/json_read.h"
#include "tests/fuzz/fuzz.h"

static void read_payload(const struct frame *f)
{
	json_error_t je;
	json_t *whole = json_loadb(f->payload, f->length, 0, &je);
	char *string = NULL, **strings = NULL;
	uint64_t number;
	size_t count;

	if (f->payload[f->length] != '\0')
		abort();
	if (json_read_string(f->payload, "id", &string, &(struct error){ 0 }) == 0)
		free(string);
	json_read_number(f->payload, "seq", &number, &(struct error){ 0 });
	if (json_read_strings(f->payload, "argv", &strings, &count, &(struct error){ 0 }) == 0)
		json_free_strings(strings);
	json_decref(whole);
}

static unsigned take(struct frame_reader *r, const uint8_t *data, size_t size, size_t piece)
{
	unsigned good = 0;

	for (size_t at = 0; at < size; at += piece) {
		enum frame_event event;
		struct frame f;

		frame_reader_feed(r, data + at, size - at < piece ? size - at : piece);
		while ((event = frame_reader_next(r, &f)) != FRAME_NONE)
			if (event == FRAME_GOOD) {
				good++;
				read_payload(&f);
			}
	}
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame_reader r = { 0 };
	struct text out = { 0 };

	if (size < 2)
		return 0;
	if (data[0] < 128) {
		take(&r, data + 1, size - 1, data[0] ? data[0] : size);
	} else if (!memchr(data + 1, '\n', size - 1) && !memchr(data + 1, '\0', size - 1) && data[size - 1] != '\r') {
		frame_encode(&out, 7, (enum frame_type)(data[0] % FRAME_TYPES), (const char *)data + 1, size - 1);
		if (take(&r, (const uint8_t *)text_get(&out), out.length, 1 + data[0] % 61) != 1)
			abort();
	}
	text_free(&out);
	frame_reader_free(&r);
	return 0;
}
