/*
 * Process 1 has a child that waits until the test disk has been read from for a while and then ends the guest, as its kernel's
 * arguments say: die=panic by sysrq, and it stays there; die=hang by taking the only CPU for itself.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECTORS 49152 /* of the test's disk, 24 MiB: the trial guest, which has another, lives */
#define ENOUGH_READS 1000

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

static void put(const char *path, const char *word)
{
	int fd = open(path, O_WRONLY);

	if (fd >= 0 && write(fd, word, strlen(word)) < 0)
		perror(path);
	close(fd);
}

static int has(const char *path, const char *word)
{
	char text[4096];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, word) != NULL;
}

static unsigned long first_number(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned long n = 0;

	if (f && fscanf(f, "%lu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

static void hang(void)
{
	struct sched_param most = { .sched_priority = sched_get_priority_max(SCHED_FIFO) };

	put("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	sched_setscheduler(0, SCHED_FIFO, &most);
	for (;;)
		;
}

int __wrap_main(int argc, char **argv)
{
	if (getpid() != 1 || fork() != 0)
		return __real_main(argc, argv);
	while (first_number("/sys/block/vda/size") != SECTORS || first_number("/sys/block/vda/stat") < ENOUGH_READS)
		usleep(20000);
	if (has("/proc/cmdline", "die=hang"))
		hang();
	put("/proc/sys/kernel/panic", "0");
	put("/proc/sysrq-trigger", "c");
	return 0;
}
