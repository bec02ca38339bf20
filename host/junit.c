#include "host/junit.h"

#include <string.h>

#include "host/escape.h"

void junit_attribute(const char *name, const char *value, struct text *out)
{
	text_add(out, " %s=\"", name);
	escape_xml(out, value);
	text_add(out, "\"");
}

void junit_property(const char *name, const char *value, struct text *out)
{
	if (!value)
		return;
	text_add(out, "      <property");
	junit_attribute("name", name, out);
	junit_attribute("value", value, out);
	text_add(out, "/>\n");
}

/* The common schema wants the start without a zone; it is UTC. */
void junit_timestamp(const char *started, struct text *out)
{
	struct text t = { 0 };

	if (!started)
		return;
	text_add(&t, "%.*s", (int)strcspn(started, "Z"), started);
	junit_attribute("timestamp", text_get(&t), out);
	text_free(&t);
}

void junit_begin(const char *suite, struct text *out)
{
	text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
	junit_attribute("name", suite, out);
}

void junit_end(struct text *out)
{
	text_add(out, "  </testsuite>\n</testsuites>\n");
}
