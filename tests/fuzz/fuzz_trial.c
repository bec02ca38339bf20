/* A trial's record, through the dataset: its status, its numbers, what it says of its boot. */
#include "tests/fuzz/fuzz_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_folder_load(FUZZ_RUN, strlen(FUZZ_RUN), data, size);
	return 0;
}
