#include "host/map_copy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/verify_block.h"
#include "guest/verify_file.h"

struct copy {
	char *path;
	struct verify_area area;
};

struct map_copy {
	struct copy *copy;
	size_t count;
};

struct map_copy *map_copy_new(void)
{
	return calloc(1, sizeof(struct map_copy));
}

void map_copy_free(struct map_copy *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->count; i++) {
		free(c->copy[i].area.map.entry);
		free(c->copy[i].path);
	}
	free(c->copy);
	free(c);
}

bool map_copy_empty(const struct map_copy *c)
{
	return c->count == 0;
}

const struct verify_area *map_copy_area(const struct map_copy *c, size_t index)
{
	return index < c->count ? &c->copy[index].area : NULL;
}

/* Another map of the same path is that of a later job without verify_map=: it takes the place. */
static struct copy *find_copy(struct map_copy *c, const char *path)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->copy[i].path, path) == 0)
			return &c->copy[i];
	return NULL;
}

static struct copy *add_copy(struct map_copy *c, const char *path)
{
	struct copy *grown = realloc(c->copy, (c->count + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	c->copy = grown;
	grown[c->count] = (struct copy){ .path = strdup(path) };
	return grown[c->count].path ? &grown[c->count++] : NULL;
}

static int start_over(struct copy *copy, uint64_t id, uint64_t unit, uint64_t blocks, struct error *e)
{
	struct verify_area *a = &copy->area;

	if (a->map.entry && a->id == id && a->unit == unit && a->map.blocks == blocks)
		return 0;
	free(a->map.entry);
	*a = (struct verify_area){ .path = copy->path, .file = verify_file_number(copy->path), .id = id, .unit = unit, .map.blocks = blocks };
	a->map.entry = calloc(blocks, sizeof(*a->map.entry));
	return a->map.entry ? 0 : error_set(e, STATUS_FAILED, "no memory for the generation map of %s", copy->path);
}

static int take_one(struct map_copy *c, const json_t *one, struct error *e)
{
	const char *path = json_string_value(json_object_get(one, "path"));
	const char *map = json_string_value(json_object_get(one, "map"));
	const char *runs = json_string_value(json_object_get(one, "runs"));
	json_int_t unit = json_integer_value(json_object_get(one, "unit"));
	json_int_t blocks = json_integer_value(json_object_get(one, "blocks"));
	struct copy *copy;
	char *end;
	uint64_t id;

	if (!path || !map || !runs || unit < 512 || unit % 512 || blocks < 1 || (uint64_t)blocks > VERIFY_MAP_LIMIT / 8)
		return error_set(e, STATUS_FAILED, "the guest's generation map is malformed");
	id = strtoull(map, &end, 16);
	if (end == map || *end)
		return error_set(e, STATUS_FAILED, "the guest's generation map is malformed: %.40s", map);
	copy = find_copy(c, path);
	if (!copy)
		copy = add_copy(c, path);
	if (!copy)
		return error_set(e, STATUS_FAILED, "no memory for the generation map of %s", path);
	if (start_over(copy, id, (uint64_t)unit, (uint64_t)blocks, e) < 0)
		return -1;
	return verify_map_decode(&copy->area.map, runs, e);
}

int map_copy_take(struct map_copy *c, const json_t *body, struct error *e)
{
	const json_t *list = json_object_get(body, "verify_map");
	size_t i;
	const json_t *one;

	json_array_foreach(list, i, one)
		if (take_one(c, one, e) < 0)
			return -1;
	return 0;
}

/* All maps of a file share one identity: those of another one (a job that names another file) are left out. */
int map_copy_save(const struct map_copy *c, const char *path, struct error *e)
{
	struct verify_file *file;
	int r = 0;

	if (c->count == 0)
		return error_set(e, STATUS_FAILED, "there is no generation map to save");
	if (access(path, F_OK) == 0)
		return error_set(e, STATUS_FAILED, "%s is there already", path);
	file = verify_file_open(path, true, c->copy[0].area.id, e);
	if (!file)
		return -1;
	for (size_t i = 0; r == 0 && i < c->count; i++) {
		const struct verify_area *from = &c->copy[i].area;
		struct verify_area to = { .path = from->path, .unit = from->unit };

		if (from->id != c->copy[0].area.id)
			continue;
		r = verify_file_area(file, true, from->unit * from->map.blocks, &to, e);
		for (uint64_t b = 0; r == 0 && b < from->map.blocks; b++)
			if (from->map.entry[b])
				to.map.entry[b] = from->map.entry[b];
	}
	verify_file_close(file, false);
	return r;
}
