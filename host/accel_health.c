#include "host/accel_health.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/measured_probe.h"
#include "host/trial.h"

bool accel_healthy(const struct accel_health *h)
{
	return h->loop_ns <= ACCEL_LOOP_MOST_NS && h->port_write_ns <= ACCEL_PORT_WRITE_MOST_NS;
}

void accel_health_words(const struct accel_health *h, struct text *out)
{
	char loop[METRIC_TEXT_SIZE], port[METRIC_TEXT_SIZE];

	metric_text(UNIT_NS, h->loop_ns, loop);
	metric_text(UNIT_NS, h->port_write_ns, port);
	text_add(out, "a turn of a loop takes %s and a port write %s", loop, port);
}

json_t *accel_probe_job(struct boot *b, char *const *argv, size_t argc, double timeout, double *seconds, struct error *e)
{
	struct trial_request request = { .id = "probe", .argv = argv, .argc = argc, .stall_timeout = timeout };
	struct trial trial;
	json_t *probe = NULL;
	int status = trial_run(b, &request, &trial, e);

	if (status == 0 && trial.status != TRIAL_OK)
		status = error_set(e, STATUS_HOST, "the probe's job did not run: %s", trial.message);
	if (status == 0) {
		probe = json_incref(json_object_get(trial.result, "probe"));
		if (!probe)
			error_set(e, STATUS_HOST, "the probe's result lacks its figures");
	}
	if (seconds)
		*seconds = trial.seconds;
	trial_free(&trial);
	return probe;
}

static int take(const json_t *probe, struct accel_health *out, struct error *e)
{
	struct measured m = { 0 };
	double requests;

	if (measured_add_probe(&m, probe, &requests, e))
		return -1;
	out->loop_ns = metrics_value(&m, METRIC_LOOP);
	out->port_write_ns = metrics_value(&m, METRIC_PORT_WRITE);
	return isnan(out->loop_ns) || isnan(out->port_write_ns) ?
	       error_set(e, STATUS_HOST, "the probe did not tell how fast a loop and a port write are") : 0;
}

/* The probe needs nothing of a CPU, and the host's own model is what ends some emulators. */
static int plain_machine(const struct machine *from, struct machine *to)
{
	static const char *const left_out[] = { "kernel", "initrd", "kernel_args" };
	struct error e = { 0 };

	if (machine_copy(to, from))
		return -1;
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		machine_set(to, left_out[i], "", "", 0, &e);
	if (!to->cpu || !strcmp(to->cpu, "host"))
		machine_set(to, "cpu", "qemu64", "", 0, &e);
	return e.status ? -1 : 0;
}

int accel_health_measure(const struct hv_ops *ops, struct hv *hv, const struct boot_request *r, double timeout,
			 struct accel_health *out, struct error *e)
{
	char *argv[] = { (char *)"--name=health", (char *)"--mode=health", (char *)"--count=50" };
	struct boot_request request = { .name = r->name, .machine = r->machine, .accel = r->accel, .image = r->image,
					.hello_timeout = timeout, .interrupted = r->interrupted };
	struct machine machine = { 0 };
	json_t *probe = NULL;
	struct boot b;
	int status = -1;

	*out = (struct accel_health)ACCEL_HEALTH_NONE;
	if (plain_machine(r->machine, &machine)) {
		error_set(e, STATUS_HOST, "out of memory");
		goto out;
	}
	request.machine = &machine;
	if (boot_start(&b, ops, hv, &request, e))
		goto out;
	out->boot_s = b.wall_to_hello;
	probe = accel_probe_job(&b, argv, 3, timeout, NULL, e);
	if (probe)
		status = take(probe, out, e);
	if (status)
		boot_kill(&b);
	else
		boot_stop(&b, 5);
out:
	json_decref(probe);
	machine_free(&machine);
	return status;
}
