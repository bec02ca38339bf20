/*
 * mkinitramfs <LIST >ARCHIVE: write an initramfs (cpio "newc") without root and the same bytes every time:
 * all entries belong to root, have mtime 0 and inode numbers in the order of the list. A line is one of
 *	dir PATH MODE
 *	file PATH MODE SOURCE
 *	node PATH MODE c|b MAJOR MINOR
 * A folder stands before what it contains. The format: Linux, Documentation/driver-api/early-userspace/buffer-format.rst.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct entry {
	const char *path; /* without a leading slash */
	unsigned mode;
	unsigned size;
	unsigned major, minor;
};

static unsigned long written;
static unsigned inode;

static int put(const void *bytes, size_t length)
{
	if (fwrite(bytes, 1, length, stdout) != length) {
		perror("mkinitramfs");
		return -1;
	}
	written += length;
	return 0;
}

static int pad(unsigned multiple)
{
	static const char zeros[512];

	return written % multiple ? put(zeros, multiple - written % multiple) : 0;
}

static int put_header(const struct entry *e)
{
	unsigned name = (unsigned)strlen(e->path) + 1;
	char head[128];

	/* inode, mode, uid, gid, links, mtime, size, device (2), special device (2), length of the name, no check */
	snprintf(head, sizeof(head), "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", ++inode, e->mode,
		 0u, 0u, 1u, 0u, e->size, 0u, 0u, e->major, e->minor, name, 0u);
	return put(head, 110) < 0 || put(e->path, name) < 0 || pad(4) < 0 ? -1 : 0;
}

static int put_file(struct entry *e, const char *source)
{
	FILE *f = fopen(source, "rb");
	struct stat st;
	char bytes[65536];
	unsigned copied = 0;
	size_t n;
	int ret = -1;

	if (!f || fstat(fileno(f), &st) < 0)
		goto out;
	e->size = (unsigned)st.st_size;
	if (put_header(e) < 0)
		goto out;
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0) {
		if (put(bytes, n) < 0)
			goto out;
		copied += (unsigned)n;
	}
	if (!ferror(f) && copied == e->size)
		ret = pad(4);
out:
	if (ret < 0)
		perror(source);
	if (f)
		fclose(f);
	return ret;
}

static int put_line(char *line)
{
	char kind[8], path[512], source[1024] = "", device = 0;
	struct entry e = {.path = path + 1};
	int n = sscanf(line, "%7s %511s %o %1023s %u %u", kind, path, &e.mode, source, &e.major, &e.minor);

	if (n >= 3 && path[0] == '/') {
		device = source[0];
		if (strcmp(kind, "dir") == 0 && n == 3) {
			e.mode |= S_IFDIR;
			return put_header(&e);
		}
		if (strcmp(kind, "file") == 0 && n == 4) {
			e.mode |= S_IFREG;
			return put_file(&e, source);
		}
		if (strcmp(kind, "node") == 0 && n == 6 && (device == 'c' || device == 'b')) {
			e.mode |= device == 'c' ? S_IFCHR : S_IFBLK;
			return put_header(&e);
		}
	}
	fprintf(stderr, "mkinitramfs: bad line: %s", line);
	return -1;
}

int main(void)
{
	struct entry trailer = {.path = "TRAILER!!!"};
	char line[2048];

	while (fgets(line, sizeof(line), stdin)) {
		if (put_line(line) < 0)
			return EXIT_FAILURE;
	}
	inode = UINT_MAX;
	if (put_header(&trailer) < 0 || pad(512) < 0 || fflush(stdout) != 0)
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
