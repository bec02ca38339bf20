/* What the shared files of guest/ want of a C library; libc.c. */
#ifndef PROBE_STRING_H
#define PROBE_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *at, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *at, int byte, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strdup(const char *s);
char *strerror(int number); /* declared for error_errno(), which nothing here calls: not defined */

#endif
