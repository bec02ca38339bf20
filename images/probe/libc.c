/* The part of a C library that the probe and the files that it shares with kickio use. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES (6u << 20)
#define CLASSES 24 /* 2^3 … 2^26: more than the arena */

void *memcpy(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	while (n--)
		*t++ = *f++;
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if (t <= f)
		return memcpy(to, from, n);
	while (n--)
		t[n] = f[n];
	return to;
}

void *memset(void *at, int byte, size_t n)
{
	uint32_t word = (unsigned char)byte * 0x01010101u, *w = at;
	unsigned char *t;

	/* Words: where instructions are emulated a histogram takes a while. */
	for (; ((uintptr_t)w & 3) == 0 && n >= 4; n -= 4)
		*w++ = word;
	for (t = (unsigned char *)w; n; n--)
		*t++ = (unsigned char)byte;
	return at;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x < *y ? -1 : 1;
	return 0;
}

void *memchr(const void *at, int byte, size_t n)
{
	const unsigned char *p = at;

	for (; n; n--, p++)
		if (*p == (unsigned char)byte)
			return (void *)(uintptr_t)p;
	return NULL;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++) {
		if (*a != *b)
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		if (!*a)
			break;
	}
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)(uintptr_t)s;
		if (!*s)
			return NULL;
	}
}

char *strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = malloc(n);

	return copy ? memcpy(copy, s, n) : NULL;
}

/* ---- memory: powers of two, each with a list of the free ones. Nothing is ever split or joined. ---- */

/* In front of every piece; sixteen bytes, so that the pieces are aligned. */
union head {
	struct {
		unsigned class;
		union head *next; /* while it is free */
	} is;
	unsigned char size[16];
};

static unsigned char arena[ARENA_BYTES] __attribute__((aligned(16)));
static size_t taken;
static union head *unused[CLASSES];

static size_t class_bytes(unsigned class)
{
	return sizeof(union head) << class;
}

void *malloc(size_t size)
{
	unsigned class = 0;
	union head *piece;

	while (class < CLASSES && class_bytes(class) < size)
		class++;
	if (class == CLASSES)
		return NULL;
	piece = unused[class];
	if (piece) {
		unused[class] = piece->is.next;
	} else {
		size_t need = sizeof(*piece) + class_bytes(class);

		if (need > ARENA_BYTES - taken)
			return NULL;
		piece = (union head *)(void *)(arena + taken);
		taken += need;
		piece->is.class = class;
	}
	return piece + 1;
}

void free(void *at)
{
	union head *piece = at;

	if (!at)
		return;
	piece--;
	piece->is.next = unused[piece->is.class];
	unused[piece->is.class] = piece;
}

void *realloc(void *old, size_t size)
{
	size_t have = old ? class_bytes(((union head *)old - 1)->is.class) : 0;
	void *new;

	if (old && size <= have)
		return old;
	new = malloc(size);
	if (new && old) {
		memcpy(new, old, have);
		free(old);
	}
	return new;
}

void *calloc(size_t n, size_t size)
{
	void *at;

	if (size && n > SIZE_MAX / size)
		return NULL;
	at = malloc(n * size);
	return at ? memset(at, 0, n * size) : NULL;
}
