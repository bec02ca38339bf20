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

struct boot_request {
	const char *name; /* what follows DOMAIN_PREFIX */
	const struct guest *guest;
	enum accel accel; /* KVM or TCG */
	const struct image *image;
	struct settings *settings[BOOT_DISKS]; /* cache resolved */
	const char *source[BOOT_DISKS];
	size_t ndisks;
	double hello_timeout; /* seconds */
	const char *console_log; /* path, NULL: none */
	const volatile sig_atomic_t *interrupted;
};

struct boot {
	const struct hv_ops *ops;
	struct boot_request request;
	struct hv_guest *guest;
	struct link link;
	FILE *console;
	json_t *hello;
	char disk_path[BOOT_DISKS][128]; /* in the guest */
	struct hostcount_threads threads;
	double wall_to_hello, boot_to_hello; /* seconds since start; since the guest's kernel began, 0 unknown */
};

/* Start and wait for the hello. On failure nothing is left running. */
int boot_start(struct boot *b, const struct hv_ops *ops, struct hv *hv, const struct boot_request *request,
	       struct error *e);

/* The domain XML that boot_start would use; appended to xml. */
int boot_xml(const struct boot_request *request, struct text *xml, struct error *e);

/*
 * What is in force for disk k against its settings: domain_verify()'s object. Call it after the disk has
 * done I/O. What cannot be asked is unverified, never a failure.
 */
json_t *boot_verify(struct boot *b, size_t disk);

/* Say bye and wait until the guest is off; pull the plug after timeout seconds. Seconds it took. */
double boot_stop(struct boot *b, double timeout);

/* Pull the plug. Safe on a boot that never started or has stopped. */
void boot_kill(struct boot *b);

#endif
