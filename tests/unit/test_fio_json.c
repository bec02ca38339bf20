/* host/fio_json.c: objects among other text, old units, and what is damaged. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fio_json.h"

/* What was read of a text, and what is left of it. */
struct result {
	struct fio_import into;
	char *left;
};

static struct result read_bytes(const char *bytes, size_t length)
{
	struct result r = { { json_array(), json_array() }, malloc(length + 1) };
	struct error e = { 0 };

	memcpy(r.left, bytes, length);
	r.left[length] = '\0';
	if (fio_json_read(r.left, length, &r.into, &e))
		fail_msg("%s", e.text);
	return r;
}

static struct result read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

static void release(struct result *r)
{
	json_decref(r->into.outputs);
	json_decref(r->into.notes);
	free(r->left);
}

/* Follow keys and indexes: "jobs 0 read iops". */
static const json_t *at(const json_t *value, const char *path)
{
	char copy[200], *save, *word;

	snprintf(copy, sizeof(copy), "%s", path);
	for (word = strtok_r(copy, "/", &save); word && value; word = strtok_r(NULL, "/", &save))
		value = json_is_array(value) ? json_array_get(value, (size_t)atoi(word)) : json_object_get(value, word);
	return value;
}

static const json_t *found(const struct result *r, const char *path)
{
	return at(r->into.outputs, path);
}

static double number(const struct result *r, const char *path)
{
	const json_t *value = found(r, path);

	if (!json_is_number(value))
		fail_msg("%s is no number", path);
	return json_number_value(value);
}

static void has_counts(const struct result *r, size_t outputs, size_t notes)
{
	if (json_array_size(r->into.outputs) != outputs || json_array_size(r->into.notes) != notes)
		fail_msg("%zu outputs, notes: %s", json_array_size(r->into.outputs), json_dumps(r->into.notes, 0));
}

static void noted(const struct result *r, size_t index, int line, const char *piece)
{
	const json_t *note = json_array_get(r->into.notes, index);
	const char *message = json_string_value(json_object_get(note, "message"));

	assert_int_equal(json_integer_value(json_object_get(note, "line")), line);
	if (!message || !strstr(message, piece))
		fail_msg("\"%s\" is not in \"%s\"", piece, message ? message : "");
}

/* 1000 reads of 4 KiB in 2 s: 500 IOPS, 2048000 B/s. */
#define READ                                                                                                           \
	"\"read\":{\"io_bytes\":4096000,\"io_kbytes\":4000,\"bw_bytes\":2048000,\"bw\":2000,\"iops\":500.0,"           \
	"\"runtime\":2000,\"total_ios\":1000,"                                                                         \
	"\"clat_ns\":{\"min\":10,\"max\":90,\"mean\":50.5,\"stddev\":1.5,\"N\":1000,\"percentile\":{\"99.000000\":80}" \
	"}}"
#define IDLE                                                                                                          \
	"\"write\":{\"io_bytes\":0,\"io_kbytes\":0,\"bw_bytes\":0,\"bw\":0,\"iops\":0.0,\"runtime\":0,\"total_ios\":" \
	"0,"                                                                                                          \
	"\"clat_ns\":{\"min\":0,\"max\":0,\"mean\":0.0,\"stddev\":0.0,\"N\":0}}"
#define FIO(name)                                                                                               \
	"{\"fio version\":\"fio-3.33\",\n\"jobs\":[\n{\"jobname\":\"" name "\",\"groupid\":0,\"error\":0," READ \
	"," IDLE "}]}"

static void test_whole(void **state)
{
	struct result r = read_text(FIO("a"));

	(void)state;
	has_counts(&r, 1, 0);
	assert_string_equal(json_string_value(found(&r, "0/jobs/0/status")), "ok");
	assert_true(number(&r, "0/line") == 1 && number(&r, "0/jobs/0/line") == 3);
	assert_true(number(&r, "0/jobs/0/read/iops") == 500 && number(&r, "0/jobs/0/read/io_bytes") == 4096000);
	assert_true(number(&r, "0/jobs/0/read/clat_ns/percentile/99.000000") == 80);
	assert_null(found(&r, "0/jobs/0/write"));
	assert_null(found(&r, "0/jobs/0/job options"));
	assert_null(found(&r, "0/jobs/0/members")); /* without options nothing tells numjobs */
	assert_null(found(&r, "0/jobs/0/marks"));
	assert_string_equal(r.left + strspn(r.left, " \n"), "");
	release(&r);
}

/* Before, between, after, within other JSON, quoted in a mail. Lines are those of the whole text. */
static void test_among_others(void **state)
{
	struct result r = read_text("fio: {odd} \"quote\n{\"other\":{\"jobs\":[1]}}\n" FIO("a") " tail {\n" FIO(
		"b") "\n{\"runs\":[" FIO("c") ",\n" FIO("d") "]}\n> {\n> \"fio version\":\"fio-3.33\",\n> > "
							     "\"jobs\":[{\"jobname\":\"e\"," READ "}]\n> }\n");
	static const struct {
		const char *name;
		int line;
	} want[] = { { "a", 3 }, { "b", 6 }, { "c", 9 }, { "d", 12 }, { "e", 15 } };
	char path[40];

	(void)state;
	has_counts(&r, 5, 0);
	for (size_t i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%zu/jobs/0/jobname", i);
		assert_string_equal(json_string_value(found(&r, path)), want[i].name);
		snprintf(path, sizeof(path), "%zu/line", i);
		assert_int_equal((int)number(&r, path), want[i].line);
	}
	assert_non_null(strstr(r.left, "{\"other\":{\"jobs\":[1]}}\n")); /* let be */
	assert_non_null(strstr(r.left, "fio: {odd} \"quote\n"));
	assert_null(strstr(r.left, "3.33"));
	release(&r);
}

/* What is cut or damaged is named; what stands behind it is read. A part of a run is no run: not taken. */
static void test_damaged(void **state)
{
	static const char half[] = "{\"fio version\":\"fio-3.33\",\n\"jobs\":[\n{\"jobname\":\"x\"," READ "},\n{"
													  "\"jobname\":"
													  "\"y\"";
	char text[8192];
	struct result r;

	(void)state;
	snprintf(text, sizeof(text), "\n%s", half);
	r = read_text(text);
	has_counts(&r, 0, 1);
	noted(&r, 0, 2, "is cut off in line 5");
	release(&r);
	snprintf(text, sizeof(text), "%s\nKilled\n%s", half, FIO("a"));
	r = read_text(text);
	has_counts(&r, 1, 1);
	noted(&r, 0, 1, "is damaged in line 5");
	assert_string_equal(json_string_value(found(&r, "0/jobs/0/jobname")), "a");
	assert_non_null(strstr(r.left, "Killed"));
	release(&r);
	snprintf(text, sizeof(text),
		 "{\"fio version\":\"fio-3.33\",\"jobs\":[{\"jobname\":\"a\",\"error\":1e999}]}\n{\"fio "
		 "version\":\"fio-3.33\",\"jobs\":[]}");
	r = read_text(text);
	has_counts(&r, 0, 2);
	noted(&r, 0, 1, "cannot be read");
	noted(&r, 1, 2, "holds no jobs");
	release(&r);
}

/* Bytes that a strict parser refuses, in places where real outputs have them. */
static void test_repaired(void **state)
{
	struct result r = read_text("{\"fio version\":\"fio-3.33\",\"jobs\":[{\"jobname\":\"t\tab \xff C\\:\\x\",\"job "
				    "options\":{\"size\":\"100%%\"},"
				    "\"usr_cpu\":-nan,\"ctx\":18446744073709551615,\"majf\":-1.#IND00," READ "}]}");

	(void)state;
	has_counts(&r, 1, 0);
	assert_string_equal(json_string_value(found(&r, "0/jobs/0/jobname")), "t\tab \357\277\275 C\\:\\x");
	assert_string_equal(json_string_value(found(&r, "0/jobs/0/job options/size")), "100%%");
	assert_null(found(&r, "0/jobs/0/usr_cpu"));
	assert_null(found(&r, "0/jobs/0/majf"));
	assert_true(number(&r, "0/jobs/0/ctx") == 18446744073709551615.0);
	release(&r);
}

/* A megabyte of open brackets, strings without end, quotes: notes, and not for each of them; in no time. */
static void test_hostile(void **state)
{
	static const struct { const char *piece; size_t notes;
	} hostile[] = {
		{ "{\"jobs\":", 1 }, { "[", 0 }, { "{", 0 },	{ "{\"", 0 },
		{ "\"", 0 },	     { ">", 0 }, { "{\n>", 0 }, { "{\"jobs\":[{\"jobname\":\"a\"},", 2 },
	};
	size_t length = 1 << 20;
	char *text = malloc(length + 1);

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		size_t n = strlen(hostile[i].piece);
		struct result r;

		for (size_t k = 0; k < length; k++)
			text[k] = hostile[i].piece[k % n];
		r = read_bytes(text, length);
		has_counts(&r, 0, hostile[i].notes);
		release(&r);
	}
	free(text);
}

/* 2.x: KiB, us, buckets by index. 1000 reads of 4 KiB in 2 s again. Index 300 is group 4: (64 + 44) x 8 + 4 = 868 us. */
static void test_old(void **state)
{
	struct result r = read_text("{\"fio version\":\"fio-2.16\",\"jobs\":[{\"jobname\":\"a\",\"job "
				    "options\":{\"numjobs\":\"4\",\"rw\":\"read\"},\"read\":{\"io_bytes\":4000,\"bw\":"
				    "2000,"
				    "\"iops\":500.0,\"runtime\":2000,\"total_ios\":1000,\"slat\":{\"min\":0,\"max\":0,"
				    "\"mean\":0.0,\"stddev\":0.0},"
				    "\"clat\":{\"min\":10,\"max\":90,\"mean\":50.5,\"stddev\":1.5,\"percentile\":{\"1."
				    "000000\":12,\"99.000000\":80,\"0.00\":0,\"0.00\":0},"
				    "\"bins\":{\"FIO_IO_U_PLAT_BITS\":6,\"FIO_IO_U_PLAT_VAL\":64,\"FIO_IO_U_PLAT_NR\":"
				    "1216,\"0\":0,\"100\":900,\"300\":100}}}}]}");

	(void)state;
	has_counts(&r, 1, 0);
	assert_true(number(&r, "0/jobs/0/read/io_bytes") == 4096000 && number(&r, "0/jobs/0/read/bw_bytes") == 2048000);
	assert_true(number(&r, "0/jobs/0/read/clat_ns/mean") == 50500 &&
		    number(&r, "0/jobs/0/read/clat_ns/max") == 90000);
	assert_int_equal(json_object_size(found(&r, "0/jobs/0/read/clat_ns/percentile")), 2);
	assert_true(number(&r, "0/jobs/0/read/clat_ns/percentile/99.000000") == 80000);
	assert_int_equal(json_object_size(found(&r, "0/jobs/0/read/clat_ns/bins")), 2);
	assert_true(number(&r, "0/jobs/0/read/clat_ns/bins/100000") == 900);
	assert_true(number(&r, "0/jobs/0/read/clat_ns/bins/868000") == 100);
	assert_null(found(&r, "0/jobs/0/read/slat_ns"));
	assert_true(number(&r, "0/jobs/0/members") == 4);
	assert_true(number(&r, "0/jobs/0/job_runtime") == 8000 && json_is_true(found(&r, "0/jobs/0/"
											 "job_runtime_estimated")));
	release(&r);
	/* bytes since 2.21, also where somebody removed io_kbytes; without a version bw (KiB/s in all of them) tells */
	r = read_text("{\"fio "
		      "version\":\"fio-2.21\",\"jobs\":[{\"jobname\":\"a\",\"read\":{\"io_bytes\":4096000,\"bw\":2000,"
		      "\"iops\":500.0,\"runtime\":2000,\"total_ios\":1000}}]}"
		      "{\"jobs\":[{\"jobname\":\"a\",\"read\":{\"io_bytes\":4000,\"bw\":2000,\"iops\":500.0,"
		      "\"runtime\":2000,\"total_ios\":1000}}]}"
		      "{\"jobs\":[{\"jobname\":\"a\",\"read\":{\"io_bytes\":4096000,\"bw\":2000,\"iops\":500.0,"
		      "\"runtime\":2000,\"total_ios\":1000}}]}");
	has_counts(&r, 3, 0);
	assert_true(number(&r, "0/jobs/0/read/io_bytes") == 4096000);
	assert_true(number(&r, "1/jobs/0/read/io_bytes") == 4096000);
	assert_true(number(&r, "2/jobs/0/read/io_bytes") == 4096000);
	release(&r);
}

/* Three jobs of 2 s in one entry: the 6 s tell that numjobs=1 of the first is not all of it. */
static void test_merged_sections(void **state)
{
	struct result r =
		read_text("{\"fio version\":\"fio-3.33\",\"jobs\":["
			  "{\"jobname\":\"a\",\"job options\":{\"rw\":\"read\"},\"job_runtime\":6000," READ "},"
			  "{\"jobname\":\"b\",\"job "
			  "options\":{\"rw\":\"read\",\"numjobs\":\"3\"},\"job_runtime\":6000," READ "}]}");

	(void)state;
	has_counts(&r, 1, 0);
	assert_null(found(&r, "0/jobs/0/members"));
	assert_true(number(&r, "0/jobs/1/members") == 3);
	release(&r);
}

/* Client and server: jobs of both hosts, without the sum; the options of all below a job's own. */
static void test_clients(void **state)
{
	struct result r = read_text("{\"fio version\":\"fio-3.7\",\"global "
				    "options\":{\"bs\":\"4k\",\"rw\":\"write\"},\"client_stats\":["
				    "{\"jobname\":\"j\",\"hostname\":\"one\",\"error\":0,\"job "
				    "options\":{\"rw\":\"read\",\"numjobs\":\"1\"}," READ "},"
				    "{\"jobname\":\"j\",\"hostname\":\"two\",\"error\":5,\"job "
				    "options\":{\"rw\":\"read\",\"numjobs\":\"1\"}," READ "},"
				    "{\"jobname\":\"All clients\",\"error\":0," READ "}]}");

	(void)state;
	has_counts(&r, 1, 0);
	assert_int_equal(json_array_size(found(&r, "0/jobs")), 2);
	assert_string_equal(json_string_value(found(&r, "0/jobs/0/job options/bs")), "4k");
	assert_string_equal(json_string_value(found(&r, "0/jobs/0/job options/rw")), "read");
	assert_true(number(&r, "0/jobs/1/members") == 1);
	assert_string_equal(json_string_value(found(&r, "0/jobs/0/status")), "ok");
	assert_string_equal(json_string_value(found(&r, "0/jobs/1/status")), "failed");
	release(&r);
}

#define EDITED(bytes, bw, iops, runtime)                                                                               \
	"{\"fio version\":\"fio-3.33\",\"jobs\":[{\"jobname\":\"a\",\"read\":{\"io_bytes\":" bytes ",\"bw_bytes\":" bw \
	",\"iops\":" iops ",\"runtime\":" runtime ",\"total_ios\":1000}}]}"

/* Of three ways to a rate two agree, or none. */
static void test_disagreement(void **state)
{
	struct result r = read_text(
		EDITED("4096000", "2048000", "600.0", "2000") EDITED("4096000", "3048000", "500.0", "2000")
			EDITED("4096000", "2048000", "500.0", "3000") EDITED("4096000", "3048000", "600.0", "2000"));

	(void)state;
	has_counts(&r, 4, 0);
	assert_true(number(&r, "0/jobs/0/read/iops") == 500);
	assert_true(number(&r, "1/jobs/0/read/bw_bytes") == 2048000);
	assert_true(number(&r, "2/jobs/0/read/runtime") == 2000);
	for (int i = 0; i < 4; i++) {
		char path[40];

		snprintf(path, sizeof(path), "%d/jobs/0/marks", i);
		assert_int_equal(json_array_size(found(&r, path)), 1);
		snprintf(path, sizeof(path), "%d/jobs/0/status", i);
		assert_string_equal(json_string_value(found(&r, path)), i < 3 ? "ok" : "inconsistent");
	}
	release(&r);
}

static void test_status(void **state)
{
	struct result r = read_text("{\"fio version\":\"fio-3.33\",\"jobs\":[{\"jobname\":\"a\",\"error\":0," IDLE
				    "},{\"jobname\":\"b\",\"error\":22," IDLE "},"
				    "{\"jobname\":\"c\",\"error\":5," READ "},{\"groupid\":1}]}");

	(void)state;
	has_counts(&r, 1, 1);
	noted(&r, 0, 1, "jobs[3]");
	assert_string_equal(json_string_value(found(&r, "0/jobs/0/status")), "no data");
	assert_string_equal(json_string_value(found(&r, "0/jobs/1/status")), "failed");
	assert_string_equal(json_string_value(found(&r, "0/jobs/2/status")), "failed");
	release(&r);
}

#define REPORT(time, elapsed)                                                                                    \
	"{\"fio version\":\"fio-3.33\",\"timestamp\":" time ",\"jobs\":[{\"jobname\":\"a\",\"elapsed\":" elapsed \
	"," READ "}]}\n"

/* --status-interval: the clock and the run time go on alike. Runs one after the other each take the same time. */
static void test_interim(void **state)
{
	struct result r = read_text(REPORT("100", "2") REPORT("110", "12") REPORT("115", "18"));

	(void)state;
	has_counts(&r, 1, 2);
	noted(&r, 0, 1, "only the last");
	assert_true(number(&r, "0/timestamp") == 115);
	release(&r);
	r = read_text(REPORT("100", "60") REPORT("165", "61") REPORT("230", "60"));
	has_counts(&r, 3, 0);
	release(&r);
}

#define AT(ms, runtime, ios, most)                                                                                       \
	"{\"fio version\":\"fio-3.33\",\"timestamp\":100,\"timestamp_ms\":" ms ",\"jobs\":[{\"jobname\":\"a\",\"elapsed\":4," \
	"\"ctx\":" ios ",\"read\":{\"total_ios\":" ios ",\"io_bytes\":" ios "000,\"runtime\":" runtime                   \
	",\"clat_ns\":{\"min\":100,\"max\":" most ",\"mean\":200,\"N\":" ios "}}}]}\n"

/* The last of --status-interval and the end of the run lie within one second. */
static void test_interim_of_one_second(void **state)
{
	struct result r = read_text(AT("100309", "2878", "3000", "900") AT("100450", "3006", "3100", "901"));

	(void)state;
	has_counts(&r, 1, 1);
	assert_true(number(&r, "0/jobs/0/read/runtime") == 3006);
	release(&r);
	r = read_text(AT("100309", "2878", "3000", "900") AT("103400", "3006", "3100", "901")); /* one after the other */
	has_counts(&r, 2, 0);
	release(&r);
	r = read_text(AT("100309", "3005", "3000", "900") AT("100310", "3006", "2999", "901")); /* beside each other */
	has_counts(&r, 2, 0);
	release(&r);
	r = read_text(AT("100309", "3005", "3000", "900") AT("100310", "3006", "3100", "899"));
	has_counts(&r, 2, 0);
	release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	 cmocka_unit_test(test_among_others),  cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_repaired), cmocka_unit_test(test_hostile),       cmocka_unit_test(test_old),
		cmocka_unit_test(test_clients),	 cmocka_unit_test(test_disagreement),  cmocka_unit_test(test_status),
		cmocka_unit_test(test_interim),	       cmocka_unit_test(test_interim_of_one_second),
			       cmocka_unit_test(test_merged_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
