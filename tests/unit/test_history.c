/*
 * Histories of made-up run folders: which runs meet in a series, what a point is, gaps, changes, and all forms. The text is
 * compared with tests/golden/history/history.txt (KB_UPDATE_GOLDEN=1 rewrites it). Runs from the project's root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/command.h"
#include "host/history.h"
#include "host/history_print.h"
#include "tests/unit/run_folder.h"
#include "tests/unit/scratch.h"

static double baseline_iops, gain; /* of the run that is being made */

/* Blocks of the baseline at 0.9, 1 and 1/0.9 times the run's level: their geometric mean is the level. */
static void levels(const struct folder_place *at, struct folder_trial *t)
{
	static const double factor[] = { 0.9, 1, 1 / 0.9 };

	t->iops = baseline_iops * factor[at->block - 1] * (at->variant ? gain * (1 + 0.01 * (at->block - 2.0)) : 1) *
		  (at->cell ? 0.5 : 1);
}

/* Change run.json of a folder; NULL leaves a member as it is. */
static void edit(const char *path, const char *started, const char *hypervisor, const char *accel, const char *host)
{
	char file[512];
	json_t *run;

	snprintf(file, sizeof(file), "%s/run.json", path);
	run = json_load_file(file, 0, NULL);
	assert_non_null(run);
	if (started)
		json_object_set_new(run, "started", json_string(started));
	if (hypervisor)
		json_object_set_new(json_object_get(run, "versions"), "hypervisor", json_string(hypervisor));
	if (accel)
		json_object_set_new(json_object_get(run, "accel"), "used", json_string(accel));
	if (host)
		json_object_set_new(json_object_get(run, "environment"), "host", json_string(host));
	folder_put_json(path, "run.json", run);
}

static void place(struct scratch *s, const char *name, char path[256])
{
	assert_true(strlen(s->folder) + strlen(name) + 2 <= 256);
	stpcpy(stpcpy(stpcpy(path, s->folder), "/"), name);
}

/* A run of three blocks on a day of January. Its path is valid until the next call. */
static struct folder make_run(struct scratch *s, const char *name, unsigned on)
{
	struct folder f = { .cell = { "randread", "randwrite" }, .variant = { "none", "kickfd" }, .blocks = 3, .repeats = 1,
			    .pairing = "boots", .primary = "iops", .shape = levels };
	char started[32];

	place(s, name, f.path);
	assert_int_equal(mkdir(f.path, 0777), 0);
	folder_write(&f);
	snprintf(started, sizeof(started), "2026-01-%02uT12:00:00Z", on);
	edit(f.path, started, NULL, NULL, NULL);
	return f;
}

/* Twelve days; from the seventh on another QEMU, with which kickfd wins 40 % instead of 20 %. */
static void make_course(struct scratch *s)
{
	for (unsigned d = 1; d <= 12; d++) {
		char name[16];
		struct folder f;

		snprintf(name, sizeof(name), "run-%02u", d % 100);
		baseline_iops = 6000 * (1 + 0.01 * folder_noise(d, 1, 1));
		gain = (d < 7 ? 1.2 : 1.4) * (1 + 0.01 * folder_noise(d, 2, 2));
		f = make_run(s, name, d);
		if (d >= 7)
			edit(f.path, NULL, "QEMU 8.2.0", NULL, NULL);
	}
}

static struct history *load(struct scratch *s, const struct history_options *o)
{
	struct history *h = history_new(o);

	for (unsigned d = 12; d > 0; d--) { /* not in their order */
		struct dataset *run;
		struct error e = { 0 };
		char name[16];
		const char *path;

		snprintf(name, sizeof(name), "run-%02u", d % 100);
		path = scratch_path(s, name);
		if (access(path, F_OK))
			continue;
		assert_int_equal(dataset_load(path, &run, &e), 0);
		assert_int_equal(history_add(h, run, &e), 0);
		dataset_free(run);
	}
	assert_int_equal(history_finish(h, &(struct error){ 0 }), 0);
	return h;
}

static const struct history_series *series(const struct history *h, const char *cell, const char *variant, bool ratio)
{
	for (size_t i = 0; i < h->nseries; i++)
		if (!strcmp(h->series[i].cell, cell) && !strcmp(h->series[i].variant, variant) && !h->series[i].baseline == !ratio)
			return &h->series[i];
	fail_msg("no series of %s, %s", cell, variant);
	return NULL;
}

static void is_near(double got, double want, double relative)
{
	if (!(fabs(got - want) <= relative * fabs(want)))
		fail_msg("%.9g is not %.9g", got, want);
}

/*
 * By hand: logs of the baseline's blocks are -c, 0, c with c = log(1/0.9) = 0.1053605: deviation c, standard error c/sqrt 3,
 * t(0.975, 2) = 4.302653: half the interval is 0.2617308 in logs. The ratio's are log 0.99, 0, log 1.01 on top of the gain.
 */
static void a_point_is_a_mean_with_its_interval(void **state)
{
	struct history_options o = { .metric = METRICS };
	const struct history_series *s;
	struct history *h;

	baseline_iops = 6000;
	gain = 1.2;
	make_run(*state, "run-02", 2);
	baseline_iops = 8000;
	make_run(*state, "run-01", 1);
	h = load(*state, &o);
	assert_int_equal(h->nruns, 2);
	assert_int_equal(h->nseries, 6);
	s = series(h, "randread", "none", false);
	assert_int_equal(s->npoints, 2);
	assert_int_equal(s->point[0].run, 0);
	assert_int_equal(s->point[0].blocks, 3);
	assert_int_equal(s->point[0].kind, EFFECT_INTERVAL);
	is_near(s->point[0].value, 8000, 1e-4); /* by date, not in the order of adding; whole numbers of I/Os */
	is_near(s->point[1].value, 6000, 1e-4);
	is_near(log(s->point[1].high / s->point[1].value), 0.2617308, 2e-3);
	is_near(log(s->point[1].value / s->point[1].low), 0.2617308, 2e-3);
	s = series(h, "randwrite", "kickfd", true);
	assert_string_equal(s->baseline, "none");
	is_near(s->point[0].value, 1.2 * cbrt(0.99 * 1.01), 1e-4);
	is_near(log(s->point[0].high / s->point[0].low) / 2, 4.302653 * 0.0100006 / sqrt(3), 2e-2);
	assert_int_equal(s->search, HISTORY_TOO_FEW);
	history_free(h);
}

static void options_choose(void **state)
{
	struct history_options o = { .metric = METRIC_CLAT_MEAN, .variant = "kickfd", .cell = "*write" };
	struct history *h;

	baseline_iops = 6000;
	gain = 1.2;
	make_run(*state, "run-01", 1);
	h = load(*state, &o);
	assert_int_equal(h->nseries, 2); /* its value, and its ratio */
	assert_string_equal(h->series[0].cell, "randwrite");
	assert_string_equal(h->series[0].variant, "kickfd");
	assert_null(h->series[0].baseline);
	assert_string_equal(h->series[1].baseline, "none");
	assert_int_equal(h->series[0].metric, METRIC_CLAT_MEAN);
	is_near(h->series[0].point[0].value, 1.26 * 150000, 0.1);
	history_free(h);
}

static void a_change_is_found_where_it_is(void **state)
{
	struct history_options o = { .metric = METRICS };
	const struct history_series *s;
	struct history *h;

	make_course(*state);
	h = load(*state, &o);
	assert_int_equal(h->nsearched, 6);
	s = series(h, "randread", "kickfd", true);
	assert_int_equal(s->nchanges, 1);
	assert_int_equal(s->change[0].before, 5);
	assert_int_equal(s->change[0].after, 6);
	is_near(s->change[0].from, 1.2, 0.01);
	is_near(s->change[0].to, 1.4, 0.01);
	is_near(s->change[0].ratio, 1.4 / 1.2, 0.01);
	assert_true(s->change[0].low < s->change[0].ratio && s->change[0].low > 1.1 && s->change[0].high < 1.25);
	/* 6 against 6 of 12: only 2 of 924 ways to choose them have a step as clean */
	is_near(s->change[0].p, 2 / 924., 0.75);
	is_near(s->change[0].p_all, 6 * s->change[0].p, 1e-9);
	assert_int_equal(series(h, "randread", "none", false)->nchanges, 0);
	assert_int_equal(series(h, "randread", "none", false)->search, HISTORY_SEARCHED);
	history_free(h);
}

static void gaps_are_no_values(void **state)
{
	struct history_options o = { .metric = METRICS };
	const struct history_series *s;
	struct folder f;
	struct history *h;
	char file[600];

	baseline_iops = 6000;
	gain = 1.2;
	make_run(*state, "run-01", 1);
	f = make_run(*state, "run-02", 2);
	for (unsigned trial = 1; trial <= 12; trial++) { /* all that it measured is lost */
		snprintf(file, sizeof(file), "%s/trials/%06u.json", f.path, trial);
		assert_int_equal(unlink(file), 0);
	}
	f = (struct folder){ .cell = { "other" }, .variant = { "none", "kickfd" }, .blocks = 3, .repeats = 1, .pairing = "boots",
			     .primary = "iops", .shape = levels };
	place(*state, "run-03", f.path);
	assert_int_equal(mkdir(f.path, 0777), 0);
	folder_write(&f);
	edit(f.path, "2026-01-03T12:00:00Z", NULL, NULL, NULL);
	make_run(*state, "run-04", 4);
	h = load(*state, &o);
	s = series(h, "randread", "kickfd", false);
	assert_int_equal(s->npoints, 4);
	assert_int_equal(s->nvalues, 2);
	assert_true(s->point[1].planned && s->point[1].kind == EFFECT_NO_DATA && isnan(s->point[1].value));
	assert_true(!s->point[2].planned && isnan(s->point[2].value));
	assert_true(isfinite(s->point[3].value));
	assert_int_equal(series(h, "other", "kickfd", false)->npoints, 1);
	history_free(h);
}

static void accelerators_and_hosts_stay_apart(void **state)
{
	struct history_options o = { .metric = METRICS, .variant = "none", .cell = "randread" };
	struct history *h;
	struct folder f;
	struct text words = { 0 };

	baseline_iops = 6000;
	gain = 1.2;
	make_run(*state, "run-01", 1);
	f = make_run(*state, "run-02", 2);
	edit(f.path, NULL, NULL, "kvm", NULL);
	f = make_run(*state, "run-03", 3);
	edit(f.path, NULL, NULL, NULL, "elsewhere");
	make_run(*state, "run-04", 4);
	h = load(*state, &o);
	assert_int_equal(h->nseries, 3);
	assert_true(h->accels && h->hosts);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(h->series[i].npoints, strcmp(h->series[i].accel, "tcg") == 0 && !strstr(h->series[i].host, "elsewhere") ? 2 : 1);
	history_apart(h, &words);
	holds(text_get(&words), "several hosts and accelerators");
	text_free(&words);
	history_free(h);
}

/* ---- the command ---- */

static char printed[1 << 18];
static struct error problem;

static int history_with(struct scratch *s, ...)
{
	char *argv[16] = { (char *)"history" }, path[512];
	int argc = 1, status;
	va_list ap;
	FILE *in;

	va_start(ap, s);
	while ((argv[argc] = va_arg(ap, char *)))
		argc++;
	va_end(ap);
	snprintf(path, sizeof(path), "%s-printed", s->folder);
	argv[argc++] = (char *)"-o";
	argv[argc++] = path;
	argv[argc] = NULL;
	problem = (struct error){ 0 };
	status = cmd_history.run(argc, argv, &problem);
	in = fopen(path, "r");
	printed[in ? fread(printed, 1, sizeof(printed) - 1, in) : 0] = '\0';
	if (in)
		fclose(in);
	unlink(path);
	return status;
}

static void the_text_is_as_it_was(void **state)
{
	struct history_options o = { .metric = METRICS, .cell = "randread" };
	struct history_view v = { .folder = "results", .by = HISTORY_EMULATOR };
	const char *update = getenv("KB_UPDATE_GOLDEN");
	struct text out = { 0 };
	struct history *h;
	FILE *in;

	make_course(*state);
	h = load(*state, &o);
	history_text(h, &v, &out);
	history_free(h);
	if (update && strcmp(update, "1") == 0) {
		mkdir("tests/golden/history", 0777);
		folder_put("tests/golden/history", "history.txt", text_get(&out));
	}
	in = fopen("tests/golden/history/history.txt", "r");
	assert_non_null(in);
	printed[fread(printed, 1, sizeof(printed) - 1, in)] = '\0';
	fclose(in);
	assert_string_equal(text_get(&out), printed);
	text_free(&out);
}

static size_t count(const char *text, const char *piece)
{
	size_t n = 0;

	while ((text = strstr(text, piece))) {
		n++;
		text += strlen(piece);
	}
	return n;
}

static void all_forms_are_written(void **state)
{
	struct scratch *s = *state;

	make_course(s);
	assert_int_equal(history_with(s, s->folder, NULL), 0);
	holds(printed, "CHANGE POINTS (6 series searched)");
	holds(printed, "hypervisor: before QEMU 7.2.22, after QEMU 8.2.0");
	assert_int_equal(history_with(s, s->folder, "--format", "csv", "--cell", "randread", NULL), 0);
	assert_int_equal(count(printed, "\r\n"), 1 + 3 * 12);
	assert_int_equal(count(printed, ",yes,"), 3 * 12 + 2); /* all effective; a change of kickfd and one of its ratio */
	assert_int_equal(history_with(s, s->folder, "--format", "html", "--by", "kernel", NULL), 0);
	holds(printed, "</html>");
	if (system("command -v gnuplot >/dev/null") != 0)
		return;
	assert_int_equal(count(printed, "<figure>"), 4);
	assert_int_equal(history_with(s, s->folder, "--format=svg", "--by=emulator", NULL), 0);
	assert_int_equal(count(printed, "<svg role"), 4);
	assert_null(strstr(printed, "var("));
	holds(printed, ">QEMU 8.2.0<");
}

static void what_cannot_be_read_is_left_out(void **state)
{
	struct scratch *s = *state;
	struct folder f;

	baseline_iops = 6000;
	gain = 1.2;
	make_run(s, "run-01", 1);
	scratch_text(s, "broken/run.json", "{\"schema\":");
	f = make_run(s, "timeless", 1);
	edit(f.path, "soon", NULL, NULL, NULL);
	scratch_text(s, "no-run/notes.txt", "nothing");
	assert_int_equal(history_with(s, s->folder, NULL), 0);
	holds(printed, "1 run of 2026-01-01 12:00");
	holds(printed, "too few runs to look for change points (1, 8 needed)");
	assert_int_equal(history_with(s, s->folder, "--cell", "nothing", NULL), 2);
	holds(problem.text, "no cell and variant of the 1 runs");
	assert_int_equal(history_with(s, s->folder, "--format", "svg", NULL), 2);
	holds(problem.text, "nothing to draw");
}

static void misuse_is_told(void **state)
{
	struct scratch *s = *state;
	struct folder f;

	assert_int_equal(history_with(s, NULL), 2);
	assert_int_equal(history_with(s, s->folder, NULL), 2);
	holds(problem.text, "holds no run folder that could be read");
	assert_int_equal(history_with(s, scratch_path(s, "nowhere"), NULL), 2);
	holds(problem.text, "nowhere: No such file or directory");
	assert_int_equal(history_with(s, s->folder, "--by", "moon", NULL), 2);
	holds(problem.text, "--by moon: expected date, emulator or kernel");
	assert_int_equal(history_with(s, s->folder, "--format", "pdf", NULL), 2);
	holds(problem.text, "--format pdf: expected text, csv, svg or html");
	assert_int_equal(history_with(s, s->folder, "--metric", "speed", NULL), 2);
	holds(problem.text, "--metric speed: expected one of iops, ");
	baseline_iops = 6000;
	f = make_run(s, "run-01", 1);
	assert_int_equal(history_with(s, f.path, NULL), 2);
	holds(problem.text, "is a run folder itself");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_point_is_a_mean_with_its_interval, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(options_choose, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(a_change_is_found_where_it_is, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(gaps_are_no_values, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(accelerators_and_hosts_stay_apart, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(the_text_is_as_it_was, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(all_forms_are_written, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_left_out, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(misuse_is_told, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
