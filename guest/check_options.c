#include <ctype.h>
#include <string.h>

#include "guest/check.h"
#include "guest/values.h"

/* One option each. limit: the highest value. */
static const struct row {
	const char *name;
	enum check_expected what;
	uint64_t limit;
	const char *value, *help;
} rows[] = {
	{"size", CHECK_SIZE, UINT64_MAX - 1, "BYTES", "the size that the system shall tell"},
	{"sector", CHECK_SECTOR, 1u << 20, "BYTES", "the logical sector size"},
	{"readonly", CHECK_READONLY, 1, "0|1", "whether it shall be read-only"},
	{"write-cache", CHECK_WRITE_CACHE, 1, "0|1", "whether the system shall take its cache for a volatile one"},
	{"discard", CHECK_DISCARD, 1, "0|1", "whether the disk shall offer discard"},
	{"zeroes", CHECK_ZEROES, 1, "0|1", "whether the disk shall offer to write zeroes by itself"},
	{"queues", CHECK_QUEUES, 65535, "N", "request queues in use"},
	{"segments", CHECK_SEGMENTS, 1u << 20, "N", "the most pieces of a request"},
};

/* One option for who reads: name, what its value is called, what it means. */
typedef void tell_option(FILE *out, const char *name, const char *value, const char *meaning);

static void each_option(FILE *out, tell_option *tell)
{
	tell(out, "destroy", "0|1", "what is on the disk may be overwritten; without it only what can be asked by reading");
	tell(out, "serial", "TEXT", "the serial number that the system shall tell");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		tell(out, rows[i].name, rows[i].value, rows[i].help);
}

static void in_help(FILE *out, const char *name, const char *value, const char *meaning)
{
	fprintf(out, "  --%s=%-*s %s\n", name, (int)(18 - strlen(name)), value, meaning);
}

static void in_man(FILE *out, const char *name, const char *value, const char *meaning)
{
	fprintf(out, ".It Fl Fl %s Ns = Ns Ar %s\n%c%s.\n", name, value, toupper((unsigned char)meaning[0]), meaning + 1);
}

void check_help(FILE *out)
{
	fprintf(out, "usage: kickio check DEVICE [options]\n"
		     "    ask what a disk's driver must get right at its edges; status 1 when something is wrong\n");
	each_option(out, in_help);
}

void check_man(FILE *out)
{
	fputs(".Bl -tag -width Ds\n", out);
	each_option(out, in_man);
	fputs(".El\n", out);
}

static int take_number(const char *name, const char *value, uint64_t limit, uint64_t *n, struct error *e)
{
	if (value_number(value, n, e) < 0)
		return error_context(e, "--%s", name);
	if (*n > limit)
		return error_set(e, STATUS_FAILED, "--%s=%s: at most %llu", name, value, (unsigned long long)limit);
	return 0;
}

static int take_device(struct check_options *o, const char *device, struct error *e)
{
	if (o->device)
		return error_set(e, STATUS_FAILED, "check: one device, not %s and %s", o->device, device);
	o->device = device;
	return 0;
}

/* name is not ended by NUL: its length. */
static int take_option(struct check_options *o, const char *name, size_t length, const char *value, struct error *e)
{
	uint64_t n;

	if (length == 8 && strncmp(name, "filename", length) == 0)
		return take_device(o, value, e);
	if (length == 6 && strncmp(name, "serial", length) == 0) {
		o->serial = value;
		return 0;
	}
	if (length == 7 && strncmp(name, "destroy", length) == 0) {
		if (take_number("destroy", value, 1, &n, e) < 0)
			return -1;
		o->destroy = n == 1;
		return 0;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].name) == length && strncmp(rows[i].name, name, length) == 0)
			return take_number(rows[i].name, value, rows[i].limit, &o->expected[rows[i].what], e);
	return error_set(e, STATUS_FAILED, "check: there is no option --%.*s", (int)length, name);
}

int check_parse(int argc, char **argv, struct check_options *o, struct error *e)
{
	*o = (struct check_options){.device = NULL};
	for (unsigned i = 0; i < CHECK_EXPECTED; i++)
		o->expected[i] = CHECK_UNKNOWN;
	for (int i = 0; i < argc; i++) {
		const char *equals = strchr(argv[i], '=');

		if (strncmp(argv[i], "--", 2) != 0) {
			if (take_device(o, argv[i], e) < 0)
				return -1;
		} else if (!equals) {
			return error_set(e, STATUS_FAILED, "check: %s: options are --NAME=VALUE", argv[i]);
		} else if (take_option(o, argv[i] + 2, (size_t)(equals - argv[i]) - 2, equals + 1, e) < 0) {
			return -1;
		}
	}
	return o->device ? 0 : error_set(e, STATUS_FAILED, "check: which device?");
}
