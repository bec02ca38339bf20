/* Lines for the user, on their way to whoever shows them. */
#ifndef KB_NOTE_H
#define KB_NOTE_H

#include "guest/error.h"

struct note_sink {
	void (*line)(void *context, const char *line);
	void *context;
};

/* Format one line (at most 1023 bytes, no newline). Nothing happens without a sink. */
void note_send(const struct note_sink *sink, const char *fmt, ...) KB_PRINTF(2, 3);

#endif
