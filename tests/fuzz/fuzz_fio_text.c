/* Whatever the bytes are: the text reader ends, its documents have jobs, its notes keep within bounds. */
#include "host/fio_text.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fio_import in = {0};
	struct error e = {0};
	json_t *document, *job;
	size_t i, k;

	if (fio_text_read((const char *)data, size, &in, &e))
		abort(); /* it fails for want of memory only */
	json_array_foreach(in.outputs, i, document) {
		if (!json_array_size(json_object_get(document, "jobs")))
			abort();
		json_array_foreach(json_object_get(document, "jobs"), k, job)
			if (!json_is_string(json_object_get(job, "jobname")) || !json_is_string(json_object_get(job, "status")))
				abort();
	}
	if (json_array_size(in.notes) > 101)
		abort();
	json_decref(in.outputs);
	json_decref(in.notes);
	return 0;
}
