/* Reports in fio's form. All append to a text; nothing here measures or calls the system but for time. */
#ifndef KB_OUTPUT_H
#define KB_OUTPUT_H

#include "guest/job.h"
#include "guest/result.h"
#include "guest/run.h"
#include "guest/text.h"

/* The version as it stands in the banner and under "fio version": "kickio-0.1.0". */
extern const char kickio_version[];

/* The header lines of all jobs, the banner, "Starting N processes". */
void output_text_header(struct text *out, const struct jobs *jobs);

/* The report: job blocks, groups, disk statistics. */
void output_text(struct text *out, const struct jobs *jobs, const struct run_result *result);

/* One JSON document; plus: with the bins of every latency. Ends with a newline. */
void output_json(struct text *out, const struct jobs *jobs, const struct run_result *result, bool plus);

/* Terse, version 3: a line for each report. */
void output_terse(struct text *out, const struct run_result *result);

/*
 * All forms that are asked for in fio's order: terse, JSON, text.
 */
void output_all(struct text *out, const struct jobs *jobs, const struct run_result *result);

/* The ETA line without its carriage return. */
void output_eta(struct text *out, const struct jobs *jobs, const struct progress *now, const struct progress *before);

#endif
