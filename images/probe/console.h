/* The first serial port: for people. And both ports by number, for the link. */
#ifndef PROBE_CONSOLE_H
#define PROBE_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

#include "guest/error.h"

/* Up to 255 characters, with "probe: " in front. */
void console(const char *fmt, ...) KB_PRINTF(1, 2);

#define SERIAL_PORTS 2

/* Set it up: 115200 8n1, FIFOs, no interrupts. False: there is none. */
bool serial_open(unsigned port);

/* False when it took nothing for two seconds: nobody is there. */
bool serial_write(unsigned port, const char *bytes, size_t length);

/* What has arrived, without waiting. */
size_t serial_read(unsigned port, char *bytes, size_t room);

/* Wait, at most 100 ms, until all has left. */
void serial_drain(unsigned port);

#endif
