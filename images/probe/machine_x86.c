#include "images/probe/machine.h"

#include "images/probe/console.h"
#include "images/probe/pci.h"

#define TRAPS 32
#define VECTOR_PIC 0x20
#define VECTOR_DISK 0x40
#define VECTOR_SPURIOUS 0xff

#define PIC1 0x20
#define PIC2 0xa0
#define PIC_END 0x20

#define DEAF_PORT 0xed /* free on PCs; nothing of QEMU's answers there */

#define MSR_APIC_BASE 0x1b
#define APIC_ENABLED (1u << 11)
#define APIC_X2 (1u << 10)
#define APIC_ID 0x20
#define APIC_EOI 0xb0
#define APIC_SPURIOUS 0xf0
#define MSR_X2APIC 0x800

#define IOAPIC1 0xfec00000u
#define IOAPIC2 0xfec10000u /* microvm's second one: lines from 24 up */
#define IOAPIC_LINES 24

struct gate {
	uint16_t low, selector, type, high;
};

/* What the processor and the stubs of start_x86.S pushed. */
struct trap {
	uint32_t number, code, eip, cs, eflags;
};

void interrupts_load(void);
void on_disk(void);
void on_nothing(void);
void on_spurious2(void);
extern const char on_trap[][16];

void machine_on_disk(uint64_t at);
void machine_on_trap(const struct trap *trap) __attribute__((noreturn));

const char machine_name[] = "x86";

struct gate idt[256] __attribute__((aligned(8)));

static enum { END_NONE, END_APIC, END_PIC } end_at;
static uint8_t pic_line;
static bool have_apic, is_x2apic, fence_by_port;
static void (*handler)(uint64_t at);

static uint64_t read_msr(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}

static void write_msr(uint32_t msr, uint64_t v)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)) : "memory");
}

static bool cpu_has_apic(void)
{
	uint32_t a = 1, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return d >> 9 & 1;
}

static volatile uint32_t *apic_register(unsigned offset)
{
	return (volatile uint32_t *)(uintptr_t)((read_msr(MSR_APIC_BASE) & 0xfffff000u) + offset);
}

static void apic_write(unsigned offset, uint32_t v)
{
	if (is_x2apic)
		write_msr(MSR_X2APIC + offset / 16, v);
	else
		*apic_register(offset) = v;
}

/*
 * QEMU 7.2's TCG (later ones no more) leaves out the barriers of a machine with one processor (tcg_gen_mb(), and atomic
 * instructions without CF_PARALLEL), although devices run in threads of their own: then a driver that asks for an
 * interrupt and looks once more can miss both, about once in 100,000 requests in an iothread. A port write takes a
 * lock in there, which is a barrier.
 */
static bool is_tcg(void)
{
	uint32_t a = 0x40000000, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return b == 0x54474354 && c == 0x43544743 && d == 0x47435447; /* TCGTCGTCGTCG */
}

void machine_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (fence_by_port)
		machine_out8(DEAF_PORT, 0);
}

static void set_gate(unsigned vector, uintptr_t to)
{
	idt[vector] = (struct gate){.low = (uint16_t)to, .selector = 8, .type = 0x8e00, .high = (uint16_t)(to >> 16)};
}

/* Both interrupt controllers with all lines masked, away from the traps' vectors. */
static void mask_pic(void)
{
	machine_out8(PIC1, 0x11);
	machine_out8(PIC2, 0x11);
	machine_out8(PIC1 + 1, VECTOR_PIC);
	machine_out8(PIC2 + 1, VECTOR_PIC + 8);
	machine_out8(PIC1 + 1, 4);
	machine_out8(PIC2 + 1, 2);
	machine_out8(PIC1 + 1, 1);
	machine_out8(PIC2 + 1, 1);
	machine_out8(PIC1 + 1, 0xff);
	machine_out8(PIC2 + 1, 0xff);
}

void machine_init(void)
{
	for (unsigned i = 0; i < 256; i++)
		set_gate(i, i < TRAPS ? (uintptr_t)on_trap[i] : (uintptr_t)on_nothing);
	set_gate(VECTOR_PIC + 15, (uintptr_t)on_spurious2);
	set_gate(VECTOR_DISK, (uintptr_t)on_disk);
	interrupts_load();
	fence_by_port = is_tcg();
	mask_pic();
	if (!cpu_has_apic() || !(read_msr(MSR_APIC_BASE) & APIC_ENABLED))
		return;
	have_apic = true;
	is_x2apic = read_msr(MSR_APIC_BASE) & APIC_X2;
	apic_write(APIC_SPURIOUS, 0x100 | VECTOR_SPURIOUS);
}

void machine_on_trap(const struct trap *t)
{
	console("processor exception %u (code %x) at %x: the probe is wrong, or the processor is\n", (unsigned)t->number,
		(unsigned)t->code, (unsigned)t->eip);
	machine_off();
}

void machine_on_disk(uint64_t at)
{
	if (handler)
		handler(at);
	if (end_at == END_APIC) {
		apic_write(APIC_EOI, 0);
	} else if (end_at == END_PIC) {
		if (pic_line >= 8)
			machine_out8(PIC2, PIC_END);
		machine_out8(PIC1, PIC_END);
	}
}

void machine_handler(void (*to)(uint64_t at))
{
	handler = to;
}

static uint32_t apic_id(void)
{
	return is_x2apic ? (uint32_t)read_msr(MSR_X2APIC + APIC_ID / 16) : *apic_register(APIC_ID) >> 24;
}

bool machine_message(uint64_t *address, uint32_t *data)
{
	if (!have_apic)
		return false;
	end_at = END_APIC;
	*address = 0xfee00000u | apic_id() << 12;
	*data = VECTOR_DISK;
	return true;
}

int machine_line_pci(uint8_t line, struct error *e)
{
	uint16_t mask;

	if (line == 0 || line == 2 || line > 15)
		return error_set(e, STATUS_FAILED, "the firmware gave the disk interrupt line %u, which the interrupt controller "
				 "has not", line);
	mask = (uint16_t)~(1u << line | (line >= 8 ? 4u : 0));
	set_gate(VECTOR_PIC + line, (uintptr_t)on_disk);
	pic_line = line;
	end_at = END_PIC;
	machine_out8(PIC1 + 1, (uint8_t)mask);
	machine_out8(PIC2 + 1, (uint8_t)(mask >> 8));
	return 0;
}

static void ioapic_write(uint32_t base, unsigned index, uint32_t v)
{
	*(volatile uint32_t *)(uintptr_t)base = index;
	*(volatile uint32_t *)(uintptr_t)(base + 16) = v;
}

static uint32_t ioapic_read(uint32_t base, unsigned index)
{
	*(volatile uint32_t *)(uintptr_t)base = index;
	return *(volatile uint32_t *)(uintptr_t)(base + 16);
}

/* A version register of nothing, or of memory that is not there. */
static bool ioapic_there(uint32_t base)
{
	uint32_t version = ioapic_read(base, 1);

	return (version & 0xff) >= 0x10 && (version & 0xff) <= 0x20 && (version >> 16 & 0xff) + 1 == IOAPIC_LINES;
}

/* Level, active high. */
static void ioapic_open(uint32_t base, unsigned line)
{
	ioapic_write(base, 0x10 + 2 * line + 1, apic_id() << 24);
	ioapic_write(base, 0x10 + 2 * line, VECTOR_DISK | 1u << 15);
}

/* microvm: with the second controller all are there; else from line 16 of the first up, without ACPI from 5. */
int machine_line_platform(unsigned number, struct error *e)
{
	static const unsigned first[] = {5, 16};
	bool second = have_apic && ioapic_there(IOAPIC2);

	if (!have_apic || (!second && !ioapic_there(IOAPIC1)) || number >= IOAPIC_LINES)
		return error_set(e, STATUS_FAILED, "there is no interrupt controller for the disk's line");
	end_at = END_APIC;
	if (second)
		ioapic_open(IOAPIC2, number);
	for (unsigned i = 0; i < 2 && !second; i++)
		if (first[i] + number < IOAPIC_LINES)
			ioapic_open(IOAPIC1, first[i] + number);
	return 0;
}

void machine_interrupts(bool on)
{
	if (on)
		__asm__ volatile("sti" : : : "memory");
	else
		__asm__ volatile("cli" : : : "memory");
}

bool machine_deaf_port(uint16_t *port)
{
	*port = DEAF_PORT;
	return true;
}
