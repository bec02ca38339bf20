/* host/entries.c, scenario.c and scenario_keys.c: what a scenario may say, --set, and how refusals read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/scenario.h"
#include "tests/unit/scratch.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Lines 1 to 10 of most scenarios below. */
#define HEAD "[scenario]\nbaseline = a\n[variant a]\nioeventfd = off\n[variant b]\nioeventfd = on\n"
#define WORK "[workload w]\nrw = randread\nbs = 4k\n"

static struct scenario *take(struct scratch *s, const char *text, const char *const *set, size_t nset)
{
	struct scenario *out;
	struct error e = { 0 };

	if (scenario_read(scratch_text(s, "my.ini", text), set, nset, &out, &e))
		fail_msg("refused: %s", e.text);
	return out;
}

/* text is refused as "FILE:LINE: …piece…" (line 0: "FILE: "). */
static void refuse_bytes(struct scratch *s, const char *text, size_t length, int line, const char *piece)
{
	struct scenario *out;
	struct error e = { 0 };
	char place[600];

	if (scenario_read(scratch_bytes(s, "my.ini", text, length), NULL, 0, &out, &e) == 0)
		fail_msg("taken: %s", text);
	assert_null(out);
	assert_int_equal(e.status, STATUS_USAGE);
	if (line)
		snprintf(place, sizeof(place), "%s/my.ini:%d: ", s->folder, line);
	else
		snprintf(place, sizeof(place), "%s/my.ini: ", s->folder);
	if (strncmp(e.text, place, strlen(place)))
		fail_msg("\"%s\" does not begin with \"%s\"", e.text, place);
	holds(e.text, piece);
}

static void refuse(struct scratch *s, const char *text, int line, const char *piece)
{
	refuse_bytes(s, text, strlen(text), line, piece);
}

static void a_whole_scenario_is_understood(void **state)
{
	static const char text[] =
		"# comment\n[scenario]\nname = kickfd ; why\nbaseline = b\nblocks = 4\nrepeats = 2\npairing = boots\n"
		"primary = clat_mean\nmargin = 5%\nfail_margin = 0.01\nalpha = 1%\nfail_on = worse, better\nseed = 42\n"
		"[disk]\nsize = 1G\ncache = writeback\n"
		"[guest one]\nimage = images/other\nkernel = /boot/vmlinuz\nvcpus = 2\nmemory = 512M\naccel = tcg\n"
		"boot_timeout = 1m\nstall_timeout = 500ms\n"
		"[variant a]\nioeventfd = off\n[variant b]\nioeventfd = on\ncache = unsafe\n"
		"[workload w]\nrw = randread\nbs = 4k, 8k ,16k\ndirect = 1\ngroup_reporting =\n";
	struct scenario *s;
	struct text words = { 0 };

	s = take(*state, text, NULL, 0);
	assert_string_equal(s->name, "kickfd");
	assert_int_equal(s->baseline, 1);
	assert_int_equal(s->blocks, 4);
	assert_int_equal(s->repeats, 2);
	assert_int_equal(s->pairing, PAIRING_BOOTS);
	assert_string_equal(s->primary, "clat_mean");
	assert_int_equal(s->primary_line, 8);
	assert_true(s->margin == 0.05 && s->fail_margin == 0.01 && s->alpha == 0.01);
	assert_int_equal(s->fail_on, FAIL_WORSE | FAIL_BETTER);
	assert_true(s->seed_set && s->seed == 42);
	assert_int_equal(s->nguests, 1);
	assert_string_equal(s->guest[0].name, "one");
	assert_string_equal(s->guest[0].image, "images/other");
	assert_string_equal(s->guest[0].machine.kernel, "/boot/vmlinuz");
	assert_int_equal(s->guest[0].machine.vcpus, 2);
	assert_int_equal(s->guest[0].machine.memory, 512 << 20);
	assert_int_equal(s->guest[0].machine.accel, ACCEL_TCG);
	assert_true(s->guest[0].boot_timeout == 60 && s->guest[0].stall_timeout == 0.5);
	assert_int_equal(s->nvariants, 2);
	assert_int_equal(s->variant[0].settings.size, 1 << 30);
	assert_int_equal(s->variant[0].settings.cache, CACHE_WRITEBACK);
	assert_int_equal(s->variant[0].settings.ioeventfd, TOGGLE_OFF);
	assert_int_equal(s->variant[1].settings.cache, CACHE_UNSAFE);
	assert_int_equal(s->nworkloads, 1);
	assert_int_equal(s->workload[0].noptions, 4);
	assert_int_equal(s->workload[0].option[1].nvalues, 3);
	assert_string_equal(s->workload[0].option[1].value[1], "8k");
	assert_string_equal(s->workload[0].option[1].value[2], "16k");
	assert_int_equal(s->workload[0].option[3].nvalues, 1);
	assert_string_equal(s->workload[0].option[3].value[0], "");
	fail_on_text(s->fail_on, &words);
	assert_string_equal(text_get(&words), "worse, better");
	text_free(&words);
	scenario_free(s);
}

#define THREE "[guest a]\nvcpus = 1\n[guest b]\nvcpus = 2\n[guest c]\nvcpus = 3\n"

/* "guests" names those that take part, in its order, and their machines follow them. */
static void guests_are_chosen(void **state)
{
	const char *set[] = { "scenario.guests=c, a" };
	struct scenario *s = take(*state, HEAD THREE WORK, NULL, 0);

	assert_int_equal(s->nguests, 3);
	scenario_free(s);
	s = take(*state, HEAD THREE WORK, set, 1);
	assert_int_equal(s->nguests, 2);
	assert_string_equal(s->guest[0].name, "c");
	assert_string_equal(s->guest[1].name, "a");
	assert_int_equal(scenario_machine(s, 0, 1)->vcpus, 3);
	assert_int_equal(scenario_machine(s, 1, 0)->vcpus, 1);
	scenario_free(s);
	s = take(*state, HEAD "[guest a]\n[guest b]\ntool = fio\n" WORK, NULL, 0); /* both understand the workload */
	assert_int_equal(s->guest[0].tool, TOOL_KICKIO);
	assert_int_equal(s->guest[1].tool, TOOL_FIO);
	scenario_free(s);
	s = take(*state, "[scenario]\nguests = linux\nbaseline = a\n[variant a]\n[variant b]\nqueues = 2\n" WORK, NULL, 0);
	assert_int_equal(s->nguests, 1); /* the one that is there without a section */
	scenario_free(s);
}

static void guests_that_cannot_be_chosen(void **state)
{
	refuse(*state, "[scenario]\nguests = a, d\nbaseline = a\n[variant a]\n[variant b]\n" THREE WORK, 2,
	       "guests = a, d: there is no section [guest d]");
	refuse(*state, "[scenario]\nguests = a b a\nbaseline = a\n[variant a]\n[variant b]\n" THREE WORK, 2,
	       "a stands here twice");
	refuse(*state, "[scenario]\nguests = ,\nbaseline = a\n[variant a]\n[variant b]\n" THREE WORK, 2, "names no guest");
	refuse(*state, "[scenario]\nguests =\nbaseline = a\n[variant a]\n[variant b]\n" THREE WORK, 2, "guests");
}

/* A comma of a value is written '\,': bs triples and bssplit need it. Any other backslash is the value's. */
static void commas_of_values_are_escaped(void **state)
{
	static const char *const values[] = { "4k,8k", "16k", "1k,,2k" };
	const char *set[] = { "workload.bssplit=4k/50:8k/50\\,4k/100" };
	struct scenario *s = take(*state, HEAD "[workload w]\nbs = 4k\\,8k, 16k, 1k\\,\\,2k\nfilename = a\\:b\\\n", set, 1);

	assert_int_equal(s->workload[0].option[0].nvalues, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(s->workload[0].option[0].value[i], values[i]);
	assert_int_equal(s->workload[0].option[1].nvalues, 1);
	assert_string_equal(s->workload[0].option[1].value[0], "a\\:b\\");
	assert_int_equal(s->workload[0].option[2].nvalues, 1);
	assert_string_equal(s->workload[0].option[2].value[0], "4k/50:8k/50,4k/100");
	scenario_free(s);
	refuse(*state, HEAD "[workload w]\nbs = 4k\\,,8k,4k\\,\n", 8, "4k, stands here twice");
}

static void what_is_left_out_has_defaults(void **state)
{
	struct scenario *s = take(*state, HEAD WORK, NULL, 0);

	assert_string_equal(s->name, "my");
	assert_int_equal(s->blocks, 8);
	assert_int_equal(s->repeats, 1);
	assert_int_equal(s->pairing, PAIRING_BOOTS);
	assert_string_equal(s->primary, "iops");
	assert_true(s->margin == 0.03 && s->fail_margin == 0 && s->alpha == 0.05);
	assert_int_equal(s->fail_on, FAIL_STALLED | FAIL_CORRUPT);
	assert_false(s->seed_set);
	assert_int_equal(s->nguests, 1);
	assert_string_equal(s->guest[0].name, "linux");
	assert_string_equal(s->guest[0].image, "images/linux");
	assert_int_equal(s->guest[0].machine.vcpus, 1);
	assert_int_equal(s->guest[0].machine.memory, 256 << 20);
	assert_true(s->guest[0].boot_timeout == 0 && s->guest[0].stall_timeout == 30);
	assert_string_equal(s->source, HEAD WORK);
	scenario_free(s);
}

static void sections_and_keys_are_refused_with_their_line(void **state)
{
	static const struct { const char *text; int line; const char *piece; } rows[] = {
		{ HEAD WORK "[disks]\nsize = 1G\n", 10, "unknown section [disks]: expected scenario, guest, disk, variant or workload" },
		{ HEAD WORK "[disk fast]\nsize = 1G\n", 10, "[disk] takes no name" },
		{ HEAD "[scenario x]\n" WORK, 7, "[scenario] takes no name" },
		{ "[scenario]\nbaseline = a\nblokcs = 8\n[variant a]\n[variant b]\n" WORK, 3, "unknown key blokcs in [scenario]" },
		{ HEAD "[disk]\nsise = 1G\n" WORK, 8, "unknown key sise in [disk]" },
		{ HEAD "sise = 1G\n" WORK, 7, "unknown key sise in [variant b]" },
		{ HEAD "[guest g]\ncpus = 1\n" WORK, 8, "unknown key cpus in [guest]" },
		{ HEAD "[variant a]\n" WORK, 7, "section [variant a] stands here twice" },
		{ HEAD "ioeventfd = off\n" WORK, 7, "ioeventfd stands here twice in [variant b]" },
		{ HEAD WORK "bs = 8k\n", 10, "bs stands here twice in [workload w]" },
		{ "\nblocks = 3\n" HEAD WORK, 2, "blocks stands outside of any section" },
		{ HEAD WORK "nonsense\n", 10, "expected [SECTION] or KEY = VALUE" },
		{ HEAD WORK "[variant\n", 10, "a section header is [KIND] or [KIND NAME]" },
		{ HEAD WORK "[]\n", 10, "a section header is" },
		{ HEAD "[variant]\nioeventfd = on\n" WORK, 7, "[variant] needs a name: [variant NAME]" },
		{ HEAD "[variant a/b]\n" WORK, 7, "[variant a/b]: names are letters, digits and . _ + - only" },
		{ HEAD "[variant .a]\n" WORK, 7, "a name begins with a letter or digit" },
		{ HEAD "[workload w w]\nrw = read\n", 7, "names are letters" },
		{ HEAD "[guest ../x]\n" WORK, 7, "names are letters" },
		{ "[scenario]\nname = ../../x\nbaseline = a\n[variant a]\n[variant b]\n" WORK, 2, "name = ../../x: names are" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		refuse(*state, rows[i].text, rows[i].line, rows[i].piece);
}

static void values_are_refused_with_what_is_allowed(void **state)
{
	static const struct { const char *line, *piece; } rows[] = {
		{ "blocks = 0", "expected a number from 1 to 1000" }, { "blocks = 1001", "from 1 to 1000" },
		{ "blocks = two", "from 1 to 1000" }, { "repeats = -1", "from 1 to 1000" },
		{ "pairing = both", "expected boots, disks" }, { "margin = 3", "a share such as 3% or 0.03" },
		{ "margin = 100%", "below 1" }, { "alpha = 0", "above 0 and below 1" }, { "fail_margin = x", "a share" },
		{ "fail_on = worse, bad", "expected worse, better, unclear, stalled, corrupt, or none" },
		{ "seed = 9223372036854775808", "a number below 2^63" }, { "seed = x", "a number" }, { "primary =", "a name" },
	};
	static const struct { const char *line, *piece; } guests[] = {
		{ "vcpus = 65", "from 1 to 64" }, { "memory = 1M", "from 64M to 1048576M" }, { "accel = xen", "auto, kvm, tcg" },
		{ "boot_timeout = 0", "above 0" }, { "stall_timeout = 1e300", "a time such as 30s" },
		{ "stall_timeout = 25h", "at most 86400s" }, { "image =", "a name" },
	};
	char text[512], piece[128];

	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), "[scenario]\n%s\nbaseline = a\n[variant a]\n[variant b]\n" WORK, rows[i].line);
		refuse(*state, text, 2, rows[i].piece);
		snprintf(piece, sizeof(piece), ": %.*s = ", (int)strcspn(rows[i].line, " "), rows[i].line);
		refuse(*state, text, 2, piece);
	}
	for (size_t i = 0; i < COUNT(guests); i++) {
		snprintf(text, sizeof(text), HEAD "[guest g]\n%s\n" WORK, guests[i].line);
		refuse(*state, text, 8, guests[i].piece);
	}
	refuse(*state, HEAD "[disk]\ncache = fast\n" WORK, 8, "cache = fast: expected auto, none, writeback");
	refuse(*state, HEAD WORK "numjobs = 1,,2\n", 10, "numjobs = 1,,2: the list has an empty place");
	refuse(*state, HEAD WORK "numjobs = 1, 2, 1\n", 10, "numjobs = 1, 2, 1: 1 stands here twice");
}

static void impossible_pairs_name_the_variant(void **state)
{
	refuse(*state, HEAD "[disk]\niothread = on\n" WORK, 3,
	       "[variant a]: ioeventfd = off cannot be combined with an iothread");
	refuse(*state, HEAD "io = native\ncache = writeback\n" WORK, 5,
	       "[variant b]: io = native needs cache = none or directsync");
	refuse(*state, HEAD "[disk]\nlatency_ns = 1000\nbackend = null\n" WORK, 3, "latency_ns needs iothread = on");
}

static void the_whole_has_to_make_sense(void **state)
{
	refuse(*state, "[scenario]\nblocks = 2\n[variant a]\n[variant b]\n" WORK, 1, "no baseline: write baseline = VARIANT");
	refuse(*state, "[variant a]\n[variant b]\n" WORK, 0, "no baseline");
	refuse(*state, "[scenario]\n\nbaseline = c\n[variant a]\n[variant b]\n" WORK, 3,
	       "baseline = c: there is no section [variant c]");
	refuse(*state, "[scenario]\nbaseline = a\n[variant a]\n" WORK, 0, "at least two [variant NAME] sections");
	refuse(*state, HEAD, 0, "there is no [workload NAME] section");
	refuse(*state, "", 0, "at least two [variant NAME] sections");
	refuse(*state, "[scenario]\nbaseline = a\npairing = disks\n[variant a]\n[variant b]\n[variant c]\n" WORK, 1,
	       "pairing = disks compares exactly two variants, here are 3");
	refuse(*state, "[scenario]\nbaseline = a\npairing = disks\n[variant a]\nvcpupin = 0\n[variant b]\nvcpupin = 1\n" WORK, 6,
	       "cannot differ with pairing = disks");
	refuse(*state, "[scenario]\nbaseline = a\npairing = disks\nfresh_boot = per-trial\n[variant a]\n[variant b]\n" WORK, 1,
	       "fresh_boot = per-trial needs pairing = boots");
	refuse(*state, "[scenario]\nbaseline = a\nfresh_boot = always\n[variant a]\n[variant b]\n" WORK, 3, "per-boot, per-trial");
	scenario_free(take(*state, "[scenario]\nbaseline = a\npairing = disks\n[disk]\nvcpupin = 0\n[variant a]\n[variant b]\n" WORK,
			   NULL, 0));
}

/* [guest] gives the base, [variant] changes it, for each guest by itself. */
static void machines_are_merged(void **state)
{
	static const char *const set[] = { "variant.b.qemu.indirect_desc=off", "guest.two.memory=1G" };
	struct scenario *s = take(*state, "[scenario]\nbaseline = a\n"
				  "[variant a]\n[variant b]\nioeventfd = on\nemulator = /opt/qemu\nvcpus = 4\nkernel =\nqemu.x-new = 3\n"
				  "[guest one]\nkernel = /k\nmachine = pc-i440fx-7.2\nqemu.x-new = 1\n[guest two]\n" WORK, set, 2);
	const struct machine *a1 = scenario_machine(s, 0, 0), *b1 = scenario_machine(s, 0, 1);
	const struct machine *a2 = scenario_machine(s, 1, 0), *b2 = scenario_machine(s, 1, 1);

	assert_null(a1->emulator);
	assert_string_equal(a1->kernel, "/k");
	assert_int_equal(a1->vcpus, 1);
	assert_int_equal(a1->nproperties, 1);
	assert_string_equal(a1->property[0].value, "1");
	assert_string_equal(b1->emulator, "/opt/qemu");
	assert_null(b1->kernel); /* put back to the image's */
	assert_string_equal(b1->type, "pc-i440fx-7.2");
	assert_int_equal(b1->vcpus, 4);
	assert_int_equal(b1->nproperties, 2);
	assert_null(a2->type);
	assert_int_equal(a2->nproperties, 0);
	assert_true(a2->memory == 1 << 30 && b2->memory == 1 << 30 && b1->memory == 256 << 20);
	assert_string_equal(b2->emulator, "/opt/qemu");
	assert_int_equal(s->variant[1].settings.ioeventfd, TOGGLE_ON);
	scenario_free(s);
}

static void machines_are_refused(void **state)
{
	static const struct { const char *line, *piece; } rows[] = {
		{ "vcpus = 0", "vcpus = 0: expected a number from 1 to 64" }, { "accel = xen", "auto, kvm, tcg" },
		{ "machine = pc q35", "a name of letters, digits" }, { "qemu_args = -name 'a", "each quote closed" },
		{ "qemu.num-queues = 4", "qemu.num-queues: use the key queues" },
		{ "qemu.serial = x", "kickbench sets this property itself" }, { "emulater = /x", "unknown key emulater in [variant b]" },
	};
	char text[512];

	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), HEAD "%s\n" WORK, rows[i].line);
		refuse(*state, text, 7, rows[i].piece);
	}
	refuse(*state, HEAD "cpu = host\n[guest g]\naccel = tcg\n" WORK, 5,
	       "[variant b] with [guest g]: cpu = host is the host's own CPU, which accel = tcg does not run");
	refuse(*state, HEAD "machine = microvm\nmodel = virtio-transitional\n" WORK, 5, "disks on virtio-mmio");
	refuse(*state, "[scenario]\nbaseline = a\npairing = disks\n[variant a]\n[variant b]\nmemory = 1G\n" WORK, 5,
	       "the machine belongs to the whole guest");
	refuse(*state, HEAD "[disk]\nvcpus = 2\n" WORK, 8, "unknown key vcpus in [disk]");
	refuse(*state, "[scenario]\nvcpus = 2\n", 2, "unknown key vcpus in [scenario]");
}

static void domains_of_users(void **state)
{
	struct scenario *s = take(*state, HEAD "[guest g]\ndomain = mail & web\nnetwork = keep\n[guest h]\ndomain_xml = d.xml\n"
					"host_devices = drop\nvcpus = 2\n[guest i]\n" WORK, NULL, 0);
	struct text t = { 0 };

	/* 0: as the domain has it */
	assert_int_equal(s->guest[0].machine.vcpus, 0);
	assert_int_equal(s->guest[0].machine.memory, 0);
	assert_int_equal(s->guest[0].network, NETWORK_KEEP);
	assert_int_equal(s->guest[0].host_devices, HOST_DEVICES_REFUSE);
	assert_int_equal(scenario_machine(s, 1, 0)->vcpus, 2);
	assert_int_equal(scenario_machine(s, 1, 0)->memory, 0);
	assert_int_equal(s->guest[1].network, NETWORK_NONE);
	assert_int_equal(s->guest[1].host_devices, HOST_DEVICES_DROP);
	assert_int_equal(s->guest[2].machine.vcpus, 1);
	assert_true(guest_same_source(&s->guest[1], &s->guest[1]));
	assert_false(guest_same_source(&s->guest[0], &s->guest[1]));
	assert_false(guest_same_source(&s->guest[0], &s->guest[2]));
	for (size_t g = 0; g < 3; g++) {
		guest_source(&s->guest[g], &t);
		text_add(&t, ";");
	}
	assert_string_equal(text_get(&t), "domain mail & web;domain_xml d.xml;images/linux;");
	text_free(&t);
	scenario_free(s);
	refuse(*state, HEAD "[guest g]\ndomain = a\ndomain_xml = b\n" WORK, 9, "domain_xml: the guest is booted from domain already");
	refuse(*state, HEAD "[guest g]\ndomain = a\nimage = b\n" WORK, 8, "domain: the guest is booted from image already");
	refuse(*state, HEAD "[guest g]\nnetwork = keep\n" WORK, 8, "network is for a guest with domain or domain_xml");
	refuse(*state, HEAD "[guest g]\ndomain = a\nhost_devices = keep\n" WORK, 9, "expected refuse, drop");
	refuse(*state, HEAD "[guest g]\ndomain =\n" WORK, 8, "expected a name");
	refuse(*state, HEAD "[guest g]\ndomain = a\ntool = probe\n" WORK, 7, "the probe is a kernel of its own");
}

static void forms_of_text(void **state)
{
	static const char nul[] = HEAD WORK "size = 1\0m\n", latin[] = HEAD WORK "description = caf\xe9\n";
	char crlf[2 * sizeof(HEAD WORK)], text[10000], *out = crlf;
	struct scenario *s;

	for (const char *p = HEAD WORK; *p; p++) {
		if (*p == '\n')
			*out++ = '\r';
		*out++ = *p;
	}
	*out = '\0';
	s = take(*state, crlf, NULL, 0);
	assert_string_equal(s->variant[1].name, "b");
	assert_string_equal(s->workload[0].option[1].value[0], "4k");
	scenario_free(s);
	snprintf(text, sizeof(text), "\xef\xbb\xbf%s", HEAD WORK);
	scenario_free(take(*state, text, NULL, 0));
	refuse_bytes(*state, nul, sizeof(nul) - 1, 0, "is not a text file");
	refuse_bytes(*state, latin, sizeof(latin) - 1, 0, "is not a text file in UTF-8");
	snprintf(text, sizeof(text), HEAD WORK "description = %08000d\n", 0);
	refuse(*state, text, 10, "line is longer than 8000 characters");
	snprintf(text, sizeof(text), HEAD WORK "%0300d\n", 0);
	refuse(*state, text, 10, "expected KEY = VALUE");
	/* longer than inih's lines; blanks and an end of line comment go as they do in short ones */
	snprintf(text, sizeof(text), HEAD WORK "description =  a;%0300d;b \t ;c\nsize = 1m\n", 0);
	s = take(*state, text, NULL, 0);
	snprintf(text, sizeof(text), "a;%0300d;b", 0);
	assert_string_equal(s->workload[0].option[2].value[0], text);
	assert_string_equal(s->workload[0].option[3].value[0], "1m");
	assert_int_equal(s->workload[0].option[3].line, 11);
	scenario_free(s);
	snprintf(text, sizeof(text), HEAD WORK "; %0300d\n  # %0300d\nsize = 1m", 0, 0);
	s = take(*state, text, NULL, 0);
	assert_int_equal(s->workload[0].noptions, 3);
	assert_int_equal(s->workload[0].option[2].line, 12);
	scenario_free(s);
	snprintf(text, sizeof(text), HEAD WORK "%060d = 1\n", 0);
	refuse(*state, text, 10, "key is longer than");
	snprintf(text, sizeof(text), HEAD "[variant %060d]\n" WORK, 1);
	refuse(*state, text, 7, "at most 49 characters");
}

static void commands_need_their_driver(void **state)
{
	struct scenario *s = take(*state, HEAD "[guest g]\ndriver = exec\nstart = run a, b ; c ;; d\nlink = unix $KICKBENCH_FOLDER/l\nbaud = 115200\n" WORK,
				  NULL, 0);

	assert_int_equal(s->guest[0].driver, DRIVER_EXEC);
	assert_string_equal(s->guest[0].exec.start, "run a, b ; c ;; d"); /* a shell's ';' is no comment */
	assert_int_equal(s->guest[0].exec.baud, 115200);
	assert_string_equal(s->guest[0].image, IMAGE_NONE);
	scenario_free(s);
	s = take(*state, HEAD "[guest g]\ndriver = exec\nimage = images/linux\nstart = x\nlink = stdio\n" WORK, NULL, 0);
	assert_string_equal(s->guest[0].image, "images/linux");
	scenario_free(s);
	refuse(*state, HEAD "[guest g]\nstart = x\n" WORK, 7, "start needs driver = exec");
	refuse(*state, HEAD "[guest g]\ndriver = exec\nlink = stdio\n" WORK, 7, "needs start = COMMAND");
	refuse(*state, HEAD "[guest g]\ndriver = exec\nstart = x\n" WORK, 7, "needs link =");
	refuse(*state, HEAD "[guest g]\ndriver = exec\nstart = x\nlink = tcp 1\n" WORK, 7, "a serial port is");
	refuse(*state, HEAD "[guest g]\ndriver = exec\nstart = x\nlink = stdio\n[guest h]\n" WORK, 11, "all guests of a scenario have one driver");
	refuse(*state, HEAD "[guest g]\ndriver = vmd\n" WORK, 8, "expected libvirt, exec");
	refuse(*state, HEAD "[guest g]\ndriver = exec\nstart = x\nlink = stdio\ndomain = d\n" WORK, 7, "domain and domain_xml are libvirt's");
}

/* The console's login of a guest of commands. */
static void commands_with_a_console(void **state)
{
#define EXEC "[guest g]\ndriver = exec\nstart = x\nlink = stdio\n"
	struct scenario *s = take(*state, HEAD EXEC "image = none\nprofile = openbsd\nuser = me\npassword_env = X\n" WORK, NULL, 0);

	assert_string_equal(s->guest[0].image, IMAGE_NONE);
	assert_string_equal(s->guest[0].profile, "openbsd");
	assert_string_equal(s->guest[0].user, "me");
	scenario_free(s);
	s = take(*state, HEAD EXEC "profile = linux\nlogin = none\n" WORK, NULL, 0);
	assert_string_equal(s->guest[0].image, IMAGE_NONE);
	scenario_free(s);
	refuse(*state, HEAD EXEC "image = a.qcow2\nprofile = linux\n" WORK, 7, "start command's business: image = none");
	refuse(*state, HEAD EXEC "image = images/linux\nprofile = linux\n" WORK, 7, "start command's business: image = none");
	refuse(*state, HEAD EXEC "image = a.qcow2\n" WORK, 7, "makes nothing of a disk image");
	refuse(*state, HEAD EXEC "user = me\n" WORK, 7, "need a profile");
	refuse(*state, HEAD EXEC "login = none\n" WORK, 7, "need a profile");
	refuse(*state, HEAD EXEC "profile = linux\nlogin = none\nuser = me\n" WORK, 7, "login = none uses no user");
	refuse(*state, HEAD EXEC "profile = linux\npassword_file = x\npassword_env = X\n" WORK, 7, "two places for one password");
#undef EXEC
}

static void a_missing_file_is_named(void **state)
{
	struct scenario *out;
	struct error e = { 0 };

	assert_int_equal(scenario_read(scratch_path(*state, "none.ini"), NULL, 0, &out, &e), -1);
	assert_int_equal(e.status, STATUS_USAGE);
	holds(e.text, "none.ini: No such file");
	error_clear(&e);
	assert_int_equal(scenario_read(((struct scratch *)*state)->folder, NULL, 0, &out, &e), -1);
	assert_int_equal(e.status, STATUS_USAGE);
}

static void set_changes_one_all_or_new(void **state)
{
	static const char *const set[] = {
		"disk.size=64M", "variant.cache=writeback", "variant.b.queues=2", "workload.runtime=3", "workload.w.bs=8k,16k",
		"scenario.blocks=3", "scenario.seed=7", "scenario.primary=clat_p99",
	};
	struct scenario *s = take(*state, HEAD WORK, set, COUNT(set));

	assert_int_equal(s->variant[0].settings.size, 64 << 20);
	assert_int_equal(s->variant[1].settings.cache, CACHE_WRITEBACK);
	assert_int_equal(s->variant[0].settings.queues, 1);
	assert_int_equal(s->variant[1].settings.queues, 2);
	assert_int_equal(s->workload[0].noptions, 3);
	assert_int_equal(s->workload[0].option[1].nvalues, 2);
	assert_string_equal(s->workload[0].option[2].name, "runtime");
	assert_string_equal(s->workload[0].option[2].file, "--set workload.runtime=3");
	assert_int_equal(s->workload[0].option[2].line, 0);
	assert_int_equal(s->blocks, 3);
	assert_true(s->seed_set);
	assert_string_equal(s->primary_file, "--set scenario.primary=clat_p99");
	holds(s->source, HEAD WORK "; --set disk.size=64M\n");
	holds(s->source, "; --set scenario.primary=clat_p99\n");
	scenario_free(s);
}

static void names_with_dots_can_be_set(void **state)
{
	static const char *const set[] = { "variant.v1.2.queues=3", "workload.w.description=a=b.c" };
	struct scenario *s = take(*state, HEAD "[variant v1.2]\n" WORK, set, COUNT(set));

	assert_int_equal(s->variant[2].settings.queues, 3);
	assert_string_equal(s->workload[0].option[2].value[0], "a=b.c");
	scenario_free(s);
}

static void set_is_named_where_it_is_the_cause(void **state)
{
	static const struct { const char *set, *piece; } rows[] = {
		{ "disk.size=1k1", "--set disk.size=1k1: size = 1k1: expected a size" },
		{ "disk.sise=1G", "--set disk.sise=1G: unknown key sise in [disk]" },
		{ "scenario.blocks=0", "--set scenario.blocks=0: blocks = 0: expected a number from 1 to 1000" },
		{ "scenario.baseline=z", "--set scenario.baseline=z: baseline = z: there is no section [variant z]" },
		{ "scenario.name=a/b", "--set scenario.name=a/b: name = a/b" },
		{ "foo.bar=1", "--set foo.bar=1: unknown section [foo]" },
		{ "variant.c.queues=1", "--set variant.c.queues=1: " }, { "variant.c.queues=1", "has no section [variant c]" },
		{ "guest.vcpus=1", "has no section [guest]" }, { "disk.x.size=1G", "has no section [disk x]" },
		{ "disk.size", "--set disk.size: expected SECTION.KEY=VALUE" }, { "size=1", "expected SECTION.KEY=VALUE" },
		{ "disk.=1", "expected SECTION.KEY=VALUE" }, { ".size=1", "expected SECTION.KEY=VALUE" },
		{ "variant..queues=1", "expected SECTION.KEY=VALUE" }, { "", "expected SECTION.KEY=VALUE" },
		{ "workload.bs=4k,,8k", "--set workload.bs=4k,,8k: bs = 4k,,8k: the list has an empty place" },
		{ "workload.description=caf\xe9", "--set: a value is one line of UTF-8" },
		{ "workload.description=a\nb", "--set: a value is one line of UTF-8" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *set[] = { rows[i].set };
		struct scenario *out;
		struct error e = { 0 };

		if (scenario_read(scratch_text(*state, "my.ini", HEAD WORK), set, 1, &out, &e) == 0)
			fail_msg("--set %s was taken", rows[i].set);
		assert_int_equal(e.status, STATUS_USAGE);
		holds(e.text, rows[i].piece);
	}
}

/* The kept source is read again by a resume, with the --set values beside it. */
static void what_is_kept_can_be_read_again(void **state)
{
	char long_set[400];
	const char *set[] = { long_set, "disk.size=64M" };
	struct scenario *first, *second;

	snprintf(long_set, sizeof(long_set), "workload.description=%0300d", 0);
	first = take(*state, "[scenario]\nbaseline = a\n[variant a]\n[variant b]\n[workload w]\nrw = read", set, 2);
	second = take(*state, first->source, set, 2);
	assert_int_equal(second->variant[0].settings.size, 64 << 20);
	assert_string_equal(second->workload[0].option[1].value[0], first->workload[0].option[1].value[0]);
	scenario_free(first);
	scenario_free(second);
}

static void against_itself_keeps_the_baseline_alone(void **state)
{
	static const char text[] = "[scenario]\nbaseline = b\nagainst = itself\n[disk]\nqueues = 2\n"
				   "[variant a]\nioeventfd = off\n[variant b]\nioeventfd = on\npath = /tmp\n[variant c]\n" WORK;
	struct scenario *s = take(*state, text, NULL, 0);

	assert_int_equal(s->against, AGAINST_ITSELF);
	assert_int_equal(s->nvariants, 2);
	assert_int_equal(s->baseline, 0);
	assert_string_equal(s->variant[0].name, "b");
	assert_string_equal(s->variant[1].name, "b-again");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(s->variant[i].settings.ioeventfd, TOGGLE_ON);
		assert_int_equal(s->variant[i].settings.queues, 2);
		assert_string_equal(s->variant[i].settings.path, "/tmp");
	}
	scenario_free(s);
	/* A single variant is enough; two disks of one guest are two disks. */
	s = take(*state, "[scenario]\nbaseline = a\nagainst = itself\npairing = disks\n[variant a]\n" WORK, NULL, 0);
	assert_int_equal(s->nvariants, 2);
	scenario_free(s);
	/* What --set changes of the baseline is changed in both. */
	s = take(*state, HEAD WORK, (const char *[]){ "scenario.against=itself", "variant.a.queues=3" }, 2);
	assert_string_equal(s->variant[1].name, "a-again");
	assert_int_equal(s->variant[1].settings.queues, 3);
	scenario_free(s);
	refuse(*state, "[scenario]\nbaseline = x\nagainst = itself\n[variant a]\n" WORK, 2, "there is no section [variant x]");
	refuse(*state, "[scenario]\nbaseline = a\nagainst = itself\n" WORK, 0, "at least two [variant NAME]");
	refuse(*state, "[scenario]\nbaseline = a\nagainst = all\n[variant a]\n" WORK, 3, "variants, itself");
}

static void verdict_lists(void **state)
{
	struct error e = { 0 };
	struct text t = { 0 };
	unsigned mask;

	(void)state;
	assert_int_equal(fail_on_parse("worse,unclear", &mask, &e), 0);
	assert_int_equal(mask, FAIL_WORSE | FAIL_UNCLEAR);
	assert_int_equal(fail_on_parse("none", &mask, &e), 0);
	assert_int_equal(mask, 0);
	fail_on_text(mask, &t);
	assert_string_equal(text_get(&t), "none");
	text_free(&t);
	assert_int_equal(fail_on_parse("worst", &mask, &e), -1);
	assert_int_equal(e.status, STATUS_USAGE);
	holds(e.text, "worst: expected worse, better, unclear, stalled, corrupt, or none");
}

/* Keys of a disk image that is driven by its console. */
static void disk_images(void **state)
{
	static const struct { const char *keys, *piece; } rows[] = {
		{ "image = a.qcow2\n", "a disk image needs a profile" },
		{ "image = b/a.img\n", "a disk image needs a profile" },
		{ "profile = linux\n", "name it with image = FILE.qcow2" },
		{ "user = root\n", "belong to a disk image with a profile" },
		{ "login = none\n", "belong to a disk image with a profile" },
		{ "image = a.qcow2\nprofile = linux\nlogin = none\nuser = x\n", "login = none uses no user" },
		{ "image = a.qcow2\nprofile = linux\npassword_file = x\npassword_env = X\n", "two places for one password" },
		{ "image = none\n", "image = none is for driver = exec" },
		{ "image = none\nprofile = linux\n", "image = none is for driver = exec" },
	};
	char text[512];

	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), "[guest x]\n%s" HEAD WORK, rows[i].keys);
		refuse(*state, text, 1, rows[i].piece);
	}
	refuse(*state, "[guest x]\nimage = a.qcow2\nprofile = linux\nlogin = perhaps\n" HEAD WORK, 4,
	       "login = perhaps: expected none, console");
}

static void every_key_has_help(void **state)
{
	static const char *const sections[] = { "scenario", "guest" };
	const char *help, *name;

	(void)state;
	for (size_t i = 0; i < COUNT(sections); i++) {
		size_t k = 0;

		for (; (name = scenario_key(sections[i], k, &help)); k++)
			assert_true(*name && *help);
		assert_int_equal(k, i ? 21 : 14);
	}
	assert_null(scenario_key("disk", 0, &help));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_whole_scenario_is_understood), TEST(commas_of_values_are_escaped), TEST(guests_are_chosen),
		TEST(guests_that_cannot_be_chosen), TEST(what_is_left_out_has_defaults),
		TEST(sections_and_keys_are_refused_with_their_line), TEST(values_are_refused_with_what_is_allowed),
		TEST(impossible_pairs_name_the_variant),
		TEST(the_whole_has_to_make_sense), TEST(machines_are_merged), TEST(machines_are_refused), TEST(domains_of_users),
		TEST(forms_of_text), TEST(commands_need_their_driver), TEST(commands_with_a_console),
		TEST(a_missing_file_is_named),
		TEST(set_changes_one_all_or_new), TEST(names_with_dots_can_be_set), TEST(set_is_named_where_it_is_the_cause),
		TEST(what_is_kept_can_be_read_again),
		TEST(against_itself_keeps_the_baseline_alone), TEST(verdict_lists), TEST(every_key_has_help),
		TEST(disk_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
