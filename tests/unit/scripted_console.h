/*
 * A console behind a hypervisor's operations table that plays a script: it says something, waits until something was
 * typed, says the next. What is typed is echoed as a terminal does. Include after cmocka.
 */
#ifndef KB_TESTS_SCRIPTED_CONSOLE_H
#define KB_TESTS_SCRIPTED_CONSOLE_H

#include <string.h>
#include <time.h>

#include "host/console.h"
#include "host/link.h"

/* One turn: what is awaited from the keyboard (NULL: nothing), and what is said then. The last has say NULL. */
struct turn {
	const char *typed;
	const char *say;
	bool silent; /* typed without an echo */
};

struct hv_guest {
	const struct turn *turn;
	struct text out, in, all; /* not yet said; typed and not yet awaited; everything that was typed */
	size_t chunk;             /* bytes at once, 0: all */
	bool off_at_end;          /* the guest is off when the script is over */
	enum hv_state state;
};

static inline void scripted_go_on(struct hv_guest *g)
{
	while (g->turn->say && (!g->turn->typed || !strncmp(text_get(&g->in), g->turn->typed, strlen(g->turn->typed)))) {
		size_t n = g->turn->typed ? strlen(g->turn->typed) : 0;

		for (size_t i = 0; i < n && !g->turn->silent; i++)
			text_add(&g->out, g->turn->typed[i] == '\n' ? "\r\n" : "%c", g->turn->typed[i]);
		if (n) {
			g->in.length -= n;
			memmove(g->in.data, g->in.data + n, g->in.length + 1);
		}
		text_add(&g->out, "%s", g->turn->say);
		g->turn++;
	}
}

static inline int scripted_wait(struct hv_guest *g, int timeout_ms, struct hv_news *news, struct error *e)
{
	size_t n = g->chunk && g->chunk < g->out.length ? g->chunk : g->out.length;

	(void)e;
	if (n) {
		text_add_bytes(&news->console, g->out.data, n);
		g->out.length -= n;
		memmove(g->out.data, g->out.data + n, g->out.length + 1);
	} else {
		nanosleep(&(struct timespec){ .tv_nsec = timeout_ms * 1000000L }, NULL);
	}
	news->state = !g->out.length && !g->turn->say && g->off_at_end ? HV_OFF : HV_RUNNING;
	return 0;
}

static inline int scripted_type(struct hv_guest *g, const void *bytes, size_t length, struct error *e)
{
	(void)e;
	text_add_bytes(&g->in, bytes, length);
	text_add_bytes(&g->all, bytes, length);
	scripted_go_on(g);
	return 0;
}

static const struct hv_ops scripted_ops = { .name = "scripted", .wait = scripted_wait, .type = scripted_type };

/* Run one script against the turns. What was typed: *typed, freed by the caller. */
static inline int scripted_run(const struct turn *turns, size_t chunk, bool off, const struct console_script *script,
			       const struct console_variables *v, const volatile sig_atomic_t *interrupted, struct text *typed,
			       struct error *e)
{
	struct hv_guest g = { .turn = turns, .chunk = chunk, .off_at_end = off };
	struct link link;
	int status;

	link_open(&link, &scripted_ops, &g, NULL, interrupted);
	scripted_go_on(&g);
	status = console_run(&link, script, v, e);
	if (!status && turns && g.turn->say)
		fail_msg("the console still waits for \"%s\"; typed was \"%s\"", g.turn->typed, text_get(&g.all));
	link_close(&link);
	text_free(&g.out);
	text_free(&g.in);
	*typed = g.all;
	return status;
}

#endif
