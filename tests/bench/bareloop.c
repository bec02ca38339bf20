/*
 * The fastest that a benchmark of this kind can be: reads at random offsets with the clock readings that latencies
 * need, nothing counted but how many. psync: one before and one after each. libaio and io_uring: one when a unit is
 * created, one after each submit and one after each reap, of as many units as are ready.
 * Usage: bareloop ENGINE DEPTH JOBS FILE COUNT BLOCKSIZE: so many I/Os by each job. Jobs are processes. Prints I/Os
 * per second of processor time.
 */
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <liburing.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_DEPTH 1024

__extension__ typedef unsigned __int128 wide;

struct unit {
	uint64_t created, issued;
	void *buffer;
};

struct loop {
	int fd;
	size_t bs;
	unsigned depth;
	uint64_t blocks, state, count, spent, most;
	struct unit unit[MAX_DEPTH];
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t next_offset(struct loop *l)
{
	uint64_t x = l->state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	l->state = x;
	return (uint64_t)(((wide)x * l->blocks) >> 64) * l->bs;
}

static void die(const char *what, int error)
{
	fprintf(stderr, "bareloop: %s: %s\n", what, strerror(error));
	exit(1);
}

static void psync(struct loop *l)
{
	uint64_t before, after;

	do {
		off_t offset = (off_t)next_offset(l);

		before = now_ns();
		if (pread(l->fd, l->unit[0].buffer, l->bs, offset) != (ssize_t)l->bs)
			die("pread", errno);
		after = now_ns();
		l->spent += after - before;
		l->count++;
	} while (l->count < l->most);
}

static void libaio(struct loop *l)
{
	static struct iocb iocb[MAX_DEPTH], *queue[MAX_DEPTH];
	static struct io_event event[MAX_DEPTH];
	io_context_t context = NULL;
	unsigned n = l->depth;
	uint64_t now;
	int r = io_setup((int)l->depth, &context);

	if (r < 0)
		die("io_setup", -r);
	for (unsigned i = 0; i < n; i++)
		queue[i] = &iocb[i];
	do {
		for (unsigned i = 0; i < n; i++) {
			struct unit *u = &l->unit[queue[i] - iocb];

			io_prep_pread(queue[i], l->fd, u->buffer, l->bs, (long long)next_offset(l));
			queue[i]->data = u;
			u->created = now_ns();
		}
		r = io_submit(context, n, queue);
		if (r != (int)n)
			die("io_submit", r < 0 ? -r : EAGAIN);
		now = now_ns();
		for (unsigned i = 0; i < n; i++)
			((struct unit *)queue[i]->data)->issued = now;
		r = io_getevents(context, 1, l->depth, event, NULL);
		if (r <= 0)
			die("io_getevents", -r);
		now = now_ns();
		n = (unsigned)r;
		for (unsigned i = 0; i < n; i++) {
			struct unit *u = event[i].data;

			if (event[i].res != l->bs)
				die("read", EIO);
			l->spent += now - u->issued + (u->issued - u->created);
			queue[i] = event[i].obj;
		}
		l->count += n;
	} while (l->count < l->most);
}

static void uring(struct loop *l)
{
	static struct unit *batch[MAX_DEPTH];
	struct io_uring ring;
	struct io_uring_cqe *cqe;
	unsigned n = l->depth, head;
	uint64_t now;
	int r = io_uring_queue_init(l->depth, &ring, IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SINGLE_ISSUER);

	if (r < 0)
		die("io_uring_queue_init", -r);
	for (unsigned i = 0; i < n; i++)
		batch[i] = &l->unit[i];
	do {
		for (unsigned i = 0; i < n; i++) {
			struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

			io_uring_prep_read(sqe, l->fd, batch[i]->buffer, (unsigned)l->bs, next_offset(l));
			io_uring_sqe_set_data(sqe, batch[i]);
			batch[i]->created = now_ns();
		}
		r = io_uring_submit(&ring);
		if (r != (int)n)
			die("io_uring_submit", r < 0 ? -r : EAGAIN);
		now = now_ns();
		for (unsigned i = 0; i < n; i++)
			batch[i]->issued = now;
		r = io_uring_wait_cqe_nr(&ring, &cqe, 1);
		if (r < 0)
			die("io_uring_wait_cqe_nr", -r);
		now = now_ns();
		n = 0;
		io_uring_for_each_cqe(&ring, head, cqe) {
			struct unit *u = io_uring_cqe_get_data(cqe);

			if (cqe->res != (int)l->bs)
				die("read", EIO);
			l->spent += now - u->issued + (u->issued - u->created);
			batch[n++] = u;
		}
		io_uring_cq_advance(&ring, n);
		l->count += n;
	} while (l->count < l->most);
}

static double processor_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void one_job(void (*engine)(struct loop *), struct loop *l, double *seconds)
{
	double begin = processor_seconds();

	engine(l);
	*seconds = processor_seconds() - begin;
	/* Keeps the compiler from dropping the differences of the readings. */
	if (l->spent == 0)
		puts("");
}

int main(int argc, char **argv)
{
	static struct loop l;
	void (*engine)(struct loop *);
	unsigned jobs;
	struct stat st;
	double *used, all = 0;

	if (argc != 7) {
		fprintf(stderr, "usage: bareloop psync|libaio|io_uring DEPTH JOBS FILE COUNT BLOCKSIZE\n");
		return 1;
	}
	engine = argv[1][0] == 'p' ? psync : argv[1][0] == 'l' ? libaio : uring;
	l.depth = (unsigned)atoi(argv[2]);
	jobs = (unsigned)atoi(argv[3]);
	l.fd = open(argv[4], O_RDONLY);
	l.most = strtoull(argv[5], NULL, 10);
	l.bs = strtoul(argv[6], NULL, 10);
	if (l.fd < 0 || fstat(l.fd, &st) < 0)
		die(argv[4], errno);
	used = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
	if (l.depth == 0 || l.depth > MAX_DEPTH || jobs == 0 || jobs > 512 || l.bs == 0 || used == MAP_FAILED)
		die("arguments", EINVAL);
	l.blocks = (uint64_t)st.st_size / l.bs;
	for (unsigned i = 0; i < l.depth; i++)
		if (posix_memalign(&l.unit[i].buffer, 4096, l.bs) != 0)
			die("buffers", ENOMEM);
	for (unsigned i = 0; i < jobs; i++) {
		l.state = 88172645463325252u + i;
		if (fork() == 0) {
			one_job(engine, &l, &used[i]);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < jobs; i++) {
		int status;

		if (wait(&status) < 0 || status != 0)
			return 1;
	}
	for (unsigned i = 0; i < jobs; i++)
		all += used[i];
	printf("%.0f\n", (double)l.most * jobs / all);
	return 0;
}
