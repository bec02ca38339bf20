/*
 * Many runs in the order of time: what each measured, series by series, and where a series changed. A run is one point: its
 * blocks say how sure that point is, and the scatter of the points says what is a change.
 *
 * What is never put into one series: runs under KVM and under TCG, runs of different hosts (name, CPU, number of CPUs), and
 * values of different metrics. Runs of different scenarios meet in a series where cell, guest and variant have the same name.
 */
#ifndef KB_HISTORY_H
#define KB_HISTORY_H

#include "host/compare.h"
#include "host/dataset.h"

enum history_by { HISTORY_DATE, HISTORY_EMULATOR, HISTORY_KERNEL };

struct history_options {
	enum metric metric;  /* METRICS: the primary one of each run */
	const char *variant; /* values of this one, and ratios in which it is the candidate; NULL: all */
	const char *cell;    /* pattern of fnmatch(3) for names of cells; NULL: all */
};

struct history_run {
	char *folder, *emulator; /* emulator: as its trials saw it, "" when nobody told */
	char *host;              /* "name, CPU, 4 CPUs" */
	const char *accel;       /* "" when it is not told, as in imports; in run */
	double started;          /* s since 1970 */
	double margin;           /* of its scenario: less is no difference that matters */
	json_t *run;             /* run.json without its plan */
};

/* What one run says. There is one for every run of the same host between a series' first and last, too. */
struct history_point {
	size_t run;            /* index */
	bool planned;          /* false: the run has no such cell or variant */
	enum effect_kind kind; /* as in a comparison, also for the value of one variant */
	unsigned blocks;       /* complete ones; unpaired: runs, the lesser number of both sides */
	double value;          /* geometric mean, or candidate / baseline; NAN: no data. EFFECT_ZERO: arithmetic mean, or NAN */
	double low, high;      /* 95 % interval of it: t on the logs of the blocks; NAN: none */
	bool mismatch;         /* a setting was seen to be other than asked for */
};

/* The level between two change points (or an end) and the next. */
struct history_change {
	size_t before, after; /* points: the last with data of the old level, the first of the new */
	double from, to;      /* geometric means of the runs of either level, as far as the changes next to it */
	double ratio, low, high; /* to / from with Welch's interval, the run as the unit. It is taken where the difference is
				  * largest, so that it is a little too far from 1 and its interval too narrow */
	double p;     /* of the search in this series */
	double p_all; /* times the series that were searched (Bonferroni), at most 1 */
};

enum history_search { HISTORY_SEARCHED, HISTORY_TOO_FEW, HISTORY_ZERO, HISTORY_CONSTANT };

/* Names are those of the runs' json. */
struct history_series {
	const char *cell, *guest, *variant;
	const char *baseline; /* of a ratio; NULL: values of the variant */
	const char *accel, *host;
	enum metric metric;
	size_t group;  /* the series of one cell, guest, host, accelerator and metric have the same */
	size_t place;  /* of its variant among those of the run in which it was first seen, the baseline 0 */
	struct history_point *point;
	size_t npoints, nvalues; /* nvalues: with data */
	struct history_change *change;
	size_t nchanges;
	enum history_search search;
};

struct history {
	struct history_options options;
	struct history_run *run; /* by time, of the same time by folder */
	size_t nruns;
	struct history_series *series; /* by group; values before ratios */
	size_t nseries, nsearched;
	bool guests, accels, hosts; /* there are several */
	json_t *index; /* {"names of a series": its number}, {"names of a group": …} */
};

#define HISTORY_ALPHA 0.05 /* chance of any false change point in one series (stats_change.h) */

struct history *history_new(const struct history_options *options); /* NULL: out of memory */

/*
 * Take from a run folder what its series need; the dataset may be freed afterwards. An error (it tells no time,
 * memory): nothing was taken.
 */
int history_add(struct history *h, const struct dataset *d, struct error *e);

/* After the last: sort, and look for changes. */
int history_finish(struct history *h, struct error *e);
void history_free(struct history *h);

/* What a run is called in a series: its date, its emulator or the kernel of the series' guest ("not told"). */
void history_label(const struct history *h, const struct history_series *s, size_t run, enum history_by by, struct text *out);

/* "2026-01-31 12:00", UTC */
#define HISTORY_DATE_SIZE 32
void history_date(double started, char out[HISTORY_DATE_SIZE]);

/* Append "hypervisor: before QEMU 7.2.22, after QEMU 8.2.0" (to an array) for all that run.json tells of both runs and differs. */
void history_differ(const struct history *h, size_t before, size_t after, json_t *lines);

/* All changes, those between the same two runs together, in the order of time. The caller frees *out. */
struct history_mark {
	const struct history_series *series;
	const struct history_change *change;
	size_t before, after; /* runs */
};
int history_marks(const struct history *h, struct history_mark **out, size_t *n); /* -1: out of memory */

#endif
