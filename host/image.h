/* A guest's image: what is booted. Made by a script in the image's folder, kept in the build folder. */
#ifndef KB_IMAGE_H
#define KB_IMAGE_H

#include "host/scenario.h"

struct system;

struct image {
	char *kernel, *initrd;  /* paths; of a disk image NULL, unless the scenario sets them */
	char *arguments;        /* kernel command line */
	char *kernel_version;
	struct system *system;  /* a disk image that is driven by its console (system.h); NULL: kernel and initrd are ours */
	char *id;               /* tells it from others: digests of what was made, arguments, and the scenario's initramfs */
};

/*
 * Find the image of a guest; make it with FOLDER/build.sh when it is missing, older than kickio, or made from another
 * kernel than machine->kernel asks for. The machine's initrd takes the place of the image's, its kernel_args follow the
 * image's. say: told before it takes long, may be NULL.
 */
int image_prepare(const struct guest *guest, const struct machine *machine, const char *data_dir, const char *cache_dir,
		  void (*say)(const char *line), struct image *image, struct error *e);
void image_free(struct image *image); /* its system stays the caller's */

#endif
