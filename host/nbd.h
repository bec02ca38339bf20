/* What an NBD server says of the disk that it offers, before a guest is given it. */
#ifndef KB_NBD_H
#define KB_NBD_H

#include <stdint.h>

#include "guest/error.h"

/* Ask the server behind this unix socket for the size of its export without a name, in bytes. An error names the socket. */
int nbd_size(const char *socket, uint64_t *bytes, struct error *e);

/* The same over a connection that is there already; it is not closed. */
int nbd_ask_size(int fd, uint64_t *bytes, struct error *e);

#endif
