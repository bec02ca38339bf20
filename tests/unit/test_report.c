/*
 * Whole reports against tests/golden/report-CASE/report.txt. With KB_UPDATE_GOLDEN=1 in the environment the
 * expectation is rewritten instead; look at the difference before keeping it. Runs from the project's root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/compare.h"
#include "host/report_json.h"
#include "host/report_layout.h"
#include "host/report_text.h"
#include "tests/unit/run_folder.h"

static char *read_file(const char *path)
{
	FILE *in = fopen(path, "r");
	size_t length = 0, n;
	char *text = malloc(1 << 20);

	if (in) {
		while ((n = fread(text + length, 1, (1 << 20) - 1 - length, in)) > 0)
			length += n;
		fclose(in);
	}
	text[length] = '\0';
	return text;
}

/* Print both texts' lines from the first that differs. */
static void print_difference(const char *want, const char *got)
{
	unsigned line = 1;

	while (*want || *got) {
		size_t w = strcspn(want, "\n"), g = strcspn(got, "\n");

		if (w != g || memcmp(want, got, w) != 0)
			print_error("line %u\n- %.*s\n+ %.*s\n", line, (int)w, want, (int)g, got);
		want += w + (want[w] == '\n');
		got += g + (got[g] == '\n');
		line++;
	}
}

static void compare_with_golden(const char *name, const char *file, const char *got)
{
	const char *update = getenv("KB_UPDATE_GOLDEN");
	char path[256];
	char *want;

	snprintf(path, sizeof(path), "tests/golden/report-%s", name);
	if (update && strcmp(update, "1") == 0) {
		mkdir(path, 0777);
		folder_put(path, file, got);
		return;
	}
	snprintf(path, sizeof(path), "tests/golden/report-%s/%s", name, file);
	want = read_file(path);
	if (strcmp(want, got) != 0) {
		print_difference(want, got);
		fail_msg("the report is not %s", path);
	}
	free(want);
}

static void lines_fit(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		char line[1024];

		assert_true(n < sizeof(line));
		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		if (layout_width(line) > REPORT_COLUMNS)
			fail_msg("%zu columns: %s", layout_width(line), line);
		for (const char *c = line; *c; c++)
			if ((unsigned char)*c < 0x20)
				fail_msg("a control character in: %s", line);
		text += n + (text[n] == '\n');
	}
}

/* The JSON report has to say what the text says. */
static void json_agrees(const struct comparison *c, const char *text)
{
	json_t *report = report_json(c), *finding;
	size_t i;

	assert_non_null(report);
	assert_string_equal(json_string_value(json_object_get(report, "schema")), "kickbench-report/1");
	assert_int_equal(json_array_size(json_object_get(report, "findings")), c->nfindings);
	assert_int_equal(json_array_size(json_object_get(report, "problems")), c->dataset->nproblems);
	json_array_foreach(json_object_get(report, "findings"), i, finding) {
		const json_t *metrics = json_object_get(finding, "metrics");

		assert_int_equal(json_object_size(metrics), METRICS);
		assert_non_null(strstr(text, json_string_value(json_object_get(finding, "verdict"))));
	}
	json_decref(report);
}

static void render(const char *name, struct folder f, void (*touch)(const struct folder *f))
{
	struct error e = { 0 };
	struct text text = { 0 };
	struct comparison *c = NULL;
	struct dataset *d = NULL;

	f.blocks = f.blocks ? f.blocks : 8;
	f.repeats = f.repeats ? f.repeats : 1;
	f.pairing = f.pairing ? f.pairing : "boots";
	f.primary = f.primary ? f.primary : "iops";
	if (!f.variant[0])
		memcpy(f.variant, (const char *[]){ "none", "kickfd" }, 2 * sizeof(f.variant[0]));
	folder_make(&f);
	if (touch)
		touch(&f);
	if (dataset_load(f.path, &d, &e) || compare(d, &c, &e))
		fail_msg("%s", e.text);
	report_text(c, &text);
	assert_false(text.failed);
	lines_fit(text_get(&text));
	json_agrees(c, text_get(&text));
	compare_with_golden(name, "report.txt", text_get(&text));
	text_free(&text);
	comparison_free(c);
	dataset_free(d);
	folder_remove(&f);
}

static void faster(struct folder_trial *t, double factor)
{
	t->iops *= factor;
	t->clat_ns /= factor;
	t->guest_cpu_us /= factor;
}

static void kinds(const struct folder_place *at, struct folder_trial *t)
{
	static const double factor[] = { 1.131, 0.943, 1.001, 1.01 };

	if (at->cell == 3) /* a noisy one */
		faster(t, 1 + 0.06 * folder_noise(at->block, 7, at->variant));
	if (at->variant == 1) {
		faster(t, factor[at->cell]);
		t->host_cpu_us *= 0.8;
	}
}

static void better_worse_same_unclear(void **state)
{
	(void)state;
	render("clean", (struct folder){ .cell = { "randread numjobs=1", "randread numjobs=4", "randwrite numjobs=1",
						   "randwrite numjobs=4" }, .shape = kinds }, NULL);
}

static void cut_short(const struct folder_place *at, struct folder_trial *t)
{
	kinds(at, t);
	if (at->block > 5 || (at->block == 5 && at->variant == 1))
		t->status = NULL;
	if (at->trial == 3) {
		t->status = "failed";
		t->message = "fio: io_u error on file /dev/vda: Input/output error: read offset=4096, buflen=4096";
	}
	if (at->trial == 6)
		t->raw = "{\"schema\":\"kickbench-trial/1\",";
}

static void kill_session(const struct folder *f)
{
	json_t *run, *last;
	char path[300];

	snprintf(path, sizeof(path), "%s/run.json", f->path);
	run = json_load_file(path, 0, NULL);
	last = json_array_get(json_object_get(run, "sessions"), 0);
	json_object_set_new(last, "status", json_string("interrupted"));
	json_object_set_new(last, "message", json_string("SIGINT"));
	json_array_append(json_object_get(run, "sessions"), last);
	folder_put_json(f->path, "run.json", run);
	folder_put(f->path, "trials/000010.cut-1.json", "{}");
	folder_put(f->path, "trials/001000.json", "{}");
}

static void an_incomplete_run(void **state)
{
	(void)state;
	render("incomplete", (struct folder){ .cell = { "randread", "randwrite" }, .shape = cut_short }, kill_session);
}

static void stuck(const struct folder_place *at, struct folder_trial *t)
{
	kinds(at, t);
	if (at->cell == 0 && at->block == 3 && at->variant == 1) {
		t->status = "stalled";
		t->message = "no completion for 30 s: read at 409600,\n\033[31mguest is silent";
	}
	if (at->cell == 1 && at->block == 2 && at->variant == 0)
		t->status = "corrupt";
}

static void stalled_and_corrupt(void **state)
{
	(void)state;
	render("stalled", (struct folder){ .cell = { "randread", "randwrite", "read" }, .shape = stuck }, NULL);
}

static void not_as_asked(const struct folder_place *at, struct folder_trial *t)
{
	kinds(at, t);
	t->unverified = "poll_max_ns";
	if (at->variant == 1 && at->block == 4)
		t->mismatch = "ioeventfd";
	if (at->block == 8)
		t->accel = "kvm";
}

static void a_setting_that_was_not_in_force(void **state)
{
	(void)state;
	render("mismatch", (struct folder){ .cell = { "randread", "randwrite" }, .shape = not_as_asked }, NULL);
}

static void disks_and_repeats(void **state)
{
	(void)state;
	render("disks", (struct folder){ .cell = { "randread" }, .variant = { "none", "kickfd", "packed" }, .repeats = 2,
					 .pairing = "disks", .shape = kinds }, NULL);
}

static void bare(const struct folder_place *at, struct folder_trial *t)
{
	kinds(at, t);
	t->interrupts = at->variant == 1 ? 0 : 1.25;
	t->guest_cpu_us = -1;
	t->host_cpu_us = -1;
	t->device_us = -1;
}

static void zero_interrupts_and_few_data(void **state)
{
	(void)state;
	render("zero", (struct folder){ .blocks = 6, .fail_margin = 0.02, .shape = bare,
					.cell = { "randread numjobs=1 with a name that is far too long for its column",
						  "lecture al\303\251atoire" } }, NULL);
}

static void latency_is_primary(void **state)
{
	(void)state;
	render("latency", (struct folder){ .cell = { "randread rate" }, .primary = "clat_mean", .shape = kinds }, NULL);
}

/* Ratios of the blocks: 30 and 1/20 000 in the first cell, 20 and 22 in the second; the third has no spread to speak of. */
static void wildly(const struct folder_place *at, struct folder_trial *t)
{
	static const double factor[3][2] = { { 30, 0.00005 }, { 20, 22 }, { 0.0123, 0.0124 } };

	if (at->variant == 1)
		faster(t, factor[at->cell][at->block - 1]);
	if (at->variant == 1 && at->cell == 1)
		t->device_us = 1000; /* more than the latency: the rest is negative */
}

static void set_values(const struct folder *f)
{
	char path[300];
	json_t *run;

	snprintf(path, sizeof(path), "%s/run.json", f->path);
	run = json_load_file(path, 0, NULL);
	json_object_set_new(run, "set", json_pack("[s,s]", "disk.size=16M", "workload.bs=4k, 8k; it's"));
	folder_put_json(f->path, "run.json", run);
}

static void two_noisy_blocks_and_set_values(void **state)
{
	(void)state;
	render("wild", (struct folder){ .blocks = 2, .cell = { "noisy", "large", "small" }, .shape = wildly }, set_values);
}

static void nothing_to_compare(void **state)
{
	(void)state;
	render("single", (struct folder){ .cell = { "randread" }, .variant = { "none" }, .blocks = 2 }, NULL);
}

static void paragraphs_are_wrapped(void **state)
{
	struct text t = { 0 };
	char word[251];

	(void)state;
	memset(word, 'x', 250);
	word[250] = '\0';
	layout_wrap(&t, "  label", 14, "one\ntwo  \t three");
	assert_string_equal(text_get(&t), "  label       one two three\n");
	text_reset(&t);
	layout_wrap(&t, "  label", 14, word);
	lines_fit(text_get(&t));
	assert_int_equal(t.length, 14 + 86 + 1 + 14 + 86 + 1 + 14 + 78 + 1);
	text_reset(&t);
	layout_wrap(&t, "a label that is too long", 8, "text");
	assert_string_equal(text_get(&t), "a label that is too long\n        text\n");
	text_reset(&t);
	layout_pad(&t, "\302\265s", -4);
	layout_pad(&t, "\033[0m", 6);
	assert_string_equal(text_get(&t), "  \302\265s?[0m  ");
	text_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(better_worse_same_unclear),
		cmocka_unit_test(an_incomplete_run),
		cmocka_unit_test(stalled_and_corrupt),
		cmocka_unit_test(a_setting_that_was_not_in_force),
		cmocka_unit_test(disks_and_repeats),
		cmocka_unit_test(zero_interrupts_and_few_data),
		cmocka_unit_test(latency_is_primary),
		cmocka_unit_test(two_noisy_blocks_and_set_values),
		cmocka_unit_test(nothing_to_compare),
		cmocka_unit_test(paragraphs_are_wrapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
