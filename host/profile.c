#include "host/profile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "host/dirs.h"
#include "host/entries.h"
#include "host/parse.h"

#define TIMEOUT_S 60

static const char *const scripts[PROFILE_SCRIPTS + 1] = { "login", "prepare", "start", "check", "shared", "stop", "install", NULL };

/* ---- [guest] ---- */

#define P(field) offsetof(struct profile, field)

static const struct word_key {
	const char *name;
	size_t offset;
	const char *otherwise; /* NULL: must be there */
} words[] = {
	{ "agent", P(agent), NULL },
	{ "folder", P(folder), "/var/tmp/kickbench" },
	{ "media", P(media), "" },
	{ "os", P(os), NULL },
	{ "prompt", P(prompt), "[#$%>] *$" },
	{ "seed", P(seed), "" },
	{ "size", P(size), "" },
	{ "status", P(status), "run" },
	{ "tar", P(tar), "" },
	{ "user", P(user), "root" },
};
#define NWORDS (sizeof(words) / sizeof(words[0]))

/* Keys of the same section that only an image's build.sh reads. */
static const char *const of_the_maker[] = { "arguments", "build", "initramfs", "kernel", NULL };

static int no_memory(struct error *e)
{
	return error_set(e, STATUS_HOST, "out of memory");
}

static int set_word(struct profile *p, const struct word_key *k, const char *value)
{
	char **where = (char **)(void *)((char *)p + k->offset);

	free(*where);
	*where = strdup(value);
	return *where ? 0 : -1;
}

static int read_fact(struct profile *p, const struct entry *at, struct error *e)
{
	static const char *const logins[] = { "none", "console", NULL };

	if (!strcmp(at->key, "login")) {
		if (parse_word(at->value, logins) < 0)
			return error_at(e, STATUS_USAGE, at->file, at->line, "login = %s: expected none or console", at->value);
		p->login = parse_word(at->value, logins) == 1;
		return 0;
	}
	if (!strcmp(at->key, "boot_timeout")) {
		if (parse_duration(at->value, &p->boot_timeout) || p->boot_timeout <= 0)
			return error_at(e, STATUS_USAGE, at->file, at->line, "boot_timeout = %s: expected a time such as 300s", at->value);
		return 0;
	}
	if (parse_word(at->key, of_the_maker) >= 0)
		return 0;
	for (size_t i = 0; i < NWORDS; i++)
		if (!strcmp(at->key, words[i].name))
			return set_word(p, &words[i], at->value) ? no_memory(e) : 0;
	return error_at(e, STATUS_USAGE, at->file, at->line, "unknown key %s in [guest] of a profile", at->key);
}

static int read_facts(struct profile *p, const struct entries *all, struct error *e)
{
	const struct section *guest = NULL;
	bool installs = false;

	for (size_t i = 0; i < all->nsections; i++) {
		if (!strcmp(all->section[i].kind, "guest"))
			guest = &all->section[i];
		installs = installs || !strcmp(all->section[i].kind, "install");
	}
	p->login = !installs; /* unless the file says something else */
	if (!guest)
		return error_at(e, STATUS_USAGE, all->file, 0, "has no section [guest]");
	for (size_t i = 0; i < guest->nentries; i++)
		if (read_fact(p, &guest->entry[i], e))
			return -1;
	for (size_t i = 0; i < NWORDS; i++) {
		const char *value = *(char **)(void *)((char *)p + words[i].offset);

		if (value)
			continue;
		if (!words[i].otherwise && !(installs && !strcmp(words[i].name, "agent")))
			return error_at(e, STATUS_USAGE, guest->file, guest->line, "[guest] needs the key %s", words[i].name);
		if (set_word(p, &words[i], words[i].otherwise ? words[i].otherwise : ""))
			return no_memory(e);
	}
	return 0;
}

/* ---- steps ---- */

static int hex(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* A value with its escapes replaced; NULL: a bad one. In an expression the others are the expression's. */
static char *unescape(const char *value, bool expression)
{
	char *text = malloc(strlen(value) + 1), *to = text;

	for (const char *p = value; text && *p; p++) {
		if (*p != '\\') {
			*to++ = *p;
			continue;
		}
		p++;
		if (*p == 'n' || *p == 't' || (*p == 'r' && !expression)) {
			*to++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : '\r';
		} else if (expression && *p) {
			*to++ = '\\';
			*to++ = *p;
		} else if (*p == '\\') {
			*to++ = '\\';
		} else if (*p == 'x' && hex(p[1]) >= 0 && hex(p[2]) >= 0 && hex(p[1]) + hex(p[2]) > 0) {
			*to++ = (char)(hex(p[1]) * 16 + hex(p[2]));
			p += 2;
		} else {
			free(text);
			return NULL;
		}
	}
	if (text)
		*to = '\0';
	return text;
}

/* The keys of a step or reaction: those in which it differs are NULL. */
struct slots {
	char **expect, **unless, **send, **message;
	double *timeout;
};

static int read_key(const struct slots *to, const struct section *s, const struct entry *at, struct error *e)
{
	char **where = !strcmp(at->key, "expect") ? to->expect : !strcmp(at->key, "unless") ? to->unless
		     : !strcmp(at->key, "send") ? to->send : !strcmp(at->key, "message") ? to->message : NULL;

	if (!strcmp(at->key, "timeout") && to->timeout) {
		if (parse_duration(at->value, to->timeout) || *to->timeout <= 0)
			return error_at(e, STATUS_USAGE, at->file, at->line, "timeout = %s: expected a time such as 60s", at->value);
		return 0;
	}
	if (!where)
		return error_at(e, STATUS_USAGE, at->file, at->line, "unknown key %s in [%s %s]", at->key, s->kind, s->name);
	*where = unescape(at->value, where != to->send && where != to->message);
	return *where ? 0 : error_at(e, STATUS_USAGE, at->file, at->line, "%s = %s: escapes are \\n \\r \\t \\\\ and \\xNN",
				     at->key, at->value);
}

static int read_keys(const struct slots *to, const struct section *s, struct error *e)
{
	for (size_t i = 0; i < s->nentries; i++)
		if (read_key(to, s, &s->entry[i], e))
			return -1;
	return 0;
}

static int add_step(struct profile *p, enum profile_script which, const struct section *s, struct error *e)
{
	struct console_script *script = &p->script[which];
	struct console_step *grown = realloc(p->step[which], (script->nsteps + 1) * sizeof(*grown)), *step;
	struct slots slots;

	if (!grown)
		return no_memory(e);
	script->step = p->step[which] = grown;
	step = &grown[script->nsteps++];
	*step = (struct console_step){ .name = strdup(s->name), .timeout = TIMEOUT_S, .line = s->line };
	if (!step->name)
		return no_memory(e);
	slots = (struct slots){ &step->expect, &step->unless, &step->send, NULL, &step->timeout };
	if (read_keys(&slots, s, e))
		return -1;
	if (!step->expect && (!step->send || step->unless))
		return error_at(e, STATUS_USAGE, s->file, s->line, "[%s %s] needs expect%s", s->kind, s->name,
				step->unless ? "" : " or send");
	return 0;
}

static int add_reaction(struct profile *p, bool failure, const struct section *s, struct error *e)
{
	struct console_reaction *grown = realloc(p->reaction, (p->nreactions + 1) * sizeof(*grown)), *r;
	struct slots slots;

	if (!grown)
		return no_memory(e);
	p->reaction = grown;
	r = &grown[p->nreactions++];
	*r = (struct console_reaction){ .name = strdup(s->name), .line = s->line };
	if (!r->name)
		return no_memory(e);
	slots = (struct slots){ &r->expect, NULL, failure ? NULL : &r->send, failure ? &r->message : NULL, NULL };
	if (read_keys(&slots, s, e))
		return -1;
	if (!r->expect || (!r->send && !r->message))
		return error_at(e, STATUS_USAGE, s->file, s->line, "[%s %s] needs expect and %s", s->kind, s->name,
				failure ? "message" : "send");
	return 0;
}

static int read_scripts(struct profile *p, const struct entries *all, struct error *e)
{
	for (size_t i = 0; i < all->nsections; i++) {
		const struct section *s = &all->section[i];
		int script = parse_word(s->kind, scripts), status = 0;
		bool failure = !strcmp(s->kind, "failure");

		if (script >= 0)
			status = add_step(p, (enum profile_script)script, s, e);
		else if (failure || !strcmp(s->kind, "answer"))
			status = add_reaction(p, failure, s, e);
		else if (strcmp(s->kind, "guest"))
			return error_at(e, STATUS_USAGE, s->file, s->line, "unknown section [%s]: expected guest, login, prepare, "
					"start, check, shared, stop, install, answer or failure", s->kind);
		if (status)
			return -1;
	}
	return 0;
}

/* The others are for guests of the user's commands, or make an image. */
static const bool needed[PROFILE_SCRIPTS] = {
	[PROFILE_LOGIN] = true, [PROFILE_PREPARE] = true, [PROFILE_START] = true, [PROFILE_STOP] = true,
};

static int check(struct profile *p, struct error *e)
{
	struct console_variable names[] = { { "PROMPT", p->prompt, true, false } };
	struct console_variables v = { names, 1 };

	for (size_t i = 0; i < PROFILE_SCRIPTS; i++) {
		struct console_script *s = &p->script[i];

		s->file = p->file;
		s->name = scripts[i];
		s->reaction = p->reaction;
		s->nreactions = p->nreactions;
		if (console_check(s, &v, e))
			return -1;
		if (p->login && needed[i] && !s->nsteps)
			return error_at(e, STATUS_USAGE, p->file, 0, "has no step [%s NAME], and login = console needs one", scripts[i]);
	}
	return 0;
}

int profile_read(const char *file, struct profile *p, struct error *e)
{
	struct entries all = { 0 };
	int status = -1;

	*p = (struct profile){ .login = true, .boot_timeout = 300 };
	if (entries_read(file, &all, e))
		goto out;
	p->file = strdup(file);
	p->text = strdup(all.source);
	if (!p->file || !p->text)
		no_memory(e);
	else if (read_facts(p, &all, e) == 0 && read_scripts(p, &all, e) == 0)
		status = check(p, e);
out:
	entries_free(&all);
	if (status)
		profile_free(p);
	return status;
}

char *profile_file(const char *name, const char *data_dir)
{
	size_t length = strlen(name);
	struct text path = { 0 };
	char *copy;

	if (strchr(name, '/') || (length > 4 && !strcmp(name + length - 4, ".ini")))
		text_add(&path, "%s", name);
	else
		text_add(&path, "%s/images/%s/guest.ini", data_dir, name);
	copy = path.failed ? NULL : strdup(text_get(&path));
	text_free(&path);
	return copy;
}

void profile_free(struct profile *p)
{
	for (size_t i = 0; i < NWORDS; i++)
		free(*(char **)(void *)((char *)p + words[i].offset));
	for (size_t i = 0; i < PROFILE_SCRIPTS; i++) {
		for (size_t k = 0; k < p->script[i].nsteps; k++) {
			struct console_step *s = &p->step[i][k];

			free(s->name);
			free(s->expect);
			free(s->unless);
			free(s->send);
		}
		free(p->step[i]);
	}
	for (size_t i = 0; i < p->nreactions; i++) {
		free(p->reaction[i].name);
		free(p->reaction[i].expect);
		free(p->reaction[i].send);
		free(p->reaction[i].message);
	}
	free(p->reaction);
	free(p->file);
	free(p->text);
	*p = (struct profile){ 0 };
}
