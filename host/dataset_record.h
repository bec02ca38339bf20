/*
 * What a run's figures need of one trial file, whatever the plan says of it. Records are read from the files, in
 * as many threads as there are processors, or come from the index (host/index.h).
 */
#ifndef KB_DATASET_RECORD_H
#define KB_DATASET_RECORD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/dataset.h"
#include "host/metrics.h"

/* Tells whether a file is still the one that was read. */
struct file_stamp {
	uint64_t size, inode;
	int64_t modified_ns, changed_ns; /* changed: the inode; nobody can set it back */
};

/* Texts that many trials share are kept once. */
struct shared_text {
	char *text;
	int64_t id;   /* in the index, 0: not there yet */
	size_t place; /* among the effective settings that a dataset counts, 0: not there yet */
};

struct texts {
	void *tree; /* of struct shared_text */
	pthread_mutex_t lock;
};

struct trial_record {
	unsigned number; /* of the file */
	bool loaded;     /* the rest is filled */
	bool keep;       /* read just now, and the stamp can be relied on from now on */
	struct file_stamp stamp;
	enum observed status; /* MISSING and UNREADABLE too */
	bool identified;      /* it is a trial, of: */
	int64_t trial, block, cell;
	struct shared_text *variant, *accel, *guest_kernel, *qemu_version; /* NULL: not told */
	struct shared_text *tool;      /* "fio 3.33"; NULL: not told */
	struct shared_text *effective; /* the JSON object, compact; NULL when there is none */
	struct shared_text *identity;  /* the same: what it ran under; the accelerator alone where no more is told */
	double started, hello_s;       /* NAN: not told */
	char *message;                 /* what went wrong; of a trial that is OK what its print got wrong. NULL: nothing to add */
	struct measured_sums sums;     /* zero unless status is OK */
	unsigned char *bins;           /* as histogram_pack() has it */
	size_t bins_length;
};

void texts_init(struct texts *t);
void texts_free(struct texts *t);

/* The same text gives the same pointer, valid until texts_free(). NULL: out of memory, or text is NULL. Any thread. */
struct shared_text *texts_share(struct texts *t, const char *text);

/* Fill those of n records that are not loaded from folder/NUMBER.json; numbers are set. -1: out of memory. */
int records_read(int folder, struct trial_record *record, size_t n, struct texts *texts, struct error *e);

/* Free what a record holds and make it one that is not loaded. */
void record_clear(struct trial_record *r);

/* The stamp of folder/NUMBER.json; false when it cannot be had. */
bool record_stamp(int folder, unsigned number, struct file_stamp *out);

#endif
