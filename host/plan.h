/*
 * The whole experiment, in order: a pure function of scenario and seed.
 * A block holds every variant once; the order of variants in a block and of cells in a boot is drawn.
 * With fresh_boot = per-trial a block holds a boot for every trial: the cells in the order drawn, each of them
 * with all variants, in an order drawn for it, one after the other.
 */
#ifndef KB_PLAN_H
#define KB_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "host/scenario.h"

/* One point of a workload's sweep in one guest: what a verdict is about. */
struct cell {
	char *name; /* "randread numjobs=4"; with several guests "linux: randread numjobs=4" */
	unsigned guest, workload;
	char *point; /* "numjobs=4", "" without a sweep */
	char **argv; /* kickio's job options; without filename and directory the disk is to be added: "--name=randread", "--rw=randread", … */
	size_t argc;
	bool on_files; /* of the test disk's file system, not the disk itself */
	bool writes;   /* the disk has to be restored after it: laying out files and mounting write, too */
	/* What the length of one trial follows from. */
	double fixed_s;     /* ramp and runtime of a time-based job, else 0 */
	double limit_s;     /* ramp and runtime of another, 0 without */
	uint64_t ios, bytes; /* of all its jobs together; not of a time-based one */
	bool own_seed;      /* the workload sets randseed or randrepeat itself */
};

struct plan_trial {
	unsigned number; /* 1.. in order of time */
	unsigned boot, block, cell, variant, repeat;
};

struct plan_boot {
	unsigned number; /* 1.. */
	unsigned block, guest;
	unsigned variant[2]; /* one for PAIRING_BOOTS; baseline and candidate for PAIRING_DISKS, in slot order */
	unsigned ndisks;
	unsigned file[2];    /* PAIRING_DISKS: which backing file each slot gets */
	unsigned first_trial, ntrials; /* indices into trial */
};

struct plan {
	uint64_t seed;
	struct cell *cell;
	size_t ncells;
	struct plan_boot *boot;
	size_t nboots;
	struct plan_trial *trial;
	size_t ntrials;
	unsigned nblocks;
};

/*
 * Every point of every workload, checked by kickio's own option parser; messages name the scenario's line.
 * Only fills cell and ncells: the first half of plan_make.
 */
int plan_cells(const struct scenario *s, struct plan *p, struct error *e);

/* The seed of a cell's random offsets in a block: the same for all its variants, and for the same point in all guests. */
uint64_t plan_offset_seed(const struct plan *p, unsigned block, unsigned cell);

int plan_make(const struct scenario *s, uint64_t seed, struct plan **out, struct error *e);
void plan_free(struct plan *p);

/* What is known of this host's speed; from the accelerator trial or defaults. */
struct pace {
	double boot_s;      /* start to hello */
	double stop_s;      /* bye to gone */
	double trial_s;     /* overhead of a trial beside its runtime */
	double iops;        /* of 4 KiB requests at depth 1 */
	double bandwidth;   /* bytes/s of large requests */
	double restore;     /* bytes/s of restoring the test disk */
	bool measured;
};

/* Of a two-core host without KVM: for whoever has measured nothing yet. */
extern const struct pace pace_usual;

/* Expected wall time in seconds; *exact is cleared where a workload's length had to be guessed from pace. */
double plan_seconds(const struct scenario *s, const struct plan *p, const struct pace *pace, bool *exact);

#endif
