/* host/run_file.c: what a resume must find again in run.json, and what it need not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/run_file.h"

static json_t *make_run(void)
{
	json_t *run = json_loads(
		"{\"scenario\":{\"name\":\"mini\",\"file\":\"mini.ini\",\"blocks\":2,\"margin\":0.0333333333333,\"fail_on\":[]},"
		"\"guests\":[{\"name\":\"linux\",\"vcpus\":1,\"memory_bytes\":268435456,\"kernel\":\"6.1.0-1\",\"arguments\":\"a\"}],"
		"\"variants\":[{\"name\":\"none\",\"settings\":{\"size\":\"16M\",\"ioeventfd\":\"off\"}}],"
		"\"cells\":[{\"name\":\"read\",\"argv\":[\"--rw=read\"]}],"
		"\"plan\":{\"expected_seconds\":10.5,\"boots\":[{\"boot\":1,\"trials\":[{\"trial\":1,\"variant\":\"none\"}]}]}}",
		0, NULL);

	assert_non_null(run);
	return run;
}

/* What is said when the value at a path of members and indices is another one today; "" when it is taken. */
static void expect(const char *section, const char *key, json_t *value, const char *differs)
{
	json_t *kept = make_run(), *now = make_run(), *part = json_object_get(now, section);
	struct error e = { 0 };
	int status;

	json_object_set_new(json_is_array(part) ? json_array_get(part, 0) : part, key, value);
	status = run_file_same_experiment(kept, now, "r1", &e);
	if (!*differs) {
		if (status)
			fail_msg("%s of %s: %s", key, section, e.text);
	} else if (status != -1 || e.status != STATUS_USAGE || !strstr(e.text, differs) || !strstr(e.text, "r1/scenario.ini")) {
		fail_msg("%s of %s: status %d, \"%s\"", key, section, status, e.text);
	}
	json_decref(kept);
	json_decref(now);
}

static void another_experiment_is_not_taken_up(void **state)
{
	(void)state;
	expect("scenario", "blocks", json_integer(3), "in \"scenario\" of run.json");
	expect("scenario", "margin", json_real(0.0333333333334), "in \"scenario\" of run.json");
	expect("guests", "vcpus", json_integer(2), "in \"guests\" of run.json");
	expect("variants", "settings", json_pack("{s:s,s:s}", "size", "16M", "ioeventfd", "on"), "in \"variants\" of run.json");
	expect("cells", "argv", json_pack("[s]", "--rw=randread"), "in \"cells\" of run.json");
	expect("plan", "boots", json_array(), "in \"plan\" of run.json");
}

static void the_same_experiment_is(void **state)
{
	(void)state;
	expect("scenario", "margin", json_real(0.1 / 3), ""); /* the file has twelve digits of it */
	expect("scenario", "file", json_string("r1/scenario.ini"), "");
	expect("scenario", "fail_on", json_pack("[s]", "worse"), "");
	expect("guests", "kernel", json_string("6.1.0-2"), "");
	expect("variants", "settings", json_pack("{s:s,s:s}", "ioeventfd", "off", "size", "16M"), "");
	expect("plan", "expected_seconds", json_real(99), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_experiment_is_not_taken_up),
		cmocka_unit_test(the_same_experiment_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
