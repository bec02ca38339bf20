/* trials/N.json, written. */
#include "host/run_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/domain.h"
#include "host/drivers.h"

/* Trials that differ in one of these are never pooled. */
static json_t *identity_json(const struct experiment *x, const struct boot *b)
{
	const struct own_domain *own = b->request.image->own;
	/* the emulator's default holds where we choose the emulator */
	bool ours = b->request.guest->driver == DRIVER_LIBVIRT || b->request.machine->cpu;
	const char *model = ours ? domain_cpu_model(b->request.machine, b->request.accel) : "unknown";

	if (own && !b->request.machine->cpu)
		model = own->original.cpu;
	return json_pack("{s:s,s:s,s:O?,s:O?,s:O?}", "accel", run_file_accel(b->request.accel), "cpu", model, "host",
			 json_object_get(x->facts, "host"), "host_cpu", json_object_get(x->facts, "cpu"), "microcode",
			 json_object_get(x->facts, "microcode"));
}

/* "fio 3.33", "kickio 0.1.0", from "fio-3.33" of its result; null: there is none. */
static json_t *tool_json(const json_t *fio)
{
	const char *told = json_string_value(json_object_get(fio, "fio version"));
	size_t length = told ? strcspn(told, "-") : 0;

	return told && told[length] ? json_sprintf("%.*s %s", (int)length, told, told + length + 1) : json_null();
}

json_t *run_file_trial(const struct experiment *x, const struct boot *b, const struct plan_trial *t,
		       const struct trial_request *request, const char *started, const struct trial *trial,
		       json_t *effective)
{
	const struct cell *cell = &x->plan->cell[t->cell];
	const char *guest_kernel = json_string_value(json_object_get(b->hello, "release"));
	json_t *r = json_pack("{s:s,s:i,s:i,s:i,s:i,s:i,s:s,s:s,s:s,s:o,s:s,s:f,s:s,s:o,s:s,s:s,s:o,s:f,s:f}", "schema",
			      "kickbench-trial/1", "trial", (int)t->number, "boot", (int)t->boot + 1, "block",
			      (int)t->block + 1, "repeat", (int)t->repeat + 1, "cell", (int)t->cell, "cell_name", cell->name,
			      "guest", x->scenario->guest[cell->guest].name, "variant", x->scenario->variant[t->variant].name,
			      "argv", run_file_strings(request->argv, request->argc), "started", started, "seconds", trial->seconds,
			      "status", trial_status_name(trial->status), "message",
			      trial->status == TRIAL_OK ? json_null() : json_string(trial->message), "accel",
			      run_file_accel(b->request.accel), "qemu_version",
			      *b->qemu_version ? b->qemu_version : x->version.hypervisor, "guest_kernel",
			      guest_kernel ? json_string(guest_kernel) : json_null(), "boot_to_hello_s", b->boot_to_hello,
			      "wall_to_hello_s", b->wall_to_hello);
	json_t *status = json_object_get(trial->result, "status"), *fio = json_object_get(trial->result, "fio");
	json_t *counters = json_object_get(trial->result, "counters"), *clock = json_object_get(b->hello, "clocksource");

	if (!r)
		return NULL;
	json_object_set_new(r, "identity", identity_json(x, b));
	json_object_set_new(r, "tool", tool_json(fio));
	if (isfinite(trial->covered))
		json_object_set_new(r, "covered", json_real(trial->covered));
	json_object_set(r, "guest_clocksource", clock ? clock : json_null());
	json_object_set(r, "effective", effective ? effective : json_null());
	json_object_set(r, "exit_status", status ? status : json_null());
	if (json_object_get(trial->result, "probe"))
		json_object_set(r, "probe", json_object_get(trial->result, "probe"));
	else
		json_object_set(r, "fio", fio ? fio : json_null());
	json_object_set(r, "guest_counters", counters ? counters : json_null());
	json_object_set(r, "host", trial->host ? trial->host : json_null());
	if (trial->stall)
		json_object_set(r, "stall", trial->stall);
	return r;
}

int run_file_store_trial(struct experiment *x, unsigned number, const json_t *record, struct error *e)
{
	char name[32];

	snprintf(name, sizeof(name), "trials/%06u.json", number);
	return store_write_json(x->store, name, record, e);
}
