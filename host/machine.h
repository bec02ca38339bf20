/*
 * What a scenario may set of the whole guest, beside its disks: [guest NAME] gives the base, [variant NAME] changes it.
 * Which keys exist and what they may hold is one table in machine.c; how they are written for libvirt is domain.c's.
 */
#ifndef KB_MACHINE_H
#define KB_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"
#include "guest/text.h"

enum accel { ACCEL_AUTO, ACCEL_KVM, ACCEL_TCG };

/* A property of the test disk's device, set over what libvirt writes. */
struct machine_property {
	char *name, *value;
};

struct machine {
	char *emulator;    /* the program; NULL: libvirt's choice */
	char *firmware;    /* a file for QEMU's -bios; NULL: the machine type's own */
	char *type;        /* key "machine"; NULL: pc, in the newest version that the emulator knows */
	char *cpu;         /* a model name; NULL: the accelerator's best */
	char *kernel;      /* NULL: the image's */
	char *initrd;      /* NULL: the image's */
	char *kernel_args; /* added to the image's; NULL: none */
	enum accel accel;
	unsigned vcpus;
	uint64_t memory;   /* bytes */
	char *qemu_args;   /* words for the emulator's command line */
	struct machine_property *property; /* qemu.NAME = VALUE */
	size_t nproperties;
};

void machine_default(struct machine *m);
int machine_copy(struct machine *to, const struct machine *from); /* -1: out of memory */
void machine_free(struct machine *m);

/*
 * Set one key from its text; messages as settings_set()'s. Returns 1 when the key is none of the machine's (e is then
 * untouched).
 */
int machine_set(struct machine *m, const char *key, const char *value, const char *file, int line, struct error *e);

/* Append every key that is set as a JSON object of strings, in table order. */
void machine_json(const struct machine *m, struct text *out);

/* The keys in order: 0.. until NULL ("qemu.PROPERTY" stands for all of them). help may be NULL. */
const char *machine_key(size_t index, const char **help);

#endif
