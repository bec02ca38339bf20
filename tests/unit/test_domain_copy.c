/*
 * Copies of users' domains: whole ones against tests/golden/domain-CASE/copy.xml (KB_UPDATE_GOLDEN=1 writes them), single
 * promises by XPath over whatever came out, and the refusals. The originals are written after libvirt's documentation
 * of the domain XML and after what `virsh dumpxml` of a running domain shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/domain_copy.h"
#include "tests/unit/xpath.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 16);
	size_t n;

	if (!f)
		fail_msg("%s is missing", path);
	n = fread(text, 1, (1 << 16) - 1, f);
	assert_true(n < (1 << 16) - 1);
	fclose(f);
	return text;
}

static char *original_of(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "tests/golden/domain-%s/original.xml", name);
	return read_file(path);
}

struct wanted {
	const char *name; /* of the case */
	struct domain_wishes wishes;
	enum accel accel;
	size_t ndisks;
	const char *machine[8][2]; /* keys and values of the scenario */
	const char *disk[4][2];
};

struct made {
	char *original;
	struct domain_original facts;
	struct text xml;
	struct error e;
	int status;
};

static char *const instead[] = { (char *)"/o/0", (char *)"/o/1", (char *)"/o/2", NULL };

/* What the copy is made of: as boot.c does it. */
static void make(const struct wanted *w, const char *original, struct made *m)
{
	struct settings settings[2];
	struct domain_disk disk[2];
	struct machine machine;
	struct domain_copy copy = { .xml = original, .original = &m->facts, .wishes = w->wishes, .instead = instead };
	struct domain_spec spec = { .name = "kickbench-7-1", .machine = &machine, .accel = w->accel, .stand_in = "/stand-in",
				    .owner_host = "here", .owner_pid = 7, .owner_started = 8, .disk = disk, .ndisks = w->ndisks };
	struct error e = { 0 };

	*m = (struct made){ .status = -1 };
	if (domain_original_read(original, &w->wishes, &m->facts, &m->e))
		return;
	machine_default(&machine);
	machine.memory = machine.vcpus = 0;
	for (size_t i = 0; i < COUNT(w->machine) && w->machine[i][0]; i++)
		if (machine_set(&machine, w->machine[i][0], w->machine[i][1], "f", 1, &e))
			fail_msg("%s", e.text);
	for (size_t k = 0; k < 2; k++) {
		settings_default(&settings[k]);
		settings[k].cache = CACHE_NONE;
		settings[k].size = 1 << 20;
		for (size_t i = 0; i < COUNT(w->disk) && w->disk[i][0]; i++)
			if (settings_set(&settings[k], w->disk[i][0], w->disk[i][1], "f", 1, &e))
				fail_msg("%s", e.text);
		disk[k] = (struct domain_disk){ .settings = &settings[k], .source = k ? "/t1" : "/t0", .serial = k ? "kb-disk1" : "kb-disk0" };
	}
	spec.kernel = machine.kernel ? machine.kernel : m->facts.kernel;
	spec.initrd = machine.initrd ? machine.initrd : m->facts.initrd;
	spec.cmdline = m->facts.cmdline;
	m->status = domain_copy_xml(&copy, &spec, &m->xml, &m->e);
	machine_free(&machine);
	settings_free(&settings[0]);
	settings_free(&settings[1]);
}

static void free_made(struct made *m)
{
	domain_original_free(&m->facts);
	text_free(&m->xml);
	free(m->original);
	m->original = NULL;
}

static void make_case(const struct wanted *w, struct made *m)
{
	char *original = original_of(w->name);

	make(w, original, m);
	m->original = original;
	if (m->status)
		fail_msg("%s: %s", w->name, m->e.text);
}

/* Static: overwritten by the next call. */
static const char *at(const char *xml, const char *path)
{
	return xpath_string(xml, strlen(xml), path);
}

static void check(const struct made *m, const char *path, const char *want)
{
	const char *have = at(text_get(&m->xml), path);

	if (strcmp(have, want))
		fail_msg("%s is \"%s\", expected \"%s\", in\n%s", path, have, want, text_get(&m->xml));
}

static const struct wanted full = { .name = "full", .accel = ACCEL_TCG, .ndisks = 1,
				    .disk = { { "ioeventfd", "on" }, { "iothread", "on" }, { "queues", "2" } } };
static const struct wanted live = { .name = "live", .wishes.keep_network = true, .accel = ACCEL_TCG, .ndisks = 2 };
static const struct wanted efi = { .name = "efi", .wishes.drop_host_devices = true, .accel = ACCEL_KVM, .ndisks = 1,
				   .machine = { { "vcpus", "3" }, { "memory", "512M" }, { "cpu", "host" } },
				   .disk = { { "vcpupin", "0" }, { "backend", "null" } } };
static const struct wanted small = { .name = "small", .accel = ACCEL_TCG, .ndisks = 1,
				     .machine = { { "kernel", "/k" }, { "initrd", "/i" }, { "machine", "pc" }, { "emulator", "/q" },
						  { "firmware", "/bios" }, { "qemu.x-mine", "5" }, { "qemu_args", "-d 'guest errors'" } } };

static void golden(void **state)
{
	static const struct wanted *const cases[] = { &full, &live, &efi, &small };
	const char *update = getenv("KB_UPDATE_GOLDEN");

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made m;
		char path[256], *want;

		make_case(cases[i], &m);
		snprintf(path, sizeof(path), "tests/golden/domain-%s/copy.xml", cases[i]->name);
		if (update && !strcmp(update, "1")) {
			FILE *f = fopen(path, "w");

			assert_non_null(f);
			fputs(text_get(&m.xml), f);
			fclose(f);
		}
		want = read_file(path);
		if (strcmp(want, text_get(&m.xml)))
			fail_msg("the copy is not %s but\n%s", path, text_get(&m.xml));
		free(want);
		free_made(&m);
	}
}

static void facts_of_the_original(void **state)
{
	struct made m;

	(void)state;
	make_case(&full, &m);
	assert_string_equal(m.facts.name, "mail & web");
	assert_string_equal(m.facts.cpu, "host-passthrough");
	assert_string_equal(m.facts.emulator, "/usr/bin/qemu-system-x86_64");
	assert_null(m.facts.kernel);
	assert_false(m.facts.emulated);
	assert_int_equal(m.facts.vcpus, 2); /* current */
	assert_int_equal(m.facts.memory, (uint64_t)2 << 30);
	/* the CD-ROM, the read-only disk and the empty floppy drive are nobody's to write to */
	assert_int_equal(m.facts.nfiles, 2);
	assert_string_equal(m.facts.file[0].path, "/images/root & more.qcow2");
	assert_string_equal(m.facts.file[0].format, "qcow2");
	assert_string_equal(m.facts.file[0].target, "vda");
	assert_string_equal(m.facts.file[1].path, "/dev/vg/data");
	assert_string_equal(m.facts.file[1].format, "raw");
	free_made(&m);
	make_case(&efi, &m);
	assert_int_equal(m.facts.nfiles, 2);
	assert_string_equal(m.facts.file[0].format, "raw"); /* not said: libvirt takes raw */
	assert_int_equal(m.facts.file[1].kind, DOMAIN_FILE_FIRMWARE);
	assert_string_equal(m.facts.file[1].path, "/var/lib/libvirt/qemu/nvram/efi_VARS.fd");
	free_made(&m);
	make_case(&small, &m);
	assert_int_equal(m.facts.memory, 64 << 20);
	assert_true(m.facts.emulated);
	assert_int_equal(m.facts.vcpus, 1);
	free_made(&m);
}

static void nothing_of_the_original_is_shared(void **state)
{
	static const struct wanted *const cases[] = { &full, &live, &efi, &small };
	static const char *const none[] = {
		"/domain/@id", "//uuid", "//entry[@name='uuid']", "//seclabel", "//shareable", "//resource", "//graphics", "//redirdev",
		"//channel[@type='spicevmc']", "//backingStore", "//source/@index", "//serial/source", "//serial/log", "//@tty",
		"//parallel/source", "//channel/source", "//hostdev", "//filesystem", "//backend[@type='passthrough']",
		"//iothreadpin[@cpuset]", "//controller/driver/@iothread", "//cid/@address", "//alias[not(starts-with(@name,'ua-'))]",
		"//*[@*[contains(.,'.qcow2')] or @file='/images/efi.img' or @dev='/dev/vg/data']", "//on_reboot[.!='destroy']",
		"//on_crash[.!='destroy']", "//on_poweroff[.!='destroy']", "//video/model[@type='qxl']", "//audio[@type!='none']",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made m;
		char path[256];

		make_case(cases[i], &m);
		for (size_t k = 0; k < COUNT(none); k++) {
			snprintf(path, sizeof(path), "count(%s)", none[k]);
			check(&m, path, "0");
		}
		check(&m, "string(/domain/name)", "kickbench-7-1");
		check(&m, "count(/domain/name)", "1");
		check(&m, "count(//kb:owner)", "1");
		check(&m, "concat(//kb:owner/@pid,' ',//kb:owner/@started,' ',//kb:owner/@host)", "7 8 here");
		check(&m, "count(/domain/devices/serial[@type='pty'])", "2");
		check(&m, "concat(//serial[1]/target/@port,//serial[2]/target/@port)", "01");
		check(&m, "count(//on_reboot)", "1");
		free_made(&m);
	}
}

static void what_the_guest_sees_stays(void **state)
{
	struct made m;

	(void)state;
	make_case(&full, &m);
	check(&m, "string(/domain/os/type/@machine)", "pc-q35-7.2");
	check(&m, "string(//disk[target/@dev='vda']/source/@file)", "/o/0");
	check(&m, "string(//disk[target/@dev='vda']/driver/@type)", "qcow2");
	check(&m, "string(//disk[target/@dev='vda']/driver/@queues)", "2");
	check(&m, "string(//disk[target/@dev='vda']/address/@bus)", "0x04");
	check(&m, "string(//disk[target/@dev='vda']/serial)", "ROOT");
	check(&m, "count(//disk[target/@dev='vda']/driver/@*[name()='cache' or name()='io' or name()='iothread'])", "0");
	check(&m, "concat(//disk[target/@dev='vdc']/@type,' ',//disk[target/@dev='vdc']/source/@file)", "file /o/1");
	check(&m, "string(//disk[@device='cdrom']/source/@file)", "/images/install.iso");
	check(&m, "string(//disk[target/@dev='sdb']/source/@name)", "shared");
	check(&m, "string(//q:arg[2]/@value)", "isa-debugcon.iobase=0x402");
	check(&m, "count(//interface)", "0");
	/* under TCG the host's CPU cannot be had; topology, vCPUs and memory stay */
	check(&m, "concat(/domain/@type,' ',/domain/cpu/@mode,' ',/domain/cpu/topology/@cores)", "qemu maximum 4");
	check(&m, "concat(/domain/vcpu,' ',/domain/vcpu/@current,' ',/domain/memory,' ',/domain/memory/@unit)", "4 2 2 GiB");
	check(&m, "concat(count(//vcpupin),' ',count(//emulatorpin),' ',//shares)", "3 1 512");
	free_made(&m);
	make_case(&live, &m);
	check(&m, "concat(//interface/mac/@address,' ',//interface/alias/@name,count(//interface/target))", "52:54:00:00:00:01 ua-net0");
	check(&m, "concat(/domain/os/kernel,' ',/domain/os/initrd,' ',/domain/os/cmdline)", "/boot/k /boot/i console=ttyS0");
	check(&m, "string(//serial[3]/@type)", "null");
	free_made(&m);
}

static void the_test_disks(void **state)
{
	struct made m;
	char target[DOMAIN_TARGET_SIZE];

	(void)state;
	make_case(&full, &m);
	/* vda and vdc are the domain's */
	check(&m, "string(//disk[alias/@name='ua-disk0']/target/@dev)", "vdb");
	domain_target(text_get(&m.xml), 0, target);
	assert_string_equal(target, "vdb");
	domain_target(text_get(&m.xml), 1, target);
	assert_string_equal(target, "");
	check(&m, "concat(//disk[last()]/alias/@name,' ',//disk[last()]/serial,' ',//disk[last()]/source/@file)", "ua-disk0 kb-disk0 /t0");
	check(&m, "count(//disk[alias/@name='ua-disk0']/address)", "0");
	check(&m, "concat(//disk[last()]/driver/@ioeventfd,//disk[last()]/driver/@iothread,//disk[last()]/driver/@queues)", "on12");
	check(&m, "string(/domain/iothreads)", "1");
	check(&m, "count(/domain/iothreads)", "1");
	free_made(&m);
	make_case(&live, &m);
	check(&m, "concat(//disk[alias/@name='ua-disk0']/target/@dev,//disk[alias/@name='ua-disk1']/target/@dev)", "vdavdc");
	free_made(&m);
	make_case(&efi, &m);
	/* a disk without a file stands on the stand-in */
	check(&m, "string(//disk[alias/@name='ua-disk0']/source/@file)", "/stand-in");
	check(&m, "string(//q:device[@alias='ua-disk0']//q:property[@name='drive']/@value)", "kickbench-disk0");
	free_made(&m);
}

static void what_the_scenario_sets(void **state)
{
	struct made m;

	(void)state;
	make_case(&efi, &m);
	check(&m, "concat(/domain/@type,' ',/domain/vcpu,' ',/domain/memory,count(//topology))", "kvm 3 5242881");
	check(&m, "concat(count(/domain/cpu),/domain/cpu/@mode,' ',/domain/cpu/topology/@cores)", "1host-passthrough 3");
	check(&m, "concat(count(//vcpupin[@cpuset='0']),count(/domain/cputune))", "31");
	check(&m, "normalize-space(/domain/os/nvram)", "/o/1");
	check(&m, "string(/domain/os/nvram/@template)", "/usr/share/OVMF/OVMF_VARS_4M.fd");
	check(&m, "string(/domain/os/@firmware)", "efi");
	free_made(&m);
	make_case(&small, &m);
	check(&m, "concat(/domain/os/type/@machine,' ',/domain/os/kernel,' ',/domain/os/initrd,' ',//emulator)", "pc /k /i /q");
	check(&m, "concat(/domain/os/loader,' ',/domain/os/loader/@type)", "/bios rom");
	check(&m, "string(//q:property[@name='x-mine']/@value)", "5");
	check(&m, "concat(//q:arg[1]/@value,//q:arg[2]/@value)", "-dguest errors");
	check(&m, "count(/domain/os/cmdline)", "0");
	free_made(&m);
}

/* The scenario's firmware takes the place of the domain's and of its variables. */
static void another_firmware(void **state)
{
	struct wanted w = efi;
	struct made m;

	(void)state;
	w.machine[0][0] = "firmware";
	w.machine[0][1] = "/bios";
	make_case(&w, &m);
	check(&m, "concat(count(/domain/os/loader),/domain/os/loader,count(/domain/os/nvram),count(/domain/os/firmware),/domain/os/@firmware)",
	      "1/bios00");
	free_made(&m);
}

#define DOMAIN(body) "<domain type='qemu'><name>n</name><memory>65536</memory><os><type>hvm</type></os><devices>" body "</devices></domain>"

static void refusals(void **state)
{
	static const struct { const char *xml, *message; } rows[] = {
		{ "", "this is no XML" },
		{ "name = mine\n", "this is no XML" },
		{ "<domain type='qemu'><name>", "this is no XML" },
		{ "<network><name>n</name></network>", "this is no domain: its root element is <network>" },
		{ "<domainsnapshot/>", "this is no domain" },
		{ "<domain><name>n</name></domain>", "it is of type (none)" },
		{ "<domain type='lxc'><name>n</name><os><type>exe</type></os></domain>", "it is of type lxc" },
		{ "<domain type='kvm'><os><type>linux</type></os></domain>", "it runs linux" },
		{ "<domain type='qemu'><os><type arch='aarch64'>hvm</type></os></domain>", "it is for aarch64" },
		{ "<domain type='qemu'><memory>1</memory><os><type>hvm</type></os></domain>", "it has no name" },
		{ "<domain type='qemu'><name>n</name><os><type>hvm</type></os></domain>", "how much memory" },
		{ "<domain type='qemu'><name>n</name><memory unit='parsec'>3</memory></domain>", "how much memory" },
		{ "<domain type='qemu'><name>n</name><memory unit='TiB'>99999999999</memory></domain>", "how much memory" },
		{ DOMAIN("<hostdev type='pci'/><hostdev type='usb'/><tpm><backend type='passthrough'/></tpm>"),
		  "it has devices of the host, which a copy cannot share: hostdev (pci), hostdev (usb), tpm passthrough "
		  "(host_devices = drop leaves them out)" },
		{ DOMAIN("<filesystem type='mount'/>"), "filesystem (mount)" },
		{ DOMAIN("<disk type='block' device='lun'><source dev='/dev/sg0'/></disk>"), "disk (lun)" },
		{ DOMAIN("<input type='evdev'/>"), "input (evdev)" },
		{ "<domain type='qemu' xmlns:q='http://libvirt.org/schemas/domain/qemu/1.0'><name>n</name><memory>65536</memory>"
		  "<q:commandline><q:arg value='-drive'/><q:arg value='file=/images/x'/></q:commandline></domain>", "qemu:commandline" },
		{ "<domain type='qemu' xmlns:q='http://libvirt.org/schemas/domain/qemu/1.0'><name>n</name><memory>65536</memory>"
		  "<q:commandline><q:arg value='--blockdev'/></q:commandline></domain>", "qemu:commandline" },
		{ DOMAIN("<disk type='network'><source protocol='rbd' name='p/i'/><target dev='vda'/></disk>"), "disk vda is of type network" },
		{ DOMAIN("<disk type='volume'><source pool='p' volume='v'/><target dev='vdb'/></disk>"), "disk vdb is of type volume" },
		{ DOMAIN("<disk type='file'><target dev='vda'/></disk>"), "disk vda has no file" },
		{ DOMAIN("<disk type='file'><source file='a.img'/><target dev='vda'/></disk>"), "disk vda has a path that is not absolute" },
		{ DOMAIN("<disk type='file'><source file='/a'><encryption format='luks'/></source><target dev='vda'/></disk>"),
		  "disk vda is encrypted" },
		{ DOMAIN("<disk type='file'><source file='/a'/></disk>"), "a disk of it has no target" },
		{ "<domain type='qemu'><name>n</name><memory>65536</memory><os><loader type='pflash' readonly='no'>/v</loader></os></domain>",
		  "its firmware /v is a file that the guest writes to" },
		{ "<domain type='qemu'><name>n</name><memory>65536</memory><os><nvram type='network'/></os></domain>", "nvram of type network" },
		{ DOMAIN("<disk type='file' device='cdrom'><target dev='sda'/><alias name='ua-disk0'/></disk>"), "has the alias ua-disk0" },
	};
	static const struct wanted plain = { .accel = ACCEL_TCG, .ndisks = 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made m;

		make(&plain, rows[i].xml, &m);
		if (m.status != -1 || !strstr(m.e.text, rows[i].message))
			fail_msg("%s\ngives %d: %s\nexpected: %s", rows[i].xml, m.status, m.e.text, rows[i].message);
		assert_int_equal(m.e.status, STATUS_USAGE);
		assert_int_equal(m.xml.length, 0);
		free_made(&m);
	}
}

static void sizes_of_a_domain_with_cells(void **state)
{
	static const char cells[] = "<domain type='kvm'><name>n</name><memory>65536</memory><vcpu>2</vcpu><cpu><numa>"
				    "<cell id='0' cpus='0-1' memory='65536'/></numa></cpu></domain>";
	struct wanted w = { .accel = ACCEL_KVM, .ndisks = 1 };
	struct made m;

	(void)state;
	make(&w, cells, &m);
	assert_int_equal(m.status, 0);
	free_made(&m);
	w.machine[0][0] = "vcpus";
	w.machine[0][1] = "1";
	make(&w, cells, &m);
	assert_int_equal(m.status, -1);
	assert_non_null(strstr(m.e.text, "NUMA cells"));
	free_made(&m);
}

static void units_of_memory(void **state)
{
	static const struct { const char *unit; uint64_t bytes; } rows[] = {
		{ "b", 7 }, { "KB", 7000 }, { "KiB", 7168 }, { "MB", 7000000 }, { "M", 7340032 }, { "GiB", 7516192768 }, { "T", 7696581394432 },
	};
	static const struct wanted plain = { .accel = ACCEL_TCG };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char xml[256];
		struct made m;

		snprintf(xml, sizeof(xml), "<domain type='qemu'><name>n</name><memory unit='%s'> 7 </memory></domain>", rows[i].unit);
		make(&plain, xml, &m);
		assert_int_equal(m.facts.memory, rows[i].bytes);
		free_made(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),
		cmocka_unit_test(facts_of_the_original),
		cmocka_unit_test(nothing_of_the_original_is_shared),
		cmocka_unit_test(what_the_guest_sees_stays),
		cmocka_unit_test(the_test_disks),
		cmocka_unit_test(what_the_scenario_sets),
		cmocka_unit_test(another_firmware),
		cmocka_unit_test(refusals),
		cmocka_unit_test(sizes_of_a_domain_with_cells),
		cmocka_unit_test(units_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
