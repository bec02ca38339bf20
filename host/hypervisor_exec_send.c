/* Bytes into the ports of driver = exec, no faster than the guest takes them. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/hypervisor_exec.h"

#define SEND_S 5.0
#define BITS_PER_BYTE 10 /* start, eight, stop */
#define PIECE 16         /* bytes: the FIFO of a 16550 */

static void sleep_until(double at)
{
	double left = at - clock_s();
	struct timespec t;

	if (left <= 0)
		return;
	t.tv_sec = (time_t)left;
	t.tv_nsec = (long)((left - floor(left)) * 1e9);
	nanosleep(&t, NULL);
}

/*
 * With a speed, in pieces of which each gets the time that the line would take: a port without FIFO, or a guest that polls
 * it, loses what comes faster. 16 bytes of 115,200 baud are 1.4 ms.
 */
static int port_send(struct hv_guest *guest, const struct exec_port *port, const char *at, size_t length, struct error *e)
{
	double deadline = clock_s() + SEND_S, next = 0;

	if (port->out < 0 || port->ended)
		return error_set(e, STATUS_INCOMPLETE, "the guest's serial port is not connected");
	if (guest->baud)
		deadline += (double)length * BITS_PER_BYTE / guest->baud;
	while (length) {
		struct pollfd p = { .fd = port->out, .events = POLLOUT };
		size_t most = guest->baud && length > PIECE ? PIECE : length;
		ssize_t n;

		sleep_until(next);
		n = write(port->out, at, most);
		if (n > 0) {
			at += n;
			length -= (size_t)n;
			if (guest->baud)
				next = fmax(next, clock_s()) + (double)n * BITS_PER_BYTE / guest->baud;
			continue;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return error_errno(e, STATUS_INCOMPLETE, "the guest's serial port takes nothing");
		if (clock_s() > deadline)
			return error_set(e, STATUS_INCOMPLETE, "the guest did not read its serial port for %.0f s", SEND_S);
		poll(&p, 1, 20);
	}
	sleep_until(next); /* the next frame comes no earlier */
	return 0;
}

int exec_guest_send(struct hv_guest *guest, const void *bytes, size_t length, struct error *e)
{
	return port_send(guest, &guest->link, bytes, length, e);
}

int exec_guest_type(struct hv_guest *guest, const void *bytes, size_t length, struct error *e)
{
	bool own = guest->console.form.kind != EXEC_PORT_NONE;

	return port_send(guest, own ? &guest->console : &guest->link, bytes, length, e);
}
