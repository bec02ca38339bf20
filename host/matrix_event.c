/* The events that option "event" may name: the matrix's side of host/event.h. */
#include <ctype.h>

#include "host/matrix_private.h"

bool matrix_event_is(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!islower((unsigned char)*p) && *p != '-')
			return false;
	return *name != '\0';
}

void matrix_event_names(struct text *out)
{
	text_add(out, "words of small letters and -");
}

const char *matrix_event_refused(const struct matrix_cell *cell)
{
	(void)cell;
	return NULL;
}
