/*
 * The division of 64-bit numbers, which compilers for 32-bit processors call by these names (of libgcc's documented
 * interface). Plain long division: nothing that is timed divides.
 */
#include <stdint.h>

uint64_t __udivmoddi4(uint64_t a, uint64_t b, uint64_t *rest);
uint64_t __udivdi3(uint64_t a, uint64_t b);
uint64_t __umoddi3(uint64_t a, uint64_t b);

/* Where both fit into a register the processor does it. */
uint64_t __udivmoddi4(uint64_t a, uint64_t b, uint64_t *rest)
{
	uint64_t quotient = 0;
	int shift = 0;

	if (a >> 32 == 0 && b >> 32 == 0) {
		uint32_t x = (uint32_t)a, y = (uint32_t)b;

		if (rest)
			*rest = x % y;
		return x / y;
	}
	while (b >> 63 == 0 && b < a) {
		b <<= 1;
		shift++;
	}
	for (; shift >= 0; shift--, b >>= 1) {
		quotient <<= 1;
		if (a >= b) {
			a -= b;
			quotient |= 1;
		}
	}
	if (rest)
		*rest = a;
	return quotient;
}

uint64_t __udivdi3(uint64_t a, uint64_t b)
{
	return __udivmoddi4(a, b, 0);
}

uint64_t __umoddi3(uint64_t a, uint64_t b)
{
	uint64_t rest;

	__udivmoddi4(a, b, &rest);
	return rest;
}
