/* A run folder of one trial whose two documents are files in memory. */
#ifndef KB_TESTS_FUZZ_FOLDER_H
#define KB_TESTS_FUZZ_FOLDER_H

#include <string.h>
#include <sys/stat.h>

#include "host/compare.h"
#include "tests/fuzz/fuzz.h"

struct fuzz_folder {
	char path[64], run[32], trial[32];
	int run_fd, trial_fd;
};

static struct fuzz_folder fuzz_folder = { .run_fd = -1, .trial_fd = -1 };

static void fuzz_folder_remove(void)
{
	char name[96];

	snprintf(name, sizeof(name), "%s/trials/000001.json", fuzz_folder.path);
	unlink(name);
	snprintf(name, sizeof(name), "%s/trials", fuzz_folder.path);
	rmdir(name);
	snprintf(name, sizeof(name), "%s/run.json", fuzz_folder.path);
	unlink(name);
	rmdir(fuzz_folder.path);
}

static void fuzz_folder_make(void)
{
	char name[96];

	snprintf(fuzz_folder.path, sizeof(fuzz_folder.path), "/tmp/kickbench-fuzz-XXXXXX");
	if (!mkdtemp(fuzz_folder.path))
		abort();
	atexit(fuzz_folder_remove);
	snprintf(name, sizeof(name), "%s/trials", fuzz_folder.path);
	if (mkdir(name, 0700))
		abort();
	snprintf(name, sizeof(name), "%s/run.json", fuzz_folder.path);
	if (symlink(memory_file(&fuzz_folder.run_fd, fuzz_folder.run, "", 0), name))
		abort();
	snprintf(name, sizeof(name), "%s/trials/000001.json", fuzz_folder.path);
	if (symlink(memory_file(&fuzz_folder.trial_fd, fuzz_folder.trial, "", 0), name))
		abort();
}

static inline void fuzz_folder_load(const void *run, size_t run_length, const void *trial, size_t trial_length)
{
	struct comparison *c = NULL;
	struct dataset *d = NULL;
	struct error e = { 0 };

	if (!*fuzz_folder.path)
		fuzz_folder_make();
	memory_file(&fuzz_folder.run_fd, fuzz_folder.run, run, run_length);
	memory_file(&fuzz_folder.trial_fd, fuzz_folder.trial, trial, trial_length);
	if (dataset_load(fuzz_folder.path, &d, &e) || compare(d, &c, &e)) {
		if (!e.status || !*e.text)
			abort();
	}
	comparison_free(c);
	dataset_free(d);
}

/* One boot, one cell, one trial; the variant of its other side is missing. */
#define FUZZ_RUN                                                                                                          \
	"{\"schema\":\"kickbench-run/1\",\"scenario\":{\"name\":\"f\",\"baseline\":\"a\",\"blocks\":1,\"repeats\":1,"     \
	"\"pairing\":\"boots\",\"primary\":\"iops\",\"fail_on\":[\"worse\"]},\"variants\":[{\"name\":\"a\"},"           \
	"{\"name\":\"b\"}],\"cells\":[{\"name\":\"c\",\"guest\":\"linux\"}],\"plan\":{\"boots\":[{\"boot\":1,\"block\":1," \
	"\"variants\":[\"a\"],\"trials\":[{\"trial\":1,\"cell\":0,\"variant\":\"a\"}]}]}}"

#endif
