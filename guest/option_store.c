/* Check one value and put it where its row says. */
#include "guest/option_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/text.h"
#include "guest/values.h"

static int out_of_range(const struct option *o, uint64_t v, struct error *e)
{
	if (v < o->min)
		return error_set(e, STATUS_FAILED,
				 "min value out of range: %llu (%llu min)", (unsigned long long)v,
				 (unsigned long long)o->min);
	if (v > o->max)
		return error_set(e, STATUS_FAILED,
				 "max value out of range: %llu (%llu max)", (unsigned long long)v,
				 (unsigned long long)o->max);
	return 0;
}

static int store_string(const struct option *o, char **place, const char *value, struct error *e)
{
	char *copy;

	if (*value == '\0' && o->min > 0)
		return error_set(e, STATUS_FAILED, "the value is empty");
	if (*value == ' ' || *value == '\t')
		return error_set(e, STATUS_FAILED,
				 "the value begins with a blank, which fio keeps; write it right after the =");
	copy = strdup(value);
	if (!copy)
		return error_set(e, STATUS_HOST, "out of memory");
	free(*place);
	*place = copy;
	return 0;
}

static int store_directory(const struct option *o, char **place, const char *value, struct error *e)
{
	const char *p = value;

	while (*p) {
		size_t length = strcspn(p, ":");
		char path[1024];
		struct stat st;

		if (length >= sizeof(path))
			return error_set(e, STATUS_FAILED, "a directory name is too long");
		memcpy(path, p, length);
		path[length] = '\0';
		if (length && (stat(path, &st) || !S_ISDIR(st.st_mode)))
			return error_set(e, STATUS_FAILED, "%s is not a directory", path);
		p += length + (p[length] == ':');
	}
	return store_string(o, place, value, e);
}

static int store_unsigned(const struct option *o, unsigned *place, const char *value, struct error *e)
{
	uint64_t v;

	if (value_number(value, &v, e) || out_of_range(o, v, e))
		return -1;
	*place = o->kind == OPTION_COMPLEMENT ? 100 - (unsigned)v : (unsigned)v;
	return 0;
}

static int store_bool(const struct option *o, bool *place, const char *value, struct error *e)
{
	bool b = true;

	if (value && value_bool(value, &b, e))
		return -1;
	*place = o->kind == OPTION_INVERSE ? !b : b;
	return 0;
}

static int store_directions(const struct option *o, uint64_t *place, const char *value, struct error *e)
{
	uint64_t v[DDIRS];

	memcpy(v, place, sizeof(v));
	if (value_directions(value, v, e))
		return -1;
	for (int d = 0; d < DDIRS; d++)
		if (out_of_range(o, v[d], e))
			return -1;
	memcpy(place, v, sizeof(v));
	return 0;
}

static int store_range(const struct option *o, struct range *place, const char *value, struct error *e)
{
	struct range r;

	if (value_range(value, &r, e) || out_of_range(o, r.lo, e) || out_of_range(o, r.hi, e))
		return -1;
	*place = r;
	return 0;
}

static int store_ranges(const struct option *o, struct range *place, const char *value, struct error *e)
{
	struct range r[DDIRS];

	memcpy(r, place, sizeof(r));
	if (value_ranges(value, r, e))
		return -1;
	for (int d = 0; d < DDIRS; d++)
		if (r[d].hi && (out_of_range(o, r[d].lo, e) || out_of_range(o, r[d].hi, e)))
			return -1;
	memcpy(place, r, sizeof(r));
	return 0;
}

static int store_time(const struct option *o, uint64_t *place, const char *value, struct error *e)
{
	uint64_t us;

	if ((o->kind == OPTION_TIME ? value_time : value_microseconds)(value, &us, e))
		return -1;
	if (us < o->min)
		return error_set(e, STATUS_FAILED, "the time is too short (%llumsec min)",
				 (unsigned long long)o->min / 1000);
	*place = us;
	return 0;
}

static int no_choice(const struct option *o, struct error *e)
{
	struct text valid = {0};

	for (const struct choice *c = o->choices; c->name; c++)
		if (c->value != CHOICE_REFUSED)
			text_add(&valid, " %s", c->name);
	error_set(e, STATUS_FAILED, "valid values:%s", text_get(&valid));
	text_free(&valid);
	return -1;
}

/* The value of the choice that the first `length` bytes of name spell. */
static int choose(const struct option *o, const char *name, size_t length, int *value, struct error *e)
{
	for (const struct choice *c = o->choices; c->name; c++) {
		if (strlen(c->name) != length || memcmp(c->name, name, length) != 0)
			continue;
		if (c->value == CHOICE_REFUSED)
			return error_set(e, STATUS_FAILED,
					 "%s is known to fio but not supported by kickio", c->name);
		*value = c->value;
		return 0;
	}
	return no_choice(o, e);
}

static int store_choice(const struct option *o, void *place, const char *value, struct error *e)
{
	size_t length = strcspn(value, ",:");
	int chosen;

	if (choose(o, value, length, &chosen, e))
		return -1;
	if (value[length])
		return error_set(e, STATUS_FAILED,
				 "what follows %.*s is known to fio but not supported by kickio",
				 (int)length, value);
	memcpy(place, &chosen, sizeof(chosen));
	return 0;
}

static int store_service(const struct option *o, struct file_service *place, const char *value, struct error *e)
{
	size_t length = strcspn(value, ":");
	uint64_t every = 1;
	int kind;

	if (choose(o, value, length, &kind, e))
		return -1;
	if (value[length]) {
		if (kind == SERVICE_SEQUENTIAL)
			return error_set(e, STATUS_FAILED, "sequential finishes each file; fio ignores the number");
		if (value_number(value + length + 1, &every, e))
			return -1;
		if (every == 0 || every > UINT32_MAX)
			return error_set(e, STATUS_FAILED, "the number of IOs is from 1 to %u", UINT32_MAX);
	}
	*place = (struct file_service){ .kind = (enum service_kind)kind, .every = (unsigned)every };
	return 0;
}

static int choose_distribution(const void *context, const char *name, size_t length, enum distribution_kind *kind,
			       struct error *e)
{
	int chosen;

	if (choose(context, name, length, &chosen, e))
		return -1;
	*kind = (enum distribution_kind)chosen;
	return 0;
}

static int store_section(struct jobs *jobs, const char *value, struct error *e)
{
	char **grown, *copy;

	if (strncmp(value, "global", 6) == 0)
		return error_set(e, STATUS_FAILED, "global sections are read in any case");
	grown = realloc(jobs->section, (jobs->nsections + 1) * sizeof(*grown));
	if (grown)
		jobs->section = grown;
	copy = strdup(value);
	if (!grown || !copy) {
		free(copy);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	grown[jobs->nsections++] = copy;
	return 0;
}

static int store_formats(const struct option *o, unsigned *place, const char *value, struct error *e)
{
	unsigned mask = 0;
	const char *p = value;

	for (;;) {
		size_t length = strcspn(p, ",");
		int chosen;

		if (choose(o, p, length, &chosen, e))
			return -1;
		mask |= (unsigned)chosen;
		p += length;
		if (*p == '\0')
			break;
		p++;
	}
	*place = mask;
	return 0;
}

static int store_percentiles(struct job *job, const char *value, struct error *e)
{
	struct percentile_list list;

	if (value_percentiles(value, &list, e))
		return -1;
	memcpy(job->percentiles, list.percent, sizeof(job->percentiles));
	job->npercentiles = list.count;
	job->percentile_precision = list.precision;
	return 0;
}

static int store_engine(const struct engine **place, const char *value, struct error *e)
{
	const struct engine *engine = engine_find(value);
	struct text have = {0};

	if (engine) {
		*place = engine;
		return 0;
	}
	for (size_t i = 0; engines[i]; i++)
		text_add(&have, "%s%s", i ? " " : "", engines[i]->name);
	if (engine_absent_reason(value))
		error_set(e, STATUS_FAILED, "engine %s is not in this build: %s; it has: %s", value,
			  engine_absent_reason(value), text_get(&have));
	else if (engine_known_to_fio(value))
		error_set(e, STATUS_FAILED,
			  "engine %s is known to fio but not in this kickio, which has: %s", value,
			  text_get(&have));
	else
		error_set(e, STATUS_FAILED,
			  "engine %s not loadable; this kickio has: %s", value, text_get(&have));
	text_free(&have);
	return -1;
}

static int store_seed(const struct option *o, struct job *job, const char *value, struct error *e)
{
	uint64_t v;

	if (value_number(value, &v, e) || out_of_range(o, v, e))
		return -1;
	job->randseed = v;
	job->randseed_set = true;
	return 0;
}

static int store_number(const struct option *o, uint64_t *place, const char *value, struct error *e)
{
	uint64_t v;

	if (value_number(value, &v, e) || out_of_range(o, v, e))
		return -1;
	*place = v;
	return 0;
}

int option_store(const struct option *o, void *base, const char *value, struct error *e)
{
	void *place = (char *)base + o->offset;

	if (!value && !option_value_optional(o) && o->kind != OPTION_LOG)
		return error_set(e, STATUS_FAILED, "option %s requires an argument", o->name);
	switch (o->kind) {
	case OPTION_STRING:
		return store_string(o, place, value, e);
	case OPTION_LOG:
		if (value && (*value == '-' || *value == '\0'))
			return error_set(e, STATUS_FAILED, "this takes the prefix of the file names");
		return store_string(o, place, value ? value : "", e);
	case OPTION_FLAG:
	case OPTION_BOOL:
	case OPTION_INVERSE:
		return store_bool(o, place, value, e);
	case OPTION_UNSIGNED:
	case OPTION_COMPLEMENT:
		return store_unsigned(o, place, value, e);
	case OPTION_NUMBER:
		return store_number(o, place, value, e);
	case OPTION_SEED:
		return store_seed(o, base, value, e);
	case OPTION_DIRECTIONS:
		return store_directions(o, place, value, e);
	case OPTION_SIGNED:
		return value_nice(value, place, e);
	case OPTION_RANGE:
		return store_range(o, place, value, e);
	case OPTION_RANGES:
		return store_ranges(o, place, value, e);
	case OPTION_TIME_RANGE:
		return value_time_range(value, place, e);
	case OPTION_BSSPLIT:
		return value_bssplit(value, place, e);
	case OPTION_EXTENT:
		return value_extent(value, place, e);
	case OPTION_TIME:
	case OPTION_MICROSECONDS:
		return store_time(o, place, value, e);
	case OPTION_CHOICE:
		return store_choice(o, place, value, e);
	case OPTION_SERVICE:
		return store_service(o, place, value, e);
	case OPTION_DISTRIBUTION:
		return value_distribution(value, choose_distribution, o, place, e);
	case OPTION_FORMATS:
		return store_formats(o, place, value, e);
	case OPTION_PERCENTILES:
		return store_percentiles(base, value, e);
	case OPTION_PERCENTAGE:
		return value_percentage(value, place, e);
	case OPTION_PATTERN:
		return value_pattern(value, place, e);
	case OPTION_CPUS:
		return value_cpus(value, place, e);
	case OPTION_SECTION:
		return store_section(base, value, e);
	case OPTION_ENGINE:
		return store_engine(place, value, e);
	case OPTION_DIRECTORY:
		return store_directory(o, place, value, e);
	case OPTION_ACTION:
	case OPTION_ACTION_ON:
		break;
	}
	return error_set(e, STATUS_FAILED, "--%s is no setting of a job", o->name);
}

int option_defaults(const struct option *table, void *base, struct error *e)
{
	for (const struct option *o = table; o->name; o++)
		if (o->initial && option_store(o, base, o->initial, e))
			return error_context(e, "default of %s", o->name);
	return 0;
}

int job_defaults(struct job *job, struct error *e)
{
	*job = (struct job){ .name = NULL };
	for (const struct option_section *s = job_sections; s->title; s++)
		if (option_defaults(s->options, job, e))
			return -1;
	return 0;
}
