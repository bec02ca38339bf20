/* A scenario and, behind a NUL byte, a --set value; what is taken is planned too, so that its jobs meet kickio's parser. */
#include <string.h>

#include "host/plan.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	const uint8_t *nul = memchr(data, '\0', size);
	size_t length = nul ? (size_t)(nul - data) : size;
	char *set = nul ? strndup((const char *)nul + 1, size - length - 1) : NULL;
	const char *sets[] = { set };
	struct scenario *s = NULL;
	struct plan *plan = NULL;
	struct error e = { 0 };
	char name[32];

	if (scenario_read(memory_file(&fd, name, data, length), sets, set != NULL, &s, &e)) {
		if (s || !e.status || !*e.text)
			abort();
	} else if (s->blocks * s->repeats < 10 && plan_make(s, 1, &plan, &(struct error){ 0 }) == 0) {
		if (plan->ntrials == 0)
			abort();
	}
	plan_free(plan);
	scenario_free(s);
	free(set);
	return 0;
}
