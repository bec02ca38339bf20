/*
 * Names and messages come from scenarios, guests and files: what they hold must stay text in every form of report.
 * All append valid UTF-8 to out: a byte that belongs to no character becomes U+FFFD, and but for escape_utf8() so does a
 * control character, one that XML 1.0 forbids, and one that turns the direction of what follows. Line ends and tabs are kept unless it says otherwise. NULL is as "".
 */
#ifndef KB_ESCAPE_H
#define KB_ESCAPE_H

#include "guest/text.h"

/* Nothing but that: for JSON, whose writer escapes the rest and refuses invalid UTF-8. */
void escape_utf8(struct text *out, const char *s);

/*
 * length bytes of s, which goes on to a NUL or to a whole character behind them, for one line of a terminal: what could move
 * its cursor, change its title or its colours, or is no UTF-8, becomes '?', a tab a blank.
 */
void escape_terminal(struct text *out, const char *s, size_t length);

/* Element text or a quoted attribute's value of XML and HTML; line ends and tabs survive in an attribute, too. */
void escape_xml(struct text *out, const char *s);

/*
 * One field of RFC 4180, in quotes where it needs them. A spreadsheet takes a field that begins with = + - @, a tab or
 * a line end for a formula: such a one gets a ' in front, as OWASP's page on CSV injection advises. Not for numbers.
 */
void escape_csv(struct text *out, const char *s);

/*
 * Inline text of GitHub-flavoured Markdown, in a table's cell or elsewhere; on one line: a line end becomes a blank.
 * Must not be what a line begins with, where # or 1. mean something.
 */
void escape_markdown(struct text *out, const char *s);

#endif
