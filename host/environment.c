#include "host/environment.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "guest/text.h"

#define BUSY_LOAD 0.5 /* runnable tasks, one minute's average, from which a warning is due */

/* The first bytes of a small file without the newline; "" when it cannot be read. */
static void slurp(const char *root, const char *path, char *out, size_t room)
{
	char full[512];
	FILE *f;
	size_t n = 0;

	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "r");
	if (f) {
		n = fread(out, 1, room - 1, f);
		fclose(f);
	}
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

/* The value of the first "key : value" line of a /proc file. */
static void field(const char *root, const char *path, const char *key, char *out, size_t room)
{
	char full[512], line[512];
	size_t n = strlen(key);
	FILE *f;

	*out = '\0';
	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "r");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		const char *p = line + n;

		if (strncmp(line, key, n))
			continue;
		p += strspn(p, " \t");
		if (*p != ':' && *p != '=')
			continue;
		p += 1 + strspn(p + 1, " \t\"");
		snprintf(out, room, "%s", p);
		out[strcspn(out, "\n\"")] = '\0';
		break;
	}
	fclose(f);
}

static uint64_t memory(const char *root, const char *key)
{
	char text[64];

	field(root, "/proc/meminfo", key, text, sizeof(text));
	return strtoull(text, NULL, 10) * 1024;
}

static unsigned count_cpus(const char *root)
{
	char full[512], line[256];
	unsigned n = 0;
	FILE *f;

	snprintf(full, sizeof(full), "%s/proc/stat", root);
	f = fopen(full, "r");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		n += !strncmp(line, "cpu", 3) && isdigit((unsigned char)line[3]);
	fclose(f);
	return n;
}

static json_t *text_or_null(const char *text)
{
	return *text ? json_string(text) : json_null();
}

static void KB_PRINTF(2, 3) warn(json_t *list, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	json_array_append_new(list, json_string(line));
}

static json_t *warnings(double load, const char *governor, uint64_t available, uint64_t needed, uint64_t swapped)
{
	json_t *list = json_array();

	if (load >= BUSY_LOAD)
		warn(list, "the host is busy: load average %.2f before the run began", load);
	if (*governor && strcmp(governor, "performance"))
		warn(list, "the CPU frequency governor is %s: performance gives steadier results", governor);
	if (available < needed + (256u << 20))
		warn(list, "little memory: %llu MiB are available, the guests take %llu MiB",
		     (unsigned long long)(available >> 20), (unsigned long long)(needed >> 20));
	if (swapped > (64u << 20))
		warn(list, "%llu MiB are swapped out", (unsigned long long)(swapped >> 20));
	return list;
}

json_t *environment_take(const char *root, uint64_t needed_bytes)
{
	char cpu[256], microcode[64], smt[32], governor[64], load[64], os[256];
	uint64_t available = memory(root, "MemAvailable"), total = memory(root, "MemTotal");
	uint64_t swapped = memory(root, "SwapTotal") - memory(root, "SwapFree");
	struct utsname host;

	field(root, "/proc/cpuinfo", "model name", cpu, sizeof(cpu));
	field(root, "/proc/cpuinfo", "microcode", microcode, sizeof(microcode));
	field(root, "/etc/os-release", "PRETTY_NAME", os, sizeof(os));
	slurp(root, "/sys/devices/system/cpu/smt/control", smt, sizeof(smt));
	slurp(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof(governor));
	slurp(root, "/proc/loadavg", load, sizeof(load));
	uname(&host);
	return json_pack("{s:s,s:o,s:o,s:i,s:o,s:o,s:s,s:s,s:o,s:f,s:I,s:I,s:I,s:o}", "host", host.nodename, "cpu",
			 text_or_null(cpu), "microcode", text_or_null(microcode), "cpus", (int)count_cpus(root), "smt", text_or_null(smt), "governor",
			 text_or_null(governor), "kernel", host.release, "machine", host.machine, "os", text_or_null(os),
			 "load1", strtod(load, NULL), "memory_bytes", (json_int_t)total, "available_bytes",
			 (json_int_t)available, "swap_used_bytes", (json_int_t)swapped, "warnings",
			 warnings(strtod(load, NULL), governor, available, needed_bytes, swapped));
}
