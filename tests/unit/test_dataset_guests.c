/* Run folders of several guests, accelerators and hosts: what is told of whom, and what is not added up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/compare.h"
#include "host/dataset.h"
#include "tests/unit/run_folder.h"

static struct folder two_guests(void)
{
	return (struct folder){ .cell = { "linux: read", "bsd: read" }, .variant = { "none", "idx" }, .blocks = 4, .repeats = 1,
				.pairing = "boots", .primary = "iops" };
}

static struct dataset *load(const struct folder *f)
{
	struct error e = { 0 };
	struct dataset *d;

	if (dataset_load(f->path, &d, &e))
		fail_msg("%s", e.text);
	return d;
}

static json_int_t seen(const struct dataset *d, unsigned variant, const char *set, const char *text)
{
	return json_integer_value(json_object_get(json_object_get(json_array_get(d->effective, variant), set), text));
}

static enum verdict verdict(const struct dataset *d, unsigned cell)
{
	struct error e = { 0 };
	struct comparison *c;
	enum verdict v;

	if (compare(d, &c, &e))
		fail_msg("%s", e.text);
	v = comparison_find(c, 1, cell)->verdict;
	comparison_free(c);
	return v;
}

/* The driver of guest bsd does not negotiate what variant idx wants. */
static void bsd_without(const struct folder_place *at, struct folder_trial *t)
{
	if (at->variant == 1 && at->cell == 1)
		t->mismatch = "event_idx";
	t->iops = at->variant == 1 ? 2 * t->iops : t->iops;
}

static void a_guest_without_the_setting_gets_no_verdict(void **state)
{
	struct folder f = two_guests();
	struct dataset *d;

	(void)state;
	f.shape = bsd_without;
	folder_make(&f);
	d = load(&f);
	assert_int_equal(verdict(d, 0), VERDICT_BETTER);
	assert_int_equal(verdict(d, 1), VERDICT_NOT_EFFECTIVE);
	assert_int_equal(seen(d, 1, "mismatch", "bsd: event_idx: wanted on, is off"), 4);
	assert_int_equal(seen(d, 1, "verified", "ioeventfd = on"), 8); /* in both: without a name */
	assert_int_equal(json_object_size(json_object_get(json_array_get(d->effective, 0), "mismatch")), 0);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(d->effective, 1), "boots")), 8);
	dataset_free(d);
	folder_remove(&f);
}

static void told(const struct folder_place *at, struct folder_trial *t)
{
	(void)at;
	t->cpu = "qemu64";
	t->host = "one";
}

static void moved(const struct folder_place *at, struct folder_trial *t)
{
	told(at, t);
	if (at->block == 4)
		t->host = "two";
}

static void accelerated(const struct folder_place *at, struct folder_trial *t)
{
	told(at, t);
	if (at->block >= 3 && at->cell == 1)
		t->accel = "kvm";
}

/* Variants may set the CPU: each side has its own. */
static void cpus(const struct folder_place *at, struct folder_trial *t)
{
	told(at, t);
	t->cpu = at->variant ? "max" : "qemu64";
}

static void half_told(const struct folder_place *at, struct folder_trial *t)
{
	if (at->block % 2)
		told(at, t);
}

/* Shape, cells that are judged, and what is told of variant 0. */
static void one(void (*shape)(const struct folder_place *, struct folder_trial *), bool first, bool second, const char *words)
{
	struct folder f = two_guests();
	struct dataset *d;

	f.shape = shape;
	folder_make(&f);
	d = load(&f);
	assert_int_equal(verdict(d, 0) != VERDICT_NOT_EFFECTIVE, first);
	assert_int_equal(verdict(d, 1) != VERDICT_NOT_EFFECTIVE, second);
	if (words && !seen(d, 0, "mismatch", words))
		fail_msg("not \"%s\" but \"%s\"", words,
			 json_object_iter_key(json_object_iter(json_object_get(json_array_get(d->effective, 0), "mismatch"))));
	if (!words)
		assert_int_equal(json_object_size(json_object_get(json_array_get(d->effective, 0), "mismatch")), 0);
	dataset_free(d);
	folder_remove(&f);
}

/* Trials 1 to 4 are block 1: variant none in both guests, then idx. */
static void what_is_not_added_up(void **state)
{
	(void)state;
	one(told, true, true, NULL);
	one(cpus, true, true, NULL);
	one(half_told, true, true, NULL);
	one(moved, false, false, "host: one in trial 1, two in trial 13: such trials are not added up");
	one(accelerated, true, false, "accelerator: tcg in trial 2, kvm in trial 10: such trials are not added up");
}

/* Blocks 1 and 3 on one host, 2 and 4 on the other. */
static void shared(const struct folder_place *at, struct folder_trial *t)
{
	told(at, t);
	t->host = at->block % 2 ? "one" : "two";
}

static void crossed(const struct folder_place *at, struct folder_trial *t)
{
	shared(at, t);
	if (at->block == 3 && at->variant == 1 && at->cell == 0)
		t->host = "two";
}

static void shared_but_accelerated(const struct folder_place *at, struct folder_trial *t)
{
	shared(at, t);
	t->accel = at->block % 2 ? "tcg" : "kvm";
}

/* Which of both cells get a verdict, and the only mismatch of a variant. */
static void on_hosts(unsigned hosts, void (*shape)(const struct folder_place *, struct folder_trial *), bool first, bool second,
		     unsigned variant, const char *words)
{
	struct folder f = two_guests();
	struct dataset *d;

	f.hosts = hosts;
	f.shape = shape;
	folder_make(&f);
	d = load(&f);
	assert_int_equal(d->nhosts, hosts);
	assert_int_equal(verdict(d, 0) != VERDICT_NOT_EFFECTIVE, first);
	assert_int_equal(verdict(d, 1) != VERDICT_NOT_EFFECTIVE, second);
	assert_int_equal(json_object_size(json_object_get(json_array_get(d->effective, variant), "mismatch")), words ? 1 : 0);
	if (words)
		assert_int_not_equal(seen(d, variant, "mismatch", words), 0);
	dataset_free(d);
	folder_remove(&f);
}

/* Four trials a block: variant none in both guests, then idx. */
static void blocks_on_several_hosts(void **state)
{
	(void)state;
	on_hosts(2, shared, true, true, 0, NULL);
	on_hosts(2, shared, true, true, 1, NULL);
	on_hosts(0, shared, false, false, 0, "host: one in trial 1, two in trial 5: such trials are not added up");
	on_hosts(2, crossed, false, true, 1, "host: one in trial 9, two in trial 11: such trials are not added up");
	on_hosts(2, crossed, false, true, 0, NULL);
	on_hosts(2, shared_but_accelerated, false, false, 0, "accelerator: tcg in trial 1, kvm in trial 5: such trials are not added up");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guest_without_the_setting_gets_no_verdict),
		cmocka_unit_test(what_is_not_added_up),
		cmocka_unit_test(blocks_on_several_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
