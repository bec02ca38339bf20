/* One trial's file, and many of them at once. */
#include "host/dataset_record.h"

#include <math.h>
#include <search.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "guest/text.h"
#include "host/dataset_private.h"

/*
 * A file that was changed less than this before it was read may be changed once more with the same time stamp
 * (VFAT counts in steps of 2 s).
 */
#define SETTLED_NS 2000000000LL

#define MAX_THREADS 64
#define AT_ONCE 16     /* records that a thread takes */
#define PER_THREAD 200 /* fewer are not worth another thread */

/* ---- texts ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct shared_text *)a)->text, ((const struct shared_text *)b)->text);
}

void texts_init(struct texts *t)
{
	t->tree = NULL;
	pthread_mutex_init(&t->lock, NULL);
}

void texts_free(struct texts *t)
{
	while (t->tree) { /* tdestroy() is the GNU C library's alone */
		struct shared_text *first = *(struct shared_text **)t->tree;

		tdelete(first, &t->tree, by_text);
		free(first->text);
		free(first);
	}
	pthread_mutex_destroy(&t->lock);
}

static struct shared_text *add_text(struct texts *t, const char *text)
{
	struct shared_text *made = calloc(1, sizeof(*made)), **node = NULL;

	if (made && (made->text = strdup(text)))
		node = tsearch(made, &t->tree, by_text);
	if (!node && made) {
		free(made->text);
		free(made);
	}
	return node ? *node : NULL;
}

struct shared_text *texts_share(struct texts *t, const char *text)
{
	struct shared_text key = { .text = (char *)text }, *found, **node;

	if (!text)
		return NULL;
	pthread_mutex_lock(&t->lock);
	node = tfind(&key, &t->tree, by_text);
	found = node ? *node : add_text(t, text);
	pthread_mutex_unlock(&t->lock);
	return found;
}

/* ---- a trial's document ---- */

/* "2026-01-31T12:00:00Z", with fractions of a second or without, or with an offset "+01:00" instead of the Z. */
static double time_of(const char *text)
{
	struct tm tm = { 0 };
	double fraction = 0, offset = 0;
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	int hours, minutes, length = 0;
	char *end;

	if (!rest)
		return NAN;
	if (*rest == '.') {
		fraction = strtod(rest, &end);
		rest = end;
	}
	if ((*rest == '+' || *rest == '-') && sscanf(rest + 1, "%2d:%2d%n", &hours, &minutes, &length) == 2) {
		offset = (*rest == '-' ? -1 : 1) * (hours * 3600.0 + minutes * 60.0);
		rest += 1 + length;
	} else if (*rest == 'Z') {
		rest++;
	}
	return *rest ? NAN : (double)timegm(&tm) + fraction - offset;
}

static enum observed status_of(const json_t *trial, struct error *e)
{
	const char *status = json_string_value(json_object_get(trial, "status"));

	for (enum observed s = OBSERVED_OK; status && s <= OBSERVED_CORRUPT; s++)
		if (s != OBSERVED_MISSING && s != OBSERVED_UNREADABLE && strcmp(status, observed_name(s)) == 0)
			return s;
	error_set(e, STATUS_USAGE, "status \"%s\" is not known", status ? status : "");
	return OBSERVED_UNREADABLE;
}

static int64_t whole_of(const json_t *trial, const char *key)
{
	return json_integer_value(json_object_get(trial, key));
}

static int share(const json_t *trial, const char *key, struct texts *texts, struct shared_text **out)
{
	const char *text = json_string_value(json_object_get(trial, key));

	*out = texts_share(texts, text);
	return text && !*out ? -1 : 0;
}

/* A JSON object as compact text. */
static int share_object(const json_t *object, struct texts *texts, struct shared_text **out)
{
	char *text;

	*out = NULL;
	if (!json_is_object(object))
		return 0;
	text = json_dumps(object, JSON_COMPACT);
	*out = texts_share(texts, text);
	free(text);
	return *out ? 0 : -1;
}

static int share_identity(const json_t *trial, struct texts *texts, struct shared_text **out)
{
	json_t *told = json_object_get(trial, "identity"), *accel = json_object_get(trial, "accel");
	json_t *identity = json_is_object(told) ? json_incref(told)
			 : json_is_string(accel) ? json_pack("{s:O}", "accel", accel) : NULL;
	int status = share_object(identity, texts, out);

	json_decref(identity);
	return status;
}

/* room: some struct measured, whatever is in it. */
static int take_sums(const json_t *trial, struct measured *room, struct trial_record *r, struct error *e)
{
	memset(room, 0, sizeof(*room));
	if (measured_add(room, trial, e)) {
		r->status = OBSERVED_UNREADABLE;
		return 0;
	}
	r->sums = room->sums;
	return histogram_pack(&room->clat, &r->bins, &r->bins_length);
}

/* An imported trial's first print that contradicts the others, where it stands, and how many more there are. */
static int take_marks(const json_t *trial, struct trial_record *r)
{
	const json_t *marks = json_object_get(trial, "marks"), *first = json_array_get(marks, 0);
	const char *what = json_string_value(json_object_get(first, "what"));
	const char *file = json_string_value(json_object_get(json_object_get(trial, "source"), "file"));
	struct text t = { 0 };

	if (!what)
		return 0;
	text_add(&t, "%s%sline %lld: %s", file ? file : "", file ? ", " : "",
		 (long long)json_integer_value(json_object_get(first, "line")), what);
	if (json_array_size(marks) > 1)
		text_add(&t, " (and %zu more there)", json_array_size(marks) - 1);
	r->message = t.data; /* the record's now */
	return t.failed ? -1 : 0;
}

static int take_document(const json_t *trial, struct texts *texts, struct measured *room, struct trial_record *r)
{
	const char *message = json_string_value(json_object_get(trial, "message"));
	struct error e = { 0 };

	r->identified = true;
	r->trial = whole_of(trial, "trial");
	r->block = whole_of(trial, "block");
	r->cell = whole_of(trial, "cell");
	r->started = time_of(json_string_value(json_object_get(trial, "started")));
	r->hello_s = json_number_value(json_object_get(trial, "boot_to_hello_s"));
	if (!(r->hello_s > 0)) /* 0: the guest does not tell */
		r->hello_s = NAN;
	r->status = status_of(trial, &e);
	if (share(trial, "variant", texts, &r->variant) || share(trial, "accel", texts, &r->accel) ||
	    share(trial, "guest_kernel", texts, &r->guest_kernel) ||
	    share(trial, "qemu_version", texts, &r->qemu_version) || share_object(json_object_get(trial, "effective"), texts, &r->effective) ||
	    share_identity(trial, texts, &r->identity) || share(trial, "tool", texts, &r->tool))
		return -1;
	if (r->status == OBSERVED_OK && take_sums(trial, room, r, &e))
		return -1;
	if (r->status == OBSERVED_OK)
		return take_marks(trial, r);
	if (e.status)
		message = e.text;
	if (message && !(r->message = strdup(message)))
		return -1;
	return 0;
}

static bool settled(const struct file_stamp *s)
{
	int64_t last = s->modified_ns > s->changed_ns ? s->modified_ns : s->changed_ns;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return last < now.tv_sec * 1000000000LL + now.tv_nsec - SETTLED_NS;
}

static int read_record(int folder, struct texts *texts, struct measured *room, struct trial_record *r)
{
	char name[24], shown[40];
	struct error e = { 0 };
	bool missing;
	json_t *trial;
	int status = 0;

	snprintf(name, sizeof(name), "%06u.json", r->number);
	snprintf(shown, sizeof(shown), "trials/%s", name);
	r->started = r->hello_s = NAN;
	if (dataset_read(folder, name, shown, "kickbench-trial", &trial, &missing, &r->stamp, &e)) {
		r->status = missing ? OBSERVED_MISSING : OBSERVED_UNREADABLE;
		if (!missing && !(r->message = strdup(e.text)))
			status = -1;
	} else {
		status = take_document(trial, texts, room, r);
		r->keep = settled(&r->stamp);
		json_decref(trial);
	}
	r->loaded = status == 0;
	return status;
}

void record_clear(struct trial_record *r)
{
	free(r->message);
	free(r->bins);
	*r = (struct trial_record){ .number = r->number };
}

/* ---- many ---- */

struct reading {
	int folder;
	struct trial_record *record;
	size_t n;
	struct texts *texts;
	atomic_size_t next;
	atomic_bool failed;
};

static void *read_some(void *argument)
{
	struct reading *w = argument;
	struct measured *room = malloc(sizeof(*room));

	for (size_t first; room && (first = atomic_fetch_add(&w->next, AT_ONCE)) < w->n;)
		for (size_t i = first; i < w->n && i < first + AT_ONCE; i++)
			if (!w->record[i].loaded && read_record(w->folder, w->texts, room, &w->record[i]))
				w->failed = true;
	if (!room)
		w->failed = true;
	free(room);
	return NULL;
}

/* Signals are for the thread that called. */
static size_t start(pthread_t *thread, size_t wanted, struct reading *w)
{
	sigset_t all, before;
	size_t n = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (n < wanted && pthread_create(&thread[n], NULL, read_some, w) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n;
}

int records_read(int folder, struct trial_record *record, size_t n, struct texts *texts, struct error *e)
{
	struct reading w = { .folder = folder, .record = record, .n = n, .texts = texts };
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[MAX_THREADS];
	size_t wanted, started, stale = 0;

	for (size_t i = 0; i < n; i++)
		stale += !record[i].loaded;
	if (stale == 0)
		return 0;
	wanted = stale / PER_THREAD < MAX_THREADS ? stale / PER_THREAD : MAX_THREADS;
	if (processors > 0 && wanted > (size_t)processors - 1)
		wanted = (size_t)processors - 1;
	started = start(thread, wanted, &w);
	read_some(&w); /* this thread takes part, alone where none could be started */
	for (size_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	return w.failed ? error_set(e, STATUS_HOST, "out of memory") : 0;
}
