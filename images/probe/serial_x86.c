/* 16550 ports where a PC has them. */
#include <stdarg.h>
#include <stdio.h>

#include "images/probe/clock.h"
#include "images/probe/console.h"
#include "images/probe/machine.h"

#define DATA 0
#define INTERRUPTS 1
#define FIFO 2
#define LINE_CONTROL 3
#define MODEM_CONTROL 4
#define LINE_STATUS 5
#define SCRATCH 7

#define HAS_BYTE 0x01
#define TAKES_BYTES 0x20
#define IDLE 0x40
#define FIFO_BYTES 16

#define GIVE_UP_S 2

static const uint16_t base[SERIAL_PORTS] = {0x3f8, 0x2f8};
static bool opened[SERIAL_PORTS];

bool serial_open(unsigned port)
{
	uint16_t p = base[port];

	machine_out8(p + SCRATCH, 0x5a);
	if (machine_in8(p + SCRATCH) != 0x5a)
		return false;
	machine_out8(p + INTERRUPTS, 0);
	machine_out8(p + LINE_CONTROL, 0x80);
	machine_out8(p + DATA, 1);
	machine_out8(p + INTERRUPTS, 0);
	machine_out8(p + LINE_CONTROL, 3);
	machine_out8(p + FIFO, 1); /* not cleared: the host may have written already */
	machine_out8(p + MODEM_CONTROL, 3);
	opened[port] = true;
	return true;
}

static bool wait_for(unsigned port, uint8_t bit, uint64_t limit)
{
	uint64_t start = machine_counter();

	while (!(machine_in8(base[port] + LINE_STATUS) & bit))
		if (machine_counter() - start > limit)
			return false;
	return true;
}

bool serial_write(unsigned port, const char *bytes, size_t length)
{
	if (!opened[port])
		return false;
	while (length) {
		if (!wait_for(port, TAKES_BYTES, GIVE_UP_S * clock_hz()))
			return false;
		for (unsigned i = 0; i < FIFO_BYTES && length; i++, length--)
			machine_out8(base[port] + DATA, (uint8_t)*bytes++);
	}
	return true;
}

size_t serial_read(unsigned port, char *bytes, size_t room)
{
	size_t n = 0;

	while (n < room && machine_in8(base[port] + LINE_STATUS) & HAS_BYTE)
		bytes[n++] = (char)machine_in8(base[port] + DATA);
	return n;
}

void serial_drain(unsigned port)
{
	wait_for(port, IDLE, clock_hz() / 10);
}

void console(const char *fmt, ...)
{
	char line[256] = "probe: ";
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line + 7, sizeof(line) - 7, fmt, ap) + 7;
	va_end(ap);
	serial_write(0, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}
