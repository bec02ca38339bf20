/* The cryptographic half of checksum.h. */
#include "guest/checksum.h"

#include <string.h>

#define BLOCK 64

/* Both pad alike: a one bit, zeros, and the length in bits in the last 8 of a block of 64 bytes. */
struct digest {
	uint32_t state[8];
	void (*step)(uint32_t state[8], const unsigned char block[BLOCK]);
};

static void digest_all(struct digest *d, const unsigned char *p, size_t length, int big_endian)
{
	unsigned char last[2 * BLOCK] = {0};
	uint64_t bits = (uint64_t)length * 8;
	size_t rest = length % BLOCK, end = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;

	for (; length >= BLOCK; p += BLOCK, length -= BLOCK)
		d->step(d->state, p);
	memcpy(last, p, rest);
	last[rest] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		last[big_endian ? end - 1 - i : end - 8 + i] = (unsigned char)(bits >> 8 * i);
	for (size_t at = 0; at < end; at += BLOCK)
		d->step(d->state, last + at);
}

/* ---- MD5 ---- */

/* floor(2^32 * |sin(i + 1)|) */
static const uint32_t md5_sines[64] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
	0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
	0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
	0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
	0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
	0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
	0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
	0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static const unsigned char md5_shifts[4][4] = { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 } };

static uint32_t rotate_left(uint32_t v, unsigned bits)
{
	return v << bits | v >> (32 - bits);
}

static void md5_step(uint32_t state[8], const unsigned char block[BLOCK])
{
	uint32_t word[16], a = state[0], b = state[1], c = state[2], d = state[3];

	for (unsigned i = 0; i < 16; i++)
		word[i] = (uint32_t)block[4 * i] | (uint32_t)block[4 * i + 1] << 8 |
			  (uint32_t)block[4 * i + 2] << 16 | (uint32_t)block[4 * i + 3] << 24;
	for (unsigned i = 0; i < 64; i++) {
		uint32_t f, next = d;
		unsigned k;

		switch (i / 16) {
		case 0:
			f = (b & c) | (~b & d);
			k = i;
			break;
		case 1:
			f = (b & d) | (c & ~d);
			k = 5 * i + 1;
			break;
		case 2:
			f = b ^ c ^ d;
			k = 3 * i + 5;
			break;
		default:
			f = c ^ (b | ~d);
			k = 7 * i;
		}
		d = c;
		c = b;
		b += rotate_left(a + f + md5_sines[i] + word[k % 16], md5_shifts[i / 16][i % 4]);
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

void md5(const void *bytes, size_t length, unsigned char digest[MD5_BYTES])
{
	struct digest d = { { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 }, md5_step };

	digest_all(&d, bytes, length, 0);
	for (unsigned i = 0; i < MD5_BYTES; i++)
		digest[i] = (unsigned char)(d.state[i / 4] >> 8 * (i % 4));
}

/* ---- SHA-256 ---- */

/* The first 32 bits behind the point of the cube roots of the first 64 primes. */
static const uint32_t sha256_roots[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t v, unsigned bits)
{
	return v >> bits | v << (32 - bits);
}

static void sha256_schedule(uint32_t word[64], const unsigned char block[BLOCK])
{
	for (unsigned i = 0; i < 16; i++)
		word[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
			  (uint32_t)block[4 * i + 2] << 8 | (uint32_t)block[4 * i + 3];
	for (unsigned i = 16; i < 64; i++) {
		uint32_t x = word[i - 15], y = word[i - 2];

		word[i] = word[i - 16] + word[i - 7] + (rotate_right(x, 7) ^ rotate_right(x, 18) ^ x >> 3) +
			  (rotate_right(y, 17) ^ rotate_right(y, 19) ^ y >> 10);
	}
}

static void sha256_step(uint32_t state[8], const unsigned char block[BLOCK])
{
	uint32_t word[64], s[8];

	sha256_schedule(word, block);
	memcpy(s, state, sizeof(s));
	for (unsigned i = 0; i < 64; i++) {
		uint32_t e = s[4], a = s[0];
		uint32_t one = s[7] + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
			       ((e & s[5]) ^ (~e & s[6])) + sha256_roots[i] + word[i];
		uint32_t two = (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) +
			       ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += one;
		s[0] = one + two;
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] += s[i];
}

void sha256(const void *bytes, size_t length, unsigned char digest[SHA256_BYTES])
{
	/* The first 32 bits behind the point of the square roots of the first 8 primes. */
	struct digest d = { { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 }, sha256_step };

	digest_all(&d, bytes, length, 1);
	for (unsigned i = 0; i < SHA256_BYTES; i++)
		digest[i] = (unsigned char)(d.state[i / 4] >> (24 - 8 * (i % 4)));
}
