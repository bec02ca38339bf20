#include "guest/flight.h"

#include <stddef.h>
#include <sys/mman.h>

static size_t bytes_of(unsigned count)
{
	return sizeof(struct flights) + count * sizeof(struct flight);
}

struct flights *flights_open(unsigned count)
{
	struct flights *f = mmap(NULL, bytes_of(count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);

	if (f == MAP_FAILED)
		return NULL;
	f->count = count;
	return f;
}

void flights_close(struct flights *f)
{
	if (f)
		munmap(f, bytes_of(f->count));
}

bool flights_oldest(const struct flights *f, struct flight *oldest)
{
	oldest->since_ns = 0;
	for (unsigned i = 0; i < f->count; i++) {
		uint64_t since = __atomic_load_n(&f->unit[i].since_ns, __ATOMIC_ACQUIRE);

		if (since == 0 || (oldest->since_ns && since >= oldest->since_ns))
			continue;
		*oldest = f->unit[i];
		oldest->since_ns = since;
	}
	return oldest->since_ns != 0;
}
