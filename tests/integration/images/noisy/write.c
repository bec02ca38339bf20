/*
 * A serial line that flips a bit in the middle of every seventh write to a terminal and swallows the end of
 * every eleventh, the first ones spared: frames arrive damaged and truncated.
 */
#include <string.h>
#include <unistd.h>

ssize_t __real_write(int fd, const void *bytes, size_t length);
ssize_t __wrap_write(int fd, const void *bytes, size_t length);

ssize_t __wrap_write(int fd, const void *bytes, size_t length)
{
	static unsigned count;
	static char copy[1 << 20];

	if (length < 16 || length > sizeof(copy) || memchr(bytes, '@', length) != bytes)
		return __real_write(fd, bytes, length);
	count++;
	if (count % 11 == 0) {
		__real_write(fd, bytes, length - 8);
		return (ssize_t)length;
	}
	if (count % 7 != 0)
		return __real_write(fd, bytes, length);
	memcpy(copy, bytes, length);
	copy[length / 2] ^= 4;
	return __real_write(fd, copy, length);
}
