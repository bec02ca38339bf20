#include "host/plan_shell.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "host/filesystem.h"

void plan_shell_quote(const char *text, struct text *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+%@";

	if (*text && strspn(text, plain) == strlen(text)) {
		text_add(out, "%s", text);
		return;
	}
	text_add(out, "'");
	for (; *text; text++)
		if (*text == '\'')
			text_add(out, "'\\''");
		else
			text_add_bytes(out, text, 1);
	text_add(out, "'");
}

/* A cell's name as part of a file name. */
static void add_plain(const char *name, struct text *out)
{
	for (; *name; name++)
		text_add(out, "%c", isalnum((unsigned char)*name) || strchr("._+", *name) ? *name : '-');
}

/*
 * An import tells cells apart by the job's name and some options (host/import_cell.h): a sweep over any other option has
 * to be in the name.
 */
static void job_name(const struct scenario *s, const struct cell *c, struct text *out)
{
	static const char *const known[] = { "rw=", "readwrite=", "bs=", "iodepth=", "numjobs=", "ioengine=" };
	const char *p = c->point;

	text_add(out, "%s", s->workload[c->workload].name);
	while (*p) {
		size_t n = strcspn(p, " ");
		bool told = false;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			told = told || !strncmp(p, known[i], strlen(known[i]));
		if (!told)
			text_add(out, ",%.*s", (int)n, p);
		p += n;
		p += strspn(p, " ");
	}
}

/* The line for the guest's shell. $DISK is put in by the script. */
static void command_line(const struct scenario *s, const struct plan *p, const struct plan_trial *t, struct text *out)
{
	const struct cell *c = &p->cell[t->cell];
	struct text name = { 0 }, word = { 0 };

	job_name(s, c, &name);
	text_add(&word, "--name=%s", text_get(&name));
	plan_shell_quote(text_get(&word), out);
	for (size_t i = 0; i < c->argc; i++) {
		if (!strncmp(c->argv[i], "--name=", 7))
			continue;
		text_add(out, " ");
		plan_shell_quote(c->argv[i], out);
	}
	if (!c->own_seed)
		text_add(out, " --randseed=%" PRIu64, plan_offset_seed(p, t->block, t->cell));
	text_add(out, " --output-format=json");
	text_free(&name);
	text_free(&word);
}

static void add_settings(const struct scenario *s, const struct plan_boot *b, struct text *out)
{
	const struct variant *v = &s->variant[b->variant[0]];
	const struct machine *m = scenario_machine(s, b->guest, b->variant[0]);
	struct text value = { 0 };
	const char *key;

	for (size_t i = 0; (key = machine_key(i, NULL)); i++) {
		text_reset(&value);
		machine_get(m, key, &value);
		if (value.length)
			text_add(out, " %s=%s", key, text_get(&value));
	}
	for (size_t i = 0; i < m->nproperties; i++)
		text_add(out, " qemu.%s=%s", m->property[i].name, m->property[i].value);
	for (size_t i = 0; (key = settings_key(i, NULL)); i++) {
		text_reset(&value);
		settings_get(&v->settings, key, &value);
		if (value.length)
			text_add(out, " %s=%s", key, text_get(&value));
	}
	text_free(&value);
}

static void add_head(const struct scenario *s, const struct plan *p, const char *tool, struct text *out)
{
	bool writes = false, files = false;

	for (size_t i = 0; i < p->ncells; i++) {
		writes = writes || p->cell[i].writes;
		files = files || p->cell[i].on_files;
	}
	text_add(out, "#!/bin/sh\n"
		 "# %s, seed %" PRIu64 ": %u blocks, %zu boots, %zu trials, in the order in which they have to run.\n"
		 "#\n"
		 "#\tDISK=/dev/vdb GUEST='ssh root@guest' sh THIS        on the host, with %s in the guest\n"
		 "#\tDISK=/dev/vdb OUT=/mnt/out sh THIS 3                 in the guest, after boot 3\n"
		 "#\n"
		 "# DISK: the test disk as the guest names it: its content is lost. Write it whole before the first boot (--rw=write),\n"
		 "# or reads find holes. GUEST: what runs a command line in the guest; empty: a shell here. OUT: where the outputs go.\n"
		 "# Arguments: the boots to run (all). OUT/import.sh makes a run folder of the outputs.\n",
		 s->name, p->seed, p->nblocks, p->nboots, p->ntrials, tool);
	if (writes)
		text_add(out, "# Some jobs write: give every boot a disk that was written whole in the same way.\n");
	if (files)
		text_add(out, "# Some jobs work on files: mount the disk's file system at %s first.\n", FILESYSTEM_PATH);
	text_add(out, "set -u\n"
		 "TOOL=${TOOL:-%s} GUEST=${GUEST-} OUT=${OUT:-%s-out}\n"
		 ": \"${DISK:?the test disk as the guest names it, as DISK=/dev/vdb}\"\n"
		 "boots=\" $* \" failed=0\n"
		 "mkdir -p \"$OUT\" || exit 1\n\n"
		 "# One word of a shell.\n"
		 "quote() { printf \"'%%s'\" \"$(printf %%s \"$1\" | sed \"s/'/'\\\\\\\\''/g\")\"; }\n\n"
		 "# Whether a boot is to be run; ask for it.\n"
		 "boot() { # NUMBER VARIANT WORDS\n"
		 "\t[ \"$boots\" = '  ' ] || case $boots in *\" $1 \"*) ;; *) return 1 ;; esac\n"
		 "\tprintf 'boot %%s: start the guest with variant %%s (%%s), then press Enter: ' \"$1\" \"$2\" \"$3\" >&2\n"
		 "\tread -r _ || echo >&2\n"
		 "}\n\n"
		 "trial() { # FILE ARGUMENTS DISK-ARGUMENT\n"
		 "\techo \"  $1\" >&2\n"
		 "\tline=\"$TOOL $2\"\n"
		 "\t[ -z \"$3\" ] || line=\"$line $(quote \"$3\")\"\n"
		 "\tif [ -n \"$GUEST\" ]; then\n"
		 "\t\t# shellcheck disable=SC2086 # a command with its arguments\n"
		 "\t\t$GUEST \"$line\" >\"$OUT/$1.new\" </dev/null\n"
		 "\telse\n"
		 "\t\tsh -c \"$line\" >\"$OUT/$1.new\" </dev/null\n"
		 "\tfi && mv \"$OUT/$1.new\" \"$OUT/$1\" && return\n"
		 "\techo \"  $1: failed with status $?; what it printed is in $OUT/$1.new\" >&2\n"
		 "\tfailed=$((failed + 1))\n"
		 "}\n",
		 tool, s->name);
}

static void add_boot(const struct scenario *s, const struct plan *p, const struct plan_boot *b, struct text *out)
{
	const char *variant = s->variant[b->variant[0]].name;
	struct text words = { 0 }, line = { 0 };

	text_add(&words, "%s:", s->guest[b->guest].name);
	add_settings(s, b, &words);
	text_add(out, "\n# block %u\nif boot %u ", b->block + 1, b->number);
	plan_shell_quote(variant, out);
	text_add(out, " ");
	plan_shell_quote(text_get(&words), out);
	text_add(out, "; then\n");
	for (unsigned k = 0; k < b->ntrials; k++) {
		const struct plan_trial *t = &p->trial[b->first_trial + k];
		const struct cell *c = &p->cell[t->cell];

		text_reset(&line);
		command_line(s, p, t, &line);
		text_add(out, "\ttrial %s.b%u.boot%u.t%06u.", variant, b->block + 1, b->number, t->number);
		add_plain(c->name, out);
		text_add(out, ".txt \\\n\t\t");
		plan_shell_quote(text_get(&line), out);
		text_add(out, c->on_files ? " ''\n" : " \"--filename=$DISK\"\n");
	}
	text_add(out, "fi\n");
	text_free(&words);
	text_free(&line);
}

/* Boots that were not run have no files: those lines are left out. */
static void add_tail(const struct scenario *s, const struct plan *p, struct text *out)
{
	text_add(out, "\nimports() {\n\t# shellcheck disable=SC2016 # a line of the other script\n"
		 "\techo 'cd \"$(dirname \"$0\")\" || exit 1'\n\tcd \"$OUT\" || exit 1\n");
	for (size_t i = 0; i < p->nboots; i++) {
		const struct plan_boot *b = &p->boot[i];
		const char *variant = s->variant[b->variant[0]].name;

		text_add(out, "\tset -- %s.b%u.boot%u.*.txt\n", variant, b->block + 1, b->number);
		text_add(out, "\t[ ! -e \"$1\" ] || echo \"${KICKBENCH:-kickbench} import $* --variant %s --guest %s "
			 "--block %u --boot %u%s -o run || exit\"\n",
			 variant, s->guest[b->guest].name, b->block + 1, b->number,
			 b->variant[0] == s->baseline ? " --baseline" : "");
	}
	text_add(out, "\techo \"${KICKBENCH:-kickbench} report run\"\n}\n"
		 "(imports) >\"$OUT/import.sh\"\n"
		 "cat \"$OUT/import.sh\"\n"
		 "echo \"sh '$OUT/import.sh' compares\" >&2\n"
		 "[ \"$failed\" = 0 ]\n");
}

int plan_shell(const struct scenario *s, const struct plan *p, const char *tool, struct text *out, struct error *e)
{
	if (s->pairing == PAIRING_DISKS)
		return error_set(e, STATUS_USAGE, "plan --shell: pairing = disks, which swaps disks between boots, is not for hands: "
				 "--set scenario.pairing=boots");
	add_head(s, p, tool, out);
	for (size_t i = 0; i < p->nboots; i++)
		add_boot(s, p, &p->boot[i], out);
	add_tail(s, p, out);
	return out->failed ? error_set(e, STATUS_HOST, "out of memory") : 0;
}
