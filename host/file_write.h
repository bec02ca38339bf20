/* Write a file that a user named: whole, or as it was before. */
#ifndef KB_FILE_WRITE_H
#define KB_FILE_WRITE_H

#include <stddef.h>

#include "guest/error.h"

/*
 * To a temporary name beside it, synced and renamed. A link is followed. What is no regular file (/dev/null, a pipe) is
 * written to as it is.
 */
int file_write(const char *path, const char *bytes, size_t length, struct error *e);

#endif
