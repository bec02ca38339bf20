/*
 * What fio printed, read into one form: readers are pure functions from bytes to documents.
 *
 * A document has the form of fio 3.33's JSON, normalised (ns, bytes, ms), and holds only what the print told: a
 * member that was not printed is absent, never 0.
 * {"fio version","line":N,"section":"text of the last heading above","time","jobs":[JOB…],"disk_util":[…],
 *  "form":"text"|"json"|"terse"|"table"}
 * JOB: {"jobname","groupid","error":N,"error_text","line":N,"members":J (jobs= of the title),
 *  "status":"ok"|"no data"|"inconsistent"|"failed",
 *  "job options":{"rw","bs","iodepth","ioengine","numjobs",… as text, what header or command line told},
 *  "read"|"write"|"trim":{"io_bytes","total_ios","runtime"(ms),"bw_bytes","iops",
 *   "slat_ns"|"clat_ns"|"lat_ns":{"min","max","mean","stddev","N","percentile":{"50.000000":ns},"bins"}},
 *  "sync","usr_cpu","sys_cpu","ctx","majf","minf",
 *  "job_runtime"(ms, sum over members; with "job_runtime_estimated":true when it is members x runtime),
 *  "marks":[{"line":N,"what":"printed … is wrong: … agree on …"}]}
 * Only directions that did something are there. "no data": a job that printed no direction; "failed": an error,
 * a signal or a verify failure; "inconsistent": printed numbers disagree and no two of them agree.
 */
#ifndef KB_FIO_IMPORT_H
#define KB_FIO_IMPORT_H

#include <jansson.h>
#include <stddef.h>

#include "guest/error.h"

/* outputs: array of documents, in order of the file; notes: array of {"line":N,"message":"…"}: what could not be read, and why. */
struct fio_import {
	json_t *outputs, *notes;
};

/* All readers on a copy of bytes; outputs and notes sorted by line. The caller releases both arrays, also after an error. */
int fio_import_bytes(const char *bytes, size_t length, struct fio_import *out, struct error *e);

#endif
