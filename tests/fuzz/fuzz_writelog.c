/* The log of a disk's writes: read, held against a job's fsyncs, replayed. */
#include "host/writelog.h"
#include "tests/fuzz/fuzz.h"

static void take(struct writelog *log, int fd)
{
	uint64_t entries = writelog_entries(log);
	struct writelog_entry entry;
	struct writelog_flushes f;
	struct error e = { 0 };

	for (uint64_t i = 0; i < entries; i++)
		if (writelog_entry(log, i, &entry, &e) < 0 || entry.offset + entry.bytes > INT64_MAX)
			abort();
	if (writelog_check_flushes(log, 0, 64, 2, &f, &e) < 0 || f.missing > f.expected || f.covered > f.seen ||
	    f.last_flush > entries || (f.missing != 0) != (f.first_missing != 0))
		abort();
	/* A file cannot hold all that a log can ask for; that is an error then. */
	if (writelog_replay(log, entries, fd, &e) < 0 && (!e.status || !*e.text))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1, disk = -1;
	struct writelog *log;
	struct error e = { 0 };
	char name[32], disk_name[32];

	memory_file(&fd, name, data, size);
	memory_file(&disk, disk_name, NULL, 0);
	if (writelog_open(name, &log, &e) == 0)
		take(log, disk);
	else if (!e.status || !*e.text || log)
		abort();
	writelog_close(log);
	return 0;
}
