#include "host/seed.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/text.h"
#include "host/dirs.h"
#include "host/program.h"

static int write_file(const char *path, const char *text, struct error *e)
{
	FILE *f = fopen(path, "w");
	int bad = !f || fputs(text, f) < 0;

	if ((f && fclose(f)) || bad)
		return error_errno(e, STATUS_HOST, "%s", path);
	return 0;
}

static int copy_into(const char *seed, const char *folder, const char *name, const char *text, const struct program *p,
		     struct error *e)
{
	char *file = dirs_join(folder, name), target[32];
	const char *argv[] = { "mcopy", "-i", seed, file, target, NULL };
	int status;

	snprintf(target, sizeof(target), "::%s", name);
	status = !file ? error_set(e, STATUS_HOST, "out of memory") : write_file(file, text, e);
	if (!status)
		status = program_must(argv, p, "the seed cannot be made", e);
	if (file)
		unlink(file);
	free(file);
	return status;
}

int seed_make(const char *file, const char *user_data, const volatile sig_atomic_t *interrupted, struct error *e)
{
	const struct program p = { "mtools", -1, false, interrupted };
	const char *format[] = { "mformat", "-C", "-i", file, "-f", "1440", "-v",
			   "CIDATA", "::", NULL };
	struct text folder = { 0 };
	int status = -1;

	text_add(&folder, "%s.XXXXXX", file);
	if (folder.failed || !mkdtemp(folder.data)) /* 0700: the password is in there */
		error_errno(e, STATUS_HOST, "%s: no folder beside it", file);
	else if (program_must(format, &p, "the seed cannot be made", e) == 0 && chmod(file, 0600) == 0 &&
		 copy_into(file, folder.data, "meta-data", "instance-id: kickbench\nlocal-hostname: kickbench\n", &p, e) == 0)
		status = copy_into(file, folder.data, "user-data", user_data, &p, e);
	if (!folder.failed)
		rmdir(folder.data);
	text_free(&folder);
	return status;
}
