/* fio's job files. A file that includes others is left out: they would be this machine's. */
#include <string.h>

#include "guest/options.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char name[32], *argv[] = { (char *)"kickio", name };
	struct text notes = { 0 };
	struct jobs jobs;
	struct error e = { 0 };

	if (memmem(data, size, "include", 7))
		return 0;
	memory_file(&fd, name, data, size);
	if (options_parse(2, argv, &jobs, &notes, &e) == 0)
		jobs_free(&jobs);
	else if (!e.status || !*e.text)
		abort();
	text_free(&notes);
	return 0;
}
