/*
 * RUNDIR/index.sqlite: what was read of the trial files, so that a report of very many trials need not read them
 * again. The files stay the truth: a row counts only while size, times and inode of its file are those of the file
 * that it was read from, so that an index that is old, half or from another folder is slow, never wrong. It may be
 * deleted at any time.
 *
 *	PRAGMA user_version = INDEX_VERSION
 *	text  (id, text)                        texts that trials share
 *	trial (number, size, inode, modified_ns, changed_ns,   of the file
 *	       status, message, trial, block, cell,            as the file has them; status as enum observed
 *	       variant, accel, guest_kernel, qemu_version, effective, identity, tool,   ids in text
 *	       started,                         s since 1970
 *	       hello_s, sums, bins,             struct measured_sums as it is in memory; histogram_pack()
 *	       hash)                            xxHash64 of all the others
 *
 * Nothing here fails: without an index, with one that is damaged or of another version, in a folder that cannot be
 * written, on a full disk, the trials are read from their files.
 */
#ifndef KB_INDEX_H
#define KB_INDEX_H

#include "host/dataset_record.h"

#define INDEX_VERSION 2

/* Below this reading the files is quicker than anyone notices, and the folder stays as it is. */
#define INDEX_MIN_TRIALS 1000

enum index_state {
	INDEX_GOOD,
	INDEX_ABSENT,
	INDEX_BAD,  /* to be replaced */
	INDEX_BUSY, /* cannot be read at the moment: let it be */
};

/* Fill those of n records (by number) whose file in folder (of the trials) is the one that a row was made from. */
enum index_state index_load(const char *path, int folder, struct trial_record *record, size_t n, struct texts *texts);

/* Put the records that are to be kept into the index. */
void index_save(const char *path, enum index_state state, const struct trial_record *record, size_t n);

#endif
