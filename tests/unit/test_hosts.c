/* host/hosts.c: which host measures which block, what run.json says of them, what a resume needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/hosts.h"

struct hv {
	const char *name;
	bool here, closed, broken;
};

static int host(struct hv *hv, struct hv_host *h, struct error *e)
{
	*h = (struct hv_host){ .here = hv->here, .cpus = 8, .memory = 1 << 30, .cpu = "Model" };
	snprintf(h->name, sizeof(h->name), "%s", hv->name);
	return hv->broken ? error_set(e, STATUS_HOST, "nobody answers") : 0;
}

static void close_hv(struct hv *hv)
{
	hv->closed = true;
}

static const struct hv_ops ops = { .host = host, .close = close_hv };
static const struct scenario nothing;
static const char *const uri[] = { NULL, "qemu+ssh://a/system", "qemu+ssh://b/system" };

static void blocks_go_round(void **state)
{
	struct hv hv[3] = { { .name = "me", .here = true }, { .name = "a" }, { .name = "b" } };
	struct hv *all[3] = { &hv[0], &hv[1], &hv[2] };
	struct experiment x = { .ops = &ops, .scenario = &nothing };
	struct error e = { 0 };

	(void)state;
	assert_int_equal(hosts_make(&x, uri, all, 3, &e), 0);
	for (unsigned block = 0; block < 9; block++)
		assert_ptr_equal(hosts_of_block(&x, block)->hv, all[block % 3]);
	assert_ptr_equal(hosts_of_block(&x, 0), &x);
	assert_string_equal(hosts_label(&x, 0), "me");
	assert_string_equal(hosts_label(&x, 2), "b");
	hosts_close(&x);
	assert_true(!hv[0].closed && hv[1].closed && hv[2].closed);
}

static void alone_nothing_is_said_of_this_host(void **state)
{
	struct hv me = { .name = "me", .here = true }, far = { .name = "far" };
	struct hv *one[1] = { &me }, *other[1] = { &far };
	struct experiment x = { .ops = &ops, .scenario = &nothing }, y = x, never = x;
	struct error e = { 0 };
	json_t *hosts, *environment;

	(void)state;
	assert_ptr_equal(hosts_of_block(&never, 5), &never);
	assert_null(hosts_json(&never));
	assert_int_equal(hosts_make(&x, uri, one, 1, &e), 0);
	assert_null(hosts_json(&x));
	assert_int_equal(hosts_make(&y, uri + 1, other, 1, &e), 0);
	assert_int_equal(hosts_facts(&y, 0, &e), 0);
	hosts = hosts_json(&y);
	assert_int_equal(json_array_size(hosts), 1);
	environment = json_object_get(json_array_get(hosts, 0), "environment");
	assert_string_equal(json_string_value(json_object_get(environment, "host")), "far");
	assert_string_equal(json_string_value(json_object_get(environment, "cpu")), "Model");
	assert_null(json_object_get(environment, "microcode"));
	assert_null(json_object_get(environment, "load1")); /* ours is none of theirs */
	json_decref(hosts);
	json_decref(y.facts);
}

static void same_names_are_told_apart(void **state)
{
	struct hv hv[3] = { { .name = "same", .here = true }, { .name = "same" }, { .name = "b" } };
	struct hv *all[3] = { &hv[0], &hv[1], &hv[2] };
	struct experiment x = { .ops = &ops, .scenario = &nothing };
	struct error e = { 0 };

	(void)state;
	assert_int_equal(hosts_make(&x, uri, all, 3, &e), 0);
	assert_string_equal(hosts_label(&x, 0), "this host");
	assert_string_equal(hosts_label(&x, 1), "qemu+ssh://a/system");
	assert_string_equal(hosts_label(&x, 2), "b");
	hosts_close(&x);
}

static void a_resume_needs_the_same_hosts(void **state)
{
	struct hv hv[3] = { { .name = "me", .here = true }, { .name = "a" }, { .name = "b" } };
	struct hv *all[3] = { &hv[0], &hv[1], &hv[2] };
	struct experiment x = { .ops = &ops, .scenario = &nothing };
	json_t *kept = json_pack("{s:[{s:s},{s:s}]}", "hosts", "label", "me", "label", "a");
	json_t *turned = json_pack("{s:[{s:s},{s:s}]}", "hosts", "label", "a", "label", "me"), *alone = json_object();
	struct error e = { 0 };

	(void)state;
	assert_int_equal(hosts_make(&x, uri, all, 2, &e), 0);
	assert_int_equal(hosts_same(&x, kept, &e), 0);
	assert_int_equal(hosts_same(&x, turned, &e), -1);
	assert_string_equal(e.text, "host 1 of the run was a, and now it would be me: give --connect in the order of then");
	error_clear(&e);
	assert_int_equal(hosts_same(&x, alone, &e), -1);
	assert_string_equal(e.text, "the run has its blocks on 1 host, and here are 2: give --connect as it was given then");
	error_clear(&e);
	hosts_close(&x);
	assert_int_equal(hosts_same(&x, alone, &e), 0);
	assert_int_equal(hosts_same(&x, kept, &e), -1);
	json_decref(kept);
	json_decref(turned);
	json_decref(alone);
}

/* What libvirt tells of the CPU of a host that is called as it was. */
static void a_resume_needs_their_cpus(void **state)
{
	struct hv hv[2] = { { .name = "a" }, { .name = "b" } };
	struct hv *all[2] = { &hv[0], &hv[1] };
	struct experiment x = { .ops = &ops, .scenario = &nothing }, alone = x;
	json_t *kept = json_pack("{s:[{s:s,s:{s:s,s:s}},{s:s,s:{s:s,s:s,s:s}}]}", "hosts", "label", "a", "environment", "host", "a", "cpu",
				 "Model", "label", "b", "environment", "host", "b", "cpu", "Model", "microcode", "0x1");
	json_t *one = json_pack("{s:{s:s}}", "environment", "host", "b");
	struct error e = { 0 };

	(void)state;
	assert_int_equal(hosts_make(&x, uri + 1, all, 2, &e), 0);
	assert_int_equal(hosts_facts(&x, 0, &e), 0);
	assert_int_equal(hosts_same(&x, kept, &e), 0); /* nobody tells the microcode of b now */
	json_object_set_new(json_object_get(json_array_get(json_object_get(kept, "hosts"), 1), "environment"), "cpu", json_string("Older"));
	assert_int_equal(hosts_same(&x, kept, &e), -1);
	assert_non_null(strstr(e.text, "another host (cpu was Older, is Model)"));
	error_clear(&e);
	hosts_close(&x);
	json_decref(x.facts);
	assert_int_equal(hosts_make(&alone, uri + 1, all, 1, &e), 0);
	assert_int_equal(hosts_facts(&alone, 0, &e), 0);
	assert_int_equal(hosts_same(&alone, one, &e), -1);
	assert_non_null(strstr(e.text, "another host (host was b, is a)"));
	error_clear(&e);
	json_decref(alone.facts);
	json_decref(kept);
	json_decref(one);
}

static void a_host_that_does_not_answer_is_named(void **state)
{
	struct hv hv[2] = { { .name = "me", .here = true }, { .name = "a", .broken = true } };
	struct hv *all[2] = { &hv[0], &hv[1] };
	struct experiment x = { .ops = &ops, .scenario = &nothing };
	struct error e = { 0 };

	(void)state;
	assert_int_equal(hosts_make(&x, uri, all, 2, &e), -1);
	assert_string_equal(e.text, "qemu+ssh://a/system: nobody answers");
	hosts_close(&x);
	assert_true(hv[1].closed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_go_round),
		cmocka_unit_test(alone_nothing_is_said_of_this_host),
		cmocka_unit_test(same_names_are_told_apart),
		cmocka_unit_test(a_resume_needs_the_same_hosts),
		cmocka_unit_test(a_resume_needs_their_cpus),
		cmocka_unit_test(a_host_that_does_not_answer_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
