/* Which kind of line is it: one table, looked through from the top. */
#include <ctype.h>
#include <string.h>

#include "host/fio_text_lines.h"

const char *const fio_direction_names[FIO_DIRECTIONS] = {"read", "write", "trim", "mixed", "file_operation"};

/* A line is of a kind when it begins with start ('#' stands for a digit) and has the other text; NULL: whatever. */
static const struct {
	enum fio_kind kind;
	const char *start, *has;
} kinds[] = {
	{FIO_ROW, "| #", "th=["},
	{FIO_ROW, "|#", "th=["},
	{FIO_LATENCY, "slat (", "sec): min="},
	{FIO_LATENCY, "clat (", "sec): min="},
	{FIO_LATENCY, "lat (", "sec): min="},
	{FIO_LATENCY, "sync (", "sec): min="},
	{FIO_DISTRIBUTION, "lat (", "sec): "},
	{FIO_DISTRIBUTION, "clat (", "sec): "},
	{FIO_PERCENTILES, NULL, "percentiles ("},
	{FIO_SAMPLES, "bw (", ": min="},
	{FIO_SAMPLES, "iops: min=", NULL},
	{FIO_CPU, "cpu: usr=", NULL},
	{FIO_DEPTHS, "IO depths: ", NULL},
	{FIO_DEPTHS, "submit: ", "%"},
	{FIO_DEPTHS, "complete: ", "%"},
	{FIO_DEPTHS, "errors: total=", NULL},
	{FIO_DEPTHS, "steadystate: ", NULL},
	{FIO_DEPTHS, "fsync/fdatasync/sync_file_range", NULL},
	{FIO_DEPTHS, "Description: [", NULL},
	{FIO_ISSUED, "issued", "total="},
	{FIO_TARGET, "latency: target=", NULL},
	{FIO_GROUP, "Run status group ", NULL},
	{FIO_GROUP, "READ: ", "io="},
	{FIO_GROUP, "WRITE: ", "io="},
	{FIO_GROUP, "TRIM: ", "io="},
	{FIO_GROUP, "MIXED: ", "io="},
	{FIO_GROUP, "READ: bw=", NULL},
	{FIO_GROUP, "WRITE: bw=", NULL},
	{FIO_GROUP, "TRIM: bw=", NULL},
	{FIO_GROUP, "MIXED: bw=", NULL},
	{FIO_DISKS, "Disk stats (read/write):", NULL},
	{FIO_DISK, NULL, ": ios="},
	{FIO_TITLE, NULL, ": (groupid="},
	{FIO_HEADER, NULL, ": (g="},
	{FIO_STARTING, "Starting #", "thread"},
	{FIO_STARTING, "Starting #", "process"},
	{FIO_NOTICE, "fio: ", NULL},
	{FIO_LAYOUT, NULL, ": Laying out IO file"},
	{FIO_VERIFY, "verify: bad ", NULL},
	{FIO_VERIFY, NULL, ": verify failed at file "},
};

static bool begins(const char *line, const char *start)
{
	for (; *start; start++, line++)
		if (*start == '#' ? !isdigit((unsigned char)*line) : *start != *line)
			return false;
	return true;
}

/* "read: IOPS=…" since 2.17, "read: io=…" before. */
static int direction_of(const char *line)
{
	for (int i = 0; i < FIO_DIRECTIONS; i++) {
		size_t n = strlen(fio_direction_names[i]);

		if (!strncmp(line, fio_direction_names[i], n) &&
		    (begins(line + n, ": IOPS=") || begins(line + n, ": io=")))
			return i;
	}
	return -1;
}

/* A word whose last path component is fio, and an option behind it. */
static bool is_command(const char *line)
{
	for (const char *p = strstr(line, "fio"); p; p = strstr(p + 3, "fio")) {
		const char *after = p + (strncmp(p, "fio.exe", 7) ? 3 : 7), *option;

		if (*after != ' ' || (p > line && !strchr(" /\\>$#`'\"", p[-1])))
			continue;
		option = strstr(after, " -");
		if (option && (option[2] == '-' ? isalpha((unsigned char)option[3])
					       : isalpha((unsigned char)option[2]) && strchr(option, '=')))
			return true;
	}
	return false;
}

/* "fio-3.12-17-g0fcbc0", "fio 1.50", with nothing behind it but a comment. */
static bool is_version(const char *line)
{
	size_t n;

	if (!begins(line, "fio-#") && !begins(line, "fio #"))
		return false;
	n = 4 + strspn(line + 4, "0123456789.");
	if (line[n] == '-' && line[n - 1] != '.')
		while (isalnum((unsigned char)line[n]) || line[n] == '-')
			n++;
	return strchr(line + 4, '.') && (!line[n] || !strncmp(line + n, " -", 2));
}

enum fio_kind fio_line_kind(const char *line, int *direction)
{
	*direction = direction_of(line);
	if (*direction >= 0)
		return FIO_DIRECTION;
	if (is_version(line))
		return FIO_VERSION;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if ((!kinds[i].start || begins(line, kinds[i].start)) && (!kinds[i].has || strstr(line, kinds[i].has)))
			return kinds[i].kind;
	return is_command(line) ? FIO_COMMAND : FIO_PROSE;
}

void fio_line_squeeze(char *line)
{
	char *to = line;

	for (const char *from = line; *from; from++) {
		if (*from == ' ') {
			bool drop = to == line || strchr(" =([", to[-1]) || !from[1] || strchr(" ,:)]", from[1]);

			if (drop)
				continue;
		}
		*to++ = *from;
	}
	*to = '\0';
}
