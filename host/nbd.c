/* The NBD protocol (NetworkBlockDevice/nbd, doc/proto.md): the fixed newstyle handshake, up to NBD_OPT_INFO. */
#include "host/nbd.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define HELLO_MAGIC 0x4e42444d41474943 /* "NBDMAGIC" */
#define OPTION_MAGIC 0x49484156454f5054 /* "IHAVEOPT" */
#define REPLY_MAGIC 0x0003e889045565a9
#define FIXED_NEWSTYLE 1u
#define OPTION_ABORT 2u
#define OPTION_INFO 6u
#define REPLY_ACK 1u
#define REPLY_INFO 3u
#define REPLY_ERROR 0x80000000u
#define INFO_EXPORT 0u
#define LONGEST_REPLY 4096u /* a message of the server's, or facts that were not asked for */
#define TIMEOUT_S 5

/* All numbers are sent with the highest byte first. */
static uint64_t number(const unsigned char *from, size_t bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v = v << 8 | from[i];
	return v;
}

static size_t put(unsigned char *to, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> 8 * (bytes - 1 - i));
	return bytes;
}

static int take(int fd, unsigned char *to, size_t bytes, struct error *e)
{
	for (size_t have = 0; have < bytes;) {
		ssize_t n = recv(fd, to + have, bytes - have, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			return error_set(e, STATUS_HOST, "the server ended the connection");
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return error_set(e, STATUS_HOST, "the server has said nothing for %d s: is it one for NBD, and free?", TIMEOUT_S);
		if (n < 0)
			return error_errno(e, STATUS_HOST, "the server cannot be heard");
		have += (size_t)n;
	}
	return 0;
}

static int give(int fd, const unsigned char *from, size_t bytes, struct error *e)
{
	while (bytes) {
		ssize_t n = send(fd, from, bytes, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(e, STATUS_HOST, "the server cannot be asked");
		from += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int greet(int fd, struct error *e)
{
	unsigned char hello[18], flags[4];

	if (take(fd, hello, sizeof(hello), e))
		return -1;
	if (number(hello, 8) != HELLO_MAGIC)
		return error_set(e, STATUS_HOST, "what listens there is no NBD server");
	if (number(hello + 8, 8) != OPTION_MAGIC || !(number(hello + 16, 2) & FIXED_NEWSTYLE))
		return error_set(e, STATUS_HOST, "the server speaks an old kind of NBD, without options");
	put(flags, FIXED_NEWSTYLE, sizeof(flags));
	return give(fd, flags, sizeof(flags), e);
}

/* One option with its data; an export's name and a list of wishes, both empty, are six zeroes. */
static int send_option(int fd, unsigned option, size_t zeroes, struct error *e)
{
	unsigned char ask[32] = { 0 };
	size_t at = put(ask, OPTION_MAGIC, 8);

	at += put(ask + at, option, 4);
	at += put(ask + at, zeroes, 4);
	return give(fd, ask, at + zeroes, e);
}

/* 1: an answer that is not the last, 0 the last, -1. */
static int take_reply(int fd, uint64_t *bytes, bool *known, struct error *e)
{
	unsigned char head[20], data[LONGEST_REPLY + 1];
	uint64_t type, length;

	if (take(fd, head, sizeof(head), e))
		return -1;
	type = number(head + 12, 4);
	length = number(head + 16, 4);
	if (number(head, 8) != REPLY_MAGIC || number(head + 8, 4) != OPTION_INFO || length > LONGEST_REPLY)
		return error_set(e, STATUS_HOST, "the server's answer is not one of NBD's");
	if (take(fd, data, length, e))
		return -1;
	data[length] = '\0';
	if (type & REPLY_ERROR)
		return error_set(e, STATUS_HOST, "the server does not offer an export without a name%s%s", length ? ": " : "", (char *)data);
	if (type == REPLY_INFO && length >= 10 && number(data, 2) == INFO_EXPORT) {
		*bytes = number(data + 2, 8);
		*known = true;
	}
	return type != REPLY_ACK;
}

int nbd_ask_size(int fd, uint64_t *bytes, struct error *e)
{
	bool known = false;
	int more = 1;

	if (greet(fd, e) || send_option(fd, OPTION_INFO, 6, e))
		return -1;
	while (more > 0)
		more = take_reply(fd, bytes, &known, e);
	if (more < 0)
		return -1;
	send_option(fd, OPTION_ABORT, 0, &(struct error){ 0 });
	return known ? 0 : error_set(e, STATUS_HOST, "the server does not tell the size of its export");
}

int nbd_size(const char *path, uint64_t *bytes, struct error *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = TIMEOUT_S };
	int fd, status;

	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(e, STATUS_USAGE, "the socket's path %s is too long: a unix socket's has less than %zu bytes", path,
				 sizeof(address.sun_path));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0)
		return error_errno(e, STATUS_HOST, "socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)); /* of connect(), too */
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			error_set(e, STATUS_HOST, "the NBD server on %s has accepted no connection for %d s: end who is connected to it, "
				  "or let it serve more at a time", path, TIMEOUT_S);
		else
			error_errno(e, STATUS_HOST, "no NBD server listens on %s", path);
		close(fd);
		return -1;
	}
	status = nbd_ask_size(fd, bytes, e);
	close(fd);
	return status ? error_context(e, "NBD server on %s", path) : 0;
}

void nbd_explain(const char *path, struct error *e)
{
	if (strstr(e->text, "Failed to connect to") && strstr(e->text, path))
		error_context(e, "the NBD server on %s does not listen any more: start one that outlives its guests (qemu-nbd with -t)", path);
}
