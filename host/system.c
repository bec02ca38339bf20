#include "host/system.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/checksum.h"
#include "guest/output.h"
#include "host/overlay.h"
#include "host/tar_disk.h"

#define LONGEST_PASSWORD 1024

static int no_memory(struct error *e)
{
	return error_set(e, STATUS_HOST, "out of memory");
}

/* A file of the scenario: from here, or among what comes with kickbench. The caller frees it; NULL: out of memory. */
static char *find_file(const char *name, const struct dirs *dirs)
{
	char *below = *name == '/' || access(name, F_OK) == 0 ? NULL : dirs_join(dirs->data, name);

	if (below && access(below, F_OK) == 0)
		return below;
	free(below);
	return strdup(name);
}

/* The first line of a file, or an environment variable; "" when neither is asked for. */
static int find_password(const struct guest *g, const struct dirs *dirs, char **password, struct error *e)
{
	char line[LONGEST_PASSWORD] = "";
	const char *value = line;
	char *file;
	FILE *f;

	if (g->password_env) {
		value = getenv(g->password_env);
		if (!value)
			return error_set(e, STATUS_USAGE, "password_env = %s: there is no such environment variable", g->password_env);
	} else if (g->password_file) {
		file = find_file(g->password_file, dirs);
		f = file ? fopen(file, "r") : NULL;
		free(file);
		if (!f)
			return error_errno(e, STATUS_USAGE, "password_file = %s", g->password_file);
		if (!fgets(line, sizeof(line), f))
			line[0] = '\0';
		fclose(f);
		line[strcspn(line, "\r\n")] = '\0';
		if (!*line)
			return error_set(e, STATUS_USAGE, "password_file = %s: its first line is empty", g->password_file);
	}
	*password = strdup(value);
	explicit_bzero(line, sizeof(line));
	return *password ? 0 : no_memory(e);
}

static int find_image(struct system *s, const struct guest *g, const struct dirs *dirs, struct error *e)
{
	char *file = find_file(g->image, dirs);
	struct stat st;

	s->image = file ? realpath(file, NULL) : NULL;
	free(file);
	if (!s->image || stat(s->image, &st))
		return error_errno(e, STATUS_USAGE, "image = %s", g->image);
	if (!S_ISREG(st.st_mode))
		return error_set(e, STATUS_USAGE, "image = %s: with a profile it is the file of a disk image", g->image);
	s->format = (char *)overlay_format(s->image, e);
	s->format = s->format ? strdup(s->format) : NULL;
	s->base = strdup(s->image);
	s->base_format = s->format ? strdup(s->format) : NULL;
	s->overlays = dirs_join(dirs->state, "overlays");
	return e->status ? -1 : s->format && s->base && s->base_format && s->overlays ? 0 : no_memory(e);
}

static void set_variables(struct system *s, const struct guest *g)
{
	const struct profile *p = &s->profile;
	struct console_variable all[SYSTEM_VARIABLES] = {
		{ "USER", g->user ? g->user : p->user, false, false },
		{ "PASSWORD", s->password, false, true },
		{ "PROMPT", p->prompt, true, false },
		{ "AGENT", p->agent, false, false },
		{ "TAR", p->tar, false, false },
		{ "FOLDER", p->folder, false, false },
		{ "KICKIO", s->kickio, false, false },
	};

	memcpy(s->variable, all, sizeof(all));
	s->variables = (struct console_variables){ s->variable, SYSTEM_VARIABLES };
}

static void hex(const unsigned char raw[SHA256_BYTES], char digits[65])
{
	for (size_t i = 0; i < SHA256_BYTES; i++)
		snprintf(digits + 2 * i, 3, "%02x", raw[i]);
}

/* The archive is written where its digest is its name: what is there is right. */
static int write_archive(struct system *s, const struct dirs *dirs, const struct text *archive, const char *digest,
			 struct error *e)
{
	struct text path = { 0 }, new = { 0 };
	FILE *f;
	int bad;

	text_add(&path, "%s/prepared", dirs->cache);
	if (dirs_make(text_get(&path), e)) {
		text_free(&path);
		return -1;
	}
	text_add(&path, "/kickio-%.16s.tar", digest);
	text_add(&new, "%s.%ld", text_get(&path), (long)getpid());
	s->archive = path.failed ? NULL : path.data;
	if (!s->archive || new.failed) {
		no_memory(e);
	} else if (access(s->archive, R_OK)) {
		f = fopen(new.data, "w");
		bad = !f || fwrite(archive->data, 1, archive->length, f) != archive->length;
		if ((f && fclose(f)) || bad || rename(new.data, s->archive)) {
			error_errno(e, STATUS_HOST, "cannot write %s", new.data);
			unlink(new.data);
		}
	}
	text_free(&new);
	return e->status ? -1 : 0;
}

/* A guest of commands is asked what it has: nothing is told apart by a key. */
static int make_key(struct system *s, const struct dirs *dirs, struct error *e)
{
	unsigned char raw[SHA256_BYTES];
	char image[65], kickio[65], tar[65];
	size_t sources = 0;
	struct text archive = { 0 }, all = { 0 };
	int status = -1;

	if ((s->image && overlay_digest(s->image, dirs->cache, image, e)) || tar_disk_kickio(dirs->data, &archive, &sources, e))
		goto out;
	sha256(archive.data, sources, raw);
	hex(raw, kickio);
	sha256(archive.data, archive.length, raw);
	hex(raw, tar);
	if (s->image) {
		text_add(&all, "1\n%s\n%s\n%s\n%s", s->image, image, kickio, s->profile.text);
		if (all.failed) {
			no_memory(e);
			goto out;
		}
		sha256(all.data, all.length, raw);
		hex(raw, s->key);
	}
	status = write_archive(s, dirs, &archive, tar, e);
out:
	text_free(&archive);
	text_free(&all);
	return status;
}

static int find_all(struct system *s, const struct guest *g, const struct dirs *dirs, struct error *e)
{
	char *file = profile_file(g->profile, dirs->data);
	struct text kickio = { 0 };

	if (!file)
		return no_memory(e);
	if (access(file, R_OK)) {
		error_errno(e, STATUS_USAGE, "profile = %s: %s", g->profile, file);
		free(file);
		return -1;
	}
	if (profile_read(file, &s->profile, e)) {
		free(file);
		return -1;
	}
	free(file);
	s->login = g->login == GUEST_LOGIN_UNSET ? s->profile.login : g->login == GUEST_LOGIN_CONSOLE;
	text_add(&kickio, "%s/kickio-agent", s->profile.folder);
	s->kickio = kickio.failed ? NULL : kickio.data;
	if (!s->kickio)
		return no_memory(e);
	s->one_port = g->driver == DRIVER_EXEC && !g->exec.console;
	if (s->login && s->one_port && !s->profile.script[PROFILE_SHARED].nsteps)
		return error_set(e, STATUS_USAGE, "%s has no step [shared NAME], which a guest with one serial port needs", s->profile.file);
	if ((g->driver != DRIVER_EXEC && find_image(s, g, dirs, e)) || find_password(g, dirs, &s->password, e))
		return -1;
	set_variables(s, g);
	return s->login ? make_key(s, dirs, e) : 0;
}

int system_find(const struct guest *guest, const struct dirs *dirs, struct system **out, struct error *e)
{
	struct system *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return no_memory(e);
	if (find_all(s, guest, dirs, e)) {
		system_free(s);
		return -1;
	}
	*out = s;
	return 0;
}

void system_free(struct system *s)
{
	if (!s)
		return;
	profile_free(&s->profile);
	if (s->password)
		explicit_bzero(s->password, strlen(s->password));
	free(s->password);
	free(s->image);
	free(s->format);
	free(s->base);
	free(s->base_format);
	free(s->archive);
	free(s->overlays);
	free(s->kickio);
	free(s);
}

int system_image(struct system *s, const struct machine *machine, struct image *image, struct error *e)
{
	*image = (struct image){ .system = s };
	if (!s->image) /* what it boots is the start command's business */
		return 0;
	if (!machine->kernel && (machine->initrd || machine->kernel_args))
		return error_set(e, STATUS_USAGE, "initrd and kernel_args need kernel: a disk image starts by its own boot loader");
	image->kernel = machine->kernel ? strdup(machine->kernel) : NULL;
	image->initrd = machine->initrd ? strdup(machine->initrd) : NULL;
	image->arguments = strdup(machine->kernel_args ? machine->kernel_args : "");
	image->kernel_version = strdup("of the disk image");
	image->id = strdup(s->key);
	if (image->arguments && image->kernel_version && image->id && (image->kernel || !machine->kernel) &&
	    (image->initrd || !machine->initrd))
		return 0;
	image_free(image);
	return no_memory(e);
}

int system_script(const struct system *s, enum profile_script script, struct link *link, struct error *e)
{
	return console_run(link, &s->profile.script[script], &s->variables, e);
}

/* By commands: what is there already saves building it, which takes minutes, and is all there can be without the archive. */
static int have_kickio(const struct system *s, struct link *link, struct error *e)
{
	struct text have = { 0 };
	int status = console_ask(link, &s->profile.script[PROFILE_CHECK], &s->variables, &have, e);

	if (!status && strcmp(text_get(&have), kickio_version)) {
		status = system_script(s, PROFILE_PREPARE, link, e);
		if (status && !(link->interrupted && *link->interrupted))
			error_context(e, "the guest has %s at %s, where %s has to be. Let the start command attach $KICKBENCH_ARCHIVE, read-only, as "
				      "the second disk (%s), or put it there by hand: tar xf of that disk, or of %s, then sh "
				      "kickio/guest/install.sh %s", have.length ? text_get(&have) : "no kickio", s->kickio, kickio_version,
				      s->profile.tar, s->archive, s->kickio);
	}
	text_free(&have);
	return status;
}

int system_use_console(const struct system *s, bool bring, struct link *link, struct error *e)
{
	if (system_script(s, PROFILE_LOGIN, link, e) || (bring && system_script(s, PROFILE_PREPARE, link, e)) ||
	    (!s->image && s->profile.script[PROFILE_CHECK].nsteps && have_kickio(s, link, e)))
		return -1;
	return system_script(s, s->one_port ? PROFILE_SHARED : PROFILE_START, link, e);
}
