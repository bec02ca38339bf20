/* A domain of two disks, made and looked into by XPath, for the tests of host/domain*.c. */
#ifndef TEST_DOMAIN_FIXTURE_H
#define TEST_DOMAIN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/domain.h"
#include "tests/unit/xpath.h"

struct fixture {
	struct settings settings[2];
	struct domain_disk disk[2];
	struct machine machine;
	struct domain_spec spec;
	struct text xml;
};

static inline void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	for (int k = 0; k < 2; k++) {
		settings_default(&f->settings[k]);
		f->settings[k].size = 1 << 20;
		f->settings[k].cache = CACHE_NONE;
		f->disk[k] = (struct domain_disk){ .settings = &f->settings[k], .source = k ? "/b.raw" : "/a.raw",
						     .serial = k ? "kb-1" : "kb-0" };
	}
	machine_default(&f->machine);
	f->machine.vcpus = 2;
	f->machine.memory = 64u << 20;
	f->spec = (struct domain_spec){ .name = "kickbench-1", .machine = &f->machine, .accel = ACCEL_TCG, .kernel = "/k",
					.initrd = "/i", .cmdline = "quiet", .owner_host = "h&1", .owner_pid = 77, .owner_started = 123456789012,
					.disk = f->disk, .ndisks = 1 };
}

static inline void set(struct fixture *f, int disk, const char *key, const char *value)
{
	struct error e = {0};

	if (settings_set(&f->settings[disk], key, value, "test", 1, &e))
		fail_msg("%s = %s: %s", key, value, e.text);
}

static inline void teardown(struct fixture *f)
{
	settings_free(&f->settings[0]);
	settings_free(&f->settings[1]);
	machine_free(&f->machine);
	text_free(&f->xml);
}

static inline void make(struct fixture *f)
{
	struct error e = {0};

	text_reset(&f->xml);
	if (domain_xml(&f->spec, &f->xml, &e))
		fail_msg("domain_xml: %s", e.text);
}

/* Static: overwritten by the next call. */
static inline const char *at(const struct fixture *f, const char *path)
{
	return xpath_string(text_get(&f->xml), f->xml.length, path);
}

#define DRIVER "/domain/devices/disk[target/@dev='vda']/driver"

static inline json_t *verify(struct fixture *f, const struct domain_evidence *have, int mismatches)
{
	struct text out = {0};
	int n = domain_verify(&f->settings[0], 0, have, &out);
	json_t *root = json_loads(text_get(&out), 0, NULL);

	assert_non_null(root);
	if (n != mismatches)
		fail_msg("%d mismatches, not %d: %s", n, mismatches, text_get(&out));
	assert_int_equal(mismatches, json_array_size(json_object_get(root, "mismatch")));
	text_free(&out);
	return root;
}

static inline const char *verified(const json_t *root, const char *key)
{
	const char *s = json_string_value(json_object_get(json_object_get(root, "verified"), key));

	return s ? s : "(not verified)";
}

#endif
