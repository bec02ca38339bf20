/* What the fuzz targets share. Each is one fuzz_X.c with the entry that libFuzzer calls; run.sh finds its seeds. */
#ifndef KB_TESTS_FUZZ_H
#define KB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes as a file that readers can open by its name, without a disk. A file of its own for each fd, which begins as -1. */
static inline const char *memory_file(int *fd, char name[32], const void *data, size_t size)
{
	if (*fd < 0)
		*fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (*fd < 0 || ftruncate(*fd, 0) || (size && pwrite(*fd, data, size, 0) != (ssize_t)size))
		abort();
	snprintf(name, 32, "/proc/self/fd/%d", *fd);
	return name;
}

#endif
