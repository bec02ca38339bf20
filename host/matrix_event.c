/* The events that option "event" may name: the matrix's side of host/event.h. */
#include <string.h>

#include "host/event.h"
#include "host/matrix_private.h"

bool matrix_event_is(const char *name)
{
	return event_get(name) != NULL;
}

void matrix_event_names(struct text *out)
{
	for (size_t i = 0; event_row(i); i++)
		text_add(out, "%s%s", i ? ", " : "", event_row(i)->name);
}

const char *matrix_event_refused(const struct matrix_cell *cell)
{
	const struct event *event = cell->event && strcmp(cell->event, MATRIX_EVENT_NONE) ? event_get(cell->event) : NULL;

	return event ? event->refused(cell) : NULL;
}
