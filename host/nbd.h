/* What an NBD server says of the disk that it offers, before a guest is given it. */
#ifndef KB_NBD_H
#define KB_NBD_H

#include <stdint.h>

#include "guest/error.h"

/* Ask the server behind this unix socket for the size of its export without a name, in bytes. An error names the socket. */
int nbd_size(const char *socket, uint64_t *bytes, struct error *e);

/* The same over a connection that is there already; it is not closed. */
int nbd_ask_size(int fd, uint64_t *bytes, struct error *e);

/* A guest was refused: where the emulator's words are that it did not get to the server, say what to do in front of them. */
void nbd_explain(const char *socket, struct error *e);

#endif
