#include "host/image.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/frame.h"
#include "guest/text.h"
#include "host/dirs.h"

/* Run FOLDER/build.sh OUT KICKIO. Its messages go to our stderr. */
static int make(const char *script, const char *out, const char *kickio, const char *kernel, struct error *e)
{
	pid_t pid;
	int status;

	pid = fork();
	if (pid < 0)
		return error_errno(e, STATUS_HOST, "cannot start %s", script);
	if (pid == 0) {
		if (kernel)
			setenv("KERNEL", kernel, 1);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("/bin/sh", "sh", script, out, kickio, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(e, STATUS_HOST, "%s", script);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return error_set(e, STATUS_HOST, "the guest's image could not be made: %s ended with status %d", script,
			 WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static int read_manifest(const char *out, struct image *image, struct error *e)
{
	char *file = dirs_join(out, "manifest.json");
	json_error_t why = { .text = "out of memory" };
	json_t *m = file ? json_load_file(file, 0, &why) : NULL;
	const char *kernel = NULL, *arguments = NULL, *k = NULL, *i = NULL;
	struct text id = { 0 };
	int status = -1;

	if (m && json_unpack_ex(m, &why, 0, "{s:s,s:s,s:{s:s,s:s}}", "kernel", &kernel, "arguments", &arguments, "sha256",
				"vmlinuz", &k, "initramfs.cpio.gz", &i) == 0) {
		text_add(&id, "%.16s-%.16s", k, i);
		image->kernel = dirs_join(out, "vmlinuz");
		image->initrd = dirs_join(out, "initramfs.cpio.gz");
		image->arguments = strdup(arguments);
		image->kernel_version = strdup(kernel);
		image->id = id.failed ? NULL : id.data;
		status = image->kernel && image->initrd && image->arguments && image->kernel_version && image->id
			 ? 0 : error_set(e, STATUS_HOST, "out of memory");
	} else {
		error_set(e, STATUS_HOST, "%s: %s", file ? file : "manifest.json", why.text);
	}
	json_decref(m);
	free(file);
	return status;
}

/* The scenario's own initramfs and arguments. */
static int apply(const struct machine *machine, struct image *image, struct error *e)
{
	struct text arguments = { 0 }, id = { 0 };
	struct stat st = { 0 };

	if (machine->initrd) {
		if (stat(machine->initrd, &st))
			return error_errno(e, STATUS_HOST, "initrd %s", machine->initrd);
		free(image->initrd);
		image->initrd = strdup(machine->initrd);
	}
	text_add(&arguments, "%s%s%s", image->arguments, machine->kernel_args ? " " : "",
		 machine->kernel_args ? machine->kernel_args : "");
	text_add(&id, "%s-%s-%lld-%lld-%s", image->id, machine->initrd ? machine->initrd : "", (long long)st.st_size,
		 (long long)st.st_mtime, text_get(&arguments));
	free(image->arguments);
	free(image->id);
	image->arguments = arguments.failed ? NULL : arguments.data;
	image->id = id.failed ? NULL : id.data;
	return image->initrd && image->arguments && image->id ? 0 : error_set(e, STATUS_HOST, "out of memory");
}

int image_prepare(const struct guest *guest, const struct machine *machine, const char *data_dir, const char *cache_dir,
		  void (*say)(const char *line), struct image *image, struct error *e)
{
	const char *slash = strrchr(guest->image, '/');
	struct text script = { 0 }, out = { 0 }, manifest = { 0 };
	char kickio[1200];
	int status = -1;

	*image = (struct image){ 0 };
	if (*guest->image == '/' || access(guest->image, F_OK) == 0)
		text_add(&script, "%s/build.sh", guest->image);
	else
		text_add(&script, "%s/%s/build.sh", data_dir, guest->image);
	text_add(&out, "%s/images/%s", cache_dir, slash ? slash + 1 : guest->image);
	if (machine->kernel) /* two guests with different kernels must not overwrite each other's image */
		text_add(&out, "-%08x", (unsigned)frame_crc32(0, machine->kernel, strlen(machine->kernel)));
	dirs_kickio(data_dir, X_OK, kickio, sizeof(kickio));
	text_add(&manifest, "%s/manifest.json", text_get(&out));
	if (access(text_get(&script), R_OK))
		error_set(e, STATUS_HOST, "image %s of guest %s: %s is missing", guest->image, guest->name, text_get(&script));
	else {
		if (say && access(text_get(&manifest), F_OK))
			say("making the guest's image (once)");
		if (make(text_get(&script), text_get(&out), kickio, machine->kernel, e) == 0)
			status = read_manifest(text_get(&out), image, e) || apply(machine, image, e) ? -1 : 0;
	}
	if (status)
		image_free(image);
	text_free(&script);
	text_free(&out);
	text_free(&manifest);
	return status;
}

static char *either(const char *a, const char *b)
{
	return a ? strdup(a) : b ? strdup(b) : NULL;
}

int image_take_domain(struct own_domain *own, const struct machine *machine, struct image *image, struct error *e)
{
	const struct domain_original *o = &own->original;
	const char *more = machine->kernel_args;
	struct text arguments = { 0 }, id = { 0 };
	struct stat st;
	bool fine;

	*image = (struct image){ .own = own, .kernel = either(machine->kernel, o->kernel),
				 .initrd = either(machine->initrd, o->initrd), .kernel_version = strdup("") };
	if (machine->kernel && (stat(machine->kernel, &st) || !S_ISREG(st.st_mode)))
		return error_set(e, STATUS_USAGE, "kernel %s is no file, which a domain needs", machine->kernel);
	if (!image->kernel && (more || machine->initrd))
		return error_set(e, STATUS_USAGE, "%s boots from its disk: without kernel there is no initrd and are no kernel_args",
				 own->source);
	text_add(&arguments, "%s%s%s", o->cmdline ? o->cmdline : "", o->cmdline && more ? " " : "", more ? more : "");
	text_add(&id, "%s", own->id);
	for (int i = 0; i < 2; i++) {
		const char *file = i ? image->initrd : image->kernel;

		if (file && stat(file, &st) == 0)
			text_add(&id, "-%lld-%lld", (long long)st.st_size, (long long)st.st_mtime);
	}
	fine = !arguments.failed && !id.failed;
	image->arguments = fine ? strdup(text_get(&arguments)) : NULL;
	image->id = fine ? strdup(text_get(&id)) : NULL;
	text_free(&arguments);
	text_free(&id);
	return image->arguments && image->id && image->kernel_version ? 0 : error_set(e, STATUS_HOST, "out of memory");
}

unsigned image_vcpus(const struct image *image, const struct machine *machine)
{
	return machine->vcpus || !image->own ? machine->vcpus : image->own->original.vcpus;
}

uint64_t image_memory(const struct image *image, const struct machine *machine)
{
	return machine->memory || !image->own ? machine->memory : image->own->original.memory;
}

const char *image_emulator(const struct image *image, const struct machine *machine)
{
	return machine->emulator || !image->own ? machine->emulator : image->own->original.emulator;
}

void image_free(struct image *image)
{
	own_domain_free(image->own);
	free(image->kernel);
	free(image->initrd);
	free(image->arguments);
	free(image->kernel_version);
	free(image->id);
	*image = (struct image){ 0 };
}
