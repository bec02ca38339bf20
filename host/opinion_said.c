#include "host/opinion_said.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEFORE "kickio: verify: "

static const struct {
	const char *said, *kind;
} kinds[] = {
	{ "corrupt", "corrupt" }, { "lost write", "lost" }, { "misdirected write", "misdirected" }, { "no header", "no header" },
	{ "stale", "stale" }, { "torn", "torn" }, { "unexpected generation", "unexpected" },
};

/* KIND (DETAIL) at file PATH offset N, length L: a path may hold anything, so the end is looked at from the end. */
static json_t *fault_of(char *line)
{
	char *detail = strstr(line, " ("), *end = NULL, *numbers = NULL;
	unsigned long long offset, length;
	const char *kind = NULL;

	for (char *p = line; (p = strstr(p, " offset ")); p++)
		numbers = p;
	if (!detail || !numbers || sscanf(numbers, " offset %llu, length %llu", &offset, &length) != 2)
		return NULL;
	end = strstr(detail, ") at file ");
	if (!end || end > numbers)
		return NULL;
	*detail = *end = '\0';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(line, kinds[i].said))
			kind = kinds[i].kind;
	if (!kind)
		return NULL;
	return json_pack("{s:s,s:s,s:I,s:I}", "kind", kind, "detail", detail + 2, "offset", (json_int_t)offset, "length",
			 (json_int_t)length);
}

json_t *opinion_said(const char *lines)
{
	char *copy = strdup(lines), *save = NULL;
	json_t *faults = json_array();
	unsigned long long more = 0, n;

	if (!copy || !faults) {
		free(copy);
		json_decref(faults);
		return NULL;
	}
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		json_t *fault;

		if (strncmp(line, BEFORE, strlen(BEFORE)))
			continue;
		line += strlen(BEFORE);
		if (sscanf(line, "%llu more blocks", &n) == 1)
			more += n;
		else if ((fault = fault_of(line)))
			json_array_append_new(faults, fault);
	}
	free(copy);
	return json_pack("{s:o,s:I}", "faults", faults, "more", (json_int_t)more);
}

void opinion_in_words(const json_t *said, char *message, size_t room)
{
	const json_t *faults = json_object_get(said, "faults"), *first = json_array_get(faults, 0);
	json_int_t all = (json_int_t)json_array_size(faults) + json_integer_value(json_object_get(said, "more"));

	message[0] = '\0';
	if (!first)
		return;
	snprintf(message, room, "%lld %s: %s at %lld, %lld bytes (%s)", (long long)all, all == 1 ? "fault" : "faults, the first",
		 json_string_value(json_object_get(first, "kind")), (long long)json_integer_value(json_object_get(first, "offset")),
		 (long long)json_integer_value(json_object_get(first, "length")),
		 json_string_value(json_object_get(first, "detail")));
}
