/* PCI as the firmware left it, by configuration mechanism 1. */
#ifndef PROBE_PCI_H
#define PROBE_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/error.h"

#define PCI_COMMAND 0x04
#define PCI_COMMAND_IO 1u
#define PCI_COMMAND_MEMORY 2u
#define PCI_COMMAND_MASTER 4u
#define PCI_COMMAND_NO_LINE 0x400u
#define PCI_LINE 0x3c
#define PCI_CAP_VENDOR 0x09
#define PCI_CAP_MSIX 0x11

struct pci_function {
	uint8_t bus, slot, function;
	uint16_t vendor, device;
};

/* Where registers lie. */
struct pci_place {
	bool pio;
	uint32_t at;
};

uint32_t pci_read32(const struct pci_function *f, unsigned offset);
uint16_t pci_read16(const struct pci_function *f, unsigned offset);
uint8_t pci_read8(const struct pci_function *f, unsigned offset);
void pci_write32(const struct pci_function *f, unsigned offset, uint32_t v);
void pci_write16(const struct pci_function *f, unsigned offset, uint16_t v);

/* Call visit for every function, bus by bus, bridges followed. It returns false to end. */
void pci_each(bool (*visit)(const struct pci_function *f, void *context), void *context);

/* The first of its kind. */
bool pci_find(uint16_t vendor, uint16_t device, struct pci_function *f);

/* A base address register. -1: not set up, or out of reach of 32 bits. */
int pci_bar(const struct pci_function *f, unsigned bar, struct pci_place *place, struct error *e);

/* The capability of that kind behind offset `after` (0: the first); 0 when there is none. */
unsigned pci_capability(const struct pci_function *f, uint8_t id, unsigned after);

/* Registers behind a place. */
uint8_t pci_get8(const struct pci_place *p, unsigned offset);
uint16_t pci_get16(const struct pci_place *p, unsigned offset);
uint32_t pci_get32(const struct pci_place *p, unsigned offset);
void pci_put8(const struct pci_place *p, unsigned offset, uint8_t v);
void pci_put16(const struct pci_place *p, unsigned offset, uint16_t v);
void pci_put32(const struct pci_place *p, unsigned offset, uint32_t v);

#endif
