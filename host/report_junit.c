#include "host/report_junit.h"

#include "host/escape.h"
#include "host/junit.h"
#include "host/report_text.h"

enum outcome { PASSED, FAILED, SKIPPED };

static enum outcome outcome_of(const struct comparison *c, const struct finding *f)
{
	if (verdict_fails(f->verdict, c->dataset->fail_on))
		return FAILED;
	return f->verdict == VERDICT_WORSE || f->verdict == VERDICT_BETTER || f->verdict == VERDICT_SAME ? PASSED : SKIPPED;
}

static void properties(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;
	const json_t *versions = json_object_get(d->run, "versions");
	struct text seed = { 0 };

	text_add(out, "    <properties>\n");
	junit_property("kickbench", json_string_value(json_object_get(d->run, "kickbench")), out);
	junit_property("hypervisor", json_string_value(json_object_get(versions, "hypervisor")), out);
	junit_property("accelerator", json_string_value(json_object_get(json_object_get(d->run, "accel"), "used")), out);
	if (json_is_integer(json_object_get(d->run, "seed"))) {
		text_add(&seed, "%llu", (unsigned long long)json_integer_value(json_object_get(d->run, "seed")));
		junit_property("seed", text_get(&seed), out);
		text_free(&seed);
	}
	junit_property("primary", d->primary_name, out);
	for (size_t i = 0; i < c->nwarnings; i++)
		junit_property("mind", c->warning[i], out);
	for (size_t i = 0; i < c->nadvice; i++)
		junit_property("next", c->advice[i], out);
	text_add(out, "    </properties>\n");
}

static void testcase(const struct comparison *c, const struct finding *f, struct text *out)
{
	static const char *const element[] = { [FAILED] = "failure", [SKIPPED] = "skipped" };
	const struct dataset *d = c->dataset;
	enum outcome outcome = outcome_of(c, f);
	struct text class = { 0 }, words = { 0 };

	text_add(&class, "%s.%s", d->name, d->variant[f->variant]);
	finding_words(c, f, &words);
	text_add(out, "    <testcase");
	junit_attribute("classname", text_get(&class), out);
	junit_attribute("name", d->cell[f->cell].name, out);
	text_add(out, ">\n");
	if (outcome != PASSED) {
		text_add(out, "      <%s", element[outcome]);
		junit_attribute("message", text_get(&words), out);
		if (outcome == FAILED)
			junit_attribute("type", verdict_name(f->verdict), out);
		text_add(out, "/>\n");
	}
	text_add(out, "      <system-out>");
	escape_xml(out, text_get(&words));
	text_add(out, "</system-out>\n    </testcase>\n");
	text_free(&class);
	text_free(&words);
}

int report_junit(const struct comparison *c, const struct report_options *o, struct text *out, struct error *e)
{
	const struct dataset *d = c->dataset;
	size_t count[3] = { 0 };

	(void)o;
	(void)e;
	for (size_t i = 0; i < c->nfindings; i++)
		count[outcome_of(c, &c->finding[i])]++;
	junit_begin(d->name, out);
	text_add(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\"", c->nfindings, count[FAILED], count[SKIPPED]);
	junit_timestamp(json_string_value(json_object_get(d->run, "started")), out);
	text_add(out, ">\n");
	properties(c, out);
	for (size_t i = 0; i < c->nfindings; i++)
		testcase(c, &c->finding[i], out);
	for (unsigned v = 0; v < d->nvariants; v++) {
		struct text line = { 0 };

		if (v == d->baseline)
			continue;
		report_headline(c, v, &line);
		text_add(out, "    <system-out>");
		escape_xml(out, text_get(&line));
		text_add(out, "</system-out>\n");
		text_free(&line);
	}
	junit_end(out);
	return 0;
}
