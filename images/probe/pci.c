#include "images/probe/pci.h"

#include "images/probe/machine.h"

#define ADDRESS 0xcf8
#define DATA 0xcfc
#define BUSES_DEEP 8
#define CAPABILITIES 48 /* more do not fit: a list that goes in a circle */

static void point(const struct pci_function *f, unsigned offset)
{
	machine_out32(ADDRESS, 1u << 31 | (uint32_t)f->bus << 16 | (uint32_t)f->slot << 11 | (uint32_t)f->function << 8 |
				       (offset & 0xfc));
}

uint32_t pci_read32(const struct pci_function *f, unsigned offset)
{
	point(f, offset);
	return machine_in32(DATA);
}

uint16_t pci_read16(const struct pci_function *f, unsigned offset)
{
	return (uint16_t)(pci_read32(f, offset) >> 8 * (offset & 2));
}

uint8_t pci_read8(const struct pci_function *f, unsigned offset)
{
	return (uint8_t)(pci_read32(f, offset) >> 8 * (offset & 3));
}

void pci_write32(const struct pci_function *f, unsigned offset, uint32_t v)
{
	point(f, offset);
	machine_out32(DATA, v);
}

void pci_write16(const struct pci_function *f, unsigned offset, uint16_t v)
{
	point(f, offset);
	machine_out16((uint16_t)(DATA + (offset & 2)), v);
}

static bool walk(uint8_t bus, unsigned depth, bool (*visit)(const struct pci_function *f, void *context), void *context)
{
	for (unsigned at = 0; at < 256; at++) {
		struct pci_function f = {.bus = bus, .slot = (uint8_t)(at >> 3), .function = (uint8_t)(at & 7)};
		uint32_t id = pci_read32(&f, 0);
		uint8_t header;

		if ((id & 0xffff) == 0xffff || (id & 0xffff) == 0) {
			at |= f.function == 0 ? 7 : 0;
			continue;
		}
		f.vendor = (uint16_t)id;
		f.device = (uint16_t)(id >> 16);
		if (!visit(&f, context))
			return false;
		header = pci_read8(&f, 0x0e);
		if ((header & 0x7f) == 1 && depth < BUSES_DEEP && !walk(pci_read8(&f, 0x19), depth + 1, visit, context))
			return false;
		if (f.function == 0 && !(header & 0x80))
			at |= 7;
	}
	return true;
}

void pci_each(bool (*visit)(const struct pci_function *f, void *context), void *context)
{
	walk(0, 0, visit, context);
}

static bool is_wanted(const struct pci_function *f, void *context)
{
	struct pci_function *wanted = context;

	if (f->vendor != wanted->vendor || f->device != wanted->device)
		return true;
	*wanted = *f;
	wanted->vendor = 0; /* found */
	return false;
}

bool pci_find(uint16_t vendor, uint16_t device, struct pci_function *f)
{
	*f = (struct pci_function){.vendor = vendor, .device = device};
	pci_each(is_wanted, f);
	if (f->vendor)
		return false;
	f->vendor = vendor;
	return true;
}

int pci_bar(const struct pci_function *f, unsigned bar, struct pci_place *place, struct error *e)
{
	uint32_t v = bar < 6 ? pci_read32(f, 0x10 + 4 * bar) : 0;
	bool wide = !(v & 1) && (v & 6) == 4;

	if (v == 0)
		return error_set(e, STATUS_FAILED, "the firmware did not set up base address %u of the disk", bar);
	if (wide && bar < 5 && pci_read32(f, 0x14 + 4 * bar) != 0)
		return error_set(e, STATUS_FAILED, "base address %u of the disk lies above 4 GiB, out of the probe's reach", bar);
	*place = (struct pci_place){.pio = v & 1, .at = v & 1 ? v & ~3u : v & ~15u};
	return 0;
}

unsigned pci_capability(const struct pci_function *f, uint8_t id, unsigned after)
{
	unsigned at;

	if (!(pci_read16(f, 0x06) & 0x10))
		return 0;
	at = pci_read8(f, after ? after + 1 : 0x34) & 0xfcu;
	for (unsigned n = 0; at && n < CAPABILITIES; n++) {
		if (pci_read8(f, at) == id)
			return at;
		at = pci_read8(f, at + 1) & 0xfcu;
	}
	return 0;
}

uint8_t pci_get8(const struct pci_place *p, unsigned offset)
{
	return p->pio ? machine_in8((uint16_t)(p->at + offset)) : *(volatile uint8_t *)(uintptr_t)(p->at + offset);
}

uint16_t pci_get16(const struct pci_place *p, unsigned offset)
{
	return p->pio ? machine_in16((uint16_t)(p->at + offset)) : *(volatile uint16_t *)(uintptr_t)(p->at + offset);
}

uint32_t pci_get32(const struct pci_place *p, unsigned offset)
{
	return p->pio ? machine_in32((uint16_t)(p->at + offset)) : *(volatile uint32_t *)(uintptr_t)(p->at + offset);
}

void pci_put8(const struct pci_place *p, unsigned offset, uint8_t v)
{
	if (p->pio)
		machine_out8((uint16_t)(p->at + offset), v);
	else
		*(volatile uint8_t *)(uintptr_t)(p->at + offset) = v;
}

void pci_put16(const struct pci_place *p, unsigned offset, uint16_t v)
{
	if (p->pio)
		machine_out16((uint16_t)(p->at + offset), v);
	else
		*(volatile uint16_t *)(uintptr_t)(p->at + offset) = v;
}

void pci_put32(const struct pci_place *p, unsigned offset, uint32_t v)
{
	if (p->pio)
		machine_out32((uint16_t)(p->at + offset), v);
	else
		*(volatile uint32_t *)(uintptr_t)(p->at + offset) = v;
}
