#include "host/image_make.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/domain.h"
#include "host/dirs.h"
#include "host/link.h"
#include "host/overlay.h"
#include "host/parse.h"
#include "host/process.h"
#include "host/os.h"
#include "host/program.h"
#include "host/seed.h"

#define MEMORY (1ull << 30)
#define VCPUS 2
#define OFF_TIMEOUT_S 600
#define PASSWORD_BYTES 8
#define LONGEST_PASSWORD 100
#define PASSWORD_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,_-"
#define LONGEST_SEED (64u << 10)

/* The firmware's own output, and a loader's by it, goes to the serial port, too: QEMU's option of a machine without graphics. */
#define BIOS_ON_SERIAL "-machine graphics=off"

struct making {
	const struct image_make *m;
	struct profile recipe;
	bool installer;
	uint64_t size; /* 0: as the media is */
	char password[LONGEST_PASSWORD];
	char *disk, *second, *fresh; /* what is half-made; NULL: not yet */
	struct error *e;
};

static int no_memory(struct error *e)
{
	return error_set(e, STATUS_HOST, "out of memory");
}

static void say(const struct making *k, const char *what, const char *file)
{
	struct text line = { 0 };

	text_add(&line, "%s%s", what, file);
	if (k->m->say)
		k->m->say(text_get(&line));
	text_free(&line);
}

/* ---- the recipe ---- */

static int check_recipe(const struct profile *p, bool *installer, uint64_t *size, struct error *e)
{
	static const char *const medias[] = { "disk", "installer", NULL };
	int media = parse_word(p->media, medias);

	*size = 0;
	if (!p->script[PROFILE_INSTALL].nsteps)
		return error_at(e, STATUS_USAGE, p->file, 0, "has no step [install NAME]");
	if (media < 0)
		return error_at(e, STATUS_USAGE, p->file, 0, "media = %s: expected disk or installer", p->media);
	if (*p->size && (parse_size(p->size, size) || !*size || *size % 512))
		return error_at(e, STATUS_USAGE, p->file, 0, "size = %s: expected a size such as 20G", p->size);
	*installer = media == 1;
	if (*installer && !*size)
		return error_at(e, STATUS_USAGE, p->file, 0, "media = installer needs size, of the disk that is installed on");
	if (*installer && *p->seed)
		return error_at(e, STATUS_USAGE, p->file, 0, "seed goes with media = disk: an installer is answered by steps");
	return 0;
}

int image_make_recipe(const char *recipe, struct profile *p, struct error *e)
{
	char *file = dirs_join(recipe, "install.ini");
	bool installer;
	uint64_t size;
	int status;

	*p = (struct profile){ 0 };
	if (!file)
		return no_memory(e);
	status = profile_read(file, p, e) || check_recipe(p, &installer, &size, e) ? -1 : 0;
	free(file);
	if (status)
		profile_free(p);
	return status;
}

/* ---- the password ---- */

static int make_password(const char *file, char *password, struct error *e)
{
	unsigned char raw[PASSWORD_BYTES];
	FILE *f;
	int fd, bad;

	if (os_random(raw, sizeof(raw)))
		return error_errno(e, STATUS_HOST, "no random numbers for a password");
	for (size_t i = 0; i < sizeof(raw); i++)
		snprintf(password + 2 * i, 3, "%02x", raw[i]);
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	bad = !f || fprintf(f, "%s\n", password) < 0;
	if ((f && fclose(f)) || bad) {
		error_errno(e, STATUS_HOST, "cannot write the password to %s", file);
		if (fd >= 0)
			unlink(file);
		return -1;
	}
	return 0;
}

/* Its characters stand between quotes in a seed's script, and are typed. */
static int find_password(struct making *k, struct error *e)
{
	const char *file = k->m->password;
	FILE *f = fopen(file, "r");

	if (!f && errno == ENOENT)
		return make_password(file, k->password, e);
	if (!f)
		return error_errno(e, STATUS_HOST, "%s", file);
	if (!fgets(k->password, sizeof(k->password), f))
		k->password[0] = '\0';
	fclose(f);
	k->password[strcspn(k->password, "\r\n")] = '\0';
	if (!*k->password || k->password[strspn(k->password, PASSWORD_CHARACTERS)])
		return error_set(e, STATUS_USAGE, "%s: root's password has letters, digits and . , _ - only; "
				 "without the file, one is made up", file);
	return 0;
}

/* ---- the disks ---- */

static int qemu_img(const struct making *k, const char *const *argv, const char *what, struct error *e)
{
	return program_must(argv, &(struct program){ "qemu-utils", -1, false, k->m->interrupted, 0 }, what, e);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* Unpacked into k->second while it is not needed for anything else; *plain: the file to read. */
static int unpack(struct making *k, const char **plain, struct error *e)
{
	const char *program = ends_with(k->m->media, ".xz") ? "xz" : ends_with(k->m->media, ".gz") ? "gzip" : NULL;
	const char *argv[] = { program, "-dc", "--", k->m->media, NULL };
	struct program p = { program && *program == 'x' ? "xz-utils" : "gzip", -1, false, k->m->interrupted, 0 };
	int out, status;

	*plain = k->m->media;
	if (!program)
		return 0;
	say(k, "unpacking ", k->m->media);
	k->second = overlay_path(k->m->work, "media", e);
	out = k->second ? open(k->second, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	if (out < 0)
		return k->second ? error_errno(e, STATUS_HOST, "%s", k->second) : -1;
	p.out = out;
	status = program_must(argv, &p, "the media cannot be unpacked", e);
	if (close(out) && !status)
		status = error_errno(e, STATUS_HOST, "%s", k->second);
	*plain = k->second;
	return status;
}

/*
 * A guest whose disk cannot grow stops without a word, so the room is looked at before: an installed system fills a fifth of
 * its disk at most, packed media grows to eight times its size, and the image is written a second time at the end.
 */
static int check_room(const struct making *k, struct error *e)
{
	const char *media = k->m->media;
	unsigned long long need, have;
	bool packed = ends_with(media, ".xz") || ends_with(media, ".gz");
	struct stat st;

	if (stat(media, &st))
		return error_errno(e, STATUS_USAGE, "the media %s", media);
	if (dirs_make(k->m->work, e))
		return -1;
	need = k->installer ? k->size / 5 : (unsigned long long)st.st_size * (packed ? 16 : 2);
	if (overlay_free_bytes(k->m->work, &have))
		return error_errno(e, STATUS_HOST, "%s", k->m->work);
	if (have >= need)
		return 0;
	return error_set(e, STATUS_HOST, "%s has %llu MiB free, and making the image may need %llu MiB there", k->m->work,
			 have >> 20, need >> 20);
}

/* The disk that becomes the image. */
static int make_disk(struct making *k, struct error *e)
{
	const char *plain, *format;
	char bytes[32];
	int status;

	snprintf(bytes, sizeof(bytes), "%" PRIu64, k->size);
	k->disk = overlay_path(k->m->work, "image", e);
	if (!k->disk)
		return -1;
	if (k->installer) {
		const char *create[] = { "qemu-img", "create", "-q", "-f", "qcow2", k->disk, bytes, NULL };

		return qemu_img(k, create, "the disk cannot be made", e);
	}
	if (unpack(k, &plain, e) || !(format = overlay_format(plain, e)))
		return -1;
	const char *convert[] = { "qemu-img", "convert", "-f", format, "-O", "qcow2", plain,
			    k->disk, NULL };
	const char *resize[] = { "qemu-img", "resize", "-q", k->disk, bytes, NULL };

	status = qemu_img(k, convert, "the media cannot be copied", e);
	if (!status && k->size)
		status = qemu_img(k, resize, "the disk cannot grow", e);
	if (k->second)
		unlink(k->second);
	free(k->second);
	k->second = NULL;
	return status;
}

static int read_small(const char *file, struct text *out, struct error *e)
{
	char bytes[LONGEST_SEED];
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(bytes, 1, sizeof(bytes), f) : 0;

	if (!f || ferror(f) || n == sizeof(bytes))
		error_errno(e, STATUS_HOST, "%s cannot be read, or is too long", file);
	else
		text_add_bytes(out, bytes, n);
	if (f)
		fclose(f);
	return e->status ? -1 : out->failed ? no_memory(e) : 0;
}

static int make_seed(struct making *k, const struct console_variables *v, struct error *e)
{
	char *file = dirs_join(k->m->recipe, k->recipe.seed);
	struct text plain = { 0 }, filled = { 0 };
	int status = -1;

	k->second = overlay_path(k->m->work, "seed", e);
	if (!file)
		no_memory(e);
	else if (k->second && read_small(file, &plain, e) == 0) {
		console_expand(text_get(&plain), v, false, &filled);
		status = filled.failed ? no_memory(e) : seed_make(k->second, text_get(&filled), k->m->interrupted, e);
	}
	free(file);
	text_free(&plain);
	if (filled.data)
		explicit_bzero(filled.data, filled.length);
	text_free(&filled);
	return status;
}

/* ---- the guest ---- */

static int describe(const struct making *k, const char *name, struct text *xml, struct error *e)
{
	struct domain_extra disks[2] = {
		{ .path = k->disk, .format = "qcow2", .serial = "kb-image" },
		{ .path = k->second, .format = "raw", .serial = "kb-seed" }, /* for writing: nuageinit mounts it so */
	};
	struct utsname host = { 0 };
	struct machine machine;
	struct domain_spec spec;
	int status;

	uname(&host);
	machine_default(&machine);
	machine.vcpus = VCPUS;
	machine.memory = MEMORY;
	machine.qemu_args = (char *)BIOS_ON_SERIAL;
	if (k->installer) {
		disks[1] = disks[0];
		disks[0] = (struct domain_extra){ .path = k->m->media, .format = "raw", .serial = "kb-media", .readonly = true };
	}
	spec = (struct domain_spec){ .name = name, .machine = &machine, .accel = k->m->accel, .owner_host = host.nodename,
				     .owner_pid = (long)getpid(), .owner_started = process_started(getpid()), .extra = disks,
				     .nextra = k->installer || k->second ? 2 : 1, .stand_in = k->recipe.file };
	status = domain_xml(&spec, xml, e);
	machine.qemu_args = NULL;
	machine_free(&machine);
	return status;
}

static int run_guest(struct making *k, const struct console_variables *v, struct error *e)
{
	const struct image_make *m = k->m;
	struct text xml = { 0 }, name = { 0 };
	struct hv_guest *guest = NULL;
	FILE *log = fopen(m->log, "w");
	struct link link;
	int status = -1;

	text_add(&name, "%s%ld-image", DOMAIN_PREFIX, (long)getpid());
	if (!log)
		error_errno(e, STATUS_HOST, "%s", m->log);
	else if (describe(k, text_get(&name), &xml, e) == 0 && m->ops->start(m->hv, text_get(&xml), m->interrupted, &guest, e) == 0) {
		say(k, "started; its console is in ", m->log);
		link_open(&link, m->ops, guest, log, m->interrupted);
		status = console_run(&link, &k->recipe.script[PROFILE_INSTALL], v, e);
		if (!status && !link_drain(&link, OFF_TIMEOUT_S * 1000))
			status = error_set(e, STATUS_INCOMPLETE, "the guest has not powered off within %d s of the last step in "
					   "%s", OFF_TIMEOUT_S, k->recipe.file);
		if (m->interrupted && *m->interrupted && !e->status)
			status = error_set(e, STATUS_INCOMPLETE, "interrupted");
		link_close(&link);
		m->ops->destroy(guest);
	}
	if (log)
		fclose(log);
	text_free(&xml);
	text_free(&name);
	return status;
}

/* What the guest has written, without what it has not, where the user wants it. */
static int deliver(struct making *k, struct error *e)
{
	struct text fresh = { 0 };
	int fd, bad;

	text_add(&fresh, "%s.new", k->m->output);
	k->fresh = fresh.failed ? NULL : fresh.data;
	if (!k->fresh)
		return no_memory(e);
	const char *argv[] = { "qemu-img", "convert", "-f", "qcow2", "-O", "qcow2", k->disk, k->fresh,
			 NULL };

	if (qemu_img(k, argv, "the image cannot be written", e))
		return -1;
	fd = open(k->fresh, O_RDWR | O_CLOEXEC);
	bad = fd < 0 || fsync(fd);
	if (fd >= 0)
		close(fd);
	if (bad || rename(k->fresh, k->m->output))
		return error_errno(e, STATUS_HOST, "%s", k->m->output);
	dirs_sync_of(k->m->output);
	return 0;
}

static void forget(char **file)
{
	if (*file)
		unlink(*file);
	free(*file);
	*file = NULL;
}

int image_make(const struct image_make *m, struct error *e)
{
	struct making k = { .m = m };
	struct console_variable values[3];
	struct console_variables v = { values, 3 };
	int status = -1;

	if (image_make_recipe(m->recipe, &k.recipe, e) || check_recipe(&k.recipe, &k.installer, &k.size, e))
		return -1;
	values[0] = (struct console_variable){ "USER", k.recipe.user, false, false };
	values[1] = (struct console_variable){ "PASSWORD", k.password, false, true };
	values[2] = (struct console_variable){ "PROMPT", k.recipe.prompt, true, false };
	if (check_room(&k, e) == 0 && find_password(&k, e) == 0 && make_disk(&k, e) == 0 &&
	    (!*k.recipe.seed || make_seed(&k, &v, e) == 0) && run_guest(&k, &v, e) == 0)
		status = deliver(&k, e);
	forget(&k.disk);
	forget(&k.second);
	forget(&k.fresh);
	explicit_bzero(k.password, sizeof(k.password));
	profile_free(&k.recipe);
	return status;
}
