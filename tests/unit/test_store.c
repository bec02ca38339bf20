/* host/store.c: the run folder, its refusals, and what a kill may leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/dirs.h"
#include "host/store.h"
#include "tests/unit/scratch.h"

static struct store *create(struct scratch *s, const char *name)
{
	struct store *out;
	struct error e = { 0 };

	if (store_create(scratch_path(s, name), NULL, NULL, STORE_RUN, &out, &e))
		fail_msg("%s", e.text);
	return out;
}

static bool there(struct scratch *s, const char *name)
{
	return access(scratch_path(s, name), F_OK) == 0;
}

static void content(struct scratch *s, const char *name, const char *want)
{
	char have[256];
	FILE *f = fopen(scratch_path(s, name), "r");
	size_t n;

	assert_non_null(f);
	n = fread(have, 1, sizeof(have) - 1, f);
	have[n] = '\0';
	fclose(f);
	assert_string_equal(have, want);
}

static void a_new_run_has_its_folders(void **state)
{
	struct store *s = create(*state, "a/b/run"), *again;
	struct error e = { 0 };

	assert_true(there(*state, "a/b/run/trials"));
	assert_true(there(*state, "a/b/run/console"));
	assert_true(there(*state, "a/b/run/domains"));
	assert_false(store_has(s, "run.json"));
	assert_int_equal(store_open(store_path(s), &again, &e), -1); /* nothing was recorded: no run yet */
	assert_int_equal(e.status, STATUS_USAGE);
	holds(e.text, "is no run folder");
	store_close(s);
}

static void named_runs_do_not_collide(void **state)
{
	struct store *s[3];
	struct error e = { 0 };
	char results[512];

	snprintf(results, sizeof(results), "%s", scratch_path(*state, "results"));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(store_create(NULL, results, "quick", STORE_RUN, &s[i], &e), 0);
		holds(store_path(s[i]), "/results/");
		holds(store_path(s[i]), "-quick");
	}
	assert_string_not_equal(store_path(s[0]), store_path(s[1]));
	assert_string_not_equal(store_path(s[1]), store_path(s[2]));
	for (int i = 0; i < 3; i++)
		store_close(s[i]);
}

static void a_taken_folder_is_refused(void **state)
{
	struct store *s = create(*state, "run"), *second = NULL;
	struct error e = { 0 };
	json_t *run = json_pack("{s:s}", "schema", "kickbench-run/1");

	assert_int_equal(store_write_json(s, "run.json", run, &e), 0);
	assert_int_equal(store_create(store_path(s), NULL, NULL, STORE_RUN, &second, &e), -1);
	assert_null(second);
	assert_int_equal(e.status, STATUS_USAGE);
	holds(e.text, "already holds a run");
	holds(e.text, "--resume");
	error_clear(&e);
	assert_int_equal(store_open(store_path(s), &second, &e), 0);
	assert_string_equal(store_path(second), store_path(s));
	store_close(second);
	store_close(s);
	json_decref(run);
}

/* -o FOLDER: files of somebody else are not written over; what a killed run has left empty is taken. */
static void only_an_empty_folder_is_taken(void **state)
{
	struct store *s = create(*state, "mine"), *second = NULL;
	struct error e = { 0 };
	char text[8] = "";
	FILE *f;

	store_close(s);
	assert_int_equal(store_create(scratch_path(*state, "mine"), NULL, NULL, STORE_RUN, &second, &e), 0);
	store_close(second);
	scratch_text(*state, "mine/scenario.ini", "old\n");
	assert_int_equal(store_create(scratch_path(*state, "mine"), NULL, NULL, STORE_RUN, &second, &e), -1);
	assert_null(second);
	assert_int_equal(e.status, STATUS_USAGE);
	holds(e.text, "is not empty");
	error_clear(&e);
	f = fopen(scratch_path(*state, "mine/scenario.ini"), "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, "old\n");
}

static void places_that_cannot_be_written(void **state)
{
	struct store *out = NULL;
	struct error e = { 0 };
	char path[600];

	snprintf(path, sizeof(path), "%s/run", scratch_text(*state, "file", "x"));
	assert_int_equal(store_create(path, NULL, NULL, STORE_RUN, &out, &e), -1);
	assert_null(out);
	assert_int_equal(e.status, STATUS_HOST);
	holds(e.text, "cannot make the folder");
	error_clear(&e);
	assert_int_equal(store_create(scratch_path(*state, "file"), NULL, NULL, STORE_RUN, &out, &e), -1);
	assert_null(out);
	holds(e.text, "Not a directory");
	error_clear(&e);
	assert_int_equal(dirs_make("", &e), -1);
}

static void writing_replaces_whole_files(void **state)
{
	struct store *s = create(*state, "run");
	struct error e = { 0 };

	assert_int_equal(store_write(s, "trials/000001.json", "first, and long", 15, &e), 0);
	content(*state, "run/trials/000001.json", "first, and long");
	/* What a kill left behind is in nobody's way. */
	scratch_text(*state, "run/.writing", "half of somethi");
	assert_int_equal(store_write(s, "trials/000001.json", "second", 6, &e), 0);
	content(*state, "run/trials/000001.json", "second");
	assert_false(there(*state, "run/.writing"));
	assert_int_equal(store_write(s, "none/x", "y", 1, &e), -1);
	assert_int_equal(e.status, STATUS_HOST);
	holds(e.text, "cannot write");
	holds(e.text, "none/x");
	assert_false(there(*state, "run/.writing"));
	store_close(s);
}

/* Processes that write into one folder wait for each other: each file is whole, whoever was last. */
static void writers_at_once(void **state)
{
	struct store *s = create(*state, "run");
	struct error e = { 0 };
	char bytes[4096];
	pid_t child[4];

	for (int i = 0; i < 4; i++) {
		child[i] = fork();
		assert_true(child[i] >= 0);
		if (child[i])
			continue;
		memset(bytes, 'a' + i, sizeof(bytes));
		for (int k = 0; k < 25; k++)
			if (store_write(s, "report.txt", bytes, (size_t)(i + 1) * 1000, &e))
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < 4; i++) {
		int status;

		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
	FILE *f = fopen(scratch_path(*state, "run/report.txt"), "r");
	size_t n;

	assert_non_null(f);
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	assert_int_equal(n, (size_t)(bytes[0] - 'a' + 1) * 1000);
	for (size_t i = 1; i < n; i++)
		assert_int_equal(bytes[i], bytes[0]);
	store_close(s);
}

static void json_comes_back(void **state)
{
	struct store *s = create(*state, "run");
	struct error e = { 0 };
	json_t *value = json_pack("{s:s,s:f,s:I}", "schema", "kickbench-trial/1", "real", 0.1, "big", (json_int_t)1 << 60), *have;

	assert_int_equal(store_write_json(s, "trials/000002.json", value, &e), 0);
	assert_int_equal(store_read_json(s, "trials/000002.json", "kickbench-trial/1", &have, &e), 0);
	assert_true(json_equal(value, have));
	json_decref(have);
	json_decref(value);
	store_close(s);
}

static void damage_and_other_versions_are_refused(void **state)
{
	static const struct { const char *text, *piece; } rows[] = {
		{ "{\"schema\":\"kickbench-run/2\"}", "schema is kickbench-run/2, expected kickbench-run/1" },
		{ "{\"schema\":\"kickbench-run/10\"}", "schema is kickbench-run/10" },
		{ "{\"schema\":\"kickbench-trial/1\"}", "schema is kickbench-trial/1" },
		{ "{\"schema\":1}", "schema is missing" }, { "[]", "schema is missing" },
		{ "{\"schema\":\"kickbench-run/1\",\n\"seed\": ,\n", "run.json:2: " },
		{ "{\"schema\":\"kickbench-run/1\",\n\"a\":1,\n\"a\":2}", "run.json:3: " },
		{ "", "run.json:" },
	};
	struct store *s = create(*state, "run");
	struct error e = { 0 };
	json_t *out;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		scratch_text(*state, "run/run.json", rows[i].text);
		assert_int_equal(store_read_json(s, "run.json", "kickbench-run/1", &out, &e), -1);
		assert_null(out);
		assert_int_equal(e.status, STATUS_USAGE);
		holds(e.text, "run/run.json");
		holds(e.text, rows[i].piece);
		error_clear(&e);
	}
	assert_int_equal(store_read_json(s, "trials/000009.json", "kickbench-trial/1", &out, &e), -1);
	holds(e.text, "000009.json");
	store_close(s);
}

static void cut_trials_are_all_kept(void **state)
{
	struct store *s = create(*state, "run");
	struct error e = { 0 };
	const char *texts[] = { "one", "two", "three" };

	for (int i = 0; i < 3; i++) {
		assert_int_equal(store_write(s, "trials/000007.json", texts[i], strlen(texts[i]), &e), 0);
		assert_int_equal(store_cut_trial(s, 7, &e), 0);
		assert_false(store_has(s, "trials/000007.json"));
	}
	content(*state, "run/trials/000007.cut-1.json", "one");
	content(*state, "run/trials/000007.cut-2.json", "two");
	content(*state, "run/trials/000007.cut-3.json", "three");
	assert_int_equal(store_cut_trial(s, 7, &e), -1);
	assert_int_equal(e.status, STATUS_HOST);
	store_close(s);
}

static void only_what_is_empty_is_discarded(void **state)
{
	struct store *s = create(*state, "empty");
	struct error e = { 0 };

	store_discard(s);
	store_close(s);
	assert_false(there(*state, "empty"));
	s = create(*state, "full");
	assert_int_equal(store_write(s, "console/000001.log", "x", 1, &e), 0);
	store_discard(s);
	store_close(s);
	content(*state, "full/console/000001.log", "x");
	assert_false(there(*state, "full/trials"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)

static void a_folder_has_what_is_of_its_kind(void **state)
{
	struct store *out;
	struct error e = { 0 };

	store_close(create(*state, "run"));
	assert_true(there(*state, "run/trials") && there(*state, "run/domains") && there(*state, "run/console"));
	assert_false(there(*state, "run/cells"));
	assert_int_equal(store_create(scratch_path(*state, "matrix"), NULL, NULL, STORE_MATRIX, &out, &e), 0);
	assert_true(there(*state, "matrix/cells") && there(*state, "matrix/console"));
	assert_false(there(*state, "matrix/trials") || there(*state, "matrix/domains"));
	store_discard(out);
	store_close(out);
	assert_false(there(*state, "matrix"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_run_has_its_folders), TEST(named_runs_do_not_collide), TEST(a_taken_folder_is_refused),
		TEST(only_an_empty_folder_is_taken), TEST(a_folder_has_what_is_of_its_kind),
		TEST(places_that_cannot_be_written), TEST(writing_replaces_whole_files), TEST(writers_at_once), TEST(json_comes_back),
		TEST(damage_and_other_versions_are_refused), TEST(cut_trials_are_all_kept), TEST(only_what_is_empty_is_discarded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
