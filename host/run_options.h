/* The options that commands share. */
#ifndef KB_RUN_OPTIONS_H
#define KB_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "guest/error.h"

struct run_options {
	const char *scenario; /* as given, NULL: none */
	const char **set;
	size_t nset;
	const char *output, *resume, *connect, *fail_on, *xml, *blocks, *tool; /* connect: the first */
	const char **host; /* all of --connect, in order */
	size_t nhosts;
	bool shell, bisect;
};

/* Texts stay argv's. allowed: one letter for each option that the command takes (o s r c f x b h t B: see the table; C: more
 * than one --connect). */
int run_options_parse(int argc, char **argv, const char *allowed, struct run_options *o, struct error *e);

/* One more --set. text stays the caller's, and is kept. */
int run_options_set(struct run_options *o, const char *text, struct error *e);

/* --blocks N as "scenario.blocks=N", put into text, which is kept; nothing without --blocks. */
#define BLOCKS_TEXT_SIZE 64
int run_options_set_blocks(struct run_options *o, char text[BLOCKS_TEXT_SIZE], struct error *e);
void run_options_free(struct run_options *o);

#endif
