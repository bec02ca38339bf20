/* A guest's image: what is booted. Made by a script in the image's folder, kept in the build folder. */
#ifndef KB_IMAGE_H
#define KB_IMAGE_H

#include "host/scenario.h"

struct image {
	char *kernel, *initrd;  /* paths */
	char *arguments;        /* kernel command line */
	char *kernel_version;
	char *id;               /* digest over kernel, initramfs and arguments */
};

/*
 * Find the image of a guest; make it with FOLDER/build.sh when it is missing, older than kickio, or made
 * from another kernel than guest->kernel asks for. say: told before it takes long, may be NULL.
 */
int image_prepare(const struct guest *guest, const char *data_dir, const char *cache_dir,
		  void (*say)(const char *line), struct image *image, struct error *e);
void image_free(struct image *image);

#endif
