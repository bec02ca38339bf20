/* host/cells.c and plan.c: workloads on files of the test disk's file system, and a boot for every trial. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/plan.h"
#include "tests/unit/scratch.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
/* Nine lines, then a workload in line 10. */
#define EXT4 "[scenario]\nbaseline = a\n[disk]\nsize = 64M\nfilesystem = ext4\n[variant a]\nioeventfd = on\n[variant b]\n\n"
#define JOB "[workload w]\nrw = read\nbs = 4k\n"

static int plan(struct scratch *s, const char *text, struct scenario **scenario, struct plan **p, struct error *e)
{
	if (scenario_read(scratch_text(s, "p.ini", text), NULL, 0, scenario, e))
		fail_msg("refused: %s", e->text);
	return plan_make(*scenario, 1, p, e);
}

static void refuse(struct scratch *scratch, const char *text, int line, const char *piece)
{
	struct scenario *s;
	struct error e = { 0 };
	struct plan *p;
	char place[600];

	if (plan(scratch, text, &s, &p, &e) == 0)
		fail_msg("planned: %s", text);
	assert_int_equal(e.status, STATUS_USAGE);
	snprintf(place, sizeof(place), "%s/p.ini:%d: ", scratch->folder, line);
	if (strncmp(e.text, place, strlen(place)))
		fail_msg("\"%s\" does not begin with \"%s\"", e.text, place);
	holds(e.text, piece);
	scenario_free(s);
}

static void files_are_named_as_they_are(void **state)
{
	static const char *const argv[] = { "--name=w", "--rw=read", "--bs=4k", "--directory=/mnt/kb", "--size=1m",
					    "--numjobs=3", "--group_reporting" };
	struct scenario *s;
	struct error e = { 0 };
	struct plan *p;

	if (plan(*state, EXT4 JOB "directory = /mnt/kb\nsize = 1m\nnumjobs = 3\n[workload raw]\nrw = read\nbs = 4k\n", &s, &p, &e))
		fail_msg("%s", e.text);
	assert_true(p->cell[0].on_files);
	assert_true(p->cell[0].writes); /* it lays them out */
	assert_int_equal(p->cell[0].bytes, 3 << 20);
	assert_int_equal(p->cell[0].argc, COUNT(argv));
	for (size_t i = 0; i < COUNT(argv); i++)
		assert_string_equal(p->cell[0].argv[i], argv[i]);
	assert_false(p->cell[1].on_files);
	assert_false(p->cell[1].writes);
	assert_int_equal(p->cell[1].bytes, 64 << 20);
	plan_free(p);
	scenario_free(s);
}

static void names_are_below_the_mount(void **state)
{
	static const struct { const char *options; bool fine; } rows[] = {
		{ "filename = /mnt/kb/a", true }, { "filename = /mnt/kb/a:/mnt/kb/b/c", true },
		{ "filename = /mnt/kb/a\\:b", true }, { "directory = /mnt/kb", true }, { "directory = /mnt/kb/x:/mnt/kb/y", true },
		{ "filename = /mnt/kb/..a", true }, { "directory = /mnt/kb\nfilename = a", true },
		{ "filename = /mnt/kb", false }, { "filename = /mnt/kb/", false }, { "filename = a", false },
		{ "filename = /mnt/kba", false }, { "filename = /mnt/kb/a:/tmp/b", false }, { "filename = /dev/vda", false },
		{ "filename = /mnt/kb/../x", false }, { "filename = /mnt/kb/x/..", false },
		{ "directory = /mnt", false }, { "directory = /mnt/kb/..", false }, { "directory = /mnt/kb:/tmp", false },
		{ "directory = /mnt/kb\nfilename = ../a", false }, { "filename = /mnt/kb/a, /tmp/a", false },
	};
	char text[512];

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct scenario *s;
		struct error e = { 0 };
		struct plan *p;

		snprintf(text, sizeof(text), EXT4 JOB "size = 1m\n%s\n", rows[i].options);
		if ((plan(*state, text, &s, &p, &e) == 0) != rows[i].fine)
			fail_msg("%s: %s", rows[i].options, rows[i].fine ? e.text : "was taken");
		if (!rows[i].fine)
			holds(e.text, "is not below /mnt/kb");
		plan_free(p);
		scenario_free(s);
	}
}

static void without_a_file_system_there_are_no_names(void **state)
{
	refuse(*state, "[scenario]\nbaseline = a\n[variant a]\n[variant b]\n" JOB "filename = /mnt/kb/a\nsize = 1m\n", 8,
	       "with filesystem = ext4 or xfs in [disk]");
	refuse(*state, "[scenario]\nbaseline = a\n[variant a]\nfilesystem = ext4\n[variant b]\n" JOB
	       "directory = /mnt/kb\nsize = 1m\n", 9, "directory in [workload w]");
}

static void a_file_system_is_not_written_over(void **state)
{
	refuse(*state, EXT4 "[workload w]\nrw = randrw\nbs = 4k\n", 10, "would write over the ext4 of the test disk");
}

static void files_have_to_fit(void **state)
{
	refuse(*state, EXT4 JOB "directory = /mnt/kb\n", 10, "its files need a size or filesize");
	refuse(*state, EXT4 JOB "directory = /mnt/kb\nsize = 100%\n", 10, "need a size");
	refuse(*state, EXT4 JOB "directory = /mnt/kb\nsize = 65m\n", 10, "do not fit on the test disk of 67108864 bytes");
	refuse(*state, EXT4 JOB "directory = /mnt/kb\nsize = 22m\nnumjobs = 3\n", 10, "do not fit");
	refuse(*state, EXT4 JOB "directory = /mnt/kb\nsize = 18446744073709547520\n", 10, "do not fit");
}

static void shared_files_count_once(void **state)
{
	struct scenario *s;
	struct error e = { 0 };
	struct plan *p;

	if (plan(*state, EXT4 JOB "filename = /mnt/kb/f\nsize = 22m\nnumjobs = 3\n", &s, &p, &e))
		fail_msg("%s", e.text);
	assert_int_equal(p->cell[0].bytes, 66 << 20);
	plan_free(p);
	scenario_free(s);
}

/* A boot a trial; a cell's variants side by side, in both orders over the run; every block whole. */
static void every_trial_has_its_boot(void **state)
{
	struct scenario *s;
	struct error e = { 0 };
	struct plan *p;
	unsigned first[2] = { 0 }, seen[10] = { 0 };

	if (plan(*state, "[scenario]\nbaseline = a\nblocks = 10\nrepeats = 2\nfresh_boot = per-trial\n[variant a]\n[variant b]\n"
		 "[workload w]\nrw = read\nbs = 4k, 8k, 16k\n", &s, &p, &e))
		fail_msg("%s", e.text);
	assert_int_equal(p->ntrials, 10 * 2 * 3 * 2);
	assert_int_equal(p->nboots, p->ntrials);
	for (size_t i = 0; i < p->nboots; i += 2) {
		const struct plan_boot *b = &p->boot[i];
		const struct plan_trial *t = &p->trial[i];

		for (size_t k = 0; k < 2; k++) {
			assert_int_equal(b[k].number, i + k + 1);
			assert_int_equal(b[k].ntrials, 1);
			assert_int_equal(b[k].first_trial, i + k);
			assert_int_equal(b[k].ndisks, 1);
			assert_int_equal(b[k].block, i / 12);
			assert_int_equal(b[k].variant[0], t[k].variant);
			assert_int_equal(t[k].boot, i + k);
			assert_int_equal(t[k].block, i / 12);
			assert_int_equal(t[k].repeat, i % 12 / 6);
		}
		assert_int_equal(t[0].cell, t[1].cell);
		assert_int_equal(t[0].variant + t[1].variant, 1);
		first[t[0].variant]++;
		seen[t[0].block] |= 1u << (t[0].repeat * 3 + t[0].cell);
	}
	for (unsigned block = 0; block < 10; block++)
		assert_int_equal(seen[block], 63);
	assert_in_range(first[0], 15, 45); /* of 60 */
	plan_free(p);
	scenario_free(s);
}

static void a_boot_each_costs_its_time(void **state)
{
	static const struct pace pace = { .boot_s = 2, .stop_s = 0.5, .trial_s = 0.25, .iops = 1000, .bandwidth = 1e6,
					  .restore = 1 << 20, .measured = true };
	struct scenario *s;
	struct error e = { 0 };
	struct plan *p;
	bool exact;

	if (plan(*state, "[scenario]\nbaseline = a\nblocks = 1\nfresh_boot = per-trial\n[disk]\nsize = 64M\nfilesystem = ext4\n"
		 "[variant a]\n[variant b]\n" JOB "filename = /mnt/kb/f\nsize = 1m\ntime_based = 1\nruntime = 1, 3\n", &s, &p, &e))
		fail_msg("%s", e.text);
	/* two variants of two cells; files are written, so each boot's 64 MiB are restored at 1 MiB/s */
	assert_true(fabs(plan_seconds(s, p, &pace, &exact) - (4 * (2.5 + 0.25 + 64) + 2 * (1 + 3))) < 1e-6);
	plan_free(p);
	scenario_free(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_are_named_as_they_are), TEST(names_are_below_the_mount),
		TEST(without_a_file_system_there_are_no_names), TEST(a_file_system_is_not_written_over),
		TEST(files_have_to_fit), TEST(shared_files_count_once), TEST(every_trial_has_its_boot),
		TEST(a_boot_each_costs_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
