/*
 * host/view.c and view_folders.c: which values stand where in a view, what it says of what is not in it, and the reports
 * of views, against tests/golden/compare-CASE/report.txt (KB_UPDATE_GOLDEN=1 rewrites them). Runs from the project's root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/compare.h"
#include "host/report_text.h"
#include "host/view.h"
#include "host/view_match.h"
#include "tests/unit/run_folder.h"

static struct folder plain(void)
{
	return (struct folder){ .cell = { "randread", "randwrite" }, .variant = { "none", "kickfd" }, .blocks = 3, .repeats = 1,
				.pairing = "boots", .primary = "iops" };
}

/* Every trial tells where it comes from: cell, variant, block are the digits of its IOPS. */
static void telling(const struct folder_place *at, struct folder_trial *t)
{
	t->iops = 1000 * (at->cell + 1) + 100 * (at->variant + 1) + 10 * at->block;
}

/* Set a member of run.json, path like "versions.hypervisor" or "cells.0.guest" (parent has to be there). */
static void set_in(const struct folder *f, const char *path, json_t *value)
{
	char file[300], words[100], *word, *next;
	json_t *run, *at;

	snprintf(file, sizeof(file), "%s/run.json", f->path);
	snprintf(words, sizeof(words), "%s", path);
	at = run = json_load_file(file, 0, NULL);
	for (word = strtok(words, "."); (next = strtok(NULL, ".")); word = next)
		at = json_is_array(at) ? json_array_get(at, (size_t)atoi(word)) : json_object_get(at, word);
	assert_int_equal(json_object_set_new(at, word, value), 0);
	assert_int_equal(json_dump_file(run, file, 0), 0);
	json_decref(run);
}

static struct dataset *load(const struct folder *f)
{
	struct error e = { 0 };
	struct dataset *d;

	if (dataset_load(f->path, &d, &e))
		fail_msg("%s", e.text);
	return d;
}

static struct dataset *made(int failed, struct dataset *const *view, const struct error *e)
{
	if (failed)
		fail_msg("%s", e->text);
	return *view;
}

static struct dataset *pick(const struct dataset *d, const char *baseline, const char *candidate)
{
	struct dataset *view;
	struct error e = { 0 };

	return made(view_variants(d, baseline, candidate, &view, &e), &view, &e);
}

static struct dataset *group(const struct dataset *d, enum view_group by)
{
	struct dataset *view;
	struct error e = { 0 };

	return made(view_group(d, by, &view, &e), &view, &e);
}

static struct dataset *join(const struct dataset *a, const char *va, const struct dataset *b, const char *vb)
{
	struct view_side side[2] = { { a, va }, { b, vb } };
	struct dataset *view;
	struct error e = { 0 };

	return made(view_folders(side, &view, &e), &view, &e);
}

static void refused(const struct dataset *a, const char *va, const struct dataset *b, const char *vb, const char *why)
{
	struct view_side side[2] = { { a, va }, { b, vb } };
	struct dataset *view;
	struct error e = { 0 };

	assert_int_equal(view_folders(side, &view, &e), -1);
	assert_null(view);
	if (!strstr(e.text, why))
		fail_msg("\"%s\" does not say \"%s\"", e.text, why);
}

static void noted(const struct dataset *d, const char *key, const char *piece)
{
	const json_t *list = json_object_get(d->run, key), *note;
	size_t i;

	json_array_foreach(list, i, note)
		if (strstr(json_string_value(note), piece))
			return;
	fail_msg("no line in \"%s\" says \"%s\"", key, piece);
}

static double iops(const struct dataset *d, size_t cell, unsigned variant, size_t block)
{
	return dataset_candidate(d, cell, variant, block)->value[METRIC_IOPS];
}

/* ---- two variants of one folder ---- */

static void two_of_three_variants_stay_paired(void **state)
{
	struct folder f = plain();
	struct dataset *d, *view;

	(void)state;
	f.variant[2] = "packed";
	f.shape = telling;
	folder_make(&f);
	d = load(&f);
	view = pick(d, "packed", "kickfd");
	dataset_free(d); /* the view keeps nothing of it */
	assert_true(view->paired && view->nvariants == 2 && view->baseline == 0 && view->ncells == 2 && view->nblocks == 3);
	assert_string_equal(view->variant[0], "packed");
	for (size_t cell = 0; cell < 2; cell++)
		for (size_t block = 0; block < 3; block++) {
			double here = 1000 * ((double)cell + 1) + 10 * ((double)block + 1);

			assert_true(iops(view, cell, 0, block) == here + 300 && iops(view, cell, 1, block) == here + 200);
		}
	assert_true(view->ntrials == 12 && view->nok == 12 && view->npoints == 12);
	for (size_t i = 0; i < 12; i++)
		assert_true(view->point[i].value[METRIC_IOPS] == iops(view, view->point[i].cell, view->point[i].variant, view->point[i].block));
	dataset_free(view);
	folder_remove(&f);
}

static void unknown_variants_are_refused(void **state)
{
	struct folder f = plain();
	struct dataset *d, *view;
	struct error e = { 0 };

	(void)state;
	folder_make(&f);
	d = load(&f);
	assert_int_equal(view_variants(d, "none", "kick", &view, &e), -1);
	assert_non_null(strstr(e.text, "has no variant \"kick\": it has none, kickfd"));
	e = (struct error){ 0 };
	assert_int_equal(view_variants(d, "none", "none", &view, &e), -1);
	assert_non_null(strstr(e.text, "none against itself"));
	dataset_free(d);
	folder_remove(&f);
}

/* A candidate is compared with the baseline of its own boot; in trial order: none, kickfd, none, packed. */
static void with_trial(const struct folder_place *at, struct folder_trial *t)
{
	t->iops = 1000 * at->trial;
}

static void disks_keep_the_baseline_of_their_boot(void **state)
{
	struct folder f = plain();
	struct dataset *d, *same, *view;

	(void)state;
	f.variant[2] = "packed";
	f.cell[1] = NULL;
	f.pairing = "disks";
	f.shape = with_trial;
	folder_make(&f);
	d = load(&f);
	view = pick(d, "none", "packed");
	assert_true(iops(view, 0, 0, 0) == 3000 && iops(view, 0, 1, 0) == 4000);
	assert_true(iops(view, 0, 0, 2) == 11000 && iops(view, 0, 1, 2) == 12000);
	assert_int_equal(view->npoints, 6);
	dataset_free(view);
	/* against another folder every one of its disks is a run: six of none */
	same = load(&f);
	view = join(d, "none", same, "packed");
	dataset_free(same);
	assert_false(view->paired);
	assert_int_equal(view->nblocks, 6);
	for (size_t run = 0; run < 6; run++)
		assert_true(iops(view, 0, 0, run) == 1000 + (run % 3) * 4000 + (run / 3) * 2000);
	assert_true(iops(view, 0, 1, 2) == 12000 && dataset_candidate(view, 0, 1, 3)->planned == 0);
	dataset_free(view);
	dataset_free(d);
	folder_remove(&f);
}

/* ---- two folders ---- */

static void cells_and_variants_are_matched_by_name(void **state)
{
	struct folder a = plain(), b = plain();
	struct dataset *da, *db, *view;

	(void)state;
	a.shape = b.shape = telling;
	a.cell[2] = "only here";
	a.variant[2] = "packed";
	b.cell[0] = "randwrite";
	b.cell[1] = "randread";
	b.cell[2] = "only there";
	b.blocks = 5;
	folder_make(&a);
	folder_make(&b);
	set_in(&b, "variants.1.settings.cache", json_string("writeback"));
	set_in(&b, "guests.0.vcpus", json_integer(2));
	da = load(&a);
	db = load(&b);
	view = join(da, NULL, db, NULL);
	dataset_free(da);
	dataset_free(db);
	assert_true(!view->paired && view->nvariants == 2 && view->nsources == 2 && view->nblocks == 5);
	assert_string_equal(view->variant[0], "A");
	assert_string_equal(view->source[1].label, "B");
	assert_string_equal(view->source[1].path, b.path);
	assert_int_equal(view->ncells, 4);
	assert_string_equal(view->cell[0].name, "randread, none");
	assert_string_equal(view->cell[3].name, "randwrite, kickfd");
	assert_true(iops(view, 0, 0, 1) == 1120 && iops(view, 0, 1, 1) == 2120);
	assert_true(iops(view, 3, 0, 0) == 2210 && iops(view, 3, 1, 4) == 1250);
	assert_true(dataset_candidate(view, 3, 0, 3)->planned == 0 && isnan(iops(view, 3, 0, 3)));
	assert_true(view->ntrials == 4 * 3 + 4 * 5 && view->nok == view->ntrials);
	noted(view, "notes", "only A has: only here");
	noted(view, "notes", "only B has: only there");
	noted(view, "notes", "only A has the variant packed");
	noted(view, "differ", "kickfd's cache: A none, B writeback");
	noted(view, "notes", "A and B differ in vCPUs, kickfd's cache: each of these may be the reason for a difference");
	dataset_free(view);
	folder_remove(&a);
	folder_remove(&b);
}

static void cells_without_a_namesake_are_matched_by_what_they_did(void **state)
{
	struct folder a = plain(), b = plain();
	struct dataset *da, *db, *view;

	(void)state;
	a.shape = b.shape = telling;
	folder_make(&a);
	b.cell[0] = "w";
	b.cell[1] = "r";
	folder_make(&b);
	set_in(&a, "cells.0.argv", json_pack("[s,s,s]", "--name=randread", "--rw=randread", "--bs=4k"));
	set_in(&a, "cells.1.argv", json_pack("[s,s,s]", "--rw=randwrite", "--iodepth=1", "--numjobs=1"));
	set_in(&b, "cells.0.options", json_pack("{s:s,s:s}", "rw", "randwrite", "ioengine", "psync"));
	set_in(&b, "cells.1.options", json_pack("{s:s,s:s,s:s}", "rw", "randread", "bs", "4096", "numjobs", "1"));
	da = load(&a);
	db = load(&b);
	view = join(da, "none", db, "kickfd");
	assert_string_equal(view->variant[0], "none");
	assert_string_equal(view->variant[1], "kickfd");
	assert_int_equal(view->ncells, 2);
	assert_true(iops(view, 0, 0, 0) == 1110 && iops(view, 0, 1, 0) == 2210);
	assert_true(iops(view, 1, 0, 0) == 2110 && iops(view, 1, 1, 0) == 1210);
	dataset_free(view);
	dataset_free(db);
	set_in(&b, "cells.1.options", json_pack("{s:s,s:s}", "rw", "randread", "bs", "8k"));
	db = load(&b);
	view = join(da, "none", db, "kickfd");
	assert_int_equal(view->ncells, 1);
	dataset_free(view);
	dataset_free(da);
	dataset_free(db);
	folder_remove(&a);
	folder_remove(&b);
}

/* The same names, made of another scenario: nobody may take the block size's effect for that of the variant. */
static void what_namesakes_did_differently_is_told(void **state)
{
	struct folder a = plain(), b = plain();
	struct dataset *da, *db, *view;

	(void)state;
	folder_make(&a);
	folder_make(&b);
	for (unsigned i = 0; i < 2; i++) {
		char cell[20];

		snprintf(cell, sizeof(cell), "cells.%u.argv", i);
		set_in(&a, cell, json_pack("[s,s,s,s,s]", "--name=a", "--rw=randread", "--bs=4k", "--size=1g", "--direct=1"));
		set_in(&b, cell, json_pack("[s,s,s,s]", "--name=b", "--readwrite=randread", "--bs=16k", "--size=1024m"));
	}
	set_in(&b, "cells.1.guest", json_string("openbsd"));
	da = load(&a);
	db = load(&b);
	view = join(da, NULL, db, NULL);
	noted(view, "differ", "bs: A 4k, B 16k (randread; and 1 more cell)");
	noted(view, "differ", "direct: A 1, B (default) (randread; and 1 more cell)");
	noted(view, "differ", "guest: A linux, B openbsd (randwrite)");
	noted(view, "notes", "A and B differ in bs, direct, guest: each of these may be");
	assert_int_equal(json_array_size(json_object_get(view->run, "differ")), 3);
	dataset_free(view);
	dataset_free(db);
	set_in(&b, "imported", json_true()); /* fio's text tells few of a job's options */
	db = load(&b);
	view = join(da, NULL, db, NULL);
	assert_int_equal(json_array_size(json_object_get(view->run, "differ")), 2);
	dataset_free(view);
	dataset_free(da);
	dataset_free(db);
	folder_remove(&a);
	folder_remove(&b);
}

static void what_fits_several_cells_is_not_guessed(void **state)
{
	struct folder a = plain(), b = plain();
	struct dataset *da, *db;

	(void)state;
	b.cell[0] = "x";
	b.cell[1] = "y";
	folder_make(&a);
	folder_make(&b);
	set_in(&a, "cells.0.options", json_pack("{s:s}", "rw", "read"));
	set_in(&b, "cells.0.options", json_pack("{s:s}", "rw", "read"));
	set_in(&b, "cells.1.options", json_pack("{s:s,s:s}", "rw", "read", "bs", "4k"));
	da = load(&a);
	db = load(&b);
	refused(da, NULL, db, NULL, "no cell in common. ");
	refused(da, NULL, db, NULL, " has: randread; randwrite. ");
	refused(da, NULL, db, NULL, " has: x; y");
	dataset_free(da);
	dataset_free(db);
	folder_remove(&a);
	folder_remove(&b);
}

static void on_kvm(const struct folder_place *at, struct folder_trial *t)
{
	(void)at;
	t->accel = "kvm";
}

static void variants_that_fit_nothing_and_accelerators_are_refused(void **state)
{
	struct folder a = plain(), b = plain();
	struct dataset *da, *db;

	(void)state;
	b.variant[0] = "old";
	b.variant[1] = "new";
	b.shape = on_kvm;
	folder_make(&a);
	folder_make(&b);
	set_in(&b, "accel.used", json_string("kvm"));
	da = load(&a);
	db = load(&b);
	refused(da, NULL, db, NULL, "no variant in common (none, kickfd; old, new)");
	refused(da, "none", db, NULL, "no variant in common");
	refused(da, "none", db, "newer", "has no variant \"newer\": it has old, new");
	refused(da, "none", db, "new", " ran under tcg and ");
	dataset_free(da);
	dataset_free(db);
	folder_remove(&a);
	folder_remove(&b);
}

static void identities_have_fios_defaults(void **state)
{
	static const struct { const char *cell, *identity; } cases[] = {
		{ "{\"argv\":[\"--rw=readwrite\",\"--bs=64k\"]}", "rw=rw bs=65536 iodepth=1 numjobs=1 ioengine=psync" },
		{ "{\"options\":{\"rw\":\"randread\",\"ioengine\":\"libaio\",\"iodepth\":\"32\",\"numjobs\":\"4\"}}",
		  "rw=randread bs=4096 iodepth=32 numjobs=4 ioengine=libaio" },
		{ "{\"argv\":[\"--readwrite=write\",\"--blocksize=1M\"],\"options\":{\"bs\":\"2M\"}}",
		  "rw=write bs=2097152 iodepth=1 numjobs=1 ioengine=psync" },
		{ "{\"argv\":[]}", "" },
		{ "{\"argv\":[\"--rwmixread=70\"]}", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *cell = json_loads(cases[i].cell, 0, NULL);
		struct text t = { 0 };

		assert_non_null(cell);
		view_identity(cell, &t);
		assert_string_equal(text_get(&t), cases[i].identity);
		text_free(&t);
		json_decref(cell);
	}
}

/* ---- guests and workloads ---- */

/* Cells: linux randread, linux randwrite, openbsd randread. */
static void two_guests(struct folder *f)
{
	*f = plain();
	f->cell[2] = "openbsd: randread";
	f->shape = telling;
	folder_make(f);
	set_in(f, "cells.0.workload", json_string("randread"));
	set_in(f, "cells.1.workload", json_string("randwrite"));
	set_in(f, "cells.2.workload", json_string("randread"));
	set_in(f, "cells.2.guest", json_string("openbsd"));
}

static void guests_against_each_other(void **state)
{
	struct folder f;
	struct dataset *d, *view;

	(void)state;
	two_guests(&f);
	d = load(&f);
	view = group(d, VIEW_GUEST);
	dataset_free(d);
	assert_true(view->paired && view->nvariants == 2 && view->ncells == 4 && view->nblocks == 3);
	assert_string_equal(view->variant[0], "linux");
	assert_string_equal(view->variant[1], "openbsd");
	assert_string_equal(view->cell[0].name, "randread, none");
	assert_string_equal(view->cell[3].name, "randwrite, kickfd");
	assert_true(iops(view, 0, 0, 0) == 1110 && iops(view, 0, 1, 0) == 3110);
	assert_true(iops(view, 1, 0, 2) == 1230 && iops(view, 1, 1, 2) == 3230);
	/* openbsd never wrote */
	assert_true(iops(view, 2, 0, 0) == 2110 && dataset_candidate(view, 2, 1, 0)->planned == 0);
	dataset_free(view);
	folder_remove(&f);
}

static void workloads_against_each_other(void **state)
{
	struct folder f;
	struct dataset *d, *view;
	struct error e = { 0 };

	(void)state;
	two_guests(&f);
	d = load(&f);
	view = group(d, VIEW_WORKLOAD);
	assert_true(view->paired && view->nvariants == 2 && view->ncells == 4);
	assert_string_equal(view->variant[1], "randwrite");
	assert_string_equal(view->cell[1].name, "linux, kickfd");
	assert_string_equal(view->cell[2].name, "openbsd, none");
	assert_true(iops(view, 1, 0, 1) == 1220 && iops(view, 1, 1, 1) == 2220);
	dataset_free(view);
	dataset_free(d);
	folder_remove(&f);
	f = plain();
	folder_make(&f);
	d = load(&f);
	assert_int_equal(view_group(d, VIEW_GUEST, &view, &e), -1);
	assert_non_null(strstr(e.text, "has one guest: there is nothing to compare by"));
	dataset_free(d);
	folder_remove(&f);
}

/* A baseline that is alone in its boots has no partner. */
static void guests_with_disks_of_one_variant(void **state)
{
	struct folder f = plain();
	struct dataset *d, *view;

	(void)state;
	f.variant[1] = NULL;
	f.shape = telling;
	folder_make(&f);
	set_in(&f, "scenario.pairing", json_string("disks"));
	set_in(&f, "cells.0.workload", json_string("rw"));
	set_in(&f, "cells.1.workload", json_string("rw"));
	set_in(&f, "cells.1.guest", json_string("openbsd"));
	d = load(&f);
	view = group(d, VIEW_GUEST);
	assert_true(view->ncells == 1 && view->nblocks == 3 && view->ntrials == 6);
	for (size_t block = 0; block < 3; block++)
		assert_true(iops(view, 0, 0, block) == 1110 + 10 * (double)block && iops(view, 0, 1, block) == 2110 + 10 * (double)block);
	dataset_free(view);
	dataset_free(d);
	folder_remove(&f);
}

/* ---- reports ---- */

static void compare_with_golden(const char *name, const char *got)
{
	const char *update = getenv("KB_UPDATE_GOLDEN");
	char path[256], *want = calloc(1, 1 << 18);
	FILE *in;

	snprintf(path, sizeof(path), "tests/golden/compare-%s", name);
	if (update && strcmp(update, "1") == 0) {
		mkdir(path, 0777);
		folder_put(path, "report.txt", got);
	} else {
		snprintf(path, sizeof(path), "tests/golden/compare-%s/report.txt", name);
		in = fopen(path, "r");
		if (in) {
			want[fread(want, 1, (1 << 18) - 1, in)] = '\0';
			fclose(in);
		}
		for (const char *w = want, *g = got; *w || *g; w += strcspn(w, "\n"), w += *w == '\n', g += strcspn(g, "\n"), g += *g == '\n')
			if (strcspn(w, "\n") != strcspn(g, "\n") || memcmp(w, g, strcspn(w, "\n")) != 0)
				print_error("- %.*s\n+ %.*s\n", (int)strcspn(w, "\n"), w, (int)strcspn(g, "\n"), g);
		if (strcmp(want, got) != 0)
			fail_msg("the report is not %s", path);
	}
	free(want);
}

/* Folders have names that differ from run to run. */
static void rename_source(struct dataset *d, const char *const path[2])
{
	for (size_t i = 0; i < d->nsources && d->nsources > 1; i++)
		d->source[i].path = path[i];
}

static void report(const char *name, struct dataset *view)
{
	struct comparison *c;
	struct text text = { 0 };
	struct error e = { 0 };

	rename_source(view, (const char *[]){ "results/before", "results/after" });
	if (compare(view, &c, &e))
		fail_msg("%s", e.text);
	report_text(c, &text);
	compare_with_golden(name, text_get(&text));
	text_free(&text);
	comparison_free(c);
	dataset_free(view);
}

/* The second emulator is 8 % slower, its third boot of kickfd stalled in randwrite. */
static void slower(const struct folder_place *at, struct folder_trial *t)
{
	t->iops *= 0.92 * (1 + 0.005 * folder_noise(at->block, at->cell, 77));
	if (at->cell == 1 && at->variant == 1 && at->block == 3) {
		t->status = "stalled";
		t->message = "no completion for 30 s";
	}
}

static void the_report_of_two_folders(void **state)
{
	struct folder a = plain(), b = plain();
	struct dataset *da, *db;

	(void)state;
	a.blocks = 8;
	b.blocks = 6;
	b.shape = slower;
	a.cell[2] = "read";
	folder_make(&a);
	folder_make(&b);
	set_in(&b, "versions.hypervisor", json_string("QEMU 8.2.0"));
	set_in(&b, "environment.kernel", json_string("6.1.0-40"));
	set_in(&a, "environment.kernel", json_string("6.1.0-32"));
	set_in(&b, "started", json_string("2026-02-14T12:00:00Z"));
	set_in(&b, "set", json_pack("[s]", "disk.size=64M"));
	da = load(&a);
	db = load(&b);
	report("folders", join(da, NULL, db, NULL));
	report("folder-variants", join(da, "none", db, "kickfd"));
	dataset_free(da);
	dataset_free(db);
	folder_remove(&a);
	folder_remove(&b);
}

/* One run of each side, the second without counters of the host. */
static void lone(const struct folder_place *at, struct folder_trial *t)
{
	t->iops = at->variant ? 6120 : 5411;
	t->clat_ns = at->variant ? 129000 : 88000;
	t->guest_cpu_us = at->variant ? 68 : 144;
	t->host_cpu_us = at->variant ? -1 : 100;
	t->device_us = -1;
}

static void the_report_of_single_runs(void **state)
{
	struct folder f = plain();
	struct dataset *d, *same;

	(void)state;
	f.blocks = 1;
	f.shape = lone;
	folder_make(&f);
	d = load(&f);
	same = load(&f);
	report("single-runs", join(d, "none", same, "kickfd"));
	d->primary = METRIC_HOST_CPU;
	report("no-data", join(d, "none", same, "kickfd"));
	dataset_free(same);
	dataset_free(d);
	folder_remove(&f);
}

static void by_guest(const struct folder_place *at, struct folder_trial *t)
{
	if (at->cell == 2)
		t->iops *= 0.5;
}

static void the_report_of_guests(void **state)
{
	struct folder f;
	struct dataset *d, *view;

	(void)state;
	f = plain();
	f.cell[2] = "openbsd: randread";
	f.cell[3] = "openbsd: randwrite";
	f.blocks = 8;
	f.shape = by_guest;
	folder_make(&f);
	for (int cell = 0; cell < 4; cell++) {
		char path[40];

		snprintf(path, sizeof(path), "cells.%d.workload", cell);
		set_in(&f, path, json_string(cell % 2 ? "randwrite" : "randread"));
		snprintf(path, sizeof(path), "cells.%d.guest", cell);
		set_in(&f, path, json_string(cell < 2 ? "linux" : "openbsd"));
	}
	d = load(&f);
	view = group(d, VIEW_GUEST);
	dataset_free(d);
	report("guests", view);
	folder_remove(&f);
}

static void a_stalled_trial_is_that_of_a_folder(void **state)
{
	struct folder a = plain(), b = plain();
	struct dataset *da, *db, *view;
	struct comparison *c;
	struct text t = { 0 };

	(void)state;
	b.shape = slower;
	folder_make(&a);
	folder_make(&b);
	da = load(&a);
	db = load(&b);
	view = join(da, NULL, db, NULL);
	assert_int_equal(compare(view, &c, &(struct error){ 0 }), 0);
	finding_words(c, &c->finding[3], &t); /* four trials a block: block 3's second boot ends with trial 12 */
	assert_string_equal(text_get(&t), "stalled: see trial 12 of B");
	text_free(&t);
	comparison_free(c);
	dataset_free(view);
	dataset_free(da);
	dataset_free(db);
	folder_remove(&a);
	folder_remove(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_of_three_variants_stay_paired),
		cmocka_unit_test(unknown_variants_are_refused),
		cmocka_unit_test(disks_keep_the_baseline_of_their_boot),
		cmocka_unit_test(cells_and_variants_are_matched_by_name),
		cmocka_unit_test(cells_without_a_namesake_are_matched_by_what_they_did),
		cmocka_unit_test(what_namesakes_did_differently_is_told),
		cmocka_unit_test(what_fits_several_cells_is_not_guessed),
		cmocka_unit_test(variants_that_fit_nothing_and_accelerators_are_refused),
		cmocka_unit_test(identities_have_fios_defaults),
		cmocka_unit_test(guests_against_each_other),
		cmocka_unit_test(workloads_against_each_other),
		cmocka_unit_test(guests_with_disks_of_one_variant),
		cmocka_unit_test(the_report_of_two_folders),
		cmocka_unit_test(the_report_of_single_runs),
		cmocka_unit_test(the_report_of_guests),
		cmocka_unit_test(a_stalled_trial_is_that_of_a_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
