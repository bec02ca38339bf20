#include "host/filesystem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/disk.h"

extern char **environ;

#define BLOCK 4096u
#define PIECE (1u << 20)
#define UUID "6b69636b-6265-4e63-a800-000000000001" /* the same bytes whenever it is made */

/* ---- the system's mkfs ---- */

struct tool {
	const char *program, *package;
	uint64_t least;
	const char *argument[12]; /* the file's path comes behind them */
};

/*
 * Nothing is left for the guest to initialise later, while it is measured; no discard, which would take the
 * blocks away from the file; the sectors are the virtual disk's, whatever lies below the host's folder.
 */
static const struct tool tools[] = {
	[FILESYSTEM_EXT4] = { "mke2fs", "e2fsprogs", 8u << 20,
			      { "-q", "-F", "-t", "ext4", "-U", UUID, "-E",
				"nodiscard,lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0,hash_seed=" UUID } },
	[FILESYSTEM_XFS] = { "mkfs.xfs", "xfsprogs", 300u << 20, { "-q", "-f", "-K", "-m", "uuid=" UUID, "-s", "size=512" } },
};

uint64_t filesystem_least(enum filesystem filesystem)
{
	return filesystem == FILESYSTEM_NONE ? 0 : tools[filesystem].least;
}

/* An ordinary user's PATH does not have the folders of system programs. */
static bool find_program(const char *name, char *path, size_t room)
{
	const char *all = getenv("PATH");
	struct text t = { 0 };
	bool found = false;
	char *save = NULL;

	text_add(&t, "%s:/usr/sbin:/sbin:/usr/local/sbin", all ? all : "");
	for (char *dir = strtok_r(t.data, ":", &save); dir && !found; dir = strtok_r(NULL, ":", &save)) {
		snprintf(path, room, "%s/%s", dir, name);
		found = access(path, X_OK) == 0;
	}
	text_free(&t);
	return found;
}

/* What it says on stderr, the last of it, in words. */
static void read_words(int fd, char *words, size_t room)
{
	char bytes[512];
	size_t have = 0;
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR))
		for (ssize_t i = 0; i < n && have + 1 < room; i++)
			words[have++] = bytes[i] == '\n' ? ' ' : bytes[i];
	words[have] = '\0';
}

static int spawn(const char *program, char *const *argv, int err, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int why = posix_spawn_file_actions_init(&actions);

	if (why)
		return why;
	why = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!why)
		why = posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	if (!why)
		why = posix_spawn_file_actions_adddup2(&actions, err, STDOUT_FILENO);
	if (!why)
		why = posix_spawn(pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return why;
}

static int run_tool(const struct tool *tool, const char *path, struct error *e)
{
	const char *argv[sizeof(tool->argument) / sizeof(tool->argument[0]) + 3] = { tool->program };
	char program[4096], words[400];
	int ends[2], status, why;
	size_t n = 1;
	pid_t pid;

	if (!find_program(tool->program, program, sizeof(program)))
		return error_set(e, STATUS_HOST, "%s is missing: install the package %s", tool->program, tool->package);
	for (size_t i = 0; i < sizeof(tool->argument) / sizeof(tool->argument[0]) && tool->argument[i]; i++)
		argv[n++] = tool->argument[i];
	argv[n++] = path;
	if (pipe2(ends, O_CLOEXEC))
		return error_errno(e, STATUS_HOST, "%s", tool->program);
	why = spawn(program, (char *const *)argv, ends[1], &pid);
	close(ends[1]);
	if (why == 0)
		read_words(ends[0], words, sizeof(words));
	close(ends[0]);
	if (why) {
		errno = why;
		return error_errno(e, STATUS_HOST, "cannot start %s", program);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(e, STATUS_HOST, "%s", tool->program);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return error_set(e, STATUS_HOST, "%s on %s ended with status %d: %s", tool->program, path,
			 WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), words);
}

/* ---- what it has changed: runs of blocks, zeros without their bytes ---- */

#define MAGIC "kickbench-fs/1\n"
#define ZEROS ((uint64_t)1 << 63) /* in a run's length */
#define END UINT64_MAX            /* as an offset; its length is the disk's size */

struct run {
	uint64_t offset, length;
};

enum content { CONTENT_PATTERN, CONTENT_ZEROS, CONTENT_DATA };

static enum content classify(const unsigned char *block, uint64_t offset, size_t length)
{
	unsigned char pattern[BLOCK];

	if (block[0] == 0 && memcmp(block, block + 1, length - 1) == 0)
		return CONTENT_ZEROS;
	disk_pattern(offset, pattern);
	return memcmp(block, pattern, length) ? CONTENT_DATA : CONTENT_PATTERN;
}

static bool put_run(FILE *out, enum content content, uint64_t offset, const unsigned char *bytes, size_t length)
{
	struct run run = { offset, length | (content == CONTENT_ZEROS ? ZEROS : 0) };

	if (content == CONTENT_PATTERN || length == 0)
		return true;
	return fwrite(&run, sizeof(run), 1, out) == 1 &&
	       (content == CONTENT_ZEROS || fwrite(bytes, 1, length, out) == length);
}

/* The runs of one piece. */
static bool put_piece(FILE *out, uint64_t at, const unsigned char *piece, size_t length)
{
	enum content content = CONTENT_PATTERN;
	size_t from = 0;

	for (size_t k = 0; k < length; k += BLOCK) {
		enum content next = classify(piece + k, at + k, length - k < BLOCK ? length - k : BLOCK);

		if (next == content)
			continue;
		if (!put_run(out, content, at + from, piece + from, k - from))
			return false;
		content = next;
		from = k;
	}
	return put_run(out, content, at + from, piece + from, length - from);
}

static bool read_whole(int fd, unsigned char *bytes, size_t length, uint64_t at)
{
	for (size_t done = 0; done < length;) {
		ssize_t n = pread(fd, bytes + done, length - done, (off_t)(at + done));

		if (n == 0)
			errno = EIO;
		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool put_all(FILE *out, int fd, uint64_t bytes, unsigned char *piece)
{
	struct run end = { END, bytes };

	if (fwrite(MAGIC, sizeof(MAGIC), 1, out) != 1)
		return false;
	for (uint64_t at = 0; at < bytes; at += PIECE) {
		size_t length = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE;

		if (!read_whole(fd, piece, length, at) || !put_piece(out, at, piece, length))
			return false;
	}
	return fwrite(&end, sizeof(end), 1, out) == 1 && fflush(out) == 0 && fsync(fileno(out)) == 0;
}

/* Under another name first: what has the right name is whole. */
static int keep(const char *path, uint64_t bytes, const char *kept, struct error *e)
{
	char fresh[4200];
	unsigned char *piece = malloc(PIECE);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	FILE *out;
	bool fine;

	snprintf(fresh, sizeof(fresh), "%s.new", kept);
	out = fopen(fresh, "we");
	fine = piece && fd >= 0 && out && put_all(out, fd, bytes, piece);
	if (!fine)
		error_errno(e, STATUS_HOST, "cannot keep the file system of %s in %s", path, fresh);
	if (out && fclose(out) && fine)
		fine = error_errno(e, STATUS_HOST, "cannot write %s", fresh) == 0;
	if (fine && rename(fresh, kept))
		fine = error_errno(e, STATUS_HOST, "cannot make %s", kept) == 0;
	if (!fine)
		unlink(fresh);
	if (fd >= 0)
		close(fd);
	free(piece);
	return fine ? 0 : -1;
}

int filesystem_make(enum filesystem filesystem, const char *path, uint64_t bytes, const char *kept, struct error *e)
{
	int fd, status;

	if (run_tool(&tools[filesystem], path, e) || keep(path, bytes, kept, e))
		return -1;
	/* mkfs may have punched holes for its zeros: they become blocks again. */
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return error_errno(e, STATUS_HOST, "%s", path);
	status = filesystem_put_back(kept, fd, e);
	close(fd);
	return status;
}

bool filesystem_is_kept(const char *kept, uint64_t bytes)
{
	char magic[sizeof(MAGIC)];
	struct run end = { 0 };
	FILE *in = fopen(kept, "re");
	bool whole;

	if (!in)
		return false;
	whole = fread(magic, sizeof(magic), 1, in) == 1 && !memcmp(magic, MAGIC, sizeof(magic)) &&
		fseeko(in, -(off_t)sizeof(end), SEEK_END) == 0 && fread(&end, sizeof(end), 1, in) == 1 &&
		end.offset == END && end.length == bytes;
	fclose(in);
	return whole;
}

static bool write_whole(int fd, const unsigned char *bytes, size_t length, uint64_t at)
{
	for (size_t done = 0; done < length;) {
		ssize_t n = pwrite(fd, bytes + done, length - done, (off_t)(at + done));

		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* 1: more follow, 0: that was the end, -1: errno tells. */
static int put_back_run(FILE *in, int fd, unsigned char *piece)
{
	struct run run;
	uint64_t length;

	errno = EIO; /* of a file that is cut */
	if (fread(&run, sizeof(run), 1, in) != 1)
		return -1;
	if (run.offset == END)
		return 0;
	length = run.length & ~ZEROS;
	if (length > PIECE)
		return -1;
	if (run.length & ZEROS)
		memset(piece, 0, length);
	else if (fread(piece, 1, length, in) != length)
		return -1;
	return write_whole(fd, piece, length, run.offset) ? 1 : -1;
}

int filesystem_put_back(const char *kept, int fd, struct error *e)
{
	char magic[sizeof(MAGIC)];
	unsigned char *piece = malloc(PIECE);
	FILE *in = fopen(kept, "re");
	int status = piece && in && fread(magic, sizeof(magic), 1, in) == 1 ? 1 : -1;

	while (status > 0)
		status = put_back_run(in, fd, piece);
	if (status)
		error_errno(e, STATUS_HOST, "cannot put back the file system that %s keeps", kept);
	if (in)
		fclose(in);
	free(piece);
	return status;
}

int filesystem_look(const char *path)
{
	unsigned char start[2048];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool fine = fd >= 0 && read_whole(fd, start, sizeof(start), 0);

	if (fd >= 0)
		close(fd);
	if (!fine)
		return -1;
	if (!memcmp(start, "XFSB", 4))
		return FILESYSTEM_XFS;
	/* The superblock lies at 1024; its s_magic, 0xef53 in little endian, at 0x38. */
	return start[1024 + 0x38] == 0x53 && start[1024 + 0x39] == 0xef ? FILESYSTEM_EXT4 : FILESYSTEM_NONE;
}
