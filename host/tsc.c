#include "host/tsc.h"

#include <time.h>

#if defined(__x86_64__) || defined(__i386__)

#define TRIES 16
#define APART_NS 30000000

struct instant {
	uint64_t ns, ticks;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Both clocks at one time: the try that was interrupted least. */
static struct instant look(void)
{
	struct instant best = { 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = now_ns(), ticks = __builtin_ia32_rdtsc(), after = now_ns();

		if (after - before < shortest) {
			shortest = after - before;
			best = (struct instant){ .ns = before + shortest / 2, .ticks = ticks };
		}
	}
	return best;
}

uint64_t tsc_khz(void)
{
	struct instant a = look(), b;

	nanosleep(&(struct timespec){ .tv_nsec = APART_NS }, NULL);
	b = look();
	if (b.ns <= a.ns || b.ticks <= a.ticks)
		return 0;
	return (uint64_t)((double)(b.ticks - a.ticks) * 1e6 / (double)(b.ns - a.ns) + 0.5);
}

#else

uint64_t tsc_khz(void)
{
	return 0;
}

#endif
