#include "guest/verify_block.h"

#include <string.h>

#define MAGIC 0x1a314f494b43494bu /* "KICKIO1" and an end of file mark, in memory of a little-endian machine */
#define DATA_BYTES (VERIFY_SECTOR - sizeof(struct verify_header))

_Static_assert(sizeof(struct verify_header) == 104, "the header has no holes: it goes to disk as it is");

const char *verify_known_as(const struct job *job, const char *path)
{
	return job->verify_name ? job->verify_name : path;
}

uint32_t verify_file_number(const char *name)
{
	uint32_t h = 0x811c9dc5u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x01000193u;
	return h;
}

static bool sum_data(uint32_t kind, const unsigned char *data, unsigned char sum[SHA256_BYTES])
{
	uint64_t number;

	memset(sum, 0, SHA256_BYTES);
	switch (kind) {
	case VERIFY_CRC32C:
		number = crc32c(data, DATA_BYTES);
		break;
	case VERIFY_CRC32:
		number = crc32(data, DATA_BYTES);
		break;
	case VERIFY_XXHASH:
		number = xxhash64(data, DATA_BYTES);
		break;
	case VERIFY_MD5:
		md5(data, DATA_BYTES, sum);
		return true;
	case VERIFY_SHA256:
		sha256(data, DATA_BYTES, sum);
		return true;
	default:
		return false;
	}
	memcpy(sum, &number, sizeof(number));
	return true;
}

void sector_seal(void *sector, struct verify_header *h)
{
	h->magic = MAGIC;
	sum_data(h->kind, (const unsigned char *)sector + sizeof(*h), h->sum);
	h->check = crc32c(h, offsetof(struct verify_header, check));
	memcpy(sector, h, sizeof(*h));
}

static bool all_zeros(const unsigned char *sector)
{
	return sector[0] == 0 && memcmp(sector, sector + 1, VERIFY_SECTOR - 1) == 0;
}

/* The header does not hold. Is it the one that should be here, with bytes changed, or something else? */
static enum sector_state judge_broken(const unsigned char *sector, const struct sector_expected *x,
				      const struct verify_header *h)
{
	unsigned same = (h->magic == MAGIC) + (h->offset == x->offset) + (h->file == x->file) +
			(x->map && h->map == x->map);

	if (all_zeros(sector))
		return SECTOR_ZEROS;
	return same >= 2 ? SECTOR_BAD_HEADER : SECTOR_FOREIGN;
}

enum sector_state sector_check(const void *sector, const struct sector_expected *x, struct verify_header *h)
{
	const unsigned char *bytes = sector;
	unsigned char sum[SHA256_BYTES];

	memcpy(h, sector, sizeof(*h));
	if (h->magic != MAGIC || h->check != crc32c(h, offsetof(struct verify_header, check)))
		return judge_broken(bytes, x, h);
	if (!sum_data(h->kind, bytes + sizeof(*h), sum) || memcmp(sum, h->sum, sizeof(sum)) != 0)
		return SECTOR_BAD_SUM;
	if (x->map && h->map != x->map)
		return SECTOR_OTHER_MAP;
	if (h->offset != x->offset || h->file != x->file)
		return SECTOR_MISPLACED;
	if (h->generation < x->least)
		return SECTOR_OLD;
	return h->generation > x->last && !x->any_newer ? SECTOR_NEWER : SECTOR_GOOD;
}

void verify_fill_pattern(void *buffer, size_t length, const struct pattern *pattern)
{
	size_t filled = length < pattern->length ? length : pattern->length;

	memcpy(buffer, pattern->bytes, filled);
	/* What is filled is repeated, twice as much each time: whole patterns always, until the last piece. */
	while (filled && filled < length) {
		size_t piece = filled < length - filled ? filled : length - filled;

		memcpy((char *)buffer + filled, buffer, piece);
		filled += piece;
	}
}
