#include "guest/clock.h"

#if defined(__x86_64__)

#include <cpuid.h>

static inline uint64_t tsc_read(void)
{
	return __builtin_ia32_rdtsc();
}

/* Leaf 80000007h, EDX bit 8: the counter's rate does not change with the processor's state. */
static int tsc_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

static int tsc_init(struct clock *c, struct error *e)
{
	__extension__ typedef unsigned __int128 wide;
	uint64_t start, now, ticks;

	if (!tsc_invariant())
		return error_set(e, STATUS_FAILED, "clocksource=cpu: this processor's time stamp counter may change "
				 "its rate; use clocksource=clock_gettime");
	start = clock_monotonic_ns();
	c->tsc_base = tsc_read();
	do
		now = clock_monotonic_ns();
	while (now - start < 20000000);
	ticks = tsc_read() - c->tsc_base;
	if (ticks == 0)
		return error_set(e, STATUS_FAILED, "clocksource=cpu: the time stamp counter stands still; "
				 "use clocksource=clock_gettime");
	c->tsc_scale = (uint64_t)(((wide)(now - start) << 32) / ticks);
	return 0;
}

static uint64_t tsc_ns(const struct clock *c)
{
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)(((wide)(tsc_read() - c->tsc_base) * c->tsc_scale) >> 32);
}

#else

static int tsc_init(struct clock *c, struct error *e)
{
	(void)c;
	return error_set(e, STATUS_FAILED, "clocksource=cpu works on x86-64 only; use clocksource=clock_gettime");
}

static uint64_t tsc_ns(const struct clock *c)
{
	(void)c;
	return clock_monotonic_ns(); /* not reached: tsc_init refused */
}

#endif

int clock_init(struct clock *c, enum clocksource source, struct error *e)
{
	*c = (struct clock){ .source = source == CLOCK_DEFAULT ? CLOCK_GETTIME : source };
	return source == CLOCK_CPU ? tsc_init(c, e) : 0;
}

uint64_t clock_other_ns(const struct clock *c)
{
	struct timeval t;

	if (c->source == CLOCK_CPU)
		return tsc_ns(c);
	gettimeofday(&t, NULL);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000;
}
