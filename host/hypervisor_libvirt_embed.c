/* libvirt inside this process: its event loop, its messages, and the folder of qemu:///embed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/hypervisor_libvirt.h"

/*
 * stdio_handler: else libvirt wants a virtlogd, and starts one. security, namespaces, cgroups: a test guest of
 * our own kernel needs no confinement, and each costs time at every start.
 */
static const char user_conf[] = "# written by kickbench at every start\n"
				"stdio_handler = \"file\"\n"
				"security_driver = \"none\"\n"
				"namespaces = []\n"
				"cgroup_controllers = []\n";
/*
 * As root the emulator stays root: with libvirt's own user a /dev/kvm that only root may open is probed
 * afresh a dozen times per start (a minute), files would be given away to that user, and images in a folder that only
 * their owner may enter (root without capabilities is not exempt from that) could not be opened.
 */
static const char root_conf[] = "user = \"root\"\n"
				"group = \"root\"\n"
				"dynamic_ownership = 0\n"
				"remember_owner = 0\n"
				"clear_emulator_capabilities = 0\n";

int hv_libvirt_error(struct error *e, enum status status, const char *what)
{
	const char *message = virGetLastErrorMessage();
	char line[sizeof(e->text)];

	snprintf(line, sizeof(line), "%s", message);
	for (char *c = line; *c; c++) /* an emulator's last words may be several lines: ours is one */
		if (*c == '\n')
			*c = ' ';
	return error_set(e, status, "%s: %s", what, line);
}

/* libvirt would print each error to stderr besides returning it. */
static void swallow(void *context, virErrorPtr error)
{
	(void)context;
	(void)error;
}

static void *loop(void *unused)
{
	(void)unused;
	for (;;)
		if (virEventRunDefaultImpl() < 0)
			usleep(10000);
	return NULL;
}

/* A timer that never fires keeps the loop from sleeping without end, so that a new stream is noticed. */
static void tick(int timer, void *context)
{
	(void)timer;
	(void)context;
}

static void start_loop(void)
{
	pthread_t thread;

	virSetErrorFunc(NULL, swallow);
	if (virInitialize() < 0 || virEventRegisterDefaultImpl() < 0 || virEventAddTimeout(1000, tick, NULL, NULL) < 0)
		return;
	if (!pthread_create(&thread, NULL, loop, NULL))
		pthread_detach(thread);
}

static int make_folders(const char *path, struct error *e)
{
	char copy[PATH_MAX];

	if (strlen(path) >= sizeof(copy))
		return error_set(e, STATUS_HOST, "path of the state folder is too long");
	memcpy(copy, path, strlen(path) + 1);
	for (char *slash = copy + 1;; slash++) {
		char was = *slash;

		if (was != '/' && was != '\0')
			continue;
		*slash = '\0';
		if (mkdir(copy, 0700) && errno != EEXIST)
			return error_errno(e, STATUS_HOST, "cannot make folder %s", copy);
		*slash = was;
		if (was == '\0')
			return 0;
	}
}

int hv_events_start(const char *state_dir, struct error *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT; /* libvirt has one event loop per process */
	char outputs[PATH_MAX + 32];

	if (make_folders(state_dir, e))
		return -1;
	/* libvirt reads this once, when it is initialised; a user's own choice stays */
	snprintf(outputs, sizeof(outputs), "3:file:%s/libvirt.log", state_dir);
	setenv("LIBVIRT_LOG_OUTPUTS", outputs, 0);
	if (pthread_once(&once, start_loop))
		return error_errno(e, STATUS_HOST, "cannot start libvirt's event loop");
	return 0;
}

/* Whole text or nothing: another kickbench may be reading it. */
static int write_conf(const char *root, struct error *e)
{
	char path[PATH_MAX + 64], temporary[PATH_MAX + 128];
	FILE *f;
	bool bad;

	snprintf(path, sizeof(path), "%s/etc/qemu.conf", root);
	snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid());
	f = fopen(temporary, "w");
	if (!f)
		return error_errno(e, STATUS_HOST, "cannot write %s", path);
	bad = fputs(user_conf, f) < 0 || (geteuid() == 0 && fputs(root_conf, f) < 0);
	bad = fclose(f) || bad;
	if (bad || rename(temporary, path)) {
		error_errno(e, STATUS_HOST, "cannot write %s", path);
		unlink(temporary);
		return -1;
	}
	return 0;
}

/* A folder's name inside a URI's query. */
static void add_escaped(struct text *uri, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-_.~";

	for (; *s; s++)
		if (strchr(plain, *s))
			text_add(uri, "%c", *s);
		else
			text_add(uri, "%%%02X", (unsigned char)*s);
}

/*
 * The folder that is libvirt's root. Its sockets lie 56 characters deeper
 * (/lib/qemu/domain-<id>-<20 characters of the name>/monitor.sock) and have to fit into a sockaddr_un: where the
 * state folder is too long for that, a folder of ours in /tmp stands for it, named by a hash of its path.
 */
#define SOCKET_BELOW 56
static int choose_root(const char *folder, char *root, size_t room, struct error *e)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
	struct stat st;

	snprintf(root, room, "%s/lv", folder);
	if (strlen(root) + SOCKET_BELOW < sizeof(((struct sockaddr_un *)0)->sun_path))
		return make_folders(root, e);
	for (const char *p = folder; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
	snprintf(root, room, "/tmp/kickbench-%ld-%08lx", (long)geteuid(), (unsigned long)(hash & 0xffffffff));
	if (mkdir(root, 0700) && errno != EEXIST)
		return error_errno(e, STATUS_HOST, "cannot make folder %s", root);
	if (lstat(root, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return error_set(e, STATUS_HOST, "%s is not a folder of this user alone: remove it, or set XDG_STATE_HOME to a "
				 "shorter path", root);
	return 0;
}

int hv_embed_prepare(const char *state_dir, char **root, char **uri, struct error *e)
{
	char etc[PATH_MAX + 32], *folder;
	int status;
	struct text out = {0};

	*root = *uri = NULL;
	if (make_folders(state_dir, e))
		return -1;
	folder = realpath(state_dir, NULL); /* libvirt wants it absolute */
	if (!folder)
		return error_errno(e, STATUS_HOST, "state folder %s", state_dir);
	status = choose_root(folder, etc, sizeof(etc) - 8, e);
	free(folder);
	if (status)
		return -1;
	strcat(etc, "/etc");
	if (make_folders(etc, e))
		return -1;
	etc[strlen(etc) - strlen("/etc")] = '\0';
	if (write_conf(etc, e))
		return -1;
	text_add(&out, "qemu:///embed?root=");
	add_escaped(&out, etc);
	*root = strdup(etc);
	if (!*root || out.failed) {
		free(*root);
		*root = NULL;
		text_free(&out);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	*uri = out.data;
	return 0;
}

/* "2026-01-31 12:00:00.000+0000: " is libvirt's; the lines of the command line but the last go on behind a backslash. */
static bool is_own(const char *line)
{
	size_t n = strcspn(line, "\n");

	return n && line[n - 1] != '\\' && !strstr(line, "+0000: ") && strncmp(line, "char device redirected", 22) &&
	       strncmp(line, "-msg ", 5);
}

void hv_embed_last_words(const char *root, const char *name, struct text *out)
{
	char path[PATH_MAX + 300], line[1024], last[300] = "";
	FILE *in;

	snprintf(path, sizeof(path), "%s/log/qemu/%s.log", root, name);
	in = fopen(path, "r");
	while (in && fgets(line, sizeof(line), in))
		if (is_own(line))
			snprintf(last, sizeof(last), "%.*s", (int)strcspn(line, "\n"), line);
	if (in)
		fclose(in);
	text_add(out, "%s", last);
}

void hv_embed_forget(const char *root, const char *name)
{
	char path[PATH_MAX + 300];

	snprintf(path, sizeof(path), "%s/log/qemu/%s.log", root, name);
	unlink(path);
}
