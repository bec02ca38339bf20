#include "host/console.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "host/clock.h"
#include "host/console_text.h"

#define SLICE_MS 50      /* how often silence is looked at */
#define ANSWERS_LIMIT 50 /* of one reaction in one step: it answers itself */
#define SHOWN_LIMIT 120  /* of an expression in a message */

/* ---- variables ---- */

static const struct console_variable *variable_at(const char *p, const struct console_variables *v)
{
	size_t n = 1;

	if (*p != '$')
		return NULL;
	while (isupper((unsigned char)p[n]) || p[n] == '_')
		n++;
	for (size_t i = 0; i < v->count; i++)
		if (strlen(v->variable[i].name) == n - 1 && !strncmp(v->variable[i].name, p + 1, n - 1))
			return &v->variable[i];
	return NULL;
}

void console_expand(const char *text, const struct console_variables *v, bool expression, struct text *out)
{
	for (const char *p = text; *p; p++) {
		const struct console_variable *found = variable_at(p, v);

		if (!found) {
			text_add_bytes(out, p, 1);
			continue;
		}
		for (const char *c = found->value; *c; c++) {
			if (expression && !found->expression && strchr(".[]\\()*+?{}|^$", *c))
				text_add(out, "\\");
			text_add_bytes(out, c, 1);
		}
		p += strlen(found->name);
	}
}

static bool holds_secret(const char *text, const struct console_variables *v)
{
	for (const char *p = text; (p = strchr(p, '$')); p++) {
		const struct console_variable *found = variable_at(p, v);

		if (found && found->secret)
			return true;
	}
	return false;
}

/* ---- a script while it runs ---- */

struct running {
	struct link *link;
	const struct console_script *script;
	const struct console_variables *variables;
	struct console_text text;
	regex_t *reaction; /* compiled */
	size_t nreactions;
	double heard; /* when the last byte came */
	struct console_match last; /* of a step */
	struct error *e;
};

static int compile(regex_t *to, const char *expect, const struct console_script *s, int line,
		   const struct console_variables *v, struct error *e)
{
	struct text expanded = { 0 };
	char why[160];
	int status;

	console_expand(expect, v, true, &expanded);
	status = regcomp(to, text_get(&expanded), REG_EXTENDED);
	text_free(&expanded);
	if (!status)
		return 0;
	regerror(status, to, why, sizeof(why));
	return error_at(e, STATUS_USAGE, s->file, line, "%s: %s", expect, why);
}

int console_check(const struct console_script *s, const struct console_variables *v, struct error *e)
{
	regex_t r;

	for (size_t i = 0; i < s->nsteps; i++) {
		const char *both[] = { s->step[i].expect, s->step[i].unless };

		for (size_t k = 0; k < 2; k++) {
			if (!both[k])
				continue;
			if (compile(&r, both[k], s, s->step[i].line, v, e))
				return -1;
			regfree(&r);
		}
	}
	for (size_t i = 0; i < s->nreactions; i++) {
		if (compile(&r, s->reaction[i].expect, s, s->reaction[i].line, v, e))
			return -1;
		regfree(&r);
	}
	return 0;
}

static int complain(struct running *r, const struct console_step *step, const char *what)
{
	struct text tail = { 0 };

	console_text_tail(&r->text, CONSOLE_TAIL, &tail);
	error_at(r->e, STATUS_INCOMPLETE, r->script->file, step->line, "[%s %s]: %s%s%s", r->script->name, step->name, what,
		 tail.length ? "; the last lines of the console:" : "; the console is empty", text_get(&tail));
	text_free(&tail);
	return -1;
}

static int type(struct running *r, const char *send)
{
	struct text bytes = { 0 };
	int status;

	console_expand(send, r->variables, false, &bytes);
	if (!holds_secret(send, r->variables))
		console_text_typed(&r->text, text_get(&bytes), bytes.length);
	status = bytes.failed ? error_set(r->e, STATUS_HOST, "out of memory")
			      : r->link->ops->type(r->link->guest, text_get(&bytes), bytes.length, r->e);
	if (bytes.data)
		explicit_bzero(bytes.data, bytes.length);
	text_free(&bytes);
	return status;
}

static int listen_once(struct running *r)
{
	struct text console = { 0 };
	int status = link_listen(r->link, SLICE_MS, &console, r->e);
	double now = clock_s();

	if (console.length) {
		console_text_feed(&r->text, text_get(&console), console.length);
		r->heard = now;
	} else {
		console_text_idle(&r->text, (unsigned)((now - r->heard) * 1000));
	}
	text_free(&console);
	return status;
}

/* What was matched first of all that may come. -1: failed; 1: an answer was given: look again; 0: none of them. */
static int react(struct running *r, const struct console_step *step, const struct console_match *wanted, unsigned *answers)
{
	for (size_t i = 0; i < r->nreactions; i++) {
		const struct console_reaction *at = &r->script->reaction[i];
		struct console_match m;
		char what[512];

		if (!console_text_match(&r->text, &r->reaction[i], &m) || (wanted && wanted->begin < m.begin))
			continue;
		console_text_consume(&r->text, &m);
		if (!at->send) {
			snprintf(what, sizeof(what), "%s%s%s", at->message, *m.group ? ": " : "", m.group);
			return complain(r, step, what);
		}
		if (++*answers > ANSWERS_LIMIT) {
			snprintf(what, sizeof(what), "[answer %s] was given %d times and asked for again", at->name, ANSWERS_LIMIT);
			return complain(r, step, what);
		}
		return type(r, at->send) ? -1 : 1;
	}
	return 0;
}

enum outcome { WAIT = 0, MATCHED = 1, LEFT_OUT = 2 };

static int look(struct running *r, const struct console_step *step, const regex_t *expect, const regex_t *unless,
		unsigned *answers)
{
	struct console_match m = { 0 }, other = { 0 };
	int status;

	do {
		bool found = console_text_match(&r->text, expect, &m);
		bool skip = unless && console_text_match(&r->text, unless, &other);

		if (found && skip && m.begin <= other.begin)
			skip = false;
		status = react(r, step, skip ? &other : found ? &m : NULL, answers);
		if (status == 0 && skip)
			return LEFT_OUT;
		if (status == 0 && found) {
			console_text_consume(&r->text, &m);
			r->last = m;
			return MATCHED;
		}
	} while (status > 0);
	return status;
}

static bool guest_gone(const struct running *r)
{
	enum hv_state state = r->link->news.state;

	return state != HV_RUNNING && state != HV_PAUSED;
}

static int await(struct running *r, const struct console_step *step, const regex_t *expect, const regex_t *unless)
{
	double end = clock_s() + step->timeout;
	unsigned answers = 0;
	char what[512];

	for (;;) {
		int status = look(r, step, expect, unless, &answers);

		if (status)
			return status;
		if (guest_gone(r) && r->text.idle_ms >= CONSOLE_QUIET_MS) {
			snprintf(what, sizeof(what), "the guest %s while \"%.*s\" was awaited", hv_state_words(r->link->news.state),
				 SHOWN_LIMIT, step->expect);
			return complain(r, step, what);
		}
		if (clock_s() >= end) {
			snprintf(what, sizeof(what), "nothing has matched \"%.*s\" within %.0f s", SHOWN_LIMIT, step->expect,
				 step->timeout);
			return complain(r, step, what);
		}
		if (listen_once(r))
			return -1;
	}
}

static int run_step(struct running *r, const struct console_step *step)
{
	regex_t expect, unless;
	int status = MATCHED;

	if (step->expect) {
		if (compile(&expect, step->expect, r->script, step->line, r->variables, r->e))
			return -1;
		if (step->unless && compile(&unless, step->unless, r->script, step->line, r->variables, r->e)) {
			regfree(&expect);
			return -1;
		}
		status = await(r, step, &expect, step->unless ? &unless : NULL);
		regfree(&expect);
		if (step->unless)
			regfree(&unless);
	}
	if (status == MATCHED && step->send)
		return type(r, step->send);
	return status < 0 ? -1 : 0;
}

int console_ask(struct link *link, const struct console_script *script, const struct console_variables *v,
		struct text *answer, struct error *e)
{
	struct running r = { .link = link, .script = script, .variables = v, .heard = clock_s(), .e = e };
	int status = 0;

	r.reaction = calloc(script->nreactions + 1, sizeof(*r.reaction));
	if (!r.reaction)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < script->nreactions && !status; i++) {
		status = compile(&r.reaction[i], script->reaction[i].expect, script, script->reaction[i].line, v, e);
		r.nreactions += !status;
	}
	for (size_t i = 0; i < script->nsteps && !status; i++)
		status = run_step(&r, &script->step[i]);
	for (size_t i = 0; i < r.nreactions; i++)
		regfree(&r.reaction[i]);
	free(r.reaction);
	console_text_free(&r.text);
	text_add(answer, "%s", r.last.group);
	return status;
}

int console_run(struct link *link, const struct console_script *script, const struct console_variables *v,
		struct error *e)
{
	struct text answer = { 0 };
	int status = console_ask(link, script, v, &answer, e);

	text_free(&answer);
	return status;
}
