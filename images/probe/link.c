#include "images/probe/link.h"

#include "guest/json_read.h"
#include "images/probe/clock.h"
#include "images/probe/console.h"
#include "images/probe/machine.h"

/* For the rest of a frame that has begun: it comes by 16 bytes, each time when the emulator gets to it. */
#define UNFINISHED_NS 20000000

void link_open(struct link *l, unsigned port)
{
	*l = (struct link){.port = port};
}

static bool write(struct link *l, const struct link_frame *f)
{
	return serial_write(l->port, text_get(&f->bytes), f->bytes.length);
}

bool link_send(struct link *l, enum frame_type type, const struct text *payload)
{
	struct link_frame *f = &l->kept[++l->sent % LINK_KEPT];

	if (type == FRAME_HELLO)
		f = &l->hello;
	else if (type == FRAME_RESULT || type == FRAME_ERROR)
		f = &l->result;
	f->seq = l->sent;
	text_reset(&f->bytes);
	frame_encode(&f->bytes, f->seq, type, text_get(payload), payload->length);
	f->bytes.failed |= payload->failed;
	if (f->bytes.failed) {
		console("out of memory for a %s frame\n", frame_type_name(type));
		return false;
	}
	return write(l, f);
}

bool link_send_again(struct link *l, uint32_t seq)
{
	const struct link_frame *f = &l->kept[seq % LINK_KEPT];

	if (l->hello.seq == seq)
		f = &l->hello;
	if (l->result.seq == seq)
		f = &l->result;
	return seq == 0 || f->seq != seq || write(l, f);
}

static void ask_for(struct link *l, uint32_t seq)
{
	struct text payload = {0};

	text_add(&payload, "{\"seq\":%lu}", (unsigned long)seq);
	link_send(l, FRAME_AGAIN, &payload);
	text_free(&payload);
}

/* Is it for the caller? Frames behind a gap are dropped: the host sends all from the one that is asked for. */
static bool take(struct link *l, const struct frame *f)
{
	struct error ignored = {0};
	uint64_t seq;

	if (f->type != FRAME_JOB && f->type != FRAME_ACTION && f->type != FRAME_BYE && f->type != FRAME_LOG && f->type != FRAME_AGAIN)
		return false;
	if (f->type == FRAME_AGAIN && json_read_number(f->payload, "seq", &seq, &ignored) == 0 && seq <= l->sent)
		link_send_again(l, (uint32_t)seq);
	if (f->seq <= l->received)
		return false;
	if (f->seq != l->received + 1) {
		ask_for(l, l->received + 1);
		return false;
	}
	l->received = f->seq;
	return f->type != FRAME_AGAIN;
}

bool link_receive(struct link *l, uint64_t ns, struct frame *f)
{
	uint64_t start = machine_counter(), heard = start, limit = clock_counts(ns), patience = clock_counts(UNFINISHED_NS);

	for (;;) {
		enum frame_event event;
		char bytes[64];
		size_t n;

		while ((event = frame_reader_next(&l->reader, f)) != FRAME_NONE) {
			if (event == FRAME_GOOD && take(l, f))
				return true;
			if (event == FRAME_DAMAGED && (f->seq == 0 || f->seq > l->received))
				ask_for(l, l->received + 1);
		}
		n = serial_read(l->port, bytes, sizeof(bytes));
		frame_reader_feed(&l->reader, bytes, n);
		if (n > 0)
			heard = machine_counter();
		else if (machine_counter() - start >= limit && (l->reader.line.length == 0 || machine_counter() - heard >= patience))
			return false;
	}
}
