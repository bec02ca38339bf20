/* host/index.c: whatever happens to the index or to the files, the figures are those of the files. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "host/index.h"
#include "tests/unit/run_folder.h"

/* Two variants and two cells: 252 blocks make 1008 trials. */
#define BLOCKS 252
#define TRIALS (4 * BLOCKS)

static void noted(const struct folder_place *at, struct folder_trial *t)
{
	if (at->trial == 7) {
		t->status = "failed";
		t->message = "fio: \"quoted\" \303\244";
	}
	if (at->trial == 11)
		t->mismatch = "ioeventfd";
	if (at->trial == 13)
		t->interrupts = -1;
}

static struct folder make(unsigned blocks)
{
	struct folder f = { .cell = { "randread", "randwrite" }, .variant = { "none", "kickfd" }, .blocks = blocks,
			    .repeats = 1, .pairing = "boots", .primary = "iops", .shape = noted };

	folder_make(&f);
	return f;
}

/* Until the files are old enough for their times to be believed. */
static void settle(void)
{
	nanosleep(&(struct timespec){ .tv_sec = 2, .tv_nsec = 100000000 }, NULL);
}

static const char *in(const struct folder *f, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", f->path, name);
	return path;
}

static bool there(const struct folder *f)
{
	return access(in(f, "index.sqlite"), F_OK) == 0;
}

static struct dataset *load(const struct folder *f)
{
	struct error e = { 0 };
	struct dataset *d;

	if (dataset_load(f->path, &d, &e))
		fail_msg("%s", e.text);
	return d;
}

/* How many records the index gives; *last: number of the last that it does not. */
static size_t indexed(const struct folder *f, enum index_state want, unsigned *last)
{
	struct trial_record *record = calloc(TRIALS, sizeof(*record));
	int trials = open(in(f, "trials"), O_RDONLY | O_DIRECTORY);
	struct texts texts;
	size_t n = 0;

	texts_init(&texts);
	for (unsigned i = 0; i < TRIALS; i++)
		record[i].number = i + 1;
	assert_int_equal(index_load(f->path, trials, record, TRIALS, &texts), want);
	for (unsigned i = 0; i < TRIALS; i++) {
		n += record[i].loaded;
		if (!record[i].loaded && last)
			*last = i + 1;
		record_clear(&record[i]);
	}
	texts_free(&texts);
	free(record);
	close(trials);
	return n;
}

static void same_values(const double *a, const double *b)
{
	for (int m = 0; m < METRICS; m++)
		if (!(a[m] == b[m] || (isnan(a[m]) && isnan(b[m]))))
			fail_msg("%s: %.17g and %.17g", metric_info((enum metric)m)->name, a[m], b[m]);
}

static void same(const struct dataset *a, const struct dataset *b)
{
	assert_int_equal(a->nok, b->nok);
	assert_int_equal(a->nproblems, b->nproblems);
	assert_int_equal(a->npoints, b->npoints);
	for (size_t i = 0; i < a->ncells * a->nslots * a->nblocks; i++) {
		const struct observation *x = &a->observation[i], *y = &b->observation[i];

		assert_true(x->status == y->status && x->ok == y->ok && x->culprit == y->culprit && x->boot == y->boot &&
			    x->mismatch == y->mismatch);
		same_values(x->value, y->value);
	}
	for (size_t i = 0; i < a->npoints; i++) {
		assert_true(a->point[i].trial == b->point[i].trial && a->point[i].started == b->point[i].started);
		same_values(a->point[i].value, b->point[i].value);
	}
	for (size_t i = 0; i < a->nproblems; i++) {
		assert_true(a->problem[i].trial == b->problem[i].trial && a->problem[i].status == b->problem[i].status);
		assert_true(!a->problem[i].message == !b->problem[i].message);
		if (a->problem[i].message)
			assert_string_equal(a->problem[i].message, b->problem[i].message);
	}
	assert_true(json_equal(a->effective, b->effective) && json_equal(a->seen, b->seen));
	assert_true(a->boot_s == b->boot_s);
}

/* Load with whatever index there is, and without any: the same. */
static void true_to_files(const struct folder *f)
{
	struct dataset *with = load(f), *without;
	char away[512];

	snprintf(away, sizeof(away), "%s", in(f, "index.away"));
	if (there(f))
		assert_int_equal(rename(in(f, "index.sqlite"), away), 0);
	without = load(f);
	same(with, without);
	if (access(away, F_OK) == 0)
		assert_int_equal(rename(away, in(f, "index.sqlite")), 0);
	dataset_free(with);
	dataset_free(without);
}

static void a_small_run_has_none(void **state)
{
	struct folder f = make(INDEX_MIN_TRIALS / 4 - 1);

	(void)state;
	dataset_free(load(&f));
	assert_false(there(&f));
	folder_remove(&f);
}

static void only_what_changed_is_read_again(void **state)
{
	struct timespec then[2] = { { .tv_sec = 1700000000 }, { .tv_sec = 1700000000 } };
	struct folder f = make(BLOCKS);
	unsigned last;

	(void)state;
	dataset_free(load(&f)); /* right after they were written: too early for most */
	settle();
	true_to_files(&f);
	assert_int_equal(indexed(&f, INDEX_GOOD, NULL), TRIALS);
	true_to_files(&f);

	/* another trial's file, of the same size, with the time of the one that was there */
	assert_int_equal(utimensat(AT_FDCWD, in(&f, "trials/000021.json"), then, 0), 0);
	dataset_free(load(&f));
	settle();
	dataset_free(load(&f));
	assert_int_equal(indexed(&f, INDEX_GOOD, NULL), TRIALS);
	{
		json_t *trial = json_load_file(in(&f, "trials/000021.json"), 0, NULL);

		json_object_set_new(trial, "status", json_string("no"));
		json_dump_file(trial, in(&f, "trials/000021.json"), JSON_INDENT(1));
		json_decref(trial);
		assert_int_equal(utimensat(AT_FDCWD, in(&f, "trials/000021.json"), then, 0), 0);
	}
	assert_int_equal(indexed(&f, INDEX_GOOD, &last), TRIALS - 1);
	assert_int_equal(last, 21);
	true_to_files(&f);

	/* gone, and there again */
	assert_int_equal(rename(in(&f, "trials/000030.json"), strcat(strcpy((char[512]){ 0 }, f.path), "/moved")), 0);
	assert_int_equal(indexed(&f, INDEX_GOOD, &last), TRIALS - 2);
	assert_int_equal(last, 30);
	true_to_files(&f);
	assert_int_equal(rename(strcat(strcpy((char[512]){ 0 }, f.path), "/moved"), in(&f, "trials/000030.json")), 0);
	true_to_files(&f);
	folder_remove(&f);
}

static void sql(const struct folder *f, const char *statement)
{
	char *message = NULL;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(in(f, "index.sqlite"), &db), SQLITE_OK);
	if (sqlite3_exec(db, statement, NULL, NULL, &message))
		fail_msg("%s: %s", statement, message);
	sqlite3_close(db);
}

/* It is seen as bad, no figure comes from it, and the next one is good. */
static void replaced(const struct folder *f, const struct dataset *want)
{
	struct dataset *got;

	assert_int_equal(indexed(f, INDEX_BAD, NULL), 0);
	got = load(f);
	same(want, got);
	dataset_free(got);
	assert_int_equal(indexed(f, INDEX_GOOD, NULL), TRIALS);
}

static void a_damaged_one_is_replaced(void **state)
{
	static const char *const statement[] = {
		"PRAGMA user_version = 99", "PRAGMA application_id = 1", "DROP TABLE trial", "DROP TABLE text",
		"UPDATE trial SET status = 0 WHERE number = 7", "UPDATE trial SET started = started + 1 WHERE number = 9",
		"UPDATE trial SET sums = zeroblob(length(sums)) WHERE number = 1008", "UPDATE trial SET sums = x'00' WHERE number = 5",
		"UPDATE trial SET bins = NULL WHERE number = 3", "UPDATE text SET text = 'none' WHERE text = 'kickfd'",
		"DELETE FROM text WHERE text = 'tcg'", "UPDATE text SET id = 1000000 WHERE text = 'tcg'",
		"ALTER TABLE trial ADD COLUMN more", "UPDATE trial SET variant = 'x' WHERE number = 100",
		"UPDATE trial SET message = NULL WHERE number = 7",
	};
	struct folder f = make(BLOCKS);
	struct dataset *want;

	(void)state;
	settle();
	want = load(&f);
	for (size_t i = 0; i < sizeof(statement) / sizeof(statement[0]); i++) {
		sql(&f, statement[i]);
		replaced(&f, want);
	}
	assert_int_equal(truncate(in(&f, "index.sqlite"), 5000), 0);
	replaced(&f, want);
	folder_put(f.path, "index.sqlite", "no database, but text that is long enough to be looked at\n");
	replaced(&f, want);
	true_to_files(&f);
	dataset_free(want);
	folder_remove(&f);
}

static void garbage_anywhere_changes_nothing(void **state)
{
	unsigned char garbage[200];
	struct folder f = make(BLOCKS);
	struct dataset *want, *got;
	struct stat st;
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(garbage); i++)
		garbage[i] = (unsigned char)(i * 37 + 11);
	settle();
	want = load(&f);
	for (unsigned part = 0; part < 12; part++) {
		fd = open(in(&f, "index.sqlite"), O_RDWR);
		assert_true(fd >= 0 && fstat(fd, &st) == 0);
		assert_true(pwrite(fd, garbage, sizeof(garbage), st.st_size * part / 12 + 31 * part) > 0);
		close(fd);
		got = load(&f);
		same(want, got);
		dataset_free(got);
	}
	dataset_free(want);
	folder_remove(&f);
}

/* A folder that nobody may write; as root another user has to look at it. */
static void read_only(void **state)
{
	struct folder f = make(BLOCKS);
	struct dataset *d, *again;
	uid_t user = geteuid();

	(void)state;
	settle();
	assert_int_equal(chmod(f.path, 0555), 0);
	assert_true(user != 0 || seteuid(65534) == 0);
	d = load(&f);
	assert_false(there(&f));
	assert_int_equal(d->nok, TRIALS - 1);
	assert_true(seteuid(user) == 0);
	assert_int_equal(chmod(f.path, 0755), 0);
	dataset_free(load(&f));
	assert_true(there(&f));
	assert_int_equal(chmod(f.path, 0555), 0);
	assert_true(user != 0 || seteuid(65534) == 0);
	assert_int_equal(indexed(&f, INDEX_GOOD, NULL), TRIALS);
	again = load(&f);
	same(d, again);
	assert_true(seteuid(user) == 0);
	assert_int_equal(chmod(f.path, 0755), 0);
	dataset_free(d);
	dataset_free(again);
	folder_remove(&f);
}

/* A limit on files stands for a disk that is full: writing fails in the middle. */
static void no_room(void **state)
{
	struct folder f = make(BLOCKS);
	struct rlimit before, small;
	struct dataset *d;

	(void)state;
	settle();
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ .rlim_cur = 100000, .rlim_max = before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	d = load(&f);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(d->nok, TRIALS - 1);
	dataset_free(d);
	assert_false(there(&f));
	assert_int_equal(mkdir(in(&f, "index.sqlite"), 0777), 0); /* nor when something is in its place */
	d = load(&f);
	assert_int_equal(d->nok, TRIALS - 1);
	dataset_free(d);
	folder_remove(&f);
}

/* Killed at any moment while it is made. */
static void killed(void **state)
{
	struct folder f = make(BLOCKS);
	struct dataset *want, *got;

	(void)state;
	settle();
	want = load(&f);
	for (unsigned i = 0; i < 12; i++) {
		pid_t child;

		unlink(in(&f, "index.sqlite"));
		child = fork();
		if (child == 0) {
			dataset_free(load(&f));
			_exit(0);
		}
		usleep(20000 * i);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		got = load(&f);
		same(want, got);
		dataset_free(got);
	}
	dataset_free(want);
	assert_int_equal(indexed(&f, INDEX_GOOD, NULL), TRIALS);
	folder_remove(&f);
}

/* Two reports at once, while a run replaces a trial's file again and again: its figures are of one or the other. */
static void while_it_is_written(void **state)
{
	struct folder f = make(BLOCKS);
	const unsigned number = 50; /* any that counts */
	json_t *trial = json_load_file(in(&f, "trials/000050.json"), 0, NULL);
	pid_t child[2];

	(void)state;
	settle();
	for (int c = 0; c < 2; c++) {
		child[c] = fork();
		if (child[c] == 0)
			for (;;)
				dataset_free(load(&f));
	}
	for (unsigned i = 1; i <= 10; i++) {
		json_t *read = json_object_get(json_array_get(json_object_get(json_object_get(trial, "fio"), "jobs"), 0), "read");
		struct dataset *d;
		bool found = false;

		json_object_set_new(read, "total_ios", json_integer(1000 * i)); /* in 2 s */
		folder_put_json(f.path, "new", json_incref(trial));
		assert_int_equal(rename(strcat(strcpy((char[512]){ 0 }, f.path), "/new"), in(&f, "trials/000050.json")), 0);
		d = load(&f);
		for (size_t k = 0; k < d->npoints; k++)
			if (d->point[k].trial == number) {
				found = true;
				assert_true(d->point[k].value[METRIC_IOPS] == 500 * i);
			}
		assert_true(found);
		dataset_free(d);
	}
	for (int c = 0; c < 2; c++) {
		kill(child[c], SIGKILL);
		waitpid(child[c], NULL, 0);
	}
	settle();
	true_to_files(&f);
	json_decref(trial);
	folder_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_run_has_none),
		cmocka_unit_test(only_what_changed_is_read_again),
		cmocka_unit_test(a_damaged_one_is_replaced),
		cmocka_unit_test(garbage_anywhere_changes_nothing),
		cmocka_unit_test(read_only),
		cmocka_unit_test(no_room),
		cmocka_unit_test(killed),
		cmocka_unit_test(while_it_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
