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

struct settings;

enum accel { ACCEL_AUTO, ACCEL_KVM, ACCEL_TCG };

/* A property of the test disk's device, set over what libvirt writes. */
struct machine_property {
	char *name, *value;
};

struct machine {
	char *emulator;    /* the program; NULL: libvirt's choice */
	char *firmware;    /* a file for QEMU's -bios; NULL: the machine type's own */
	char *type;        /* key "machine"; NULL: pc, in the newest version that the emulator knows */
	char *cpu;         /* a model name, host or max; NULL: host under KVM, qemu64 under TCG */
	char *kernel;      /* a file, or a folder with boot/vmlinuz-…; NULL: the image's */
	char *initrd;      /* NULL: the image's */
	char *kernel_args; /* added to the image's; NULL: none */
	enum accel accel;
	unsigned vcpus;    /* 0: as many as a user's own domain has */
	uint64_t memory;   /* bytes, 0: as much as it has */
	char *qemu_args;   /* words for the emulator's command line */
	struct machine_property *property; /* qemu.NAME = VALUE */
	size_t nproperties;
};

void machine_default(struct machine *m);
int machine_copy(struct machine *to, const struct machine *from); /* -1: out of memory */
void machine_free(struct machine *m);

/*
 * Set one key from its text; messages as settings_set()'s. An empty text puts a key that may be unset back. Returns 1
 * when the key is none of the machine's (e is then untouched).
 */
int machine_set(struct machine *m, const char *key, const char *value, const char *file, int line, struct error *e);

/* Why these cannot work together, with the keys' names; NULL: they can. */
const char *machine_conflict(const struct machine *m);

/* Whether it has no PCI bus: disks are on virtio-mmio, an ACPI that stops at what such a machine has, a kernel to boot. */
bool machine_is_mmio(const struct machine *m);

/* Why a disk with these settings cannot be in it; NULL: it can. */
const char *machine_disk_conflict(const struct machine *m, const struct settings *s);

/* Whether both describe the same guest. */
bool machine_same(const struct machine *a, const struct machine *b);

/* Append every key that is set as a JSON object of strings, in table order. */
void machine_json(const struct machine *m, struct text *out);

/* The text of one key's value (as the scenario would write it), nothing when it is unset. */
void machine_get(const struct machine *m, const char *key, struct text *out);

/* The keys in order: 0.. until NULL ("qemu.PROPERTY" stands for all of them). help may be NULL. */
const char *machine_key(size_t index, const char **help);

const char *accel_name(enum accel accel);

/*
 * How a property's value is to be understood, as QEMU's JSON wants it: on, off, true and false are a bool (plain is
 * then "true" or "false"), digits a number, all else, and what stands in double quotes, a string. plain is appended to.
 */
enum property_type { PROPERTY_STRING, PROPERTY_BOOL, PROPERTY_SIGNED, PROPERTY_UNSIGNED };
enum property_type machine_property_type(const char *value, struct text *plain);

/*
 * Cut qemu_args into words: blanks part them, but not between quotes ('…' or "…"). *words is one allocation that the caller
 * frees, *count its length. -1: a quote is not closed, or memory ran out.
 */
int machine_words(const char *args, char ***words, size_t *count);

#endif
