/* What the commands share with main.c; apart from it, so that tests link without a main. */
#include "host/command.h"

#include <stdio.h>

volatile sig_atomic_t command_signal;

void command_say(const char *line)
{
	fprintf(stderr, "%s\n", line);
}
