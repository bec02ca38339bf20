#include "guest/joblog_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/files.h"

#define CHUNK_BYTES (256u << 10)
#define LINE_BYTES 256 /* no row is longer, but a histogram's */
#define TEXT_BYTES (64u << 10)

/* ---- rows to text ---- */

struct page {
	struct log_file *file;
	size_t used;
	char text[TEXT_BYTES];
};

/* Whole rows in one write: with O_APPEND those of several processes do not mix. */
static void flush(struct page *p)
{
	const char *from = p->text;

	while (p->used && !p->file->error) {
		ssize_t n = write(p->file->fd, from, p->used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			p->file->error = n < 0 ? errno : EIO;
			break;
		}
		from += n;
		p->used -= (size_t)n;
	}
	p->used = 0;
}

static void put_number(struct page *p, uint64_t v, bool more)
{
	char digits[24];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	memcpy(p->text + p->used, digits + n, sizeof(digits) - n);
	p->used += sizeof(digits) - n;
	p->text[p->used++] = more ? ',' : '\n';
	if (more)
		p->text[p->used++] = ' ';
}

static void put_row(struct page *p, const struct log_row *r)
{
	put_number(p, r->ms, true);
	put_number(p, r->value, true);
	put_number(p, r->ddir, true);
	put_number(p, r->bs, true);
	if (p->file->offset_column)
		put_number(p, r->offset, true);
	put_number(p, 0, false); /* no I/O here has the realtime class */
}

static void put_histogram(struct page *p, const struct log_histogram_row *r)
{
	unsigned step = 1u << p->file->coarseness;

	put_number(p, r->ms, true);
	put_number(p, r->ddir, true);
	put_number(p, r->bs, true);
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i += step) {
		uint64_t sum = 0;

		for (unsigned k = i; k < i + step && k < HISTOGRAM_BUCKETS; k++)
			sum += r->counts.count[k];
		put_number(p, sum, i + step < HISTOGRAM_BUCKETS);
	}
}

static void write_chunk(struct page *p, struct log_file *f, const struct log_chunk *chunk)
{
	/* a row of a histogram takes at most 22 characters a bucket */
	size_t row = f->histogram ? 22 * (HISTOGRAM_BUCKETS + 3) : LINE_BYTES;

	p->file = f;
	p->used = 0;
	for (size_t i = 0; i < chunk->count; i++) {
		const char *at = chunk->rows + i * f->row_bytes;

		if (p->used + row > sizeof(p->text))
			flush(p);
		if (f->histogram)
			put_histogram(p, (const struct log_histogram_row *)(const void *)at);
		else
			put_row(p, (const struct log_row *)(const void *)at);
	}
	flush(p);
}

/* ---- the thread ---- */

static struct log_file *find_pending(struct log_writer *w)
{
	for (unsigned i = 0; i < w->count; i++)
		if (w->file[i].pending.count)
			return &w->file[i];
	return NULL;
}

static void *write_pending(void *arg)
{
	struct log_writer *w = arg;
	struct page *page = malloc(sizeof(*page));
	struct log_file *f;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		f = find_pending(w);
		if (!f && w->ending)
			break;
		if (!f) {
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		pthread_mutex_unlock(&w->lock);
		if (page)
			write_chunk(page, f, &f->pending);
		else
			f->error = ENOMEM;
		pthread_mutex_lock(&w->lock);
		f->pending.count = 0;
		pthread_cond_broadcast(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	free(page);
	return NULL;
}

static void hand_over(struct log_writer *w, struct log_file *f)
{
	struct log_chunk full = f->active;

	pthread_mutex_lock(&w->lock);
	while (f->pending.count)
		pthread_cond_wait(&w->changed, &w->lock);
	f->active = f->pending;
	f->pending = full;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void *log_writer_row(struct log_writer *w, struct log_file *f)
{
	if (f->active.count == f->rows_per_chunk)
		hand_over(w, f);
	return f->active.rows + f->active.count++ * f->row_bytes;
}

/* ---- from open to close ---- */

int log_writer_add(struct log_writer *w, const char *path, bool append, bool histogram, struct failure *failure)
{
	struct log_file *f = &w->file[w->count];

	*f = (struct log_file){ .histogram = histogram };
	f->row_bytes = histogram ? sizeof(struct log_histogram_row) : sizeof(struct log_row);
	f->rows_per_chunk = CHUNK_BYTES / f->row_bytes;
	f->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0644);
	if (f->fd < 0)
		return FAIL(failure, errno, "open(%s)", path);
	w->count++;
	f->path = strdup(path);
	f->active.rows = malloc(CHUNK_BYTES);
	f->pending.rows = malloc(CHUNK_BYTES);
	if (!f->path || !f->active.rows || !f->pending.rows)
		return FAIL(failure, ENOMEM, "log buffer");
	return 0;
}

int log_writer_start(struct log_writer *w, struct failure *failure)
{
	sigset_t all, before;
	int error;

	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	/* signals are for the threads that expect them */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&w->thread, NULL, write_pending, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return FAIL(failure, error, "pthread_create");
	w->running = true;
	return 0;
}

static void end_thread(struct log_writer *w)
{
	if (!w->running)
		return;
	pthread_mutex_lock(&w->lock);
	w->ending = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	w->running = false;
}

int log_writer_finish(struct log_writer *w, struct failure *failure)
{
	int r = 0;

	for (unsigned i = 0; i < w->count; i++)
		if (w->file[i].active.count)
			hand_over(w, &w->file[i]);
	end_thread(w);
	for (unsigned i = 0; i < w->count; i++) {
		struct log_file *f = &w->file[i];

		if (close(f->fd) < 0 && !f->error)
			f->error = errno;
		f->fd = -1;
		if (f->error)
			r = FAIL(failure, f->error, "write(%s)", f->path);
	}
	return r;
}

void log_writer_close(struct log_writer *w)
{
	end_thread(w);
	for (unsigned i = 0; i < w->count; i++) {
		struct log_file *f = &w->file[i];

		if (f->fd >= 0)
			close(f->fd);
		free(f->path);
		free(f->active.rows);
		free(f->pending.rows);
	}
	w->count = 0;
}
