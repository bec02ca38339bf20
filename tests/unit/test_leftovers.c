/* host/leftovers.c: guests of dead owners are ended, those of living ones and of strangers are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <cmocka.h>

#include "host/domain.h"
#include "host/leftovers.h"
#include "host/process.h"
#include "tests/unit/child.h"

/* A connection that only knows names and XML. */
struct hv {
	struct { char name[32]; struct text xml; bool destroyed; } guest[5];
	size_t count;
	bool blind, stubborn;
};

static int nothing(void)
{
	return 0;
}

static void add(struct hv *hv, const char *name, const char *host, long pid, uint64_t started)
{
	struct settings settings;
	struct domain_disk disk = { .settings = &settings, .source = "/x", .serial = "kb-disk0" };
	struct machine machine = { .vcpus = 1, .memory = 64 << 20 };
	struct domain_spec spec = { .name = name, .machine = &machine, .accel = ACCEL_TCG, .kernel = "/k", .initrd = "/i",
				    .cmdline = "", .owner_host = host, .owner_pid = pid, .owner_started = started, .disk = &disk, .ndisks = 1 };
	struct error e = { 0 };

	settings_default(&settings);
	settings.cache = CACHE_NONE;
	snprintf(hv->guest[hv->count].name, sizeof(hv->guest[0].name), "%s", name);
	if (domain_xml(&spec, &hv->guest[hv->count++].xml, &e))
		fail_msg("%s", e.text);
}

static int each(struct hv *hv, void (*fn)(void *, const char *, const char *), void *context, struct error *e)
{
	if (hv->blind)
		return error_set(e, STATUS_HOST, "no connection");
	for (size_t i = 0; i < hv->count; i++)
		fn(context, hv->guest[i].name, text_get(&hv->guest[i].xml));
	return 0;
}

static int destroy_by_name(struct hv *hv, const char *name, struct error *e)
{
	if (hv->stubborn)
		return error_set(e, STATUS_HOST, "cannot end %s", name);
	for (size_t i = 0; i < hv->count; i++)
		hv->guest[i].destroyed |= !strcmp(hv->guest[i].name, name);
	return 0;
}

static int owner(const char *xml, char *host, size_t room, long *pid, uint64_t *started)
{
	assert_true(room >= DOMAIN_HOST_SIZE);
	return domain_owner(xml, host, pid, started);
}

static const struct hv_ops ops = { .each = each, .destroy_by_name = destroy_by_name, .owner = owner };

static unsigned said;

static void say(const char *line)
{
	said += strstr(line, "kickbench-dead") != NULL || strstr(line, "kickbench-reused") != NULL;
}

static void only_orphans_are_ended(void **state)
{
	struct hv hv = { 0 };
	struct error e = { 0 };
	int told;
	pid_t dead = child_start(nothing, &told);
	uint64_t started = process_started(dead);
	struct utsname here;

	(void)state;
	uname(&here);
	child_kill(dead);
	child_collect(dead);
	add(&hv, "kickbench-dead", here.nodename, dead, started);
	add(&hv, "kickbench-living", here.nodename, getpid(), process_started(getpid()));
	add(&hv, "kickbench-reused", NULL, getpid(), process_started(getpid()) + 1);
	snprintf(hv.guest[3].name, sizeof(hv.guest[3].name), "kickbench-stranger");
	text_add(&hv.guest[hv.count++].xml, "<domain type='qemu'><name>kickbench-stranger</name></domain>");
	add(&hv, "kickbench-elsewhere", "another.host", dead, started);
	said = 0;
	assert_int_equal(leftovers_destroy(&ops, &hv, say, &e), 2);
	assert_true(hv.guest[0].destroyed && hv.guest[2].destroyed);
	assert_false(hv.guest[1].destroyed || hv.guest[3].destroyed || hv.guest[4].destroyed);
	assert_int_equal(said, 2);
	hv.stubborn = true;
	assert_int_equal(leftovers_destroy(&ops, &hv, say, &e), -1);
	assert_string_equal(e.text, "cannot end kickbench-dead");
	error_clear(&e);
	hv.blind = true;
	assert_int_equal(leftovers_destroy(&ops, &hv, NULL, &e), -1);
	assert_string_equal(e.text, "no connection");
	for (size_t i = 0; i < hv.count; i++)
		text_free(&hv.guest[i].xml);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(only_orphans_are_ended) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
