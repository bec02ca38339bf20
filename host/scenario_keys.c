/* The keys of [scenario] and [guest]: one table. */
#include "host/scenario_keys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/parse.h"
#include "host/scenario.h"

enum kind { KIND_NAME, KIND_COMMAND, KIND_COUNT, KIND_SEED, KIND_SECONDS, KIND_FRACTION, KIND_SHARE, KIND_WORD, KIND_FAIL };

struct key {
	const char *section, *name;
	enum kind kind;
	size_t offset;
	uint64_t min, max;
	const char *const *words;
	const char *help;
};

static const char *const pairings[] = { "boots", "disks", NULL };
static const char *const fresh_boots[] = { "per-boot", "per-trial", NULL };
static const char *const againsts[] = { "variants", "itself", NULL };
static const char *const logins[] = { "", "none", "console", NULL }; /* by enum guest_login */
static const char *const drivers[] = { "libvirt", "exec", NULL };
static const char *const tools[] = { "kickio", "probe", "fio", NULL }; /* by enum tool */
static const char *const networks[] = { "none", "keep", NULL };
static const char *const host_devices[] = { "refuse", "drop", NULL };
static const char *const verdicts[] = { "worse", "better", "unclear", "stalled", "corrupt", NULL };

#define S(field) offsetof(struct scenario, field)
#define G(field) offsetof(struct guest, field)

/* baseline is read apart: it is an index that exists only when all variants are known. */
#define NOWHERE SIZE_MAX

static const struct key keys[] = {
	{ "scenario", "name", KIND_NAME, S(name), 0, 0, NULL, "name of the run folder and the report (the file's name)" },
	{ "scenario", "baseline", KIND_NAME, NOWHERE, 0, 0, NULL, "the variant that the others are compared with" },
	{ "scenario", "guests", KIND_NAME, S(guests), 0, 0, NULL, "which [guest NAME] sections take part, as linux, openbsd (all)" },
	{ "scenario", "blocks", KIND_COUNT, S(blocks), 1, 1000, NULL, "how often every variant is booted (8)" },
	{ "scenario", "repeats", KIND_COUNT, S(repeats), 1, 1000, NULL, "trials of a cell in one boot (1)" },
	{ "scenario", "pairing", KIND_WORD, S(pairing), 0, 0, pairings,
	  "boots: a boot per variant; disks: both variants as two disks of one guest" },
	{ "scenario", "fresh_boot", KIND_WORD, S(fresh_boot), 0, 0, fresh_boots,
	  "per-boot: a boot runs all cells; per-trial: every trial gets a boot of its own" },
	{ "scenario", "against", KIND_WORD, S(against), 0, 0, againsts,
	  "variants: they are compared with the baseline; itself: a copy of the baseline is, in their place" },
	{ "scenario", "primary", KIND_NAME, S(primary), 0, 0, NULL, "the metric that verdicts come from (iops)" },
	{ "scenario", "margin", KIND_FRACTION, S(margin), 0, 0, NULL, "differences inside are called the same (3%)" },
	{ "scenario", "fail_margin", KIND_FRACTION, S(fail_margin), 0, 0, NULL, "smallest estimate called worse or better (0)" },
	{ "scenario", "alpha", KIND_SHARE, S(alpha), 0, 0, NULL, "false alarms allowed over all cells (0.05)" },
	{ "scenario", "fail_on", KIND_FAIL, S(fail_on), 0, 0, NULL,
	  "verdicts that make the exit status 1: worse, better, unclear, stalled, corrupt (stalled, corrupt)" },
	{ "scenario", "seed", KIND_SEED, S(seed), 0, 0, NULL, "seed of the order of everything (drawn and recorded)" },
	{ "guest", "tool", KIND_WORD, G(tool), 0, 0, tools,
	  "kickio: fio's jobs; fio: the same by the fio that is in the guest; probe: a guest without an operating system, which measures notifications (kickio)" },
	{ "guest", "image", KIND_NAME, G(image), 0, 0, NULL,
	  "folder of the guest's image (images/linux; tool = probe: images/probe); with a profile, a disk image, which is never written to; "
	  "exec: none, the start command knows (none)" },
	{ "guest", "profile", KIND_NAME, G(profile), 0, 0, NULL,
	  "how the system of a disk image, or of exec's guest, is driven by its console: linux, openbsd, freebsd, netbsd, dragonfly, or a "
	  "guest.ini" },
	{ "guest", "login", KIND_WORD, G(login), 0, 0, logins, "console: log in there; none: kickio's agent starts by itself" },
	{ "guest", "user", KIND_NAME, G(user), 0, 0, NULL, "who logs in on the console (the profile's: root)" },
	{ "guest", "password_file", KIND_NAME, G(password_file), 0, 0, NULL, "a file whose first line is the console's password" },
	{ "guest", "password_env", KIND_NAME, G(password_env), 0, 0, NULL, "the environment variable that holds it" },
	{ "guest", "driver", KIND_WORD, G(driver), 0, 0, drivers, "what starts the guest: libvirt, or exec: the commands below (libvirt)" },
	{ "guest", "start", KIND_COMMAND, G(exec.start), 0, 0, NULL,
	  "exec: shell command that starts the guest, with KICKBENCH_DISK and all settings in its environment" },
	{ "guest", "stop", KIND_COMMAND, G(exec.stop), 0, 0, NULL, "exec: command after each boot, to end the guest (SIGTERM to start)" },
	{ "guest", "kill", KIND_COMMAND, G(exec.kill), 0, 0, NULL, "exec: command for a guest that stop did not end (SIGKILL to start)" },
	{ "guest", "verify", KIND_COMMAND, G(exec.verify), 0, 0, NULL,
	  "exec: command that prints what is in force, as KEY=VALUE lines (nothing is verified)" },
	{ "guest", "link", KIND_COMMAND, G(exec.link), 0, 0, NULL,
	  "exec: the agent's serial port: pty PATH, unix PATH, or stdio of the start command" },
	{ "guest", "console", KIND_COMMAND, G(exec.console), 0, 0, NULL,
	  "exec: the console's serial port, as link (none: link is the only port, or, without a profile, the console is elsewhere)" },
	{ "guest", "baud", KIND_COUNT, G(exec.baud), 50, 10000000, NULL,
	  "exec: send no faster than this, as a port without FIFO needs it (as fast as the port takes it)" },
	{ "guest", "domain", KIND_NAME, G(domain), 0, 0, NULL,
	  "instead of an image: a domain of the connection, of which a throw-away copy is run; it is left as it is" },
	{ "guest", "domain_xml", KIND_NAME, G(domain_xml), 0, 0, NULL, "the same from a file with a domain's definition" },
	{ "guest", "network", KIND_WORD, G(network), 0, 0, networks, "network interfaces of a domain's copy: none, keep (none)" },
	{ "guest", "host_devices", KIND_WORD, G(host_devices), 0, 0, host_devices,
	  "a domain that has devices of the host: refuse it, or drop them from the copy (refuse)" },
	{ "guest", "boot_timeout", KIND_SECONDS, G(boot_timeout), 0, 86400, NULL,
	  "seconds until the guest must have said hello (ten times what the accelerator trial took, at least 30)" },
	{ "guest", "stall_timeout", KIND_SECONDS, G(stall_timeout), 0, 86400, NULL,
	  "seconds without a word or without progress that count as a stall (30)" },
};

#define NKEYS (sizeof(keys) / sizeof(keys[0]))

const char *scenario_key(const char *section, size_t k, const char **help)
{
	for (size_t i = 0; i < NKEYS; i++)
		if (!strcmp(keys[i].section, section) && k-- == 0) {
			if (help)
				*help = keys[i].help;
			return keys[i].name;
		}
	return NULL;
}

static void add_verdicts(struct text *t)
{
	for (int i = 0; verdicts[i]; i++)
		text_add(t, "%s, ", verdicts[i]);
	text_add(t, "or none");
}

static int parse_verdicts(const char *text, unsigned *mask)
{
	char *copy = strdup(text), *save = NULL;
	bool known = copy != NULL;

	*mask = 0;
	for (char *word = known ? strtok_r(copy, ", \t", &save) : NULL; word; word = strtok_r(NULL, ", \t", &save)) {
		int i = parse_word(word, verdicts);

		if (i >= 0)
			*mask |= 1u << i;
		else
			known = known && !strcmp(word, "none");
	}
	free(copy);
	return known ? 0 : -1;
}

int fail_on_parse(const char *text, unsigned *mask, struct error *e)
{
	struct text t = { 0 };

	if (parse_verdicts(text, mask) == 0)
		return 0;
	add_verdicts(&t);
	error_set(e, STATUS_USAGE, "%s: expected %s", text, text_get(&t));
	text_free(&t);
	return -1;
}

void fail_on_text(unsigned mask, struct text *out)
{
	const char *sep = "";

	for (int i = 0; verdicts[i]; i++)
		if (mask & (1u << i)) {
			text_add(out, "%s%s", sep, verdicts[i]);
			sep = ", ";
		}
	if (!mask)
		text_add(out, "none");
}

/* What a key may hold, for messages. */
static void allowed(const struct key *k, struct text *t)
{
	switch (k->kind) {
	case KIND_NAME:
		text_add(t, "a name");
		break;
	case KIND_COMMAND:
		text_add(t, "some text");
		break;
	case KIND_COUNT:
		text_add(t, "a number from %" PRIu64 " to %" PRIu64, k->min, k->max);
		break;
	case KIND_SEED:
		text_add(t, "a number below 2^63");
		break;
	case KIND_SECONDS:
		text_add(t, "a time such as 30s or 2m, above 0 and at most %" PRIu64 "s", k->max);
		break;
	case KIND_FRACTION:
	case KIND_SHARE:
		text_add(t, "a share such as 3%% or 0.03, %s 0 and below 1", k->kind == KIND_SHARE ? "above" : "from");
		break;
	case KIND_WORD:
		for (size_t i = 0; k->words[i]; i++)
			if (*k->words[i])
				text_add(t, "%s%s", t->length ? ", " : "", k->words[i]);
		break;
	case KIND_FAIL:
		add_verdicts(t);
		break;
	}
}

static int set_name(char **where, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -1;
	free(*where);
	*where = copy;
	return *value ? 0 : -1;
}

/* -1: not what the key may hold. */
static int set(void *where, const struct key *k, const char *value)
{
	uint64_t v;
	double d;
	int i;

	switch (k->kind) {
	case KIND_NAME:
	case KIND_COMMAND:
		return set_name(where, value);
	case KIND_COUNT:
		if (parse_u64(value, &v) || v < k->min || v > k->max)
			return -1;
		*(unsigned *)where = (unsigned)v;
		return 0;
	case KIND_SEED:
		if (parse_u64(value, &v) || v > INT64_MAX) /* JSON's integers are signed */
			return -1;
		*(uint64_t *)where = v;
		return 0;
	case KIND_SECONDS:
		if (parse_duration(value, &d) || d <= 0 || d > (double)k->max)
			return -1;
		*(double *)where = d;
		return 0;
	case KIND_FRACTION:
	case KIND_SHARE:
		if (parse_fraction(value, &d) || (k->kind == KIND_SHARE && d <= 0))
			return -1;
		*(double *)where = d;
		return 0;
	case KIND_WORD:
		i = parse_word(value, k->words);
		if (i < 0 || !*value)
			return -1;
		*(int *)where = i;
		return 0;
	case KIND_FAIL:
		return parse_verdicts(value, where);
	}
	return -1;
}

static const struct key *find_key(const char *section, const char *name)
{
	for (size_t i = 0; i < NKEYS; i++)
		if (!strcmp(keys[i].section, section) && !strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

int scenario_keys_read(void *object, const struct section *s, struct error *e)
{
	for (size_t i = 0; i < s->nentries; i++) {
		const struct entry *at = &s->entry[i];
		const struct key *k = find_key(s->kind, at->key);
		struct text t = { 0 };

		if (!k && !strcmp(s->kind, "guest")) {
			int status = machine_set(&((struct guest *)object)->machine, at->key, at->value, at->file, at->line, e);

			if (status <= 0) {
				if (status)
					return -1;
				continue;
			}
		}
		if (!k)
			return error_at(e, STATUS_USAGE, at->file, at->line, "unknown key %s in [%s] (see kickbench help scenario)",
					at->key, s->kind);
		if (k->offset == NOWHERE || set((char *)object + k->offset, k, at->value) == 0)
			continue;
		allowed(k, &t);
		error_at(e, STATUS_USAGE, at->file, at->line, "%s = %s: expected %s", k->name, at->value, text_get(&t));
		text_free(&t);
		return -1;
	}
	return 0;
}
