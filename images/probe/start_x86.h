/* What the boot loader tells (Multiboot 0.6.96, 3.3), as far as it is read. */
#ifndef PROBE_START_X86_H
#define PROBE_START_X86_H

#include <stdint.h>

#define MULTIBOOT_MAGIC 0x2badb002u
#define MULTIBOOT_MEMORY 1u

struct multiboot {
	uint32_t flags;
	uint32_t mem_lower, mem_upper; /* KiB; the upper one from 1 MiB up */
};

/* Remember it before its place is overwritten. -1: no boot loader that we know. */
int start_take(uint32_t magic, const struct multiboot *info);

#endif
