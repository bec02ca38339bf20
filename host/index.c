#include "host/index.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/checksum.h"
#include "guest/text.h"
#include "host/dirs.h"

#define NAME "index.sqlite"
#define APPLICATION 0x6b69636b /* PRAGMA application_id: "kick" */
#define WAIT_MS 5000           /* for another report that writes it */

enum column {
	NUMBER, SIZE, INODE, MODIFIED, CHANGED, STATUS, MESSAGE, TRIAL, BLOCK, CELL, VARIANT, ACCEL, GUEST_KERNEL,
	QEMU_VERSION, EFFECTIVE, IDENTITY, TOOL, STARTED, HELLO, SUMS, BINS, HASH
};

static const char schema[] =
	"CREATE TABLE text (id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
	"CREATE TABLE trial (number INTEGER PRIMARY KEY, size INTEGER, inode INTEGER, modified_ns INTEGER,"
	" changed_ns INTEGER, status INTEGER, message TEXT, trial INTEGER, block INTEGER, cell INTEGER, variant INTEGER,"
	" accel INTEGER, guest_kernel INTEGER, qemu_version INTEGER, effective INTEGER, identity INTEGER, tool INTEGER, started REAL, hello_s REAL,"
	" sums BLOB, bins BLOB, hash INTEGER);";

/* ---- the hash of a row, over what it means and not over ids ---- */

static void mix(struct text *t, const void *bytes, size_t length)
{
	text_add_bytes(t, &length, sizeof(length));
	if (length)
		text_add_bytes(t, bytes, length);
}

static void mix_text(struct text *t, const struct shared_text *shared)
{
	mix(t, shared ? shared->text : "", shared ? strlen(shared->text) : 0);
}

static int64_t hash_of(const struct trial_record *r, struct text *t)
{
	const int64_t whole[] = { r->number, (int64_t)r->stamp.size, (int64_t)r->stamp.inode, r->stamp.modified_ns,
				  r->stamp.changed_ns, (int64_t)r->status, r->trial, r->block, r->cell };
	const double real[] = { isnan(r->started) ? -1 : r->started, isnan(r->hello_s) ? -1 : r->hello_s };

	text_reset(t);
	mix(t, whole, sizeof(whole));
	mix(t, real, sizeof(real));
	mix(t, r->message ? r->message : "", r->message ? strlen(r->message) : 0);
	mix_text(t, r->variant);
	mix_text(t, r->accel);
	mix_text(t, r->guest_kernel);
	mix_text(t, r->qemu_version);
	mix_text(t, r->effective);
	mix_text(t, r->identity);
	mix_text(t, r->tool);
	mix(t, &r->sums, sizeof(r->sums));
	mix(t, r->bins, r->bins_length);
	return t->failed ? 0 : (int64_t)xxhash64(t->data, t->length);
}

/* ---- reading ---- */

struct known_texts {
	struct shared_text **text; /* by id */
	int64_t n;
};

/* -1: memory or the database. Ids that nobody gave leave gaps. */
static int load_texts(sqlite3 *db, struct texts *texts, struct known_texts *known)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, "SELECT count(*) FROM text", -1, &s, NULL);

	if (rc == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		known->n = sqlite3_column_int64(s, 0) + 1;
	sqlite3_finalize(s);
	known->text = known->n > 0 ? calloc((size_t)known->n, sizeof(*known->text)) : NULL;
	if (!known->text || sqlite3_prepare_v2(db, "SELECT id, text FROM text", -1, &s, NULL) != SQLITE_OK)
		return -1;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(s, 0);
		struct shared_text *shared = texts_share(texts, (const char *)sqlite3_column_text(s, 1));

		if (id < 1 || id >= known->n || !shared)
			break;
		shared->id = id;
		known->text[id] = shared;
	}
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : -1;
}

static struct shared_text *text_at(sqlite3_stmt *s, int column, const struct known_texts *known)
{
	int64_t id = sqlite3_column_int64(s, column);

	return id > 0 && id < known->n ? known->text[id] : NULL;
}

static double real_at(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
}

static bool same_stamp(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->size == b->size && a->inode == b->inode && a->modified_ns == b->modified_ns &&
	       a->changed_ns == b->changed_ns;
}

/* -1: the row is damaged, or out of memory. */
static int take_row(sqlite3_stmt *s, const struct known_texts *known, struct trial_record *r, struct text *room)
{
	const void *sums = sqlite3_column_blob(s, SUMS), *bins = sqlite3_column_blob(s, BINS);
	const char *message = (const char *)sqlite3_column_text(s, MESSAGE);
	int length = sqlite3_column_bytes(s, BINS);

	int status = sqlite3_column_int(s, STATUS);

	/* a folder may come from anywhere, and its hashes be right */
	if (!sums || sqlite3_column_bytes(s, SUMS) != (int)sizeof(r->sums) || status < OBSERVED_OK || status > OBSERVED_CORRUPT)
		return -1;
	memcpy(&r->sums, sums, sizeof(r->sums));
	if (length > 0 && bins && (r->bins = malloc((size_t)length)))
		memcpy(r->bins, bins, (size_t)length);
	r->bins_length = r->bins ? (size_t)length : 0;
	r->message = message ? strdup(message) : NULL;
	r->identified = r->loaded = true;
	r->status = (enum observed)status;
	r->trial = sqlite3_column_int64(s, TRIAL);
	r->block = sqlite3_column_int64(s, BLOCK);
	r->cell = sqlite3_column_int64(s, CELL);
	r->variant = text_at(s, VARIANT, known);
	r->accel = text_at(s, ACCEL, known);
	r->guest_kernel = text_at(s, GUEST_KERNEL, known);
	r->qemu_version = text_at(s, QEMU_VERSION, known);
	r->effective = text_at(s, EFFECTIVE, known);
	r->identity = text_at(s, IDENTITY, known);
	r->tool = text_at(s, TOOL, known);
	r->started = real_at(s, STARTED);
	r->hello_s = real_at(s, HELLO);
	return hash_of(r, room) == sqlite3_column_int64(s, HASH) ? 0 : -1;
}

static int take_number(sqlite3_stmt *s, int folder, const struct known_texts *known, struct trial_record *r,
		       struct text *room)
{
	struct file_stamp seen = { .size = (uint64_t)sqlite3_column_int64(s, SIZE),
				   .inode = (uint64_t)sqlite3_column_int64(s, INODE),
				   .modified_ns = sqlite3_column_int64(s, MODIFIED),
				   .changed_ns = sqlite3_column_int64(s, CHANGED) }, now;

	if (!record_stamp(folder, r->number, &now) || !same_stamp(&now, &seen))
		return 0;
	r->stamp = seen;
	return take_row(s, known, r, room);
}

static int by_number(const void *a, const void *b)
{
	const struct trial_record *const *x = a, *const *y = b;

	return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

/* Rows and records side by side, both by number. sorted has room for n. */
static int load_trials(sqlite3 *db, int folder, struct trial_record *record, size_t n, struct trial_record **sorted,
		       const struct known_texts *known)
{
	sqlite3_stmt *s = NULL;
	struct text room = { 0 };
	int rc = sqlite3_prepare_v2(db, "SELECT * FROM trial ORDER BY number", -1, &s, NULL);
	size_t i = 0;

	for (size_t k = 0; k < n; k++)
		sorted[k] = &record[k];
	qsort(sorted, n, sizeof(*sorted), by_number);
	if (rc == SQLITE_OK && sqlite3_column_count(s) != HASH + 1)
		rc = SQLITE_CORRUPT;
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t number = sqlite3_column_int64(s, NUMBER);

		rc = SQLITE_OK;
		while (i < n && sorted[i]->number < number)
			i++;
		for (size_t k = i; rc == SQLITE_OK && k < n && sorted[k]->number == number; k++)
			if (take_number(s, folder, known, sorted[k], &room))
				rc = SQLITE_CORRUPT;
	}
	sqlite3_finalize(s);
	text_free(&room);
	return rc;
}

static int64_t pragma(sqlite3 *db, const char *name)
{
	sqlite3_stmt *s = NULL;
	int64_t value = -1;

	if (sqlite3_prepare_v2(db, name, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		value = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return value;
}

static int open_index(const char *file, int flags, sqlite3 **db)
{
	int rc = sqlite3_open_v2(file, db, flags | SQLITE_OPEN_PRIVATECACHE, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(*db, WAIT_MS);
		sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	}
	return rc;
}

static enum index_state load(sqlite3 *db, int folder, struct trial_record *record, size_t n, struct texts *texts)
{
	struct trial_record **sorted = calloc(n, sizeof(*sorted));
	struct known_texts known = { 0 };
	enum index_state state = INDEX_BAD;

	/* one transaction: what other reports write in between is not seen */
	if (sorted && sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
	    pragma(db, "PRAGMA application_id") == APPLICATION && pragma(db, "PRAGMA user_version") == INDEX_VERSION &&
	    load_texts(db, texts, &known) == 0 && load_trials(db, folder, record, n, sorted, &known) == SQLITE_DONE)
		state = INDEX_GOOD;
	else if ((sqlite3_errcode(db) & 0xff) == SQLITE_BUSY || (sqlite3_errcode(db) & 0xff) == SQLITE_LOCKED)
		state = INDEX_BUSY;
	free(known.text);
	free(sorted);
	return state;
}

enum index_state index_load(const char *path, int folder, struct trial_record *record, size_t n, struct texts *texts)
{
	char *file = dirs_join(path, NAME);
	enum index_state state = INDEX_ABSENT;
	sqlite3 *db = NULL;

	if (file && access(file, F_OK) == 0) {
		state = open_index(file, SQLITE_OPEN_READONLY, &db) == SQLITE_OK ? load(db, folder, record, n, texts) : INDEX_BAD;
		sqlite3_close(db);
	}
	if (state != INDEX_GOOD)
		for (size_t i = 0; i < n; i++) /* nothing of a damaged one is believed */
			record_clear(&record[i]);
	free(file);
	return state;
}

/* ---- writing ---- */

struct writing {
	sqlite3 *db;
	sqlite3_stmt *trial, *text;
	int64_t texts;
	struct text room;
};

static int step(sqlite3_stmt *s)
{
	int rc = sqlite3_step(s);

	sqlite3_reset(s);
	return rc == SQLITE_DONE ? 0 : -1;
}

/* Bind the id of a text, which is put there when it is new. */
static int bind_text(struct writing *w, int column, struct shared_text *shared)
{
	if (!shared)
		return sqlite3_bind_null(w->trial, column + 1);
	if (shared->id == 0) {
		sqlite3_bind_int64(w->text, 1, w->texts + 1);
		sqlite3_bind_text(w->text, 2, shared->text, -1, SQLITE_STATIC);
		if (step(w->text))
			return -1;
		shared->id = ++w->texts;
	}
	return sqlite3_bind_int64(w->trial, column + 1, shared->id);
}

static int save_record(struct writing *w, const struct trial_record *r)
{
	const struct { int column; int64_t value; } whole[] = {
		{ NUMBER, r->number }, { SIZE, (int64_t)r->stamp.size }, { INODE, (int64_t)r->stamp.inode },
		{ MODIFIED, r->stamp.modified_ns }, { CHANGED, r->stamp.changed_ns }, { STATUS, (int64_t)r->status },
		{ TRIAL, r->trial }, { BLOCK, r->block }, { CELL, r->cell }, { HASH, hash_of(r, &w->room) },
	};
	const struct { int column; struct shared_text *text; } text[] = {
		{ VARIANT, r->variant }, { ACCEL, r->accel }, { GUEST_KERNEL, r->guest_kernel },
		{ QEMU_VERSION, r->qemu_version }, { EFFECTIVE, r->effective }, { IDENTITY, r->identity },
		{ TOOL, r->tool },
	};

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (sqlite3_bind_int64(w->trial, whole[i].column + 1, whole[i].value))
			return -1;
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		if (bind_text(w, text[i].column, text[i].text))
			return -1;
	/* a NAN becomes NULL */
	if (sqlite3_bind_double(w->trial, STARTED + 1, r->started) ||
	    sqlite3_bind_double(w->trial, HELLO + 1, r->hello_s) ||
	    sqlite3_bind_text(w->trial, MESSAGE + 1, r->message, -1, SQLITE_STATIC) ||
	    sqlite3_bind_blob(w->trial, SUMS + 1, &r->sums, sizeof(r->sums), SQLITE_STATIC) ||
	    sqlite3_bind_blob(w->trial, BINS + 1, r->bins, (int)r->bins_length, SQLITE_STATIC))
		return -1;
	return step(w->trial);
}

static int prepare(struct writing *w, bool create)
{
	char *sql = NULL;
	int rc = -1;

	if (sqlite3_exec(w->db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
		return -1;
	if (create) {
		sql = sqlite3_mprintf("%s PRAGMA application_id = %d; PRAGMA user_version = %d", schema, APPLICATION,
				      INDEX_VERSION);
		if (!sql || sqlite3_exec(w->db, sql, NULL, NULL, NULL))
			goto out;
	}
	w->texts = pragma(w->db, "SELECT ifnull(max(id), 0) FROM text");
	if (w->texts >= 0 &&
	    sqlite3_prepare_v2(w->db, "INSERT INTO text VALUES (?, ?)", -1, &w->text, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(w->db, "INSERT OR REPLACE INTO trial VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
				      " ?, ?, ?, ?, ?)", -1, &w->trial, NULL) == SQLITE_OK)
		rc = 0;
out:
	sqlite3_free(sql);
	return rc;
}

/* All or nothing: an error leaves the transaction to be rolled back. */
static int save(sqlite3 *db, bool create, const struct trial_record *record, size_t n)
{
	struct writing w = { .db = db };
	int rc = prepare(&w, create);

	for (size_t i = 0; rc == 0 && i < n; i++)
		if (record[i].keep)
			rc = save_record(&w, &record[i]);
	sqlite3_finalize(w.trial);
	sqlite3_finalize(w.text);
	text_free(&w.room);
	return rc == 0 && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
}

/* Those of the index before this one. */
static void forget_ids(const struct trial_record *record, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct shared_text *const text[] = { record[i].variant, record[i].accel, record[i].guest_kernel,
						     record[i].qemu_version, record[i].effective, record[i].identity,
						     record[i].tool };

		for (size_t k = 0; k < sizeof(text) / sizeof(text[0]); k++)
			if (text[k])
				text[k]->id = 0;
	}
}

void index_save(const char *path, enum index_state state, const struct trial_record *record, size_t n)
{
	char *file = dirs_join(path, NAME), *journal = dirs_join(path, NAME "-journal");
	bool create = state != INDEX_GOOD, any = false;
	sqlite3 *db = NULL;

	for (size_t i = 0; i < n; i++)
		any |= record[i].keep;
	if (!file || !journal || !any || state == INDEX_BUSY)
		goto out;
	if (create) {
		forget_ids(record, n);
		unlink(file);
		unlink(journal); /* without its database it must not be applied to the next one */
	}
	if (open_index(file, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), &db) ||
	    save(db, create, record, n)) {
		sqlite3_close(db); /* rolls back */
		db = NULL;
		if (create)
			unlink(file);
	}
	sqlite3_close(db);
out:
	free(journal);
	free(file);
}
