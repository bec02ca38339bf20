/*
 * A guest driven by its serial console as somebody at the keyboard would: wait for a text, type an answer. What to wait
 * for and what to type is data (profile.h); how the text is looked at: console_text.h.
 */
#ifndef KB_CONSOLE_H
#define KB_CONSOLE_H

#include "host/link.h"

/*
 * Wait until expect (a POSIX extended regular expression) matches, then type send. `$` is the end of what has been said
 * so far; `^` is its beginning since the last match, so a line's beginning is (^|\n). unless: when it matches first,
 * the step is left out, and what it matched is left to the next one.
 */
struct console_step {
	char *name;
	char *expect; /* NULL: none, type at once */
	char *unless; /* NULL: none */
	char *send;   /* NULL: nothing */
	double timeout; /* seconds */
	int line;     /* of the profile */
};

/* What may come at any time: send answers it (a pager, a boot loader), message ends the script (send NULL). */
struct console_reaction {
	char *name, *expect, *send, *message;
	int line;
};

struct console_script {
	const char *file, *name; /* the profile's file, "login" */
	const struct console_step *step;
	size_t nsteps;
	const struct console_reaction *reaction;
	size_t nreactions;
};

/*
 * What $NAME stands for in send and expect; any other $ is left alone, for the guest's shell. In an expression the value
 * is taken literally unless it is one itself. What holds a secret is never expected to be echoed.
 */
struct console_variable {
	const char *name, *value;
	bool expression, secret;
};

struct console_variables {
	const struct console_variable *variable;
	size_t count;
};

/*
 * Run a script. What else comes (frames of an agent that has been started) is kept in the link. A failure says which
 * step, what it waited for, and shows the last CONSOLE_TAIL lines of the console.
 */
#define CONSOLE_TAIL 20
int console_run(struct link *link, const struct console_script *script, const struct console_variables *v,
		struct error *e);

/* The same; what the first parentheses of its last matched step matched is appended to answer. */
int console_ask(struct link *link, const struct console_script *script, const struct console_variables *v,
		struct text *answer, struct error *e);

/* Append text with its variables replaced. */
void console_expand(const char *text, const struct console_variables *v, bool expression, struct text *out);

/* Do the expressions of a script compile? For whoever reads a profile: file and line are named. */
int console_check(const struct console_script *script, const struct console_variables *v, struct error *e);

#endif
