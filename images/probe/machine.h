/*
 * What depends on the machine: its start, its interrupts, its counter, its ways to registers, its end. One file each:
 * machine_x86.c with start_x86.S. One processor, memory mapped one to one.
 */
#ifndef PROBE_MACHINE_H
#define PROBE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"

/* machine_counter(), machine_in8() …: inlined, since they are measured with. */
#include "images/probe/machine_x86.h"

extern const char machine_name[];

/* Interrupts: traps are told on the console and end the machine; the disk's go to the handler. */
void machine_init(void);

/*
 * Memory of RAM that nobody else uses, at a multiple of 4096; its size. (What the boot loader put there has been read
 * by then.)
 */
void *machine_memory(size_t *size);

/* What was written before is seen by devices before anything behind it is read. */
void machine_fence(void);

/* ---- the counter ---- */

/* Clocks of known frequency beside the counter. False: there is none of that number. */
struct machine_clock {
	const char *name;
	uint32_t hz, mask;
	uint32_t (*read)(void); /* counts up, within mask */
};
bool machine_clock(unsigned number, struct machine_clock *clock);

/* ---- interrupts: the device has one ---- */

/* Called with interrupts off; at: the counter as it was at the first instruction of the handler. NULL: nobody. */
void machine_handler(void (*handler)(uint64_t at));

/* What a message-signalled interrupt writes where. False: there is no local interrupt controller. */
bool machine_message(uint64_t *address, uint32_t *data);

/* Let the interrupt line of a PCI function through, as the firmware routed it; of a platform device, by its number. */
int machine_line_pci(uint8_t line, struct error *e);
int machine_line_platform(unsigned number, struct error *e);

void machine_interrupts(bool on);

/* ---- the end ---- */

/* Tried in this order; does not return. */
void machine_off(void) __attribute__((noreturn));

/* A port that is there but nobody listens to: what leaving the guest costs at the least. False: there is none. */
bool machine_deaf_port(uint16_t *port);

#endif
