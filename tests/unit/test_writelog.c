#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>

#include "host/writelog.h"
#include "tests/unit/scratch.h"
#include "tests/unit/write_log.h"

#define MAP 0xabcdu
#define OTHER 0x1234u

static struct writelog *open_bytes(struct scratch *s, struct log_bytes *l)
{
	struct writelog *log;
	struct error e = {0};

	if (writelog_open(scratch_bytes(s, "log", l->data, l->length), &log, &e) < 0)
		fail_msg("%s", e.text);
	free(l->data);
	l->data = NULL;
	return log;
}

static void refused(struct scratch *s, const struct log_bytes *l, const char *what)
{
	struct writelog *log = (struct writelog *)1;
	struct error e = {0};

	assert_int_equal(writelog_open(scratch_bytes(s, "log", l->data, l->length), &log, &e), -1);
	assert_null(log);
	holds(e.text, what);
}

static struct writelog_entry entry_of(struct writelog *log, uint64_t number)
{
	struct writelog_entry entry;
	struct error e = {0};

	assert_int_equal(writelog_entry(log, number, &entry, &e), 0);
	assert_int_equal(entry.number, number);
	return entry;
}

/* ---- reading ---- */

static void read_all(struct scratch *s, size_t sector)
{
	struct log_bytes l = log_begin(sector);
	struct writelog *log;
	struct writelog_entry entry;
	struct error e = {0};
	unsigned char byte;

	log_entry(&l, 0, 2, 0, NULL);
	l.data[l.length - 1] = 0x5a;
	log_flush(&l);
	log_entry(&l, 100, 1000000, LOG_DISCARD, NULL);
	log_entry(&l, 7, 1, LOG_FLUSH | LOG_FUA | LOG_METADATA, NULL);
	log_entry(&l, 0, 0, LOG_MARK, NULL);
	memcpy(l.data + l.length - sector + 32, "a mark's name", 13);
	log_super(&l, 5);
	log = open_bytes(s, &l);
	assert_int_equal(writelog_entries(log), 5);
	assert_int_equal(writelog_sector(log), sector);
	assert_false(writelog_cut(log));
	entry = entry_of(log, 0);
	assert_true(entry.offset == 0 && entry.bytes == 2 * sector && entry.data_at == 2 * sector);
	assert_false(entry.flush || entry.fua || entry.discard || entry.mark);
	assert_int_equal(writelog_data(log, &entry, 2 * sector - 1, &byte, 1, &e), 0);
	assert_int_equal(byte, 0x5a);
	assert_int_equal(writelog_data(log, &entry, 2 * sector, &byte, 1, &e), -1);
	entry = entry_of(log, 1);
	assert_true(entry.flush && entry.bytes == 0 && entry.data_at == 0);
	entry = entry_of(log, 2);
	assert_true(entry.discard && entry.offset == 100 * sector && entry.bytes == 1000000 * sector && entry.data_at == 0);
	entry = entry_of(log, 3);
	assert_true(entry.flush && entry.fua && entry.offset == 7 * sector && entry.bytes == sector);
	entry = entry_of(log, 4);
	assert_true(entry.mark && entry.bytes == 0);
	error_clear(&e);
	assert_int_equal(writelog_entry(log, 5, &entry, &e), -1);
	writelog_close(log);
}

static void entries(void **state)
{
	read_all(*state, 512);
	read_all(*state, 4096);
}

/* An emulator that was killed leaves entries behind the count, the last of them not whole. */
static void behind_the_count(void **state)
{
	struct log_bytes l = log_begin(512);
	struct writelog *log;

	log_entry(&l, 0, 1, 0, NULL);
	log_flush(&l);
	log_super(&l, 2);
	log_entry(&l, 8, 1, 0, NULL);
	log_entry(&l, 16, 8, 0, NULL);
	l.length -= 1;
	log = open_bytes(*state, &l);
	assert_int_equal(writelog_entries(log), 3);
	assert_false(writelog_cut(log));
	writelog_close(log);

	l = log_begin(512);
	log_entry(&l, 0, 1, 0, NULL);
	log_super(&l, 1);
	log_entry(&l, 8, 1, 0x40, NULL); /* no flag that there is */
	log = open_bytes(*state, &l);
	assert_int_equal(writelog_entries(log), 1);
	writelog_close(log);
}

static void cut(void **state)
{
	struct log_bytes l = log_begin(512);
	struct writelog *log;

	log_entry(&l, 0, 1, 0, NULL);
	log_entry(&l, 8, 4, 0, NULL);
	log_super(&l, 2);
	l.length -= 512;
	log = open_bytes(*state, &l);
	assert_int_equal(writelog_entries(log), 1);
	assert_true(writelog_cut(log));
	writelog_close(log);

	/* A hole where an entry was about to be written. */
	l = log_begin(512);
	log_entry(&l, 0, 1, 0, NULL);
	log_grow(&l, 4096);
	log_super(&l, 2);
	log = open_bytes(*state, &l);
	assert_int_equal(writelog_entries(log), 1);
	assert_true(writelog_cut(log));
	writelog_close(log);

	/* An entry whose length is more than any file's. */
	l = log_begin(512);
	log_entry(&l, 0, 1, 0, NULL);
	put_number(l.data + 512 + 8, INT64_MAX / 512, 8);
	log_super(&l, 1);
	log = open_bytes(*state, &l);
	assert_int_equal(writelog_entries(log), 0);
	assert_true(writelog_cut(log));
	writelog_close(log);
}

/* Where flushes are ignored, the super block is never written: the entries are there all the same. */
static void without_super(void **state)
{
	static const size_t sectors[] = { 512, 4096 };
	struct scratch *s = *state;
	struct writelog *log;
	struct log_bytes l;
	struct error e = {0};

	for (unsigned i = 0; i < 2; i++) {
		l = log_begin(sectors[i]);
		log_entry(&l, 0, 2, 0, NULL);
		log_entry(&l, 2, 2, 0, NULL);
		log = open_bytes(s, &l);
		assert_int_equal(writelog_entries(log), 2);
		assert_int_equal(writelog_sector(log), sectors[i]);
		writelog_close(log);
	}
	assert_int_equal(writelog_open(scratch_bytes(s, "log", "", 0), &log, &e), 0);
	assert_int_equal(writelog_entries(log), 0);
	writelog_close(log);
	l = log_begin(1048576);
	log = open_bytes(s, &l);
	assert_int_equal(writelog_entries(log), 0);
	writelog_close(log);
}

static void foreign(void **state)
{
	struct scratch *s = *state;
	struct log_bytes l = log_begin(512);
	struct writelog *log;
	struct error e = {0};

	log_entry(&l, 0, 1, 0, NULL);
	log_super(&l, 1);
	l.data[0] ^= 1;
	refused(s, &l, "is no write log");
	l.data[0] ^= 1;
	l.data[8] = 2;
	refused(s, &l, "is of version 2");
	l.data[8] = 1;
	put_number(l.data + 24, 1000, 4);
	refused(s, &l, "has sectors of 1000 bytes");
	put_number(l.data + 24, 256, 4);
	refused(s, &l, "has sectors of 256 bytes");
	put_number(l.data + 24, 512, 4);
	put_number(l.data + 512 + 16, 0x20, 8);
	refused(s, &l, "entry 0, at byte 512, makes no sense");
	put_number(l.data + 512 + 16, 0, 8);
	put_number(l.data + 512, UINT64_MAX / 4, 8);
	refused(s, &l, "entry 0, at byte 512, makes no sense");
	put_number(l.data + 512, 3, 8);
	put_number(l.data + 512 + 8, 0, 8); /* neither data nor a flush */
	refused(s, &l, "entry 0, at byte 512, makes no sense");
	l.length = 100;
	refused(s, &l, "is no write log: it has 100 bytes");
	free(l.data);
	assert_int_equal(writelog_open(scratch_path(s, "none"), &log, &e), -1);
	holds(e.text, "No such file");
	error_clear(&e);
	assert_int_equal(writelog_open(s->folder, &log, &e), -1);
	holds(e.text, "is not a file");
}

/* ---- replay ---- */

static void replay(void **state)
{
	struct scratch *s = *state;
	struct log_bytes l = log_begin(512);
	unsigned char disk[16384], data[4096];
	struct writelog *log;
	struct error e = {0};
	int fd = open(scratch_path(s, "disk"), O_RDWR | O_CREAT, 0600);

	assert_true(fd >= 0 && ftruncate(fd, sizeof(disk)) == 0);
	memset(data, 1, sizeof(data));
	log_entry(&l, 0, 8, 0, data);
	memset(data, 2, sizeof(data));
	log_entry(&l, 4, 8, 0, data);
	log_entry(&l, 24, 8, 0, data);
	log_flush(&l);
	log_entry(&l, 6, 1, LOG_DISCARD, NULL);
	log_entry(&l, 8, 1, 0, NULL);
	memset(data, 3, sizeof(data));
	log_entry(&l, 0, 1, LOG_FUA, data);
	log_super(&l, 7);
	log = open_bytes(s, &l);
	assert_int_equal(writelog_replay(log, 4, fd, &e), 0);
	assert_int_equal(pread(fd, disk, sizeof(disk), 0), sizeof(disk));
	for (unsigned i = 0; i < sizeof(disk); i++)
		assert_int_equal(disk[i], i < 2048 ? 1 : i < 6144 ? 2 : i < 12288 ? 0 : 2);
	assert_int_equal(writelog_replay(log, 7, fd, &e), 0);
	assert_int_equal(pread(fd, disk, sizeof(disk), 0), sizeof(disk));
	for (unsigned i = 0; i < 8192; i++)
		assert_int_equal(disk[i], i < 512 ? 3 : i < 2048 ? 1 : i / 512 == 6 || i / 512 == 8 ? 0 : i < 6144 ? 2 : 0);
	assert_int_equal(writelog_replay(log, 8, fd, &e), -1);
	holds(e.text, "has no entry 7");
	close(fd);
	writelog_close(log);
}

/* ---- flushes ---- */

static struct writelog_flushes check(struct scratch *s, struct log_bytes *l, uint64_t writes, unsigned every)
{
	struct writelog_flushes f;
	struct writelog *log;
	struct error e = {0};

	log_super(l, l->entries);
	log = open_bytes(s, l);
	assert_int_equal(writelog_check_flushes(log, MAP, writes, every, &f, &e), 0);
	writelog_close(log);
	return f;
}

/* Three groups of two writes; in front of each group the entries of another map. Bit k of flushes: the flush of group k. */
static struct log_bytes groups(unsigned flushes, bool early)
{
	struct log_bytes l = log_begin(512);

	for (unsigned k = 0; k < 3; k++) {
		log_write(&l, OTHER, 65536 + k * 4096, 8, 1, 0);
		log_write(&l, MAP, k * 8192, 8, 1, 0);
		if (early)
			log_flush(&l);
		log_write(&l, MAP, k * 8192 + 4096, 8, 1, 0);
		if (flushes & 1u << k)
			log_flush(&l);
	}
	return l;
}

static void answered(void **state)
{
	struct log_bytes l = groups(7, false);
	struct writelog_flushes f = check(*state, &l, 6, 2);

	expect_flushes(&f, 6, 3, 0, 0, 12, 6);
	/* Writes behind the last fsync need none. */
	l = groups(3, false);
	log_flush(&l);
	log_write(&l, MAP, 0, 8, 2, 0);
	f = check(*state, &l, 7, 2);
	expect_flushes(&f, 7, 3, 0, 0, 12, 6);
	/* Nor does a foreign one between a flush and the next write of the job. */
	l = groups(7, false);
	log_write(&l, OTHER, 65536, 8, 2, 0);
	f = check(*state, &l, 6, 2);
	expect_flushes(&f, 6, 3, 0, 0, 12, 6);
}

static void missing(void **state)
{
	struct log_bytes l = groups(5, false);
	struct writelog_flushes f = check(*state, &l, 6, 2);

	expect_flushes(&f, 6, 3, 1, 2, 11, 6);
	l = groups(3, false);
	f = check(*state, &l, 6, 2);
	expect_flushes(&f, 6, 3, 1, 3, 8, 4);
	l = groups(0, false);
	f = check(*state, &l, 6, 2);
	expect_flushes(&f, 6, 3, 3, 1, 0, 0);
	/* A flush before the last write of its group does not cover that. */
	l = groups(0, true);
	f = check(*state, &l, 6, 2);
	expect_flushes(&f, 6, 3, 3, 1, 0, 0);
	l = groups(2, true);
	f = check(*state, &l, 6, 2);
	expect_flushes(&f, 6, 3, 2, 1, 9, 4);
	/* The job says that it wrote more than reached the disk. */
	l = groups(7, false);
	f = check(*state, &l, 10, 2);
	expect_flushes(&f, 6, 5, 2, 4, 12, 6);
	/* The next job's flush does not answer the last fsync of this one. */
	l = groups(3, false);
	log_write(&l, OTHER, 65536, 8, 1, 0);
	log_flush(&l);
	f = check(*state, &l, 6, 2);
	expect_flushes(&f, 6, 3, 1, 3, 8, 4);
	/* Its writes are of another map. */
	l = log_begin(512);
	log_write(&l, OTHER, 0, 8, 1, 0);
	log_flush(&l);
	f = check(*state, &l, 1, 1);
	expect_flushes(&f, 0, 1, 1, 1, 0, 0);
}

/* A flush that comes with a write goes before that write's data. */
static void flush_with_data(void **state)
{
	struct log_bytes l = log_begin(512);
	struct writelog_flushes f;

	log_write(&l, MAP, 0, 8, 1, LOG_FLUSH);
	log_write(&l, MAP, 4096, 8, 1, LOG_FLUSH);
	f = check(*state, &l, 2, 1);
	expect_flushes(&f, 2, 2, 2, 1, 0, 0);
	l = log_begin(512);
	log_write(&l, MAP, 0, 8, 1, 0);
	log_write(&l, OTHER, 65536, 8, 1, LOG_FLUSH);
	log_write(&l, MAP, 4096, 8, 1, LOG_FLUSH | LOG_FUA);
	f = check(*state, &l, 2, 1);
	expect_flushes(&f, 2, 2, 0, 0, 3, 2);
}

/* A write cache that is off: FUA, or a flush behind each write. */
static void write_through(void **state)
{
	struct log_bytes l = log_begin(512);
	struct writelog_flushes f;

	for (unsigned i = 0; i < 4; i++)
		log_write(&l, MAP, i * 4096, 8, 1, LOG_FUA);
	f = check(*state, &l, 4, 2);
	expect_flushes(&f, 4, 2, 0, 0, 4, 4);
	/* FUA says nothing about the write before it. */
	l = log_begin(512);
	log_write(&l, MAP, 0, 8, 1, 0);
	log_write(&l, MAP, 4096, 8, 1, LOG_FUA);
	f = check(*state, &l, 2, 2);
	expect_flushes(&f, 2, 1, 1, 1, 0, 0);
	l = log_begin(512);
	for (unsigned i = 0; i < 4; i++) {
		log_write(&l, MAP, i * 4096, 8, 1, 0);
		log_flush(&l);
	}
	f = check(*state, &l, 4, 2);
	expect_flushes(&f, 4, 2, 0, 0, 8, 4);
}

/* A write in two pieces, with a flush between them; and one that was sent twice. */
static void split(void **state)
{
	unsigned char data[4096];
	struct log_bytes l = log_begin(512);
	struct writelog_flushes f;

	seal_write(&l, data, MAP, 8192, 8, 1);
	log_entry(&l, 20, 4, 0, data + 2048);
	log_flush(&l);
	log_entry(&l, 16, 4, 0, data);
	log_write(&l, MAP, 0, 8, 1, 0);
	log_flush(&l);
	f = check(*state, &l, 2, 1);
	expect_flushes(&f, 2, 2, 1, 1, 5, 2);
	l = log_begin(4096);
	seal_write(&l, data, MAP, 8192, 8, 1);
	log_entry(&l, 2, 1, 0, data);
	log_entry(&l, 2, 1, 0, data);
	log_flush(&l);
	f = check(*state, &l, 1, 1);
	expect_flushes(&f, 1, 1, 0, 0, 3, 1);
	/* Bytes that changed on their way are still the job's write. */
	l = log_begin(512);
	seal_write(&l, data, MAP, 8192, 8, 1);
	data[300] ^= 1;
	log_entry(&l, 16, 8, 0, data);
	f = check(*state, &l, 1, 1);
	expect_flushes(&f, 1, 1, 1, 1, 0, 0);
}

static void any_map(void **state)
{
	struct log_bytes l = groups(7, false);
	struct writelog_flushes f;
	struct writelog *log;
	struct error e = {0};

	log_super(&l, l.entries);
	log = open_bytes(*state, &l);
	assert_int_equal(writelog_check_flushes(log, 0, 9, 3, &f, &e), 0);
	expect_flushes(&f, 9, 3, 0, 0, 12, 9);
	assert_int_equal(writelog_check_flushes(log, 0, 9, 0, &f, &e), -1);
	holds(e.text, "without fsync=");
	writelog_close(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries), cmocka_unit_test(behind_the_count), cmocka_unit_test(cut),
		cmocka_unit_test(without_super), cmocka_unit_test(foreign), cmocka_unit_test(replay),
		cmocka_unit_test(answered), cmocka_unit_test(missing), cmocka_unit_test(flush_with_data),
		cmocka_unit_test(write_through), cmocka_unit_test(split), cmocka_unit_test(any_map),
	};

	return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
