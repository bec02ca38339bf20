/*
 * Print the shape of a fio JSON report on stdin, one "path type" per line, sorted by the caller: lists are [],
 * histogram bins are one path, since their keys are latencies. Text before the first line that is "{" is
 * skipped. Optional members (-x NAME) are left out.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *const types[] = {
	[JSON_OBJECT] = "object", [JSON_ARRAY] = "list", [JSON_STRING] = "string", [JSON_INTEGER] = "integer",
	[JSON_REAL] = "real", [JSON_TRUE] = "bool", [JSON_FALSE] = "bool", [JSON_NULL] = "null",
};

static int excluded(const char *name, int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2)
		if (strcmp(argv[i], "-x") == 0 && strcmp(argv[i + 1], name) == 0)
			return 1;
	return 0;
}

static void shape(json_t *node, const char *path, int argc, char **argv)
{
	char below[1024];
	const char *key;
	json_t *value;
	size_t i;

	printf("%s %s\n", path, types[json_typeof(node)]);
	json_object_foreach(node, key, value)
	{
		if (excluded(key, argc, argv))
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, strcmp(strrchr(path, '/') + 1, "bins") ? key : "N");
		shape(value, below, argc, argv);
	}
	json_array_foreach(node, i, value)
	{
		snprintf(below, sizeof(below), "%s/[%zu]", path, i);
		shape(value, below, argc, argv);
	}
}

int main(int argc, char **argv)
{
	char line[4096];
	json_error_t error;
	json_t *root;
	FILE *copy = tmpfile();
	int found = 0;

	if (!copy)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "{\n") == 0)
			found = 1;
		if (found)
			fputs(line, copy);
	}
	rewind(copy);
	root = json_loadf(copy, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		fprintf(stderr, "json_shape: line %d: %s\n", error.line, error.text);
		return 1;
	}
	shape(root, "/", argc, argv);
	json_decref(root);
	fclose(copy);
	return 0;
}
