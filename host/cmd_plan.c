#include <stdio.h>
#include <string.h>

#include "host/boot.h"
#include "host/command.h"
#include "host/compare.h"
#include "host/plan.h"
#include "host/plan_shell.h"
#include "host/reporting.h"
#include "host/run_options.h"
#include "host/session.h"
#include "host/stats.h"
#include "host/system.h"

#define POWER 0.9

static int print_xml(const struct scenario *s, const char *variant, struct error *e)
{
	for (size_t i = 0; i < s->nvariants; i++) {
		const struct machine *machine = scenario_machine(s, 0, i);
		struct image image = { .kernel = (char *)"/KERNEL", .initrd = (char *)"/INITRAMFS",
				       .arguments = machine->kernel_args ? machine->kernel_args : (char *)"" };
		struct system system = { .profile.file = (char *)"/PROFILE", .base = (char *)"/OVERLAY",
					 .archive = s->guest[0].driver == DRIVER_EXEC ? (char *)"/ARCHIVE" : NULL };
		struct settings settings = s->variant[i].settings;
		struct boot_request r = { .name = variant, .variant = variant, .guest = &s->guest[0], .machine = machine, .image = &image,
					  .settings = { &settings },
					  .source = { settings.backend == BACKEND_NULL || settings.backend == BACKEND_NBD ? NULL : "/TEST-DISK" }, .ndisks = 1 };
		struct text xml = { 0 };
		int status;

		if (strcmp(s->variant[i].name, variant))
			continue;
		if (s->guest[0].profile) {
			image.system = &system;
			image.kernel = machine->kernel;
			image.initrd = machine->initrd;
		}
		if (s->guest[0].domain || s->guest[0].domain_xml)
			return error_set(e, STATUS_USAGE, "--xml does not show copies of a user's domain: a run keeps them in its folder "
					 "domains");
		r.accel = machine->accel == ACCEL_KVM ? ACCEL_KVM : ACCEL_TCG;
		if (settings.cache == CACHE_AUTO)
			settings.cache = settings.backend == BACKEND_MEMORY ? CACHE_WRITEBACK : CACHE_NONE;
		status = boot_xml(&r, &xml, e);
		fputs(text_get(&xml), stdout);
		text_free(&xml);
		return status;
	}
	return error_set(e, STATUS_USAGE, "--xml %s: %s has no section [variant %s]", variant, s->file, variant);
}

static void print_order(const struct scenario *s, const struct plan *p)
{
	unsigned block = UINT32_MAX;

	for (size_t i = 0; i < p->nboots; i++) {
		const struct plan_boot *b = &p->boot[i];

		if (b->block != block)
			printf("block %u\n", (block = b->block) + 1);
		printf("  boot %u: ", b->number);
		for (unsigned d = 0; d < b->ndisks; d++)
			printf("%s%s", d ? " and " : "", s->variant[b->variant[d]].name);
		printf(s->nguests > 1 ? " on %s\n" : "\n", s->guest[b->guest].name);
		for (unsigned k = 0; k < b->ntrials; k++) {
			const struct plan_trial *t = &p->trial[b->first_trial + k];

			printf("    trial %u: %s%s%s\n", t->number, p->cell[t->cell].name, b->ndisks > 1 ? " on " : "",
			       b->ndisks > 1 ? s->variant[t->variant].name : "");
		}
	}
}

/* What the design can show, for the noise that hosts usually have: nothing is known of this one yet. */
static void print_detectable(const struct scenario *s, const struct plan *p)
{
	static const double noise[] = { 0.01, 0.02, 0.05, 0.10 };
	size_t family = p->ncells * (s->nvariants - 1);

	if (p->nblocks < 2) {
		printf("one block allows no interval: every verdict will be incomplete\n");
		return;
	}
	printf("effect on %s that %u blocks and %zu cells find with a chance of %.0f %%, by how much the\n"
	       "ratio of two boots of one block varies:\n", s->primary, p->nblocks, family, POWER * 100);
	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++) {
		char words[PERCENT_TEXT_SIZE];

		percent_text((stats_detectable(p->nblocks, noise[i], s->alpha, POWER, family) - 1) * 100, "", words);
		printf("  %4.0f %%  ->  %s %%\n", noise[i] * 100, words);
	}
}

static int check_tool(const struct run_options *o, struct error *e)
{
	if (o->tool && !o->shell)
		return error_set(e, STATUS_USAGE, "plan: --tool is for --shell");
	if (o->tool && strcmp(o->tool, "kickio") && strcmp(o->tool, "fio"))
		return error_set(e, STATUS_USAGE, "plan: --tool %s: expected kickio or fio", o->tool);
	return 0;
}

static int run(int argc, char **argv, struct error *e)
{
	struct run_options o;
	struct dirs dirs;
	struct scenario *s = NULL;
	struct plan *p = NULL;
	char path[4096];
	bool exact;
	double seconds;

	if (run_options_parse(argc, argv, "sxht", &o, e) || check_tool(&o, e) || dirs_find(&dirs, e) ||
	    session_scenario(&dirs, o.scenario ? o.scenario : "quick", path, sizeof(path), e) ||
	    scenario_read(path, o.set, o.nset, &s, e) || reporting_check_primary(s, e) || plan_make(s, s->seed, &p, e))
		goto out;
	if (o.shell) {
		struct text script = { 0 };

		if (plan_shell(s, p, o.tool ? o.tool : "kickio", &script, e) == 0)
			fputs(text_get(&script), stdout);
		text_free(&script);
		goto out;
	}
	if (o.xml) {
		print_xml(s, o.xml, e);
		goto out;
	}
	seconds = plan_seconds(s, p, &pace_usual, &exact);
	print_order(s, p);
	printf("%s: %u blocks, %zu boots, %zu trials in %zu cells, %s\n", s->name, p->nblocks, p->nboots, p->ntrials, p->ncells,
	       s->seed_set ? "the order is fixed by the seed" : "the order of one seed (0): run draws its own");
	printf("about %d min %02d s on two cores without KVM; run tells what it will be here\n", (int)seconds / 60,
	       (int)seconds % 60);
	print_detectable(s, p);
out:
	plan_free(p);
	scenario_free(s);
	run_options_free(&o);
	return e->status;
}

const struct command cmd_plan = {
	"plan", "plan [SCENARIO] [--set SECTION.KEY=VALUE]... [--xml VARIANT | --shell [--tool kickio|fio]]",
	"show trials, order, expected time and detectable effect; or a variant's domain XML (or commands and environment);\n"
	"    or the whole plan as a shell script, to be run by hand", run,
};
