/* One running guest with our kickio in it: started, greeted, verified, ended. */
#ifndef KB_BOOT_H
#define KB_BOOT_H

#include <jansson.h>
#include <signal.h>

#include "host/domain.h"
#include "host/hostcount.h"
#include "host/image.h"
#include "host/link.h"

#define BOOT_DISKS 2

extern const char *const boot_serials[BOOT_DISKS]; /* what a guest finds its disks by */

struct boot_request {
	const char *name; /* what follows DOMAIN_PREFIX */
	const char *variant; /* its name, of the first disk */
	unsigned boot, block; /* 1..; 0: no part of a plan */
	const struct guest *guest; /* NULL: of no scenario, libvirt's */
	const struct machine *machine; /* the guest's with the variant's changes; paths absolute */
	enum accel accel; /* KVM or TCG */
	const struct image *image;
	struct settings *settings[BOOT_DISKS]; /* cache resolved */
	const char *source[BOOT_DISKS];
	const struct domain_under *under[BOOT_DISKS];
	size_t ndisks;
	double hello_timeout; /* seconds; from the start, or where the console has to be logged in to, from then on */
	const char *preparation; /* overlay that a disk image's system writes to, kept by the caller: kickio is brought in */
	const char *overlay;     /* boot_start's own: of a disk image */
	bool ask_virtio_status; /* for boot_verify(): the emulator is known to survive it */
	const char *overlay_dir; /* for the throw-away files of a copy of a user's domain */
	bool elsewhere;          /* its files are another host's */
	const char *console_log; /* path, NULL: none */
	const volatile sig_atomic_t *interrupted;
};

/* How far boot_start() came: what failed was the next one. */
enum boot_stage { BOOT_NOTHING, BOOT_DESCRIBED, BOOT_STARTED, BOOT_GREETED, BOOT_UP };

struct boot {
	const struct hv_ops *ops;
	struct boot_request request;
	enum boot_stage stage; /* kept by boot_kill() */
	struct hv_guest *guest;
	struct link link;
	FILE *console;
	char *overlay; /* throw-away, of a disk image */
	struct own_files files; /* throw-away, of a copy of a user's domain */
	json_t *hello;
	char qemu_version[160]; /* "QEMU 10.0.13 (PACKAGE)" as it says itself, "" unknown */
	char disk_path[BOOT_DISKS][128]; /* in the guest */
	struct hostcount_threads threads;
	double wall_to_hello, boot_to_hello; /* seconds since start; since the guest's kernel began, 0 unknown */
};

/*
 * Start, log in and start kickio where it does not start by itself, wait for the hello. On failure nothing is left running.
 */
int boot_start(struct boot *b, const struct hv_ops *ops, struct hv *hv, const struct boot_request *request,
	       struct error *e);

/*
 * The guest was reset and starts again by itself: wait for its new hello, and find its disks. Only where its agent starts by
 * itself (boot_greets_itself()).
 */
int boot_greet_again(struct boot *b, struct error *e);
bool boot_greets_itself(const struct boot *b);

/* Its emulator is another process now (hv_ops.save_restore): what only a running one takes, again. */
int boot_settle_again(struct boot *b, struct error *e);

/* Which disks the guest sees now, a member "disks" as in a hello: their paths, anew. */
int boot_find_disks(struct boot *b, const json_t *disks, struct error *e);

/* What boot_start would give the driver to start: a domain's XML, or commands and their environment. Appended to xml. */
int boot_xml(const struct boot_request *request, struct text *xml, struct error *e);

/*
 * What is in force for disk k against its settings: domain_verify()'s object. Call it after the disk has
 * done I/O. What cannot be asked is unverified, never a failure.
 */
json_t *boot_verify(struct boot *b, size_t disk);

/*
 * Say bye and wait until the guest is off; pull the plug after timeout seconds. Seconds it took. A system that is
 * more than our kickio stays on: its plug is pulled when its agent has said bye, and its overlay goes.
 */
double boot_stop(struct boot *b, double timeout);

/* Pull the plug. Safe on a boot that never started or has stopped. */
void boot_kill(struct boot *b);

#endif
