/* x86: memory, clocks of known frequency, and switching off. */
#include "images/probe/machine.h"
#include "images/probe/pci.h"
#include "images/probe/start_x86.h"

#define PIT_HZ 1193182
#define PIT_COUNTER2 0x42
#define PIT_MODE 0x43
#define PIT_GATE 0x61

#define PM_HZ 3579545
#define PM_CONTROL 4
#define PM_TIMER 8
#define PM_OFF 0x2000 /* sleep enable, type 0: S5 in QEMU's tables for PIIX4 and ICH9 */

/* The generic event device's sleep control register of microvm with ACPI (QEMU: include/hw/i386/microvm.h). */
#define GED_SLEEP 0xfea00200u
#define GED_OFF 0x34 /* type 5, enable */

static uint64_t memory_end;
static uint16_t pm; /* the I/O ports of power management, 0: not found */
static bool pit_runs;

extern char image_end[];

int start_take(uint32_t magic, const struct multiboot *info)
{
	if (magic != MULTIBOOT_MAGIC || !(info->flags & MULTIBOOT_MEMORY))
		return -1;
	memory_end = (uint64_t)info->mem_upper * 1024 + (1u << 20);
	return 0;
}

void *machine_memory(size_t *size)
{
	uintptr_t from = (uintptr_t)image_end;

	*size = memory_end > from ? (size_t)(memory_end - from) : 0;
	return image_end;
}

/* Power management of QEMU's two PC chipsets, where the firmware put it: PIIX4 and ICH9, PMBASE at 40h. */
static uint16_t find_pm(void)
{
	static const uint16_t known[] = {0x7113, 0x2918};
	struct pci_function f;

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (pci_find(0x8086, known[i], &f))
			return (uint16_t)(pci_read32(&f, 0x40) & 0xff80);
	return 0;
}

/* Counter 2 in mode 2 (counts down, again from 65535 on), its gate open, the speaker off. */
static void start_pit(void)
{
	machine_out8(PIT_GATE, (uint8_t)((machine_in8(PIT_GATE) & ~2u) | 1));
	machine_out8(PIT_MODE, 0xb4);
	machine_out8(PIT_COUNTER2, 0xff);
	machine_out8(PIT_COUNTER2, 0xff);
	pit_runs = true;
}

static uint32_t read_pit(void)
{
	uint32_t low;

	machine_out8(PIT_MODE, 0x80);
	low = machine_in8(PIT_COUNTER2);
	return 0xffff - (low | (uint32_t)machine_in8(PIT_COUNTER2) << 8);
}

static uint32_t read_pm(void)
{
	return machine_in32((uint16_t)(pm + PM_TIMER)) & 0xffffff;
}

bool machine_clock(unsigned number, struct machine_clock *clock)
{
	static const struct machine_clock pit = {"PIT", PIT_HZ, 0xffff, read_pit};
	static const struct machine_clock timer = {"ACPI PM timer", PM_HZ, 0xffffff, read_pm};

	if (!pit_runs) {
		start_pit();
		pm = find_pm();
	}
	if (number > 1 || (number == 1 && !pm))
		return false;
	*clock = number ? timer : pit;
	return true;
}

void machine_off(void)
{
	struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) no_idt = {0, 0};

	machine_interrupts(false);
	pm = find_pm();
	if (pm)
		machine_out16((uint16_t)(pm + PM_CONTROL), PM_OFF);
	else
		*(volatile uint8_t *)(uintptr_t)GED_SLEEP = GED_OFF;
	/* Without ACPI there is no off: a reset, which ends the emulator when it is told so. */
	machine_out8(0x64, 0xfe);
	__asm__ volatile("lidt %0; int3" : : "m"(no_idt));
	for (;;)
		__asm__ volatile("hlt");
}
