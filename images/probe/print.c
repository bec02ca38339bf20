/*
 * printf's language as far as it is spoken here: %c %s %d %u %x %p with flag 0, a width, l, ll and z, %.*s and %.Ns.
 * Anything else is printed as it stands.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct out {
	char *to;
	size_t room, length; /* length: without an end, as vsnprintf returns it */
};

static void put(struct out *o, char c)
{
	if (o->length + 1 < o->room)
		o->to[o->length] = c;
	o->length++;
}

static void put_padded(struct out *o, const char *s, size_t n, unsigned width, char pad)
{
	for (; width > n; width--)
		put(o, pad);
	while (n--)
		put(o, *s++);
}

static void put_number(struct out *o, uint64_t v, unsigned base, bool negative, unsigned width, char pad)
{
	char digits[24], *p = digits + sizeof(digits);

	do {
		*--p = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	if (negative)
		*--p = '-';
	put_padded(o, p, (size_t)(digits + sizeof(digits) - p), width, pad);
}

static uint64_t take_unsigned(va_list *ap, unsigned longs)
{
	return longs == 2 ? va_arg(*ap, unsigned long long) : longs == 1 ? va_arg(*ap, unsigned long) : va_arg(*ap, unsigned);
}

static int64_t take_signed(va_list *ap, unsigned longs)
{
	return longs == 2 ? va_arg(*ap, long long) : longs == 1 ? va_arg(*ap, long) : va_arg(*ap, int);
}

static unsigned take_width(const char **f)
{
	unsigned n = 0;

	while (**f >= '0' && **f <= '9')
		n = n * 10 + (unsigned)(*(*f)++ - '0');
	return n;
}

static size_t bounded_length(const char *s, size_t limit)
{
	size_t n = 0;

	while (n < limit && s[n])
		n++;
	return n;
}

/* One conversion; f stands behind its per cent sign. */
static const char *convert(struct out *o, const char *f, va_list *ap)
{
	const char *start = f;
	size_t precision = SIZE_MAX;
	unsigned width, longs = 0;
	char pad = ' ', one;
	const char *s;
	int64_t v;

	if (*f == '0')
		pad = *f++;
	width = take_width(&f);
	if (f[0] == '.' && f[1] == '*') {
		v = va_arg(*ap, int);
		precision = v < 0 ? SIZE_MAX : (size_t)v;
		f += 2;
	} else if (*f == '.') {
		f++;
		precision = take_width(&f);
	}
	for (; *f == 'l' || *f == 'z'; f++)
		longs++;
	switch (*f) {
	case 'c':
		one = (char)va_arg(*ap, int);
		put_padded(o, &one, 1, width, ' ');
		break;
	case 's':
		s = va_arg(*ap, const char *);
		s = s ? s : "(null)";
		put_padded(o, s, bounded_length(s, precision), width, ' ');
		break;
	case 'd':
		v = take_signed(ap, longs);
		put_number(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 10, v < 0, width, pad);
		break;
	case 'u':
		put_number(o, take_unsigned(ap, longs), 10, false, width, pad);
		break;
	case 'x':
		put_number(o, take_unsigned(ap, longs), 16, false, width, pad);
		break;
	case 'p':
		put_number(o, (uintptr_t)va_arg(*ap, void *), 16, false, width, pad);
		break;
	case '%':
		put(o, '%');
		break;
	default:
		put(o, '%');
		return start;
	}
	return f + 1;
}

int vsnprintf(char *to, size_t room, const char *fmt, va_list ap)
{
	struct out o = {.to = to, .room = room};
	va_list mine;

	va_copy(mine, ap);
	while (*fmt) {
		if (*fmt != '%')
			put(&o, *fmt++);
		else
			fmt = convert(&o, fmt + 1, &mine);
	}
	va_end(mine);
	if (room)
		to[o.length < room ? o.length : room - 1] = '\0';
	return (int)o.length;
}

int snprintf(char *to, size_t room, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(to, room, fmt, ap);
	va_end(ap);
	return n;
}
