#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/files.h"
#include "guest/text.h"

#define MIB ((uint64_t)1 << 20)

static char folder[256];
static struct text said;
static const volatile int go_on;

static void hear(void *context, const char *line)
{
	text_add(context, "%s\n", line);
}

static const struct note_sink notes = { hear, &said };

static const char *in_folder(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void make_file(const char *name, uint64_t bytes)
{
	int fd = open(in_folder(name), O_CREAT | O_TRUNC | O_WRONLY, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	close(fd);
}

static uint64_t size_of(const char *name)
{
	struct stat st;

	return stat(in_folder(name), &st) == 0 ? (uint64_t)st.st_size : UINT64_MAX;
}

static struct job job_of(enum rw rw, uint64_t bs, const char *filename)
{
	return (struct job){ .name = "job", .rw = rw, .bs = { bs, bs, bs }, .filename = (char *)filename,
			     .directory = folder, .numjobs = 1, .invalidate = true };
}

/* Find, size, lay out. The errno of the failure, 0 when all went well. */
static int prepare(struct file_set *files, const struct job *job)
{
	struct failure failure = {0};

	text_reset(&said);
	if (files_find(files, job, 0, false, &notes, &failure) == 0 &&
	    files_size(files, job, &notes, &failure) == 0)
		files_lay_out(files, job, false, &go_on, &notes, &failure);
	return failure.error;
}

/* The table of fio's size algebra: what happens to a file of 64 blocks of 64 KiB. */
static void size_algebra(void **state)
{
	static const struct {
		uint64_t size, io_size, offset;
		unsigned size_percent, offset_percent;
		uint64_t limit_blocks, file_blocks;
	} rows[] = {
		{ 0, 0, 0, 0, 0, 64, 64 },
		{ MIB, 0, 0, 0, 0, 16, 64 },
		{ 8 * MIB, 0, 0, 0, 0, 128, 128 },
		{ 0, 0, 0, 50, 0, 32, 64 },
		{ 0, 0, MIB, 0, 0, 48, 64 },
		{ 2 * MIB, 0, MIB, 0, 0, 32, 64 },
		{ 8 * MIB, 0, MIB, 0, 0, 128, 144 },
		{ MIB, 3 * MIB, 0, 0, 0, 48, 64 },
		{ 2 * MIB, MIB, 0, 0, 0, 16, 64 },
		{ 0, MIB, 0, 0, 0, 16, 64 },
		{ 0, 0, 0, 60, 50, 32, 64 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct job job = job_of(RW_READ, 65536, "algebra");
		struct file_set files;

		job.size = (struct extent){ rows[i].size, rows[i].size_percent };
		job.io_size.bytes = rows[i].io_size;
		job.offset = (struct extent){ rows[i].offset, rows[i].offset_percent };
		make_file("algebra", 4 * MIB);
		assert_int_equal(prepare(&files, &job), 0);
		assert_int_equal(files.limit / 65536, rows[i].limit_blocks);
		assert_int_equal(size_of("algebra") / 65536, rows[i].file_blocks);
		files_free(&files);
	}
}

static void lists_and_shares(void **state)
{
	struct job job = job_of(RW_READ, 4096, "x:y\\:z::w");
	struct file_set files;

	(void)state;
	job.size.bytes = 100 * 1024;
	assert_int_equal(prepare(&files, &job), 0);
	assert_int_equal(files.count, 3);
	assert_string_equal(strrchr(files.file[1].path, '/'), "/y:z");
	assert_int_equal(size_of("x"), 34133);
	assert_int_equal(size_of("y:z"), 34133);
	assert_string_equal(text_get(&said), "job: Laying out IO files (3 files / total 0MiB)\n");
	files_free(&files);
}

static void generated_names(void **state)
{
	struct job job = job_of(RW_WRITE, 4096, NULL);
	struct failure failure = {0};
	struct file_set files;

	(void)state;
	assert_int_equal(files_find(&files, &job, 3, false, &notes, &failure), 0);
	assert_string_equal(files.file[0].path, in_folder("job.3.0"));
	files_free(&files);
	/* A device that is called like the job is the target. */
	job.name = "/dev/null";
	assert_int_equal(files_find(&files, &job, 0, false, &notes, &failure), 0);
	assert_string_equal(files.file[0].path, "/dev/null");
	files_free(&files);
}

static void layout_writes_random_data(void **state)
{
	struct job job = job_of(RW_RANDREAD, 4096, "new/dir/data");
	unsigned count[256] = {0};
	unsigned char *bytes = malloc(MIB);
	struct file_set files;
	struct stat st;
	int fd;

	(void)state;
	job.size.bytes = MIB + 1000;
	assert_int_equal(prepare(&files, &job), 0);
	assert_string_equal(text_get(&said), "job: Laying out IO file (1 file / 1MiB)\n");
	assert_int_equal(size_of("new/dir/data"), MIB + 1000);
	assert_int_equal(stat(in_folder("new"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	fd = open(in_folder("new/dir/data"), O_RDONLY);
	assert_int_equal(pread(fd, bytes, MIB, 1000), MIB);
	close(fd);
	for (size_t i = 0; i < MIB; i++)
		count[bytes[i]]++;
	for (unsigned i = 0; i < 256; i++)
		assert_in_range(count[i], 4096 - 400, 4096 + 400); /* standard deviation 64 */
	assert_memory_not_equal(bytes, bytes + MIB / 2, MIB / 2);
	free(bytes);
	files_free(&files);
	/* Large enough now: left alone, and not a word. */
	assert_int_equal(prepare(&files, &job), 0);
	assert_string_equal(text_get(&said), "");
	files_free(&files);
}

static void refused(struct job job, int error, const char *words)
{
	struct file_set files;

	assert_int_equal(prepare(&files, &job), error);
	if (!strstr(text_get(&said), words))
		fail_msg("\"%s\" lacks \"%s\"", text_get(&said), words);
	files_free(&files);
}

static void refusals(void **state)
{
	struct job job = job_of(RW_READ, 4096, "absent");
	struct failure failure = {0};
	struct file_set files;

	(void)state;
	refused(job, EINVAL, "job: you need to specify size=");
	job.size.percent = 50;
	refused(job, EINVAL, "job: you need to specify size=");
	job.size = (struct extent){ 100, 0 };
	refused(job, EINVAL, "must not be less than minimum block size: 100 < 4096");
	make_file("short", 8192);
	job = job_of(RW_READ, 4096, "short");
	job.offset.bytes = 8192;
	refused(job, EINVAL, "job: you need to specify valid offset=");
	job.directory = "/nowhere";
	refused(job, ENOTDIR, "/nowhere is not a directory");
	job.directory = NULL;
	job.filename = "/dev/no-such-disk";
	job.size.bytes = MIB;
	refused(job, ENOENT, "there is no device /dev/no-such-disk");
	job.filename = "/";
	refused(job, EINVAL, "/ is neither a file nor a disk");
	job = job_of(RW_WRITE, 4096, "short");
	assert_int_equal(files_find(&files, &job, 0, true, &notes, &failure), -1);
	assert_int_equal(failure.error, EPERM);
}

static void readonly_creates_nothing(void **state)
{
	struct job job = job_of(RW_READ, 4096, "never");
	struct failure failure = {0};
	struct file_set files;

	(void)state;
	text_reset(&said);
	job.size.bytes = MIB;
	assert_int_equal(files_find(&files, &job, 0, true, &notes, &failure), 0);
	assert_int_equal(files_size(&files, &job, &notes, &failure), 0);
	assert_int_equal(files_lay_out(&files, &job, true, &go_on, &notes, &failure), 0);
	assert_non_null(strstr(text_get(&said), "refusing extend of file due to read-only"));
	assert_int_equal(size_of("never"), UINT64_MAX);
	assert_int_equal(files_open(&files, &job, &notes, &failure), -1);
	assert_int_equal(failure.error, ENOENT);
	assert_int_equal(strncmp(failure.where, "layout.c:", 9), 0);
	files_free(&files);
}

/* A stand-in for what files_find saw, since not every machine lends a disk. */
static void device_sizes(void **state)
{
	struct file f = { .path = "/dev/disk", .fd = -1, .target = { OS_BLOCK, 4 * MIB, 512, false } };
	struct file_set files = { .file = &f, .count = 1 };
	struct job job = job_of(RW_READ, 65536, "/dev/disk");
	struct failure failure = {0};

	(void)state;
	text_reset(&said);
	job.size.bytes = 8 * MIB;
	assert_int_equal(files_size(&files, &job, &notes, &failure), 0);
	assert_int_equal(files.limit, 4 * MIB);
	assert_non_null(strstr(text_get(&said), "/dev/disk ends at 4194304 bytes"));
	job.offset.bytes = 5 * MIB;
	assert_int_equal(files_size(&files, &job, &notes, &failure), -1);
	assert_int_equal(failure.error, EINVAL);
}

static void stop_ends_layout(void **state)
{
	struct job job = job_of(RW_READ, 4096, "stopped");
	const volatile int stop = 2;
	struct failure failure = {0};
	struct file_set files;

	(void)state;
	job.size.bytes = 64 * MIB;
	assert_int_equal(files_find(&files, &job, 0, false, &notes, &failure), 0);
	assert_int_equal(files_size(&files, &job, &notes, &failure), 0);
	assert_int_equal(files_lay_out(&files, &job, false, &stop, &notes, &failure), -1);
	assert_int_equal(failure.error, EINTR);
	assert_int_equal(size_of("stopped"), UINT64_MAX);
	files_free(&files);
}

static int make_folder(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/kb-files.XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[300];

	(void)state;
	text_free(&said);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(size_algebra),
		cmocka_unit_test(lists_and_shares),
		cmocka_unit_test(generated_names),
		cmocka_unit_test(layout_writes_random_data),
		cmocka_unit_test(refusals),
		cmocka_unit_test(readonly_creates_nothing),
		cmocka_unit_test(device_sizes),
		cmocka_unit_test(stop_ends_layout),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
