#include "host/event_disk.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "guest/verify_block.h"

static const char *const words[] = {
	[SECTOR_OLD] = "an earlier generation", [SECTOR_NEWER] = "a generation that nobody wrote", [SECTOR_MISPLACED] = "what belongs elsewhere",
	[SECTOR_OTHER_MAP] = "what an earlier job wrote", [SECTOR_ZEROS] = "zeros", [SECTOR_FOREIGN] = "nothing that kickio wrote",
	[SECTOR_BAD_HEADER] = "a damaged header", [SECTOR_BAD_SUM] = "data that its checksum does not fit",
};

/* What was there before will do where no write has completed. */
static bool is_right(enum sector_state state, const struct sector_expected *x)
{
	return state == SECTOR_GOOD ||
	       (x->least == 0 && (state == SECTOR_ZEROS || state == SECTOR_FOREIGN || state == SECTOR_OTHER_MAP));
}

static int look_at_block(int fd, const struct verify_area *a, uint64_t block, bool cut, struct event_disk *out)
{
	struct verify_range range = verify_map_range(&a->map, block);
	struct sector_expected x = { .map = a->id, .file = a->file, .least = range.least, .last = range.last, .any_newer = cut };
	unsigned char sector[VERIFY_SECTOR];
	struct verify_header h;

	if (range.last == 0)
		return 0;
	out->blocks++;
	for (uint64_t at = 0; at < a->unit; at += VERIFY_SECTOR) {
		enum sector_state state;

		x.offset = block * a->unit + at;
		if (pread(fd, sector, sizeof(sector), (off_t)x.offset) != (ssize_t)sizeof(sector))
			return -1;
		state = sector_check(sector, &x, &h);
		if (is_right(state, &x))
			continue;
		if (out->bad++ == 0)
			text_add(&out->first, "offset %" PRIu64 " holds %s, and generation %u was completed there", x.offset,
				 words[state], x.least);
		break;
	}
	return 0;
}

int event_disk_look(const struct map_copy *maps, const char *image, bool cut, struct event_disk *out, struct error *e)
{
	const struct verify_area *a;
	int fd = open(image, O_RDONLY | O_CLOEXEC), status = 0;

	*out = (struct event_disk){ .blocks = 0 };
	if (fd < 0)
		return error_errno(e, STATUS_HOST, "%s", image);
	for (size_t i = 0; status == 0 && (a = map_copy_area(maps, i)); i++)
		for (uint64_t block = 0; status == 0 && block < a->map.blocks; block++)
			status = look_at_block(fd, a, block, cut, out);
	if (status)
		error_errno(e, STATUS_HOST, "%s cannot be read", image);
	close(fd);
	return status;
}
