/* The manual page, in mdoc. */
#include <string.h>

#include "guest/text.h"
#include "host/help.h"

#define LINE 76

/* A line of text; what roff would take for something else is escaped. */
static void plain(FILE *out, const char *s, size_t length)
{
	if (length && (*s == '.' || *s == '\''))
		fputs("\\&", out);
	for (size_t i = 0; i < length; i++) {
		if (s[i] == '\\')
			fputs("\\e", out);
		else if (s[i] == '"')
			fputs("\\(dq", out);
		else if (s[i] == '-')
			fputs("\\-", out);
		else
			fputc(s[i], out);
	}
	fputc('\n', out);
}

/* How much of a text is one line: a sentence at most, and LINE bytes where there is a place to break it. */
static size_t line_of(const char *s)
{
	size_t length = strcspn(s, "\n"), cut = 0;

	for (size_t i = 0; i + 1 < length; i++) {
		if (s[i + 1] != ' ')
			continue;
		if (s[i] == '.')
			return i + 1;
		if (i + 1 <= LINE)
			cut = i + 1;
		else if (cut)
			return cut;
	}
	return length > LINE && cut ? cut : length;
}

static void paragraph(FILE *out, const char *s)
{
	while (*s) {
		size_t length = line_of(s);

		plain(out, s, length);
		s += length;
		s += strspn(s, " \n");
	}
}

static void literal(FILE *out, const char *lines)
{
	fputs(".Bd -literal -offset indent -compact\n", out);
	while (*lines) {
		size_t length = strcspn(lines, "\n");

		plain(out, lines, length);
		lines += length + (lines[length] == '\n');
	}
	fputs(".Ed\n", out);
}

/* What stands under each other in the help begins in the same column here. */
static void usage(FILE *out, const char *lines)
{
	struct text t = { 0 };

	text_add(&t, "kickbench ");
	while (*lines) {
		size_t length = strcspn(lines, "\n");

		text_add_bytes(&t, lines, length);
		text_add(&t, "\n");
		lines += length + (lines[length] == '\n');
		lines += strspn(lines, " ");
		if (*lines && strncmp(lines, "kickbench ", strlen("kickbench ")))
			text_add(&t, "    ");
	}
	literal(out, text_get(&t));
	text_free(&t);
}

static void section(FILE *out, const char *title, const char *about)
{
	fputs(".Ss \"[", out);
	fprintf(out, "%s]\"\n", title);
	paragraph(out, about);
}

static void key(FILE *out, const char *name, const char *values, const char *text)
{
	fputs(".Bl -tag -width Ds -compact\n.It Cm \"", out);
	fprintf(out, "%s\"\n", name);
	if (values) {
		paragraph(out, values);
		fputs(".br\n", out);
	}
	paragraph(out, text);
	fputs(".El\n", out);
}

static const char description[] =
	"kickbench evaluates virtio-blk: it boots guests whose virtqueues are notified in different ways, or whose disks differ in "
	"anything else, runs the same benchmark, kickio, in each, and says by how much each way is better or worse, how sure that is, and "
	"what it cost the host. Every block of a run holds every variant once, in random order; the block is the unit of the statistics.";

static const char patch[] =
	"regress asks, before speed, whether a driver and its device still work: every pair of the values of their options, the edges of the "
	"disk, errors and other events in the middle of I/O, with every byte verified, in the guest and once more on the host when the guest "
	"is gone, and with every flush looked for in the log of what reached the disk.";
static const char patch_commands[] =
	"kickbench regress --set guest.kernel=/path/before/vmlinuz -o before\n"
	"kickbench regress --set guest.kernel=/path/patched/vmlinuz -o patched\n"
	"kickbench compare before patched\n";
static const char patch_more[] =
	"guest.emulator=/path/qemu-system-x86_64 does the same for a device. A cell that is not as it was is repeated by the line that the report "
	"gives, regress --only CELL; --list shows the cells without booting anything, --full tries more options and the events. A job that "
	"stands still is told apart: kick lost, interrupt lost, device holds it, guest dead. For git bisect run:";
static const char patch_bisect[] =
	"git bisect run sh -c 'make -j8 && make modules_install INSTALL_MOD_PATH=out &&\n"
	"    cp arch/x86/boot/bzImage out/vmlinuz || exit 125\n"
	"    kickbench regress --bisect --set guest.kernel=out/vmlinuz --only ring=packed,queues=2'\n";

static const char *const exits[][2] = {
	{ "0", "the run is complete, whatever the verdicts" },
	{ "1", "a verdict of fail_on occurred, a cell of a matrix failed, stalled or was corrupt" },
	{ "2", "usage or scenario error" },
	{ "3", "the run is incomplete, or all cells were skipped" },
	{ "4", "this host cannot run it" },
};

void help_manual(FILE *out, const struct command *const *commands)
{
	static const struct help_reader reader = { section, key };

	fputs(".Dd $Mdocdate$\n.Dt KICKBENCH 1\n.Os\n.Sh NAME\n.Nm kickbench\n.Nd evaluate and regression-test virtio-blk\n.Sh SYNOPSIS\n", out);
	fputs(".Nm kickbench\n.Ar command\n.Op Ar argument ...\n.Sh DESCRIPTION\n", out);
	paragraph(out, description);
	fputs(".Sh COMMANDS\n", out);
	for (size_t i = 0; commands[i]; i++) {
		fprintf(out, ".Ss %s\n", commands[i]->name);
		usage(out, commands[i]->usage);
		fputs(".Pp\n", out);
		paragraph(out, commands[i]->help);
	}
	fputs(".Sh BEFORE YOU MAIL YOUR DRIVER PATCH\n", out);
	paragraph(out, patch);
	literal(out, patch_commands);
	paragraph(out, patch_more);
	literal(out, patch_bisect);
	fputs(".Sh SCENARIOS\n", out);
	paragraph(out, "A scenario is an INI file: a path, or the name of one that comes with kickbench. Its sections and keys:");
	help_each_key(out, &reader);
	fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds -compact\n", out);
	for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++) {
		fprintf(out, ".It %s\n", exits[i][0]);
		paragraph(out, exits[i][1]);
	}
	fputs(".El\n", out);
	paragraph(out, "With --bisect: 0 good, 1 bad, 125 cannot tell.");
	fputs(".Sh SEE ALSO\n.Xr kickio 1\n", out);
}
