/* Pieces of JUnit XML, for the reports that write it. All append. */
#ifndef KB_JUNIT_H
#define KB_JUNIT_H

#include "guest/text.h"

/* name="value" with a blank before it. */
void junit_attribute(const char *name, const char *value, struct text *out);

/* A property's element; nothing when value is NULL. */
void junit_property(const char *name, const char *value, struct text *out);

/* The attribute timestamp; started ends with "Z", NULL: not known, nothing. */
void junit_timestamp(const char *started, struct text *out);

/* The declaration and the opening of the one suite, up to its attribute name. */
void junit_begin(const char *suite, struct text *out);
void junit_end(struct text *out);

#endif
