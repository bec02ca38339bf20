/* The serial ports of driver = exec as a scenario names them, and how they are opened. */
#ifndef KB_HYPERVISOR_EXEC_PORT_H
#define KB_HYPERVISOR_EXEC_PORT_H

#include "guest/text.h"
#include "host/scenario.h"

enum exec_port_kind { EXEC_PORT_NONE, EXEC_PORT_PTY, EXEC_PORT_UNIX, EXEC_PORT_STDIO };

struct exec_port_form {
	enum exec_port_kind kind;
	const char *path; /* into the text, "" for stdio; may hold $NAME and ${NAME} */
};

/* text NULL: EXEC_PORT_NONE. Returns NULL, or what is wrong with the text. */
const char *exec_port_parse(const char *text, struct exec_port_form *out);

/* Whether the commands are enough for a guest. NULL, or what is wrong. */
const char *exec_check(const struct exec_commands *c);

/* Append text with $NAME and ${NAME} replaced from variables ("NAME=VALUE", NULL at the end); unknown ones are empty. */
void exec_expand(const char *text, char *const *variables, struct text *out);

/*
 * Connect to a pty, a null-modem or other terminal device (made raw; never the controlling terminal) or to a Unix
 * socket. A descriptor that does not block, or -1 with errno: what is not there yet may be tried again.
 */
int exec_port_open(enum exec_port_kind kind, const char *path);

#endif
