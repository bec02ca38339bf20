#include "host/process.h"

#include "host/os.h"

uint64_t process_started(pid_t pid)
{
	return os_process_started(pid);
}

bool process_lives(pid_t pid, uint64_t started)
{
	uint64_t now = os_process_started(pid);

	return now != 0 && now == started;
}
