/* host/measured_probe.c, cells_probe.c, kick.c and kick_explain.c. Reference values: SciPy 1.17 and arithmetic by hand, as said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/accel_health.h"
#include "host/kick.h"
#include "host/plan.h"
#include "tests/unit/memory_run.h"
#include "tests/unit/scratch.h"

static void close_to(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g", got, want);
}

static int add(struct measured *m, const char *text, struct error *e)
{
	json_error_t why;
	json_t *trial = json_loads(text, 0, &why);
	int status;

	if (!trial)
		fail_msg("%s", why.text);
	status = measured_add(m, trial, e);
	json_decref(trial);
	return status;
}

/* ---- measured ---- */

static const char trial[] =
	"{\"probe\":{\"total\":400,\"kick\":{\"N\":5,\"mean\":900.5,\"min\":90,\"max\":4000,\"bins\":{\"100\":3,\"104\":1,\"4032\":1}},"
	"\"done_poll\":{\"N\":3,\"mean\":50,\"bins\":{\"40\":1,\"50\":1,\"60\":1}},"
	"\"done_irq\":{\"N\":2,\"mean\":71.25,\"bins\":{\"70\":2}},\"per_request\":{\"N\":1,\"mean\":10,\"bins\":{\"10\":1}},"
	"\"completed\":100,\"kicks\":25,\"interrupts\":50,\"cpu_left\":0.2,\"cpu_left_median\":0.25,\"loop_turns\":100,"
	"\"loop\":{\"N\":1,\"mean\":800,\"bins\":{\"800\":1}},\"port_write\":{\"N\":1,\"mean\":60,\"bins\":{\"60\":1}}},"
	"\"guest_counters\":null,\"host\":{\"cpu\":null,\"block\":null,\"kvm\":{\"exits\":800,\"insn_emulation\":4000,"
	"\"irq_injections\":100}}}";

static void a_trial_of_the_probe_has_its_medians(void **state)
{
	struct measured m = { 0 };
	struct error e = { 0 };

	(void)state;
	assert_int_equal(add(&m, trial, &e), 0);
	close_to(metrics_value(&m, METRIC_KICK), 100, 1); /* 3 of 5 are there; a bin is 1.6 % wide */
	close_to(metrics_value(&m, METRIC_DONE_POLL), 50, 0);
	close_to(metrics_value(&m, METRIC_DONE_IRQ), 70, 1);
	close_to(metrics_value(&m, METRIC_DONE_IRQ_MEAN), 71.25, 0);
	close_to(metrics_value(&m, METRIC_PER_REQUEST), 10, 0);
	close_to(metrics_value(&m, METRIC_KICKS), 0.25, 0);
	close_to(metrics_value(&m, METRIC_PROBE_INTERRUPTS), 0.5, 0);
	close_to(metrics_value(&m, METRIC_CPU_LEFT), 25, 0);
	close_to(metrics_value(&m, METRIC_LOOP), 8, 0.13);
	close_to(metrics_value(&m, METRIC_PORT_WRITE), 60, 0);
	close_to(metrics_value(&m, METRIC_EXITS), 2, 0);
	close_to(metrics_value(&m, METRIC_INSN_EMULATION), 10, 0);
	close_to(metrics_value(&m, METRIC_IRQ_INJECTIONS), 0.25, 0);
	assert_true(isnan(metrics_value(&m, METRIC_IOPS)) && isnan(metrics_value(&m, METRIC_CLAT_MEAN)));
}

static void what_it_did_not_measure_is_no_data(void **state)
{
	struct measured m = { 0 };
	struct error e = { 0 };

	(void)state;
	assert_int_equal(add(&m, "{\"probe\":{\"total\":3,\"kick\":{\"N\":1,\"mean\":7,\"bins\":{\"7\":1}}}}", &e), 0);
	close_to(metrics_value(&m, METRIC_KICK), 7, 0);
	for (int i = METRIC_DONE_POLL; i < METRICS; i++)
		assert_true(isnan(metrics_value(&m, (enum metric)i)));
}

static void a_damaged_trial_is_named(void **state)
{
	static const struct { const char *text, *piece; } bad[] = {
		{ "{\"probe\":{\"kick\":{\"bins\":{\"x\":1}}}}", "bin \"x\"" },
		{ "{\"probe\":{\"kick\":{\"bins\":{\"-4\":1}}}}", "bin \"-4\"" },
		{ "{\"probe\":{\"kick\":{\"bins\":{\"4\":-1}}}}", "bin \"4\"" },
		{ "{\"probe\":{\"done_irq\":{\"mean\":\"7\"}}}", "\"mean\" is not" },
		{ "{\"probe\":{\"total\":-1}}", "\"total\" is not" },
		{ "{\"probe\":{\"completed\":4,\"kicks\":[]}}", "\"kicks\" is not" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct measured m = { 0 };
		struct error e = { 0 };

		assert_int_equal(add(&m, bad[i].text, &e), -1);
		holds(e.text, bad[i].piece);
	}
}

/* ---- the accelerator's health ---- */

static void an_emulating_kvm_is_told_from_a_usable_one(void **state)
{
	const struct accel_health usable = { 0.2, 0.4, 1500 }, nested = { 0.5, 0.9, 60000 }, tcg = { 0.4, 8, 130 };
	const struct accel_health emulating = { 6, 3000, 8000 }, slow_exits = { 1, 1, 5e6 }, none = ACCEL_HEALTH_NONE;
	struct text t = { 0 };

	(void)state;
	assert_true(accel_healthy(&usable) && accel_healthy(&nested) && accel_healthy(&tcg));
	assert_false(accel_healthy(&emulating) || accel_healthy(&slow_exits) || accel_healthy(&none));
	accel_health_words(&emulating, &t);
	assert_string_equal(text_get(&t), "a turn of a loop takes 3.000 \302\265s and a port write 8.000 \302\265s");
	text_free(&t);
}

/* ---- scenarios ---- */

#define PROBE "[scenario]\nbaseline = a\nprimary = kick\n[guest p]\ntool = probe\n[variant a]\n[variant b]\n"

static void a_scenario_of_the_probe_has_its_cells(void **state)
{
	struct scenario *s = NULL;
	struct plan *p = NULL;
	struct error e = { 0 };

	if (scenario_read(scratch_text(*state, "k.ini", PROBE "[workload w]\nmode = all\nop = write\nrequests = 1, 16\ncount = 70\n"),
			  NULL, 0, &s, &e) || plan_make(s, 1, &p, &e))
		fail_msg("%s", e.text);
	assert_string_equal(s->guest[0].image, "images/probe");
	assert_string_equal(scenario_machine(s, 0, 0)->cpu, "qemu64");
	assert_int_equal(p->ncells, 2);
	assert_string_equal(p->cell[1].name, "w requests=16");
	assert_int_equal(p->cell[1].argc, 5); /* nothing of kickio's among them */
	assert_string_equal(p->cell[1].argv[3], "--requests=16");
	assert_true(p->cell[1].writes && p->cell[1].own_seed);
	assert_int_equal(p->cell[1].ios, 70);
	plan_free(p);
	scenario_free(s);
}

static void what_the_probe_would_refuse_is_refused_before(void **state)
{
	static const struct { const char *text, *piece; } bad[] = {
		{ PROBE "[workload w]\nrw = randread\n", "--rw=randread: the probe has no such option" },
		{ PROBE "[workload w]\nmode = kicks\n", "--mode=kicks: there is kick, done-irq" },
		{ PROBE "[workload w]\nmode = all\nrequests = 0\n", "only mode=kick notifies an empty queue" },
		{ PROBE "[guest linux]\n[workload w]\nmode = all\n", "has another tool than [guest p]" },
		{ PROBE "[disk]\nfilesystem = ext4\n[workload w]\nmode = all\n", "the probe mounts nothing" },
		{ "[scenario]\nbaseline = a\n[guest p]\ntool = dd\n[variant a]\n[variant b]\n", "expected kickio, probe, fio" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct scenario *s = NULL;
		struct plan *p = NULL;
		struct error e = { 0 };

		if (scenario_read(scratch_text(*state, "k.ini", bad[i].text), NULL, 0, &s, &e) == 0 && plan_make(s, 1, &p, &e) == 0)
			fail_msg("taken: %s", bad[i].text);
		assert_int_equal(e.status, STATUS_USAGE);
		holds(e.text, bad[i].piece);
		scenario_free(s);
	}
}

/* ---- the table, and what it explains ---- */

/* Kicks of 200 and 20 us with 16 requests, 1 and 4 us with one; a block's mood, and half a per cent beside it. */
static double kicks(const struct memory_place *at)
{
	double base = at->cell ? (at->variant ? 20000 : 200000) : (at->variant ? 4000 : 1000);

	return base * (1 + 0.02 * at->block + 0.005 * memory_noise(7, at));
}

static const char cells[] = "[{\"argv\":[\"--mode=all\",\"--requests=1\"]},{\"argv\":[\"--mode=all\",\"--requests=16\"]}]";

static struct dataset *probe_run(void)
{
	const struct memory_run r = { .cells = 2, .blocks = 8, .repeats = 1, .iops = kicks };
	struct dataset *d = memory_dataset(&r);

	json_object_set_new(d->run, "cells", json_loads(cells, 0, NULL));
	json_object_set_new(d->run, "variants", json_loads("[{\"settings\":{\"ioeventfd\":\"none\"}},{\"settings\":{}}]", 0, NULL));
	d->primary = METRIC_KICK;
	d->primary_name = "kick";
	for (size_t i = 0; i < 2 * 2 * 8; i++) {
		double v = d->observation[i].value[METRIC_IOPS];

		d->observation[i].value[METRIC_IOPS] = NAN;
		d->observation[i].value[METRIC_KICK] = v;
		d->observation[i].value[METRIC_DONE_IRQ] = 2 * v;
		d->observation[i].value[METRIC_DONE_IRQ_MEAN] = 2 * v;
	}
	return d;
}

static void a_line_begins_with_its_cell_and_ends_with_its_verdict(void **state)
{
	struct dataset *d = probe_run();
	struct comparison *c;
	struct error e = { 0 };
	struct text t = { 0 };

	(void)state;
	assert_int_equal(compare(d, &c, &e), 0);
	assert_int_equal(kick_text(c, &t), 0);
	for (int i = 0; i < 2; i++) {
		static const char *const begin[2] = { "\nkick, 1 request ", "\nkick, 16 requests " }, *const end[2] = { "  worse", "  better" };
		const char *line = strstr(text_get(&t), begin[i]), *stop = line ? strchr(line + 1, '\n') : NULL;

		if (!line || !stop || strncmp(stop - strlen(end[i]), end[i], strlen(end[i])))
			fail_msg("%s", text_get(&t));
	}
	/* 200 us times the geometric mean of 1 + 0.02 b, b = 0..7: 1.0690 */
	holds(text_get(&t), "A kick with 16 requests takes the vCPU 21");
	holds(text_get(&t), "with ioeventfd none and ");
	holds(text_get(&t), "with kickfd");
	text_free(&t);
	comparison_free(c);
	dataset_free(d);
}

/* Mean latency as 150 and 140 us, each block 1 us apart: the difference is -10 us without a spread but for the probe's. */
static double latency(const struct memory_place *at)
{
	return (at->variant ? 140000 : 150000) + 1000 * at->block + (at->variant && at->block % 2 ? 200 : 0);
}

static struct dataset *guest_run(const char *argv)
{
	const struct memory_run r = { .cells = 1, .blocks = 8, .repeats = 1, .iops = latency };
	struct dataset *d = memory_dataset(&r);

	json_object_set_new(d->run, "cells", json_loads(argv, 0, NULL));
	for (size_t i = 0; i < 2 * 8; i++) {
		d->observation[i].value[METRIC_CLAT_MEAN] = d->observation[i].value[METRIC_IOPS];
		d->observation[i].value[METRIC_IOPS] = NAN;
	}
	return d;
}

/*
 * The guest's differences are -10 and -9.8 us in turn: mean -9900 ns, standard deviation 106.9 ns, half the interval
 * 2.364624 * 106.9 / sqrt(8) = 89.37 ns.
 */
static void the_differences_stand_beside_each_other(void **state)
{
	struct dataset *guest = guest_run("[{\"argv\":[\"--rw=randread\",\"--bs=4k\",\"--iodepth=1\",\"--numjobs=1\"]}]");
	struct dataset *probe = probe_run();
	struct error e = { 0 };
	struct text t = { 0 };

	(void)state;
	if (kick_explain(guest, probe, &t, &e))
		fail_msg("%s", e.text);
	holds(text_get(&t), "-9.900 \302\265s [-9.989 \302\265s, -9.811 \302\265s]");
	holds(text_get(&t), "cell 0 ");
	text_free(&t);
	dataset_free(guest);
	dataset_free(probe);
}

static void what_cannot_stand_beside_it_is_refused(void **state)
{
	static const char *const other[] = {
		"[{\"argv\":[\"--rw=randread\",\"--bs=8k\"]}]", "[{\"argv\":[\"--rw=randwrite\",\"--bs=4k\"]}]",
		"[{\"argv\":[\"--rw=randread\",\"--bs=4k\",\"--iodepth=2\"]}]", "[{\"argv\":[\"--rw=randread\",\"--numjobs=2\"]}]",
	};
	struct dataset *probe = probe_run();
	struct text t = { 0 };

	(void)state;
	json_object_set_new(probe->seen, "accel", json_loads("{\"tcg\":32}", 0, NULL));
	for (size_t i = 0; i < 4; i++) {
		struct dataset *guest = guest_run(other[i]);
		struct error e = { 0 };

		json_object_set_new(guest->seen, "accel", json_loads("{\"tcg\":16}", 0, NULL));
		assert_int_equal(kick_explain(guest, probe, &t, &e), -1);
		holds(e.text, "no cell of memory has one request under way");
		json_object_set_new(guest->seen, "accel", json_loads("{\"kvm\":16}", 0, NULL));
		e = (struct error){ 0 };
		assert_int_equal(kick_explain(guest, probe, &t, &e), -1);
		holds(e.text, "different accelerators");
		dataset_free(guest);
	}
	text_free(&t);
	dataset_free(probe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trial_of_the_probe_has_its_medians),
		cmocka_unit_test(what_it_did_not_measure_is_no_data),
		cmocka_unit_test(a_damaged_trial_is_named),
		cmocka_unit_test(an_emulating_kvm_is_told_from_a_usable_one),
		cmocka_unit_test_setup_teardown(a_scenario_of_the_probe_has_its_cells, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(what_the_probe_would_refuse_is_refused_before, scratch_open, scratch_close),
		cmocka_unit_test(a_line_begins_with_its_cell_and_ends_with_its_verdict),
		cmocka_unit_test(the_differences_stand_beside_each_other),
		cmocka_unit_test(what_cannot_stand_beside_it_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
