/* Whatever the bytes are: the readers of fio's JSON and terse lines end, and leave as many lines as there were. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/fio_json.h"
#include "host/fio_terse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t newlines(const char *bytes, size_t length)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++)
		n += bytes[i] == '\n';
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fio_import into = { json_array(), json_array() };
	char *bytes = malloc(size ? size : 1);
	struct error e = { 0 };
	size_t before;

	memcpy(bytes, data, size);
	before = newlines(bytes, size);
	if (fio_json_read(bytes, size, &into, &e) || fio_terse_read(bytes, size, &into, &e) || newlines(bytes, size) != before)
		abort();
	free(json_dumps(into.outputs, 0));
	json_decref(into.outputs);
	json_decref(into.notes);
	free(bytes);
	return 0;
}
