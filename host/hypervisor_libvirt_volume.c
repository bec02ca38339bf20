/*
 * Files for guests of another host: volumes of a storage pool there, named kickbench. Where its administrator has
 * defined that pool, its folder is used; else a transient one is made, which goes with the connection. The volumes stay
 * for the next run. Beside each lies a small one, NAME.good, with size and SHA-256 of what was written: it is made when
 * all of that is there and removed before anything changes, as the mark of a test disk of this host is.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libxml/uri.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/checksum.h"
#include "guest/text.h"
#include "host/hypervisor_libvirt.h"

#define POOL "kickbench"
#define SYSTEM_FOLDER "/var/lib/libvirt/images/kickbench"
#define SESSION_FOLDER "/var/tmp/kickbench"
#define PREFIX "kickbench-" /* of the names of all volumes */
#define PIECE (256u << 10) /* of a stream: libvirt sends no more at once */
#define MARK_SIZE 128

/* A local file, mapped, with the text of its mark. */
struct content {
	const unsigned char *bytes;
	size_t size;
	char mark[MARK_SIZE];
};

static void mark_of(const void *bytes, size_t size, char mark[MARK_SIZE])
{
	unsigned char digest[SHA256_BYTES];
	int at = snprintf(mark, MARK_SIZE, "kickbench-file/1 %zu ", size);

	sha256(bytes, size, digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		at += snprintf(mark + at, MARK_SIZE - (size_t)at, "%02x", digest[i]);
}

static int content_open(const char *path, struct content *c, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map = MAP_FAILED;

	*c = (struct content){ 0 };
	if (fd < 0 || fstat(fd, &st))
		error_errno(e, STATUS_HOST, "%s", path);
	else if (!S_ISREG(st.st_mode) || st.st_size == 0)
		error_set(e, STATUS_HOST, "%s is empty or no file", path);
	else if ((map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0)) == MAP_FAILED)
		error_errno(e, STATUS_HOST, "%s", path);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return -1;
	c->bytes = map;
	c->size = (size_t)st.st_size;
	mark_of(c->bytes, c->size, c->mark);
	return 0;
}

static void content_close(struct content *c)
{
	if (c->bytes)
		munmap((void *)c->bytes, c->size);
}

/* ---- the pool ---- */

/* Session daemons on one host may share the folder of temporary files: each connection has a folder of its own there. */
int hv_pool_folder(struct hv *hv, const char *uri, struct error *e)
{
	xmlURI *parsed = xmlParseURI(uri);
	struct text folder = { 0 };

	if (parsed && parsed->path && !strcmp(parsed->path, "/system"))
		text_add(&folder, SYSTEM_FOLDER);
	else
		text_add(&folder, SESSION_FOLDER "-%08" PRIx32, crc32(uri, strlen(uri)));
	xmlFreeURI(parsed);
	hv->pool_folder = folder.failed ? NULL : folder.data;
	return hv->pool_folder ? 0 : error_set(e, STATUS_HOST, "out of memory");
}

static int make_pool(struct hv *hv, struct error *e)
{
	struct text xml = { 0 };

	text_add(&xml, "<pool type='dir'><name>" POOL "</name><target><path>%s</path></target></pool>", hv->pool_folder);
	hv->pool = virStoragePoolCreateXML(hv->connection, text_get(&xml), VIR_STORAGE_POOL_CREATE_WITH_BUILD);
	text_free(&xml);
	if (!hv->pool)
		return hv_libvirt_error(e, STATUS_HOST, "no storage pool can be made on the other host (define one with the name "
					POOL " there, in a folder that its guests can read)");
	hv->pool_made = true;
	return 0;
}

/* Find, start or make it, and have libvirt look at what lies there. */
static int open_pool(struct hv *hv, struct error *e)
{
	if (hv->pool && virStoragePoolIsActive(hv->pool) == 1)
		return 0;
	hv_pool_close(hv);
	hv->pool = virStoragePoolLookupByName(hv->connection, POOL);
	if (!hv->pool)
		return make_pool(hv, e);
	/* one that a killed kickbench left goes with us */
	hv->pool_made = virStoragePoolIsPersistent(hv->pool) == 0;
	if (virStoragePoolIsActive(hv->pool) == 0 && virStoragePoolCreate(hv->pool, 0) < 0)
		return hv_libvirt_error(e, STATUS_HOST, "the storage pool " POOL " of the other host cannot be started");
	if (virStoragePoolRefresh(hv->pool, 0) < 0)
		return hv_libvirt_error(e, STATUS_HOST, "the storage pool " POOL " of the other host cannot be read");
	return 0;
}

void hv_pool_close(struct hv *hv)
{
	if (hv->pool && hv->pool_made)
		virStoragePoolDestroy(hv->pool);
	if (hv->pool)
		virStoragePoolFree(hv->pool);
	hv->pool = NULL;
	hv->pool_made = false;
}

/* ---- bytes ---- */

static int upload(struct hv *hv, virStorageVolPtr volume, const void *bytes, size_t size, struct error *e)
{
	virStreamPtr stream = virStreamNew(hv->connection, 0);
	const char *at = bytes;
	size_t left = size;

	/* not sparse: holes would have to be filled while a guest is measured */
	if (!stream || virStorageVolUpload(volume, stream, 0, size, 0) < 0)
		goto fail;
	while (left) {
		int n = virStreamSend(stream, at, left < PIECE ? left : PIECE);

		if (n < 0)
			goto abort;
		at += n;
		left -= (size_t)n;
	}
	if (virStreamFinish(stream) < 0)
		goto fail;
	virStreamFree(stream);
	return 0;
abort:
	hv_libvirt_error(e, STATUS_INCOMPLETE, "the upload broke off");
	virStreamAbort(stream);
fail:
	hv_libvirt_error(e, STATUS_INCOMPLETE, "cannot upload"); /* the first error stands */
	if (stream)
		virStreamFree(stream);
	return -1;
}

/* The first `size` bytes of a volume. The caller frees *out. */
static int download(struct hv *hv, virStorageVolPtr volume, size_t size, char **out, struct error *e)
{
	virStreamPtr stream = virStreamNew(hv->connection, 0);
	size_t have = 0;
	int n = 1;

	*out = malloc(size);
	if (!*out)
		error_set(e, STATUS_HOST, "out of memory");
	else if (!stream || virStorageVolDownload(volume, stream, 0, size, 0) < 0)
		hv_libvirt_error(e, STATUS_INCOMPLETE, "cannot read back");
	while (!e->status && n > 0) {
		n = virStreamRecv(stream, *out + have, size - have < PIECE ? size - have : PIECE);
		have += n > 0 ? (size_t)n : 0;
		if (n > 0 && have < size)
			continue;
		if (n < 0 || have < size || virStreamFinish(stream) < 0)
			hv_libvirt_error(e, STATUS_INCOMPLETE, "reading back broke off");
		break;
	}
	if (e->status && stream)
		virStreamAbort(stream);
	if (stream)
		virStreamFree(stream);
	if (!e->status)
		return 0;
	free(*out);
	*out = NULL;
	return -1;
}

/* ---- volumes ---- */

static virStorageVolPtr find(struct hv *hv, const char *name, const char *ending)
{
	char full[256];

	snprintf(full, sizeof(full), PREFIX "%s%s", name, ending);
	return virStorageVolLookupByName(hv->pool, full);
}

/* Wholly allocated, as a test disk of this host is. */
static virStorageVolPtr make(struct hv *hv, const char *name, const char *ending, size_t size, struct error *e)
{
	struct text xml = { 0 };
	virStorageVolPtr volume;

	text_add(&xml, "<volume><name>" PREFIX "%s%s</name><capacity unit='bytes'>%zu</capacity><allocation unit='bytes'>%zu"
		 "</allocation><target><format type='raw'/></target></volume>", name, ending, size, size);
	volume = virStorageVolCreateXML(hv->pool, text_get(&xml), 0);
	text_free(&xml);
	if (!volume)
		hv_libvirt_error(e, STATUS_HOST, "no room could be made on the other host");
	return volume;
}

static bool has_size(virStorageVolPtr volume, size_t size)
{
	virStorageVolInfo info;

	return volume && virStorageVolGetInfo(volume, &info) == 0 && info.capacity == size;
}

static int remove_volume(virStorageVolPtr volume, struct error *e)
{
	int status = volume && virStorageVolDelete(volume, 0) < 0 ? hv_libvirt_error(e, STATUS_HOST, "cannot remove a volume") : 0;

	if (volume)
		virStorageVolFree(volume);
	return status;
}

static bool is_marked(struct hv *hv, const char *name, const char *mark)
{
	virStorageVolPtr volume = find(hv, name, ".good");
	size_t length = strlen(mark);
	struct error ignored = { 0 };
	char *have = NULL;
	bool same = has_size(volume, length) && download(hv, volume, length, &have, &ignored) == 0 && !memcmp(have, mark, length);

	free(have);
	if (volume)
		virStorageVolFree(volume);
	return same;
}

static int set_mark(struct hv *hv, const char *name, const char *mark, struct error *e)
{
	virStorageVolPtr volume = make(hv, name, ".good", strlen(mark), e);
	int status = volume ? upload(hv, volume, mark, strlen(mark), e) : -1;

	if (volume)
		virStorageVolFree(volume);
	return status;
}

static int read_back(struct hv *hv, virStorageVolPtr volume, const struct content *c, struct error *e)
{
	char *bytes, mark[MARK_SIZE];

	if (download(hv, volume, c->size, &bytes, e))
		return -1;
	mark_of(bytes, c->size, mark);
	free(bytes);
	return strcmp(mark, c->mark) ? error_set(e, STATUS_HOST, "what arrived on the other host is not what was sent") : 0;
}

/* Have the volume hold it. *volume: the one of that name, or NULL; the caller frees it. */
static int fill(struct hv *hv, const char *name, const struct content *c, virStorageVolPtr *volume, struct error *e)
{
	bool is_new = !has_size(*volume, c->size);

	if (remove_volume(find(hv, name, ".good"), e))
		return -1;
	if (is_new) {
		virStorageVolPtr old = *volume;

		*volume = NULL;
		if (remove_volume(old, e))
			return -1;
		*volume = make(hv, name, "", c->size, e);
		if (!*volume)
			return -1;
	}
	if (upload(hv, *volume, c->bytes, c->size, e) || (is_new && read_back(hv, *volume, c, e)))
		return -1;
	return set_mark(hv, name, c->mark, e);
}

int hv_put_file(struct hv *hv, const char *local, const char *name, bool anew, char **path, struct error *e)
{
	virStorageVolPtr volume = NULL;
	struct content c;
	int status = -1;

	*path = NULL;
	if (content_open(local, &c, e))
		return -1;
	if (open_pool(hv, e))
		goto out;
	volume = find(hv, name, "");
	if ((anew || !has_size(volume, c.size) || !is_marked(hv, name, c.mark)) && fill(hv, name, &c, &volume, e)) {
		error_context(e, "%s to the other host", local);
		goto out;
	}
	*path = virStorageVolGetPath(volume);
	status = *path ? 0 : hv_libvirt_error(e, STATUS_HOST, "a volume's path");
out:
	if (volume)
		virStorageVolFree(volume);
	content_close(&c);
	return status;
}

int hv_soil_file(struct hv *hv, const char *name, struct error *e)
{
	return open_pool(hv, e) ? -1 : remove_volume(find(hv, name, ".good"), e);
}

/* A pool that we made goes with its folder: only one that is defined can be told so. */
static void remove_pool(struct hv *hv)
{
	char *xml = virStoragePoolGetXMLDesc(hv->pool, 0);
	virStoragePoolPtr defined = xml ? virStoragePoolDefineXML(hv->connection, xml, 0) : NULL;

	free(xml);
	if (!defined)
		return;
	virStoragePoolDestroy(defined);
	virStoragePoolDelete(defined, 0); /* not when it holds what is not ours */
	virStoragePoolUndefine(defined);
	virStoragePoolFree(defined);
	hv->pool_made = false;
	hv_pool_close(hv);
}

int hv_remove_files(struct hv *hv, void (*say)(const char *line), struct error *e)
{
	virStorageVolPtr *list = NULL;
	int count, removed = 0;

	if (open_pool(hv, e))
		return -1;
	count = virStoragePoolListAllVolumes(hv->pool, &list, 0);
	if (count < 0)
		return hv_libvirt_error(e, STATUS_HOST, "cannot list the volumes of the other host");
	for (int i = 0; i < count; i++) {
		const char *name = virStorageVolGetName(list[i]);
		char line[512], *path;

		if (!name || strncmp(name, PREFIX, strlen(PREFIX))) {
			virStorageVolFree(list[i]);
			continue;
		}
		path = virStorageVolGetPath(list[i]);
		snprintf(line, sizeof(line), "removed %s on the other host", path ? path : name);
		free(path);
		if (remove_volume(list[i], e))
			continue;
		removed++;
		if (say)
			say(line);
	}
	free(list);
	if (hv->pool_made && !e->status)
		remove_pool(hv);
	return e->status ? -1 : removed;
}
