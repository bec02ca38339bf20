#include "host/scenario.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/entries.h"
#include "host/parse.h"
#include "host/scenario_guests.h"
#include "host/scenario_keys.h"

static int no_memory(struct error *e)
{
	return error_set(e, STATUS_HOST, "out of memory");
}

/* Names go into file names, domain names and reports. NULL, or what is wrong. */
static const char *check_word(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._+-", *p))
			return "names are letters, digits and . _ + - only";
	return isalnum((unsigned char)*name) ? NULL : "a name begins with a letter or digit";
}

static int check_name(const struct section *s, struct error *e)
{
	const char *why = check_word(s->name);

	if (!*s->name)
		return error_at(e, STATUS_USAGE, s->file, s->line, "[%s] needs a name: [%s NAME]", s->kind, s->kind);
	return why ? error_at(e, STATUS_USAGE, s->file, s->line, "[%s %s]: %s", s->kind, s->name, why) : 0;
}

/* machine: takes what is no setting of the disk; NULL where there is none. */
static int read_settings(struct settings *to, struct machine *machine, const struct section *s, struct error *e)
{
	for (size_t i = 0; i < s->nentries; i++) {
		const struct entry *at = &s->entry[i];
		int status = settings_set(to, at->key, at->value, at->file, at->line, e);

		if (status > 0 && machine)
			status = machine_set(machine, at->key, at->value, at->file, at->line, e);
		if (status > 0)
			return error_at(e, STATUS_USAGE, at->file, at->line, "unknown key %s in [%s%s%s] (see kickbench help scenario)",
					at->key, s->kind, *s->name ? " " : "", s->name);
		if (status)
			return -1;
	}
	return 0;
}

static void *grow(void *array, size_t count, size_t each)
{
	char *grown = realloc(array, (count + 1) * each);

	if (grown)
		memset(grown + count * each, 0, each);
	return grown;
}

static int add_guest(struct scenario *s, const struct section *from, const char *name, struct error *e)
{
	struct guest *grown = grow(s->guest, s->nguests, sizeof(*grown)), *g;

	if (!grown)
		return no_memory(e);
	s->guest = grown;
	g = &grown[s->nguests++];
	g->name = strdup(name);
	machine_default(&g->machine);
	g->stall_timeout = 30;
	if (!g->name)
		return no_memory(e);
	if (from && check_name(from, e))
		return -1;
	return scenario_guest_read(g, s->file, from, e);
}

static int add_variant(struct scenario *s, const struct section *from, const struct section *disk, struct error *e)
{
	struct variant *grown = grow(s->variant, s->nvariants, sizeof(*grown)), *v;
	struct machine checked;
	const char *why;
	int bad;

	if (!grown)
		return no_memory(e);
	s->variant = grown;
	v = &grown[s->nvariants++];
	v->name = strdup(from->name);
	v->line = from->line;
	settings_default(&v->settings);
	if (!v->name)
		return no_memory(e);
	/* What it changes of the machine is merged when all guests are known; here it is only looked at. */
	machine_default(&checked);
	bad = check_name(from, e) || (disk && read_settings(&v->settings, NULL, disk, e)) ||
	      read_settings(&v->settings, &checked, from, e);
	machine_free(&checked);
	if (bad)
		return -1;
	why = settings_conflict(&v->settings);
	return why ? error_at(e, STATUS_USAGE, s->file, from->line, "[variant %s]: %s", v->name, why) : 0;
}

static int add_workload(struct scenario *s, const struct section *from, struct error *e)
{
	struct workload *grown = grow(s->workload, s->nworkloads, sizeof(*grown));

	if (!grown)
		return no_memory(e);
	s->workload = grown;
	return check_name(from, e) || scenario_workload_read(&grown[s->nworkloads++], from, e) ? -1 : 0;
}

static int find_baseline(struct scenario *s, const struct section *scenario, struct error *e)
{
	const struct entry *at = section_entry(scenario, "baseline");

	if (!at)
		return error_at(e, STATUS_USAGE, s->file, scenario ? scenario->line : 0,
				"no baseline: write baseline = VARIANT into [scenario]");
	for (unsigned i = 0; i < s->nvariants; i++)
		if (!strcmp(s->variant[i].name, at->value)) {
			s->baseline = i;
			return 0;
		}
	return error_at(e, STATUS_USAGE, at->file, at->line, "baseline = %s: there is no section [variant %s]", at->value,
			at->value);
}

static void free_variant(struct variant *v)
{
	free(v->name);
	settings_free(&v->settings);
}

/* A against A: the other variants make room for a copy of the baseline under another name. */
static int oppose_itself(struct scenario *s, struct error *e)
{
	struct variant *two = calloc(2, sizeof(*two)), *baseline = &s->variant[s->baseline];
	struct text name = { 0 };

	if (!two)
		return no_memory(e);
	text_add(&name, "%s-again", baseline->name);
	two[1].name = name.failed ? NULL : strdup(text_get(&name));
	text_free(&name);
	two[1].line = baseline->line;
	if (!two[1].name || settings_copy(&two[1].settings, &baseline->settings)) {
		free_variant(&two[1]);
		free(two);
		return no_memory(e);
	}
	two[0] = *baseline;
	*baseline = (struct variant){ 0 };
	for (size_t i = 0; i < s->nvariants; i++)
		free_variant(&s->variant[i]);
	free(s->variant);
	s->variant = two;
	s->nvariants = 2;
	s->baseline = 0;
	return 0;
}

const struct machine *scenario_machine(const struct scenario *s, size_t guest, size_t variant)
{
	return &s->machine[guest * s->nvariants + variant];
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static const struct section *section_of(const struct entries *all, const char *kind, const char *name)
{
	for (size_t i = 0; i < all->nsections; i++)
		if (!strcmp(all->section[i].kind, kind) && !strcmp(all->section[i].name, name))
			return &all->section[i];
	return NULL;
}

/* variant: NULL changes nothing. */
static int merge_machine(struct machine *m, const struct guest *guest, const struct settings *settings,
			 const struct section *variant, struct error *e)
{
	struct settings rest;
	const char *why;
	int bad;

	if (machine_copy(m, &guest->machine))
		return no_memory(e);
	if (!variant)
		return 0;
	settings_default(&rest);
	bad = read_settings(&rest, m, variant, e);
	settings_free(&rest);
	if (bad)
		return -1;
	why = machine_conflict(m);
	if (!why)
		why = machine_disk_conflict(m, settings);
	return why ? error_at(e, STATUS_USAGE, variant->file, variant->line, "[variant %s] with [guest %s]: %s", variant->name,
			      guest->name, why) : 0;
}

static int merge_machines(struct scenario *s, const struct entries *all, struct error *e)
{
	bool itself = s->against == AGAINST_ITSELF; /* both are the baseline */

	s->machine = calloc(s->nguests * s->nvariants, sizeof(*s->machine));
	if (!s->machine)
		return no_memory(e);
	for (size_t g = 0; g < s->nguests; g++)
		for (size_t v = 0; v < s->nvariants; v++)
			if (merge_machine(&s->machine[g * s->nvariants + v], &s->guest[g], &s->variant[v].settings,
					  section_of(all, "variant", s->variant[itself ? 0 : v].name), e))
				return -1;
	return 0;
}

/* Both variants are disks of one guest. */
static int check_disks(const struct scenario *s, const struct section *scenario, struct error *e)
{
	const struct settings *a = &s->variant[0].settings, *b = &s->variant[1].settings;

	if (s->nvariants != 2)
		return error_at(e, STATUS_USAGE, s->file, scenario ? scenario->line : 0,
				"pairing = disks compares exactly two variants, here are %zu", s->nvariants);
	if (!same(a->vcpupin, b->vcpupin) || !same(a->emulatorpin, b->emulatorpin))
		return error_at(e, STATUS_USAGE, s->file, s->variant[1].line,
				"vcpupin and emulatorpin are settings of a guest: they cannot differ with pairing = disks");
	for (size_t g = 0; g < s->nguests; g++)
		if (!machine_same(scenario_machine(s, g, 0), scenario_machine(s, g, 1)))
			return error_at(e, STATUS_USAGE, s->file, s->variant[1].line,
					"the machine belongs to the whole guest: it cannot differ with pairing = disks");
	return 0;
}

static int check_keys(struct scenario *s, const struct section *scenario, struct error *e)
{
	for (size_t i = 0; scenario && i < scenario->nentries; i++) {
		const struct entry *at = &scenario->entry[i];

		if (!strcmp(at->key, "seed"))
			s->seed_set = true;
		if (!strcmp(at->key, "primary")) {
			s->primary_file = at->file;
			s->primary_line = at->line;
		}
		if (!strcmp(at->key, "name") && check_word(at->value))
			return error_at(e, STATUS_USAGE, at->file, at->line, "name = %s: %s", at->value, check_word(at->value));
	}
	return 0;
}

static int check_whole(struct scenario *s, const struct entries *all, const struct section *scenario, struct error *e)
{
	if (s->nvariants < 2)
		return error_at(e, STATUS_USAGE, s->file, 0, "a comparison needs at least two [variant NAME] sections");
	if (s->nworkloads == 0)
		return error_at(e, STATUS_USAGE, s->file, 0, "there is no [workload NAME] section");
	if (merge_machines(s, all, e) || scenario_check_guests(s, e))
		return -1;
	if (s->pairing == PAIRING_DISKS && s->guest[0].driver == DRIVER_EXEC)
		return error_at(e, STATUS_USAGE, s->file, scenario->line,
				"pairing = disks needs driver = libvirt: the commands of driver = exec get one disk");
	if (s->pairing == PAIRING_DISKS && check_disks(s, scenario, e))
		return -1;
	if (s->pairing == PAIRING_DISKS && s->fresh_boot == FRESH_BOOT_PER_TRIAL)
		return error_at(e, STATUS_USAGE, s->file, scenario->line,
				"fresh_boot = per-trial needs pairing = boots: both variants of pairing = disks share a boot");
	return check_keys(s, scenario, e);
}

static char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *name = strdup(slash ? slash + 1 : file), *dot = name ? strrchr(name, '.') : NULL;

	if (dot && dot > name)
		*dot = '\0';
	return name;
}

/* Of a comparison, and of a matrix for kickbench regress. */
static const char *const comparison_kinds[] = { "scenario", "disk", "guest", "variant", "workload", NULL };
static const char *const matrix_kinds[] = { "scenario", "disk", "guest", "matrix", "except", NULL };

static int check_sections(const struct entries *all, bool matrix, struct error *e)
{
	for (size_t i = 0; i < all->nsections; i++) {
		const struct section *at = &all->section[i];
		int kind = parse_word(at->kind, matrix ? matrix_kinds : comparison_kinds);

		if (kind < 0)
			return error_at(e, STATUS_USAGE, at->file, at->line, "unknown section [%s]: expected scenario, guest, disk, %s%s",
					at->kind, matrix ? "matrix or except" : "variant or workload",
					!matrix && parse_word(at->kind, matrix_kinds) >= 0 ? " (a matrix is for kickbench regress)" : "");
		if (kind < 2 && *at->name)
			return error_at(e, STATUS_USAGE, at->file, at->line, "[%s] takes no name", at->kind);
		if (matrix && kind > 2 && check_name(at, e))
			return -1;
	}
	return 0;
}

/* What changes nothing: the disk as [disk] has it is a matrix's only variant. */
static int add_base(struct scenario *s, const struct section *disk, struct error *e)
{
	struct section base = { .kind = "disk", .name = "base", .file = s->file, .line = disk ? disk->line : 0 };

	return add_variant(s, &base, disk, e);
}

static int build(struct scenario *s, const struct entries *all, bool matrix, struct error *e)
{
	const struct section *scenario = section_of(all, "scenario", ""), *disk = section_of(all, "disk", "");

	if (check_sections(all, matrix, e) || (scenario && scenario_keys_read(s, scenario, e)))
		return -1;
	for (size_t i = 0; i < all->nsections; i++) {
		const struct section *at = &all->section[i];
		int bad = 0;

		if (!strcmp(at->kind, "guest"))
			bad = add_guest(s, at, at->name, e);
		else if (!strcmp(at->kind, "variant"))
			bad = add_variant(s, at, disk, e);
		else if (!strcmp(at->kind, "workload"))
			bad = add_workload(s, at, e);
		if (bad)
			return -1;
	}
	if ((!s->nguests && add_guest(s, NULL, "linux", e)) || scenario_choose_guests(s, scenario, e))
		return -1;
	if (matrix)
		return add_base(s, disk, e) || merge_machines(s, all, e) || check_keys(s, scenario, e) ? -1 : 0;
	if (s->against == AGAINST_ITSELF && s->nvariants && (find_baseline(s, scenario, e) || oppose_itself(s, e)))
		return -1;
	if (check_whole(s, all, scenario, e))
		return -1;
	return s->against == AGAINST_ITSELF ? 0 : find_baseline(s, scenario, e);
}

static int keep_source(struct scenario *s, const struct entries *all, const char *const *set, size_t nset)
{
	struct text t = { 0 };

	text_add(&t, "%s", all->source);
	for (size_t i = 0; i < nset; i++)
		text_add(&t, "%s; --set %s\n", i || (t.length && t.data[t.length - 1] == '\n') ? "" : "\n", set[i]);
	s->source = t.failed ? NULL : strdup(text_get(&t));
	text_free(&t);
	return s->source ? 0 : -1;
}

static int read_either(const char *file, const char *const *set, size_t nset, bool matrix, struct scenario **out,
		       struct error *e)
{
	struct scenario *s = calloc(1, sizeof(*s));
	struct entries *all;
	int status = -1;

	*out = NULL;
	if (!s)
		return no_memory(e);
	*s = (struct scenario){ .blocks = 8, .repeats = 1, .margin = 0.03, .alpha = 0.05,
				.fail_on = FAIL_STALLED | FAIL_CORRUPT };
	s->file = strdup(file);
	s->name = base_name(file);
	s->primary = strdup("iops");
	s->primary_file = s->file;
	s->entries = all = calloc(1, sizeof(*all));
	if (!s->file || !s->name || !s->primary || !all) {
		no_memory(e);
		goto out;
	}
	if (entries_read(file, all, e))
		goto out;
	for (size_t i = 0; i < nset; i++)
		if (entries_set(all, set[i], e))
			goto out;
	if (build(s, all, matrix, e))
		goto out;
	if (keep_source(s, all, set, nset)) {
		no_memory(e);
		goto out;
	}
	*out = s;
	s = NULL;
	status = 0;
out:
	scenario_free(s);
	return status;
}

int scenario_read(const char *file, const char *const *set, size_t nset, struct scenario **out, struct error *e)
{
	return read_either(file, set, nset, false, out, e);
}

int scenario_read_matrix(const char *file, const char *const *set, size_t nset, struct scenario **out, struct error *e)
{
	return read_either(file, set, nset, true, out, e);
}

void scenario_free(struct scenario *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nguests; i++)
		guest_free(&s->guest[i]);
	for (size_t i = 0; s->machine && i < s->nguests * s->nvariants; i++)
		machine_free(&s->machine[i]);
	free(s->machine);
	for (size_t i = 0; i < s->nvariants; i++)
		free_variant(&s->variant[i]);
	for (size_t i = 0; i < s->nworkloads; i++)
		scenario_workload_free(&s->workload[i]);
	if (s->entries)
		entries_free(s->entries);
	free(s->entries);
	free(s->guest);
	free(s->variant);
	free(s->workload);
	free(s->file);
	free(s->source);
	free(s->name);
	free(s->primary);
	free(s->guests);
	free(s);
}
