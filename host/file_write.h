/* Writing files: all of the bytes, and a file that a user named whole or as it was before. */
#ifndef KB_FILE_WRITE_H
#define KB_FILE_WRITE_H

#include <stddef.h>

#include "guest/error.h"

/*
 * To a temporary name beside it, synced and renamed. A link is followed. What is no regular file (/dev/null, a pipe) is
 * written to as it is.
 */
int file_write(const char *path, const char *bytes, size_t length, struct error *e);

/* All of it to fd, whatever a signal cuts short. -1 and errno. */
int file_write_all(int fd, const char *bytes, size_t length);

#endif
