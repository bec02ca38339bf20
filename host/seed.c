#include "host/seed.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/os.h"
#include "host/program.h"

#define FAILED "the seed cannot be made"

/* From memory: what is in it lies nowhere else on the host's disk. */
static int copy_into(const char *seed, const char *name, const char *text, struct program p, struct error *e)
{
	char target[32];
	const char *argv[] = { "mcopy", "-i", seed, "-", target, NULL };
	size_t length = strlen(text);
	int status = 0;

	snprintf(target, sizeof(target), "::%s", name);
	p.in = os_nameless_file();
	if (p.in < 0)
		return error_errno(e, STATUS_HOST, FAILED);
	if (write(p.in, text, length) != (ssize_t)length || lseek(p.in, 0, SEEK_SET))
		status = error_errno(e, STATUS_HOST, FAILED);
	if (!status)
		status = program_must(argv, &p, FAILED, e);
	close(p.in);
	return status;
}

int seed_make(const char *file, const char *user_data, const volatile sig_atomic_t *interrupted, struct error *e)
{
	const struct program p = { "mtools", -1, false, interrupted, 0 };
	const char *format[] = { "mformat", "-C", "-i", file, "-f", "1440", "-v", "CIDATA", "::", NULL };

	if (program_must(format, &p, FAILED, e))
		return -1;
	if (chmod(file, 0600))
		return error_errno(e, STATUS_HOST, "%s", file);
	return copy_into(file, "meta-data", "instance-id: kickbench\nlocal-hostname: kickbench\n", p, e) ? -1
	     : copy_into(file, "user-data", user_data, p, e);
}
