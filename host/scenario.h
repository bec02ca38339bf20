/* A scenario file, parsed and checked. Pure data: nothing here touches the host. */
#ifndef KB_SCENARIO_H
#define KB_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"
#include "host/machine.h"
#include "host/settings.h"

enum pairing { PAIRING_BOOTS, PAIRING_DISKS };
enum fresh_boot { FRESH_BOOT_PER_BOOT, FRESH_BOOT_PER_TRIAL };
enum against { AGAINST_VARIANTS, AGAINST_ITSELF };

/* What runs in a guest: kickio, or nothing but images/probe. */
enum tool { TOOL_KICKIO, TOOL_PROBE, TOOL_FIO };

/* Verdicts that a run's exit status may depend on. */
enum fail_on {
	FAIL_WORSE = 1,
	FAIL_BETTER = 2,
	FAIL_UNCLEAR = 4,
	FAIL_STALLED = 8,
	FAIL_CORRUPT = 16,
};

enum guest_login { GUEST_LOGIN_UNSET, GUEST_LOGIN_NONE, GUEST_LOGIN_CONSOLE };

/* What starts guests: a row of the table in host/drivers.c each. */
enum guest_driver { DRIVER_LIBVIRT, DRIVER_EXEC };

/* DRIVER_EXEC: the user's own commands, for /bin/sh -c; NULL where the scenario has none. */
struct exec_commands {
	char *start, *stop, *kill, *verify;
	char *link, *console; /* "pty PATH", "unix PATH" or "stdio": host/hypervisor_exec.h */
	unsigned baud;        /* how fast the guest takes bytes, 0: as fast as they come */
};

#define IMAGE_NONE "none" /* the start command knows what it boots */

enum network { NETWORK_NONE, NETWORK_KEEP };
enum host_devices { HOST_DEVICES_REFUSE, HOST_DEVICES_DROP };

struct guest {
	char *name;
	enum tool tool; /* what runs the jobs in it */
	char *image;  /* as written: a folder with guest.ini ("images/linux"), or a disk image; with DRIVER_EXEC also IMAGE_NONE */
	enum guest_driver driver;
	struct exec_commands exec;
	char *profile; /* of a system that is driven by its console, a disk image's or DRIVER_EXEC's: "openbsd", a file; NULL: none */
	enum guest_login login; /* unset: as the profile says */
	char *user, *password_file, *password_env; /* of the console's login; NULL: the profile's user, no password */
	char *domain;     /* instead of an image: the name of a domain of the connection; NULL */
	char *domain_xml; /* or a file with the definition of one; NULL */
	enum network network;
	enum host_devices host_devices;
	struct machine machine; /* what variants do not change */
	double boot_timeout;  /* seconds until the guest must have said hello; 0: from the accelerator trial */
	double stall_timeout; /* seconds without a frame, or without progress of the I/O, that count as a stall */
	int line;
};

struct variant {
	char *name;
	struct settings settings; /* [disk] with this section's changes */
	int line;
};

/* One fio option of a workload. Several values make a sweep. */
struct workload_option {
	char *name;
	char **value;
	size_t nvalues;
	const char *file; /* where it was set: the scenario's file, or "--set …" with line 0 */
	int line;
};

struct workload {
	char *name;
	struct workload_option *option;
	size_t noptions;
	int line;
};

struct entries;

struct scenario {
	struct entries *entries; /* what it was made of: the places of options point into it */
	char *file; /* as named by the user, for messages */
	char *source; /* the file's text, and the --set values below it: kept with the run */
	char *name;
	unsigned baseline; /* index into variant */
	unsigned blocks, repeats;
	enum pairing pairing;
	enum fresh_boot fresh_boot;
	enum against against;               /* AGAINST_ITSELF: variant holds the baseline and a copy of it alone */
	char *primary;                      /* name of the primary metric */
	const char *primary_file; /* where it was set, for messages */
	int primary_line;
	double margin, fail_margin, alpha; /* fractions: 0.03 */
	unsigned fail_on;                   /* mask of enum fail_on */
	uint64_t seed;
	bool seed_set;
	char *guests;                       /* "linux, openbsd": which [guest] sections take part, in this order; NULL: all */
	struct guest *guest;
	size_t nguests;
	struct variant *variant;
	size_t nvariants;
	struct machine *machine; /* by guest, then by variant: see scenario_machine() */
	struct workload *workload;
	size_t nworkloads;
};

/*
 * Read a scenario and apply "SECTION.KEY=VALUE" changes (disk.size, variant.NAME.KEY, workload.size for
 * all workloads, workload.NAME.KEY). Messages name file, line and reason. On error *out is NULL.
 */
int scenario_read(const char *file, const char *const *set, size_t nset, struct scenario **out, struct error *e);

/*
 * The same for a scenario of kickbench regress. It has no variants and no workloads: variant 0, "base", is [disk] as it
 * stands; [matrix NAME] and [except NAME] are left in entries (host/matrix.h).
 */
int scenario_read_matrix(const char *file, const char *const *set, size_t nset, struct scenario **out, struct error *e);
void scenario_free(struct scenario *s);

/* The machine of one guest with the changes of one variant. */
const struct machine *scenario_machine(const struct scenario *s, size_t guest, size_t variant);

/* Whether both guests are booted from the same thing. */
bool guest_same_source(const struct guest *a, const struct guest *b);

/* What a guest is booted from, in words: "images/linux", "domain NAME", "domain_xml FILE". Appended. */
void guest_source(const struct guest *g, struct text *out);

/* Every key of [scenario] and [guest] but the machine's (machine_key()), a line each with its help; key k of section, NULL at the end. */
const char *scenario_key(const char *section, size_t k, const char **help);

/* Parse a comma list of verdict names ("worse, better"); "none" is the empty set. */
int fail_on_parse(const char *text, unsigned *mask, struct error *e);
void fail_on_text(unsigned mask, struct text *out);

#endif
