/*
 * The report as JUnit XML, for what shows the results of a build: a testcase per verdict (classname SCENARIO.VARIANT, name
 * the cell's). A verdict that is named by the run's fail_on is a failure; another one that says neither worse, better nor
 * same is skipped, with its words as the reason. system-out has the words of the others, too.
 */
#ifndef KB_REPORT_JUNIT_H
#define KB_REPORT_JUNIT_H

#include "host/report.h"

int report_junit(const struct comparison *c, const struct report_options *o, struct text *out, struct error *e);

#endif
