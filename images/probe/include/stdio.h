/* Formatting into memory; print.c says what of printf's language it has. */
#ifndef PROBE_STDIO_H
#define PROBE_STDIO_H

#include <stdarg.h>
#include <stddef.h>

int vsnprintf(char *to, size_t room, const char *fmt, va_list ap);
int snprintf(char *to, size_t room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
