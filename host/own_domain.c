#include "host/own_domain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/frame.h"
#include "host/overlay.h"

#define XML_LIMIT (4u << 20) /* no definition is so long */
#define STAND_IN_BYTES 65536
#define OVERLAY_SUFFIX ".qcow2"

static int no_memory(struct error *e)
{
	return error_set(e, STATUS_HOST, "out of memory");
}

/* ---- the definition ---- */

static int read_file(const char *path, struct text *out, struct error *e)
{
	char bytes[65536];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd < 0)
		return error_errno(e, STATUS_USAGE, "cannot read it");
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		error_set(e, STATUS_USAGE, "this is no file");
	while (!e->status && (n = read(fd, bytes, sizeof(bytes))) > 0) {
		text_add_bytes(out, bytes, (size_t)n);
		if (out->length > XML_LIMIT)
			error_set(e, STATUS_USAGE, "this is no domain: it has more than %u MiB", XML_LIMIT >> 20);
	}
	if (n < 0)
		error_errno(e, STATUS_USAGE, "cannot read it");
	close(fd);
	if (!e->status && out->length && memchr(out->data, '\0', out->length))
		error_set(e, STATUS_USAGE, "this is no XML");
	return e->status ? -1 : 0;
}

static int shut_down_first(struct error *e, const char *name)
{
	return error_set(e, STATUS_HOST, "it is running, and no copy can read images that it writes to: shut %s down first", name);
}

static int fetch(const struct hv_ops *ops, struct hv *hv, const struct guest *guest, struct own_domain *own, struct error *e)
{
	struct text xml = { 0 };
	bool running = false;
	int status;

	if (guest->domain_xml)
		status = read_file(guest->domain_xml, &xml, e);
	else if (!ops->definition)
		status = error_set(e, STATUS_USAGE, "driver %s knows no domains", ops->name);
	else
		status = ops->definition(hv, guest->domain, &xml, &running, e);
	own->xml = xml.failed ? NULL : strdup(text_get(&xml));
	text_free(&xml);
	if (status)
		return -1;
	if (!own->xml)
		return no_memory(e);
	if (domain_original_read(own->xml, &own->wishes, &own->original, e))
		return -1;
	if (running && own->original.nfiles)
		return shut_down_first(e, own->original.name);
	return 0;
}

/* Its images have to be here and readable; their state is a part of what tells it from others. */
static int look_at_files(struct own_domain *own, struct error *e)
{
	struct text id = { 0 };

	text_add(&id, "domain-%08x", (unsigned)frame_crc32(0, own->xml, strlen(own->xml)));
	for (size_t i = 0; i < own->original.nfiles; i++) {
		const struct domain_file *f = &own->original.file[i];
		struct stat st = { 0 };

		if (!f->path || (f->kind == DOMAIN_FILE_FIRMWARE && access(f->path, F_OK) && errno == ENOENT))
			continue; /* libvirt makes it from its template */
		if (stat(f->path, &st) || access(f->path, R_OK)) {
			error_errno(e, STATUS_HOST, "its image %s (%s)", f->path, f->target);
			break;
		}
		if (f->kind == DOMAIN_FILE_DISK && overlay_check_unused(f->path, f->format, e))
			break;
		text_add(&id, "-%jd-%jd.%09ld", (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	}
	own->id = id.failed ? NULL : strdup(text_get(&id));
	text_free(&id);
	if (!own->id && !e->status)
		no_memory(e);
	return e->status ? -1 : 0;
}

int own_domain_take(const struct hv_ops *ops, struct hv *hv, const struct guest *guest, struct own_domain **out,
		    struct error *e)
{
	struct own_domain *own = calloc(1, sizeof(*own));
	struct text source = { 0 };

	*out = NULL;
	if (!own)
		return no_memory(e);
	guest_source(guest, &source);
	own->source = source.failed ? NULL : strdup(text_get(&source));
	text_free(&source);
	own->wishes = (struct domain_wishes){ .keep_network = guest->network == NETWORK_KEEP,
					      .drop_host_devices = guest->host_devices == HOST_DEVICES_DROP };
	if (!own->source) {
		own_domain_free(own);
		return no_memory(e);
	}
	if (fetch(ops, hv, guest, own, e))
		error_context(e, "%s", own->source);
	else if (look_at_files(own, e))
		own_domain_explain(own, e);
	if (e->status) {
		own_domain_free(own);
		return -1;
	}
	*out = own;
	return 0;
}

void own_domain_free(struct own_domain *own)
{
	if (!own)
		return;
	domain_original_free(&own->original);
	free(own->source);
	free(own->xml);
	free(own->id);
	free(own);
}

int own_domain_explain(const struct own_domain *own, struct error *e)
{
	if (strstr(e->text, "Failed to get") && strstr(e->text, "lock"))
		error_context(e, "%s: one of its images is in use: shut %s down first", own->source, own->original.name);
	else
		error_context(e, "%s", own->source);
	return -1;
}

/* ---- the files of one boot ---- */

/* suffix: instead of an overlay's. */
static char *name_file(const char *folder, const char *boot, const char *what, const char *suffix, struct error *e)
{
	struct text name = { 0 };
	char *path;

	text_add(&name, "%s-%s", boot, what);
	path = name.failed ? NULL : overlay_path(folder, text_get(&name), e);
	if (name.failed)
		no_memory(e);
	if (path && suffix) /* none is longer than the overlay's */
		strcpy(path + strlen(path) - strlen(OVERLAY_SUFFIX), suffix);
	text_free(&name);
	return path;
}

int own_files_name(const struct own_domain *own, const char *folder, const char *boot, struct own_files *files,
		   struct error *e)
{
	const struct domain_original *o = &own->original;

	*files = (struct own_files){ .path = calloc(o->nfiles + 1, sizeof(*files->path)) };
	if (!files->path)
		return no_memory(e);
	for (size_t i = 0; i < o->nfiles; i++) {
		files->path[i] = name_file(folder, boot, o->file[i].target, o->file[i].kind == DOMAIN_FILE_FIRMWARE ? ".fd" : NULL, e);
		if (!files->path[i])
			goto fail;
		files->count++;
	}
	if (!o->kernel) {
		files->stand_in = name_file(folder, boot, "none", ".raw", e);
		if (!files->stand_in)
			goto fail;
	}
	return 0;
fail:
	own_files_free(files);
	return -1;
}

/* Whole, or an error: from -1 stands for nothing but zeroes. */
static int fill(int from, int to, uint64_t bytes)
{
	char block[65536] = { 0 };

	while (bytes) {
		size_t want = bytes < sizeof(block) ? (size_t)bytes : sizeof(block);
		ssize_t n = from < 0 ? (ssize_t)want : read(from, block, want);

		if (n == 0) {
			errno = EIO;
			return -1;
		}
		for (ssize_t done = 0, m; done < n; done += m) {
			m = write(to, block + done, (size_t)(n - done));
			if (m < 0)
				return -1;
		}
		if (n < 0)
			return -1;
		bytes -= (uint64_t)n;
	}
	return 0;
}

static int copy_file(const char *from, const char *path, struct error *e)
{
	struct stat st = { .st_size = STAND_IN_BYTES };
	int in = from ? open(from, O_RDONLY | O_CLOEXEC) : -1, out = -1, status = 0;

	if (from && (in < 0 || fstat(in, &st)))
		status = error_errno(e, STATUS_HOST, "%s", from);
	if (!status)
		out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (!status && (out < 0 || fill(in, out, (uint64_t)st.st_size)))
		status = error_errno(e, STATUS_HOST, "cannot write %s", path);
	if (out >= 0 && close(out) && !status)
		status = error_errno(e, STATUS_HOST, "cannot write %s", path);
	if (in >= 0)
		close(in);
	return status;
}

int own_files_make(const struct own_domain *own, const struct own_files *files, struct error *e)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct domain_file *f = &own->original.file[i];
		int status = 0;

		if (f->kind == DOMAIN_FILE_DISK)
			status = overlay_make(f->path, f->format, files->path[i], e);
		else if (f->path && access(f->path, F_OK) == 0)
			status = copy_file(f->path, files->path[i], e);
		if (status)
			return own_domain_explain(own, e);
	}
	if (files->stand_in && copy_file(NULL, files->stand_in, e))
		return own_domain_explain(own, e);
	return 0;
}

void own_files_remove(struct own_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		unlink(files->path[i]);
	if (files->stand_in)
		unlink(files->stand_in);
	own_files_free(files);
}

void own_files_free(struct own_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->path[i]);
	free(files->path);
	free(files->stand_in);
	*files = (struct own_files){ 0 };
}
