#include "images/probe/clock.h"

#include "images/probe/machine.h"

#define NS 1000000000u
#define CLOCKS 2
#define SPAN_MS 10
#define TRIES 5     /* a host that was away during one may have let the PIT go round */
#define READINGS 8  /* of which the one that took the shortest is used */
#define STAMPS 255
#define STILL 100000 /* readings of a clock without any change of the counter */

static uint64_t hz = 10000000000u, stamp, started;
static uint32_t factor; /* ns = counts * factor >> shift */
static unsigned shift;

uint64_t clock_hz(void)
{
	return hz;
}

uint64_t clock_stamp(void)
{
	return stamp;
}

uint64_t clock_ns(uint64_t counts)
{
	uint64_t low = (counts & UINT32_MAX) * factor, high = (counts >> 32) * factor;

	return (high << (32 - shift)) + (low >> shift);
}

uint64_t clock_counts(uint64_t ns)
{
	return ns / NS * hz + ns % NS * hz / NS;
}

uint64_t clock_now(void)
{
	return clock_ns(machine_counter() - started);
}

/* A factor that uses all of 32 bits: the conversion is then better than any calibration. */
static void set_factor(void)
{
	for (shift = 32; shift > 0; shift--) {
		uint64_t f = ((uint64_t)NS << shift) / hz;

		if (shift + 30 < 64 && f <= UINT32_MAX) {
			factor = (uint32_t)f;
			return;
		}
	}
}

/* A clock's reading and the counter's at the same time, from the reading that was between the closest two. */
static uint32_t read_both(const struct machine_clock *clock, uint64_t *counter)
{
	uint64_t best = UINT64_MAX;
	uint32_t value = 0;

	for (unsigned i = 0; i < READINGS; i++) {
		uint64_t a = machine_counter();
		uint32_t v = clock->read();
		uint64_t b = machine_counter();

		if (b - a < best) {
			best = b - a;
			*counter = a + (b - a) / 2;
			value = v;
		}
	}
	return value;
}

struct span {
	struct machine_clock clock;
	uint32_t value;
	uint64_t counter;
};

/* The clocks over the same time. */
static int compare(uint64_t found[CLOCKS], const char *name[CLOCKS], unsigned *n, struct error *e)
{
	struct span begin[CLOCKS];
	uint32_t wanted, passed;
	uint64_t last;

	for (*n = 0; *n < CLOCKS && machine_clock(*n, &begin[*n].clock); ++*n)
		begin[*n].value = read_both(&begin[*n].clock, &begin[*n].counter);
	if (*n == 0)
		return error_set(e, STATUS_FAILED, "there is no clock to compare the processor's counter with");
	wanted = begin[0].clock.hz / 1000 * SPAN_MS;
	last = machine_counter();
	for (unsigned still = 0, stuck = 0, before = 0;;) {
		uint64_t now = machine_counter();

		passed = (begin[0].clock.read() - begin[0].value) & begin[0].clock.mask;
		if (now < last)
			return error_set(e, STATUS_FAILED, "the processor's counter ran backwards, from %llu to %llu",
					 (unsigned long long)last, (unsigned long long)now);
		still = now == last ? still + 1 : 0;
		stuck = passed == before ? stuck + 1 : 0;
		if (still > STILL || stuck > STILL)
			return error_set(e, STATUS_FAILED, "the %s stands still at %llu", still > STILL ? "processor's counter" :
					 begin[0].clock.name, (unsigned long long)(still > STILL ? now : passed));
		last = now;
		before = passed;
		if (passed >= wanted)
			break;
	}
	for (unsigned i = 0; i < *n; i++) {
		uint64_t counter;

		passed = (read_both(&begin[i].clock, &counter) - begin[i].value) & begin[i].clock.mask;
		found[i] = passed ? (counter - begin[i].counter) * begin[i].clock.hz / passed : 0;
		name[i] = begin[i].clock.name;
	}
	return 0;
}

static bool agree(uint64_t a, uint64_t b)
{
	return a && b && (a > b ? a - b : b - a) < b / 100;
}

/* The median of many: one that fell into an interruption says nothing. */
static uint64_t measure_stamp(void)
{
	uint64_t seen[STAMPS];

	for (unsigned i = 0; i < STAMPS; i++) {
		uint64_t a = machine_counter(), d = machine_counter() - a;
		unsigned at = i;

		for (; at > 0 && seen[at - 1] > d; at--)
			seen[at] = seen[at - 1];
		seen[at] = d;
	}
	return seen[STAMPS / 2];
}

int clock_calibrate(struct error *e)
{
	uint64_t found[CLOCKS] = {0};
	const char *name[CLOCKS];
	unsigned n = 0;

	started = machine_counter();
	for (unsigned try = 0; try < TRIES; try++) {
		if (compare(found, name, &n, e) < 0)
			return -1;
		if (n == 1 || agree(found[0], found[1]))
			break;
	}
	if (n > 1 && !agree(found[0], found[1]))
		return error_set(e, STATUS_FAILED, "the processor's counter runs at %llu Hz by the %s and at %llu Hz by the %s",
				 (unsigned long long)found[0], name[0], (unsigned long long)found[1], name[1]);
	hz = found[0];
	if (hz < 1000000)
		return error_set(e, STATUS_FAILED, "the processor's counter runs at %llu Hz: too slow to measure with",
				 (unsigned long long)hz);
	set_factor();
	stamp = measure_stamp();
	return 0;
}
