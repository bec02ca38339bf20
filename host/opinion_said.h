/* What kickio says of the faults that it finds (guest/verify_look.c), as data. Pure. */
#ifndef KB_OPINION_SAID_H
#define KB_OPINION_SAID_H

#include <jansson.h>

/*
 * {"faults":[{"kind","detail","offset","length"}…],"more":N} of the lines of kickio's standard error; other lines are passed by.
 * NULL when memory ran out.
 */
json_t *opinion_said(const char *lines);

/* "3 faults, the first: lost at 4096, 4096 bytes (expected …)" of that; "" without faults. */
void opinion_in_words(const json_t *said, char *message, size_t room);

#endif
