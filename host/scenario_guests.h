/* Which guests of a scenario take part, and what they have to have in common. */
#ifndef KB_SCENARIO_GUESTS_H
#define KB_SCENARIO_GUESTS_H

#include "host/entries.h"
#include "host/scenario.h"

/* Where a key was set in a section (may be NULL); NULL: it was not. */
const struct entry *section_entry(const struct section *section, const char *key);

/* Keep the guests that [scenario]'s key "guests" names, in its order; without the key all stay as they are. */
int scenario_choose_guests(struct scenario *s, const struct section *scenario, struct error *e);

/* What the guests of one scenario share: the driver, and a tool that understands its workloads. */
int scenario_check_guests(const struct scenario *s, struct error *e);

/* Free what a guest holds. */
void guest_free(struct guest *g);

#endif
