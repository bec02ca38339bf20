/* The x86 of machine.h: what is inlined. */
#ifndef PROBE_MACHINE_X86_H
#define PROBE_MACHINE_X86_H

#include <stdint.h>

/*
 * No LFENCE: KVM's instruction emulator (arch/x86/kvm/emulate.c) does not know it, and a probe has to run there.
 * Without one the counter may be read some ten instructions early, some ns; the notify write that follows leaves the
 * guest, which waits for all before it.
 */
static inline uint64_t machine_counter(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static inline void machine_out8(uint16_t port, uint8_t v)
{
	__asm__ volatile("outb %0, %1" : : "a"(v), "Nd"(port) : "memory");
}

static inline void machine_out16(uint16_t port, uint16_t v)
{
	__asm__ volatile("outw %0, %1" : : "a"(v), "Nd"(port) : "memory");
}

static inline void machine_out32(uint16_t port, uint32_t v)
{
	__asm__ volatile("outl %0, %1" : : "a"(v), "Nd"(port) : "memory");
}

static inline uint8_t machine_in8(uint16_t port)
{
	uint8_t v;

	__asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline uint16_t machine_in16(uint16_t port)
{
	uint16_t v;

	__asm__ volatile("inw %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline uint32_t machine_in32(uint16_t port)
{
	uint32_t v;

	__asm__ volatile("inl %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

#endif
