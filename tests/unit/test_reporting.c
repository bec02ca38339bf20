/* What `git bisect run` is told of a run: good, bad, or that nothing can be said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/command.h"
#include "host/reporting.h"

static int told(struct reporting_outcome o, struct error *e)
{
	*e = (struct error){ 0 };
	return reporting_bisect(&o, e);
}

static void a_run_without_a_doubt_is_good(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(told((struct reporting_outcome){ .trials = 16, .comparisons = 2 }, &e), 0);
	assert_int_equal(e.status, 0);
}

static void a_verdict_is_bad_even_where_something_is_missing(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(told((struct reporting_outcome){ .failed = 1, .trials = 16, .comparisons = 2 }, &e), 1);
	assert_int_equal(told((struct reporting_outcome){ .failed = 1, .lost = 3, .undecided = 1, .trials = 16, .comparisons = 2 }, &e), 1);
}

static void all_else_says_nothing(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(told((struct reporting_outcome){ .lost = 3, .trials = 16 }, &e), 125);
	assert_non_null(strstr(e.text, "3 of 16 trials failed"));
	assert_int_equal(told((struct reporting_outcome){ .incomplete = 1, .comparisons = 2 }, &e), 125);
	assert_int_equal(told((struct reporting_outcome){ .undecided = 1, .comparisons = 2 }, &e), 125);
	assert_non_null(strstr(e.text, "1 of 2 comparisons are undecided"));
}

static void statuses_of_commands_are_turned(void **state)
{
	(void)state;
	assert_int_equal(command_bisect(false, STATUS_HOST), STATUS_HOST);
	assert_int_equal(command_bisect(true, STATUS_OK), 0);
	assert_int_equal(command_bisect(true, STATUS_FAILED), 1);
	assert_int_equal(command_bisect(true, STATUS_USAGE), 125); /* 2 would be bad to git */
	assert_int_equal(command_bisect(true, STATUS_INCOMPLETE), 125);
	assert_int_equal(command_bisect(true, STATUS_HOST), 125);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_without_a_doubt_is_good),
		cmocka_unit_test(a_verdict_is_bad_even_where_something_is_missing),
		cmocka_unit_test(all_else_says_nothing),
		cmocka_unit_test(statuses_of_commands_are_turned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
