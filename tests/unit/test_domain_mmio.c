/* Machines without a PCI bus: their disks on virtio-mmio, in the XML and in what verification sees. */
#include "tests/unit/domain_fixture.h"

#include "host/boot_libvirt.h"
#include "host/tsc.h"

static void set_machine(struct fixture *f, const char *key, const char *value)
{
	struct error e = { 0 };

	if (machine_set(&f->machine, key, value, "test", 1, &e))
		fail_msg("%s = %s: %s", key, value, e.text);
}

static void disks_on_transports(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	set_machine(&f, "machine", "microvm");
	f.spec.ndisks = 2;
	make(&f);
	assert_string_equal("microvm", at(&f, "/domain/os/type/@machine"));
	assert_string_equal("2", at(&f, "count(/domain/devices/disk[address/@type='virtio-mmio'])"));
	assert_string_equal("0", at(&f, "count(//address[@type!='virtio-mmio'])"));
	assert_string_equal("kb-1", at(&f, "/domain/devices/disk[target/@dev='vdb'][alias/@name='ua-disk1']/serial"));
	/* what libvirt would add by itself goes to PCI, too; vmport and hpet are properties that the machine lacks */
	assert_string_equal("none", at(&f, "/domain/devices/controller[@type='usb']/@model"));
	assert_string_equal("0", at(&f, "count(//vmport|//timer)"));
	assert_string_equal("1", at(&f, "count(/domain/features/acpi)"));
	assert_string_equal("2", at(&f, "count(/domain/devices/serial[target/@type='isa-serial'])"));
	assert_string_equal("-global", at(&f, "/domain/q:commandline/q:arg[1]/@value"));
	assert_string_equal("virtio-mmio.force-legacy=false", at(&f, "/domain/q:commandline/q:arg[2]/@value"));
	assert_string_equal("2", at(&f, "count(/domain/q:commandline/q:arg)"));
	teardown(&f);
}

static void the_transport_has_ioeventfd(void **state)
{
	struct error e = { 0 };
	struct fixture f;

	(void)state;
	setup(&f);
	set_machine(&f, "machine", "microvm");
	set_machine(&f, "qemu_args", "-global virtio-mmio.force-legacy=true");
	set(&f, 0, "ioeventfd", "off");
	set(&f, 0, "packed", "on");
	make(&f);
	assert_string_equal("0", at(&f, "count(" DRIVER "/@ioeventfd)"));
	assert_string_equal("on", at(&f, DRIVER "/@packed"));
	assert_string_equal("virtio-mmio.ioeventfd=off", at(&f, "/domain/q:commandline/q:arg[4]/@value"));
	/* the scenario's own comes last and counts */
	assert_string_equal("virtio-mmio.force-legacy=true", at(&f, "/domain/q:commandline/q:arg[6]/@value"));
	f.spec.ndisks = 2;
	assert_int_equal(-1, domain_xml(&f.spec, &f.xml, &e));
	assert_non_null(strstr(e.text, "ioeventfd belongs to all transports"));
	teardown(&f);
}

static void what_it_cannot_have(void **state)
{
	struct error e = { 0 };
	struct fixture f;

	(void)state;
	setup(&f);
	set_machine(&f, "machine", "microvm");
	assert_true(machine_is_mmio(&f.machine));
	assert_null(machine_disk_conflict(&f.machine, &f.settings[0]));
	set(&f, 0, "iothread", "on");
	assert_null(machine_disk_conflict(&f.machine, &f.settings[0])); /* KVM may be found */
	assert_int_equal(-1, domain_xml(&f.spec, &f.xml, &e)); /* and was not */
	assert_non_null(strstr(e.text, "under KVM only"));
	error_clear(&e);
	f.spec.accel = ACCEL_KVM;
	make(&f);
	set(&f, 0, "iothread", "off");
	set(&f, 0, "model", "virtio-transitional");
	assert_non_null(strstr(machine_disk_conflict(&f.machine, &f.settings[0]), "virtio-blk-pci"));
	set(&f, 0, "model", "virtio");
	f.spec.kernel = NULL;
	f.spec.extra = &(struct domain_extra){ .path = "/s.qcow2", .format = "qcow2", .serial = "kb-system" };
	f.spec.nextra = 1;
	assert_int_equal(-1, domain_xml(&f.spec, &f.xml, &e));
	assert_non_null(strstr(e.text, "kernel"));
	set_machine(&f, "machine", "pc");
	assert_false(machine_is_mmio(&f.machine));
	set(&f, 0, "model", "virtio-transitional");
	assert_null(machine_disk_conflict(&f.machine, &f.settings[0]));
	teardown(&f);
}

static void paths(void **state)
{
	struct machine m = { .type = "microvm" };
	struct text t = { 0 };

	(void)state;
	domain_virtio_path(&m, 1, &t);
	assert_string_equal("/machine/peripheral/ua-disk1", text_get(&t));
	m.type = NULL;
	text_reset(&t);
	domain_virtio_path(&m, 1, &t);
	assert_string_equal("/machine/peripheral/ua-disk1/virtio-backend", text_get(&t));
	text_reset(&t);
	domain_transport_path("/machine/unattached/device[27]/virtio-mmio-bus.23", &t);
	assert_string_equal("/machine/unattached/device[27]", text_get(&t));
	text_free(&t);
}

/* Of a host that has the counter: no processor that this runs on is slower or faster. */
static void the_counter_has_a_speed(void **state)
{
	uint64_t one = tsc_khz(), other = tsc_khz();

	(void)state;
#if defined(__x86_64__)
	assert_in_range(one, 400000, 10000000);
	/* the clock is disciplined to within 500 ppm, and a look takes well under a microsecond in 30 ms */
	assert_in_range(other, one - one / 500, one + one / 500);
#else
	assert_int_equal(0, one);
	assert_int_equal(0, other);
#endif
}

/* Whether the guest's kernel is told how fast the counter is, with these arguments of the image. */
static bool speed_is_told(struct fixture *f, const char *type, enum accel accel, char *arguments)
{
	struct image image = { .kernel = "/k", .initrd = "/i", .arguments = arguments };
	struct boot_request r = { .name = "1", .machine = &f->machine, .accel = accel, .image = &image,
				  .settings = { &f->settings[0] }, .source = { "/a.raw" }, .ndisks = 1 };
	struct error e = { 0 };

	set_machine(f, "machine", type);
	text_reset(&f->xml);
	if (boot_libvirt_describe(&r, &f->xml, &e))
		fail_msg("%s", e.text);
	assert_non_null(strstr(at(f, "/domain/os/cmdline"), arguments));
	return strstr(at(f, "/domain/os/cmdline"), " tsc_early_khz=") != NULL;
}

static void the_kernel_is_told_the_speed(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	if (tsc_khz())
		assert_true(speed_is_told(&f, "microvm", ACCEL_TCG, "quiet tsc=reliable"));
	assert_false(speed_is_told(&f, "microvm", ACCEL_KVM, "quiet tsc=reliable")); /* told by the hypervisor */
	assert_false(speed_is_told(&f, "microvm", ACCEL_TCG, "quiet"));              /* not a kernel that knows the word */
	assert_false(speed_is_told(&f, "pc", ACCEL_TCG, "quiet tsc=reliable"));      /* has timers to measure by */
	teardown(&f);
}

/* Without it the guest would stand still with an empty console until the deadline. */
static void another_hosts_speed_is_asked_for(void **state)
{
	char unknown[] = "tsc=reliable", known[] = "tsc=reliable tsc_early_khz=2000000";
	struct image image = { .kernel = "/k", .initrd = "/i", .arguments = unknown };
	struct error e = { 0 };
	struct fixture f;
	struct boot_request r = { .name = "1", .machine = &f.machine, .accel = ACCEL_TCG, .image = &image, .elsewhere = true,
				  .settings = { &f.settings[0] }, .source = { "/a.raw" }, .ndisks = 1 };

	(void)state;
	setup(&f);
	set_machine(&f, "machine", "microvm");
	assert_int_equal(-1, boot_libvirt_describe(&r, &f.xml, &e));
	assert_int_equal(STATUS_USAGE, e.status);
	assert_non_null(strstr(e.text, "set kernel_args = tsc_early_khz=N"));
	error_clear(&e);
	image.arguments = known;
	assert_int_equal(0, boot_libvirt_describe(&r, &f.xml, &e));
	assert_string_equal(known, at(&f, "/domain/os/cmdline"));
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(disks_on_transports),
		cmocka_unit_test(the_transport_has_ioeventfd),
		cmocka_unit_test(what_it_cannot_have),
		cmocka_unit_test(paths),
		cmocka_unit_test(the_counter_has_a_speed),
		cmocka_unit_test(the_kernel_is_told_the_speed),
		cmocka_unit_test(another_hosts_speed_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
