/* Kernel modules that the guest's image carries, by lists of their paths. Linux only. */
#ifndef KB_MODULES_LINUX_H
#define KB_MODULES_LINUX_H

#include <stdbool.h>

/*
 * Load all modules that a list names, in its order; one that is there already is fine. What fails is said on stderr.
 * False when there is no such list: then the kernel has what is needed built in, or has it not at all.
 */
bool modules_load(const char *list);

#endif
