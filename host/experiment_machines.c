/* Images and accelerators of an experiment, by guest and variant: what is the same is prepared once. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/experiment.h"
#include "host/system.h"
#include "host/place.h"

/*
 * A file of the scenario is looked for from here, then among what comes with kickbench; the hypervisor wants an
 * absolute path. What is at neither place is left as it is, for whoever opens it to complain.
 */
static int make_absolute(char **path, const char *data_dir)
{
	char here[PATH_MAX], *full = NULL;

	if (!*path || **path == '/')
		return 0;
	if (access(*path, F_OK) == 0 && getcwd(here, sizeof(here)))
		full = dirs_join(here, *path);
	else
		full = dirs_join(data_dir, *path);
	if (!full)
		return -1;
	if (access(full, F_OK)) {
		free(full);
		return 0;
	}
	free(*path);
	*path = full;
	return 0;
}

static int check_machine(const struct experiment *x, const struct machine *m, struct error *e)
{
	if (m->emulator && *m->emulator != '/')
		return error_set(e, STATUS_HOST, "emulator %s: there is no such file, neither here nor in %s", m->emulator,
				 x->dirs->data);
	/* Under another host's hypervisor it need not be here: then only that one can tell. */
	if (x->host.here && m->emulator && access(m->emulator, F_OK) == 0 && access(m->emulator, X_OK))
		return error_errno(e, STATUS_HOST, "emulator %s cannot be run", m->emulator);
	if (m->kernel && access(m->kernel, R_OK))
		return error_errno(e, STATUS_HOST, "kernel %s", m->kernel);
	if (m->initrd && access(m->initrd, R_OK))
		return error_errno(e, STATUS_HOST, "initrd %s", m->initrd);
	if (m->firmware && *m->firmware != '/')
		return error_set(e, STATUS_HOST, "firmware %s: there is no such file, neither here nor in %s", m->firmware,
				 x->dirs->data);
	if (!x->ops->check_machine || (x->host.here && !m->emulator && !m->type))
		return 0;
	if (!x->ops->check_machine(x->hv, m->emulator, domain_machine_type(m), e))
		return 0;
	return m->emulator ? error_context(e, "emulator %s", m->emulator) : -1;
}

void experiment_overlays(const struct experiment *x, char *path, size_t room)
{
	snprintf(path, room, "%s/overlays", x->dirs->state);
}

static int decide(const struct experiment *x, const struct guest *guest, struct prepared *p, void (*say)(const char *),
		  struct error *e)
{
	char disks[1100], overlays[1100];
	struct accel_request request = { .tool = guest->tool, .machine = &p->machine, .image = &p->image, .host = &x->host,
					 .boot_timeout = guest->boot_timeout, .dirs = x->dirs, .disk_dir = disks,
					 .overlay_dir = overlays, .say = say, .interrupted = x->interrupted };

	snprintf(disks, sizeof(disks), "%s/trial", x->dirs->state);
	experiment_overlays(x, overlays, sizeof(overlays));
	if (x->driver->decide)
		return dirs_make(disks, e) ? -1 : x->driver->decide(x->ops, x->hv, &request, &p->accel, e);
	p->accel = (struct accel_outcome){ .used = p->machine.accel, .pace = pace_usual };
	snprintf(p->accel.why, sizeof(p->accel.why), p->machine.accel == ACCEL_AUTO
		 ? "the start command decides; accel = kvm or tcg in [guest] puts it on record" : "as the scenario says of its start command");
	return 0;
}

static int look_at_domain(const struct experiment *x, const struct guest *guest, struct prepared *p, struct error *e)
{
	struct own_domain *own;

	if (own_domain_take(x->ops, x->hv, guest, &own, e) || image_take_domain(own, &p->machine, &p->image, e))
		return -1;
	if (own->original.emulated && p->machine.accel == ACCEL_AUTO)
		p->machine.accel = ACCEL_TCG;
	return 0;
}

/* What can be known to be wrong before anything is made or measured. */
static int look(const struct experiment *x, size_t g, size_t v, struct prepared *p, struct error *e)
{
	char **files[] = { &p->machine.emulator, &p->machine.firmware, &p->machine.kernel, &p->machine.initrd };
	const struct guest *guest = &x->scenario->guest[g];

	*p = (struct prepared){ .guest = (unsigned)g, .variant = (unsigned)v };
	if (machine_copy(&p->machine, scenario_machine(x->scenario, g, v)))
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (make_absolute(files[i], x->dirs->data))
			return error_set(e, STATUS_HOST, "out of memory");
	if (x->driver->decide && check_machine(x, &p->machine, e))
		return -1;
	if (!x->host.here && (guest->profile || guest->domain || guest->domain_xml))
		return error_set(e, STATUS_USAGE, "a disk image or a domain of this host can only be a guest of this host's hypervisor, which "
				 "%s is not", x->host.name);
	if (guest->domain || guest->domain_xml)
		return look_at_domain(x, guest, p, e);
	return guest->profile ? system_find(guest, x->dirs, &p->system, e) : 0;
}

/* Which accelerator runs guests, our own tells sooner and on any image: a disk image takes part by its name only. */
static int prepare_own(const struct experiment *x, struct prepared *p, void (*say)(const char *), struct error *e)
{
	struct guest own = { .name = x->scenario->guest[p->guest].name, .image = (char *)"images/linux" };
	struct machine machine = p->machine;

	machine.kernel = machine.initrd = machine.kernel_args = NULL;
	return image_prepare(&own, &machine, x->dirs->data, x->dirs->build, say, &p->image, e);
}

/* kickio comes in once the accelerator is known. */
static int prepare_system(const struct experiment *x, struct prepared *p, void (*say)(const char *), struct error *e)
{
	char log[4096];
	struct system_preparation request = { .ops = x->ops, .hv = x->hv, .guest = &x->scenario->guest[p->guest],
					      .machine = &p->machine, .image = &p->image, .accel = p->accel.used,
					      .dirs = x->dirs, .log = log, .say = say, .interrupted = x->interrupted };

	image_free(&p->image);
	if (system_image(p->system, &p->machine, &p->image, e))
		return -1;
	snprintf(log, sizeof(log), "%s/console/prepare-%s.log", store_path(x->store), x->scenario->guest[p->guest].name);
	return system_prepare(p->system, &request, e);
}

static int prepare(const struct experiment *x, struct prepared *p, void (*say)(const char *), struct error *e)
{
	const struct guest *guest = &x->scenario->guest[p->guest];

	if (p->system && x->driver->decide ? prepare_own(x, p, say, e) : p->system || p->image.own || !strcmp(guest->image, IMAGE_NONE) ? 0 :
	    image_prepare(guest, &p->machine, x->dirs->data, x->dirs->build, say, &p->image, e) ||
	    (p->image.kernel && place_image(x->ops, x->hv, &x->host, &p->image, &p->machine, e)))
		return -1;
	if (decide(x, guest, p, say, e))
		return -1;
	if (p->image.own && p->image.own->original.emulated &&
	    scenario_machine(x->scenario, p->guest, p->variant)->accel == ACCEL_AUTO)
		snprintf(p->accel.why, sizeof(p->accel.why), "%s is of type qemu", p->image.own->source);
	return 0;
}

static int name_it(const struct experiment *x, const struct prepared *p, struct error *e)
{
	error_context(e, "guest %s, variant %s", x->scenario->guest[p->guest].name, x->scenario->variant[p->variant].name);
	return x->host.here ? -1 : error_context(e, "host %s", x->host.name);
}

/* The one that was prepared for the same image and machine, nprepared: none was. */
static size_t find(const struct experiment *x, size_t g, size_t v)
{
	const struct scenario *s = x->scenario;

	for (size_t k = 0; k < g * s->nvariants + v; k++) {
		size_t other = k / s->nvariants;

		if (guest_same_source(&s->guest[other], &s->guest[g]) && (other == g || !s->guest[g].profile) &&
		    machine_same(scenario_machine(s, other, k % s->nvariants), scenario_machine(s, g, v)))
			return x->prepared_of[k];
	}
	return x->nprepared;
}

/*
 * KVM for one variant and TCG for another would compare accelerators: where the scenario leaves the choice and they came
 * out differently, all get TCG.
 */
static int agree(struct experiment *x, void (*say)(const char *), struct error *e)
{
	bool kvm = false, tcg = false;

	for (size_t i = 0; i < x->nprepared; i++)
		if (x->prepared[i].machine.accel == ACCEL_AUTO)
			*(x->prepared[i].accel.used == ACCEL_KVM ? &kvm : &tcg) = true;
	for (size_t i = 0; kvm && tcg && i < x->nprepared; i++) {
		struct prepared *p = &x->prepared[i];

		if (p->machine.accel != ACCEL_AUTO || p->accel.used == ACCEL_TCG)
			continue;
		p->machine.accel = ACCEL_TCG;
		if (decide(x, &x->scenario->guest[p->guest], p, say, e))
			return error_context(e, "under TCG, because another variant does not run under KVM");
		snprintf(p->accel.why, sizeof(p->accel.why), "KVM runs only some of the variants, and they need the same accelerator");
	}
	return 0;
}

int experiment_prepare_machines(struct experiment *x, void (*say)(const char *line), struct error *e)
{
	const struct scenario *s = x->scenario;
	size_t n = s->nguests * s->nvariants;

	x->prepared = calloc(n, sizeof(*x->prepared));
	x->prepared_of = calloc(n, sizeof(*x->prepared_of));
	if (!x->prepared || !x->prepared_of)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t g = 0; g < s->nguests; g++)
		for (size_t v = 0; v < s->nvariants; v++) {
			size_t k = find(x, g, v);

			x->prepared_of[g * s->nvariants + v] = (unsigned)k;
			if (k < x->nprepared)
				continue;
			x->nprepared++;
			if (look(x, g, v, &x->prepared[k], e))
				return name_it(x, &x->prepared[k], e);
		}
	for (size_t i = 0; i < x->nprepared; i++)
		if (prepare(x, &x->prepared[i], say, e))
			return name_it(x, &x->prepared[i], e);
	if (agree(x, say, e))
		return -1;
	for (size_t i = 0; i < x->nprepared; i++)
		if (x->prepared[i].system && prepare_system(x, &x->prepared[i], say, e))
			return name_it(x, &x->prepared[i], e);
	return 0;
}

const struct prepared *experiment_prepared(const struct experiment *x, size_t guest, size_t variant)
{
	return &x->prepared[x->prepared_of[guest * x->scenario->nvariants + variant]];
}

void experiment_free_machines(struct experiment *x)
{
	for (size_t i = 0; i < x->nprepared; i++) {
		machine_free(&x->prepared[i].machine);
		image_free(&x->prepared[i].image);
		system_free(x->prepared[i].system);
	}
	free(x->prepared);
	free(x->prepared_of);
}
