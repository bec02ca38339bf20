/* After a run: what the clones and the disks have to show becomes a struct run_result. */
#ifndef KB_COLLECT_H
#define KB_COLLECT_H

#include "guest/crew.h"
#include "guest/os.h"
#include "guest/result.h"

struct watched_disk {
	const char *path; /* belongs to the clone's files */
	struct os_counters before, after;
};

/* The disks that the clones work on. */
struct disk_watch {
	struct watched_disk *disk;
	size_t count;
	uint64_t elapsed_us;
	bool started;
};

int disk_watch_open(struct disk_watch *w, const struct crew *crew, struct error *e);
void disk_watch_start(struct disk_watch *w);
void disk_watch_stop(struct disk_watch *w, uint64_t elapsed_us);
void disk_watch_free(struct disk_watch *w);

/* Copy the results (or clone.report, where that is set) out of shared memory, merged as group_reporting asks; count the failed ones. */
int collect(struct run_result *result, const struct crew *crew, const struct disk_watch *disks, struct error *e);

#endif
