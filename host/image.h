/* A guest's image: what is booted. Made by a script in the image's folder, kept in the build folder. */
#ifndef KB_IMAGE_H
#define KB_IMAGE_H

#include "host/own_domain.h"
#include "host/scenario.h"

struct system;

struct image {
	char *kernel, *initrd;  /* paths; NULL where a disk image or a user's domain boots from its disk */
	char *arguments;        /* kernel command line */
	char *kernel_version;   /* "" where only the guest can tell */
	struct system *system;  /* a disk image that is driven by its console (system.h); NULL: kernel and initrd are ours */
	struct own_domain *own; /* a user's domain, of which a copy is run; NULL */
	char *id;               /* tells it from others: digests of what was made, arguments, and the scenario's initramfs */
};

/*
 * Find the image of a guest; make it with FOLDER/build.sh when it is missing, older than kickio, or made from another
 * kernel than machine->kernel asks for. The machine's initrd takes the place of the image's, its kernel_args follow the
 * image's. say: told before it takes long, may be NULL.
 */
int image_prepare(const struct guest *guest, const struct machine *machine, const char *data_dir, const char *cache_dir,
		  void (*say)(const char *line), struct image *image, struct error *e);

/*
 * The image that is a user's domain: with its own kernel, or the machine's, or none. own belongs to the image from here
 * on, also on an error.
 */
int image_take_domain(struct own_domain *own, const struct machine *machine, struct image *image, struct error *e);
void image_free(struct image *image); /* its system stays the caller's */

/* What the guest has: the machine's, or where that leaves it open, the domain's. */
unsigned image_vcpus(const struct image *image, const struct machine *machine);
uint64_t image_memory(const struct image *image, const struct machine *machine);

/* NULL: libvirt's choice. */
const char *image_emulator(const struct image *image, const struct machine *machine);

#endif
