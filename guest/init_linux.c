/*
 * The whole user space of the Linux guest: an initramfs with this program as /init, the modules of the
 * disk's driver, and /modules.list that names them. What fails is said on the console and, where the
 * agent could still work without it, passed over: the host sees the console and its own deadline.
 */
#include "guest/init.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "guest/agent.h"
#include "guest/modules_linux.h"
#include "guest/os.h"

#define MODULES_LIST "/modules.list"
#define PORT_ARGUMENT "kickbench.port="
#define DISKS_ARGUMENT "kickbench.disks="

/* The driver's probe is asynchronous where it is built in; a disk that takes longer is not coming. */
#define DISK_DEADLINE_MS 5000
#define PORT_DEADLINE_MS 2000
#define POLL_MS 5

/* kickio sets no umask and no environment; nothing in it needs one. */
static const struct mounted {
	const char *type, *path, *options;
	mode_t mode;
} mounts[] = {
	{"devtmpfs", "/dev", "mode=0755", 0755},
	{"proc", "/proc", "", 0555},
	{"sysfs", "/sys", "", 0555},
	{"tmpfs", "/tmp", "mode=1777", 0777},
};

static void complain(const char *what)
{
	fprintf(stderr, "kickio init: %s: %s\n", what, strerror(errno));
}

static void mount_all(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		const struct mounted *m = &mounts[i];

		if (mkdir(m->path, m->mode) < 0 && errno != EEXIST)
			complain(m->path);
		/* EBUSY: the kernel mounted devtmpfs itself. */
		if (mount(m->type, m->path, m->type, MS_NOSUID | MS_NOEXEC, m->options) < 0 && errno != EBUSY)
			complain(m->path);
	}
}

/* The kernel opened /dev/console for us only when the initramfs has that node; after devtmpfs it is there. */
static void open_console(void)
{
	int fd;

	if (fcntl(STDERR_FILENO, F_GETFD) >= 0)
		return;
	fd = open("/dev/console", O_RDWR | O_NOCTTY);
	if (fd < 0)
		return;
	for (int to = STDIN_FILENO; to <= STDERR_FILENO; to++)
		dup2(fd, to);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* The value of a kernel argument, or the default. */
static void kernel_argument(const char *name, char *value, size_t size, const char *otherwise)
{
	FILE *f = fopen("/proc/cmdline", "re");
	char line[4096] = "", *rest = NULL;

	snprintf(value, size, "%s", otherwise);
	if (!f) {
		complain("/proc/cmdline");
		return;
	}
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		if (strncmp(word, name, strlen(name)) == 0)
			snprintf(value, size, "%s", word + strlen(name));
	}
}

static void nap(void)
{
	struct timespec t = {.tv_nsec = POLL_MS * 1000000L};

	nanosleep(&t, NULL);
}

static void wait_for_port(const char *port)
{
	for (int ms = 0; access(port, F_OK) < 0; ms += POLL_MS) {
		if (ms >= PORT_DEADLINE_MS) {
			complain(port);
			return;
		}
		nap();
	}
}

static void wait_for_disks(unsigned long wanted)
{
	struct os_disk disks[64];
	size_t found;

	for (int ms = 0; (found = os_disks(disks, 64)) < wanted; ms += POLL_MS) {
		if (ms >= DISK_DEADLINE_MS) {
			fprintf(stderr, "kickio init: %zu of %lu disks after %d s\n", found, wanted,
				DISK_DEADLINE_MS / 1000);
			return;
		}
		nap();
	}
}

bool init_wanted(void)
{
	/* In a container, too, a program can be process 1; only a kernel that just started has no /proc yet. */
	return getpid() == 1 && access("/proc/self", F_OK) < 0;
}

int init_run(struct error *e)
{
	char port[256], wanted[32];
	struct error failed = {0};

	mount_all();
	open_console();
	kernel_argument(PORT_ARGUMENT, port, sizeof(port), os_second_serial);
	kernel_argument(DISKS_ARGUMENT, wanted, sizeof(wanted), "1");
	modules_load(MODULES_LIST);
	wait_for_port(port);
	wait_for_disks(strtoul(wanted, NULL, 10));
	if (agent_serve(port, &failed) < 0)
		fprintf(stderr, "kickio init: %s: %s\n", port, failed.text);
	fflush(NULL);
	sync();
	return os_poweroff(e);
}
