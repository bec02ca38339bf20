/*
 * The fastest that a benchmark of this kind can be: pread at random offsets with a clock reading before and
 * after each, nothing counted but how many. Usage: bareloop FILE SECONDS [BLOCKSIZE]. Prints the IOPS.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

__extension__ typedef unsigned __int128 wide;

static int die(const char *what)
{
	fprintf(stderr, "bareloop: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	uint64_t blocks, begin, before, after, spent = 0, count = 0, state = 88172645463325252u;
	size_t bs = argc > 3 ? strtoul(argv[3], NULL, 10) : 512;
	struct stat st;
	double seconds;
	void *buffer;
	int fd;

	if (argc < 3 || bs == 0) {
		fprintf(stderr, "usage: bareloop FILE SECONDS [BLOCKSIZE]\n");
		return 1;
	}
	seconds = strtod(argv[2], NULL);
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return die(argv[1]);
	blocks = (uint64_t)st.st_size / bs;
	if (blocks == 0 || posix_memalign(&buffer, 4096, bs) != 0)
		return die("buffer");
	begin = now_ns();
	do {
		uint64_t block = (uint64_t)(((wide)next(&state) * blocks) >> 64);

		before = now_ns();
		if (pread(fd, buffer, bs, (off_t)(block * bs)) != (ssize_t)bs)
			return die("pread");
		after = now_ns();
		spent += after - before;
		count++;
	} while ((double)(after - begin) < seconds * 1e9);
	printf("%.0f\n", (double)count * 1e9 / (double)(after - begin));
	/* Keeps the compiler from dropping the difference of the readings. */
	return spent == 0;
}
