/* run.json beside a good trial. */
#include "tests/fuzz/fuzz_folder.h"

static const char trial[] =
	"{\"schema\":\"kickbench-trial/1\",\"trial\":1,\"block\":1,\"cell\":0,\"variant\":\"a\",\"status\":\"ok\",\"fio\":{\"jobs\":"
	"[{\"error\":0,\"read\":{\"io_bytes\":4096,\"total_ios\":1,\"runtime\":1,\"clat_ns\":{\"mean\":9.5,\"N\":1}}}]}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_folder_load(data, size, trial, sizeof(trial) - 1);
	return 0;
}
