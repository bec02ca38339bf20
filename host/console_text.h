/*
 * What a serial console has said, as steps look at it: without escape sequences, carriage returns and the echo of what
 * was typed. Pure: bytes go in, matches come out.
 *
 * The echo. What was typed comes back, in pieces, wrapped at the terminal's width, between kernel messages or not at all
 * (a password). Each typed line is looked for in what is said afterwards, blanks and line ends aside; where it is found
 * it is masked: no expression sees it. While the text ends with the beginning of it, that end is held back, until more
 * comes or nothing has come for CONSOLE_ECHO_MS: then it was no echo.
 *
 * Wrapped lines. Every expression is tried on the text as it is and on the text whose lines of exactly
 * CONSOLE_COLUMNS columns are joined with the next one.
 *
 * A match that reaches the end of what was said counts only after CONSOLE_QUIET_MS of silence: a prompt stands still.
 */
#ifndef KB_CONSOLE_TEXT_H
#define KB_CONSOLE_TEXT_H

#include <regex.h>
#include <stdbool.h>

#include "guest/text.h"

#define CONSOLE_COLUMNS 80
#define CONSOLE_QUIET_MS 200
#define CONSOLE_ECHO_MS 1000

struct console_text {
	struct text said;  /* readable; the last part of it */
	struct text mask;  /* as long as said: 'e' where it is the echo of something typed */
	size_t from;       /* expressions see what comes from here on */
	struct text typed; /* lines whose echo has not come yet, without blanks, each ended by \n */
	size_t echo_from;  /* where the next echo may begin */
	int state;         /* of an escape sequence that is not over yet */
	unsigned idle_ms;  /* since the last byte */
};

struct console_match {
	size_t begin, end; /* in said */
	char group[200];   /* what the first parentheses matched, "" without any */
};

void console_text_free(struct console_text *t);

void console_text_feed(struct console_text *t, const char *bytes, size_t length);

/* Nothing came for so long. */
void console_text_idle(struct console_text *t, unsigned ms);

/* Something is typed now: its echo is to be expected. Not called for what is not echoed (a password). */
void console_text_typed(struct console_text *t, const char *bytes, size_t length);

/* The first match of what can be seen; does not consume it. */
bool console_text_match(const struct console_text *t, const regex_t *expression, struct console_match *m);

/* What comes before m's end is over. */
void console_text_consume(struct console_text *t, const struct console_match *m);

/* Append the last lines, seen or not, "\n  | " before each, in printable ASCII. */
void console_text_tail(const struct console_text *t, unsigned lines, struct text *out);

#endif
