#include "host/fio_text_options.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fio_text_number.h"

json_t *fio_json_text(const char *text, size_t length)
{
	json_t *j = json_stringn(text, length);
	char *ascii;

	if (j)
		return j;
	ascii = malloc(length + 1);
	if (!ascii)
		return NULL;
	for (size_t i = 0; i < length; i++)
		ascii[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
	j = json_stringn(ascii, length);
	free(ascii);
	return j;
}

static int set_text(json_t *object, const char *key, const char *text, size_t length)
{
	return json_object_set_new(object, key, fio_json_text(text, length));
}

/* ---- header ---- */

/* "4k" for 4096, "1m" for 1048576, else bytes. */
static void size_text(double bytes, char *out, size_t room)
{
	static const char units[] = "kmg";
	uint64_t v = (uint64_t)bytes;
	const char *unit = "";

	for (size_t i = 0; units[i] && v && v % 1024 == 0; i++) {
		v /= 1024;
		unit = units + i;
	}
	snprintf(out, room, "%llu%.1s", (unsigned long long)v, unit);
}

static const char *scan_size(const char *p, enum fio_style style, double *bytes)
{
	struct fio_printed n;

	p = fio_scan(p, style, &n);
	if (!p || n.value > 1e15 || n.value < 1)
		return NULL;
	*bytes = n.value;
	return p;
}

/*
 * "bs=(R) 4096B-4096B, (W) …, (T) …," since 2.19; "bs=4096B-4096B,4096B-4096B,…" in 2.17; before that
 * "bs=4K-4K/4K-4K/4K-4K," with two or three pairs.
 */
static int scan_sizes(const char *p, double low[3], double high[3])
{
	bool is_new = *p == '(' || !strncmp(p + strspn(p, "0123456789."), "B-", 2);
	enum fio_style style = is_new ? FIO_SINCE_2_17 : FIO_OLD_BYTES;
	int n = 0;

	for (; n < 3; n++) {
		if (*p == '(')
			p += strcspn(p, " ") + strspn(p + strcspn(p, " "), " ");
		p = scan_size(p, style, &low[n]);
		if (!p || *p != '-' || !(p = scan_size(p + 1, style, &high[n])))
			break;
		p += strspn(p, ",/ ");
		if (*p != '(' && !isdigit((unsigned char)*p)) {
			n++;
			break;
		}
	}
	return n;
}

static int put_sizes(json_t *header, json_t *options, const char *p)
{
	double low[3], high[3];
	char text[128] = "", a[32], b[32];
	json_t *single = json_array();
	int n = scan_sizes(p, low, high), same = 1, ranged = 0;

	if (json_object_set_new(header, "single", single))
		return -1;
	for (int i = 0; i < 3; i++) {
		/* A fraction of a byte: the print was rounded. */
		double one = i < n && low[i] == high[i] && low[i] == floor(low[i]) ? low[i] : 0;

		if (json_array_append_new(single, json_integer((json_int_t)one)))
			return -1;
		if (i < n) {
			same = same && low[i] == low[0] && high[i] == high[0];
			ranged = ranged || low[i] != high[i];
		}
	}
	if (!n)
		return 0;
	for (int i = 0; i < (same ? 1 : n); i++) {
		size_t used = strlen(text);

		size_text(low[i], a, sizeof(a));
		size_text(high[i], b, sizeof(b));
		snprintf(text + used, sizeof(text) - used, "%s%s%s%s", i ? "," : "", a, ranged ? "-" : "", ranged ? b : "");
	}
	return set_text(options, ranged ? "bsrange" : "bs", text, strlen(text));
}

/* The value behind "key=" up to a comma. */
static int put_word(json_t *options, const char *line, const char *key)
{
	char what[24];
	const char *p;

	snprintf(what, sizeof(what), " %s=", key);
	p = strstr(line, what);
	if (!p)
		return 0;
	p += strlen(what);
	return strcspn(p, ", ") ? set_text(options, key, p, strcspn(p, ", ")) : 0;
}

json_t *fio_read_header(const char *line)
{
	static const char *const words[] = {"rw", "ioengine", "iodepth"};
	const char *group = strstr(line, ": (g="), *p;
	json_t *header = json_object(), *options = json_object();
	char *key = NULL;
	size_t room;

	if (!header || !options || !group)
		goto fail;
	room = strlen(line) + 32;
	key = malloc(room);
	if (!key)
		goto fail;
	snprintf(key, room, "%ld:%.*s", strtol(group + 5, NULL, 10), (int)(group - line), line);
	if (set_text(header, "key", key, strlen(key)) || json_object_set(header, "options", options))
		goto fail;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (put_word(options, group, words[i]))
			goto fail;
	p = strstr(group, " bs=");
	if (p && put_sizes(header, options, p + 4))
		goto fail;
	free(key);
	json_decref(options);
	return header;
fail:
	free(key);
	json_decref(options);
	json_decref(header);
	return NULL;
}

/* ---- command line ---- */

enum { OPTIONS_MOST = 128 }; /* words of a command line: each of its jobs gets a copy of the options */

static const struct {
	const char *alias, *name; /* name NULL: not an option of a job */
} aliases[] = {
	{"readwrite", "rw"}, {"blocksize", "bs"}, {"blocksize_range", "bsrange"}, {"timeout", "runtime"},
	{"io_limit", "io_size"},
	{"output", NULL}, {"output-format", NULL}, {"append-terse", NULL}, {"minimal", NULL}, {"terse-version", NULL},
	{"eta", NULL}, {"eta-newline", NULL}, {"eta-interval", NULL}, {"status-interval", NULL}, {"debug", NULL},
	{"version", NULL}, {"help", NULL}, {"section", NULL}, {"client", NULL}, {"server", NULL},
};

/* Options that take no value, so that the word behind them is something else. */
static const char *const flags[] = {
	"append-terse", "exitall", "fill_device", "group_reporting", "minimal", "new_group", "norandommap", "readonly",
	"refill_buffers", "stonewall", "thread", "time_based", "wait_for_previous", "zero_buffers",
};

static bool is_flag(const char *name)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (!strcmp(name, flags[i]))
			return true;
	return false;
}

/* The next word as a shell would cut it, unquoted in place; NULL at the end and at what ends a command. */
static char *next_word(char **p)
{
	char *from = *p + strspn(*p, " "), *to = from, *word = from, quote = '\0';

	if (!*from || strchr("|;&<>#", *from) || (*from == '\\' && !from[1]))
		return NULL;
	for (; *from && (quote || *from != ' '); from++) {
		if (*from == quote)
			quote = '\0';
		else if (!quote && (*from == '"' || *from == '\''))
			quote = *from;
		else
			*to++ = *from;
	}
	*p = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

static int put_option(json_t *global, json_t *jobs, json_t **into, char *name, const char *value)
{
	if (!strcmp(name, "name")) {
		if (!strncmp(value, "global", 6)) {
			*into = global;
			return 0;
		}
		*into = json_copy(global);
		return json_object_set_new(jobs, value, *into);
	}
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
		if (!strcmp(name, aliases[i].alias)) {
			if (!aliases[i].name)
				return 0;
			return set_text(*into, aliases[i].name, value, strlen(value));
		}
	return set_text(*into, name, value, strlen(value));
}

/* A job's name is a key, and keys are UTF-8 as values are: what is not is left out with its option. */
static bool proper(const char *text)
{
	json_t *j = json_string(text);

	json_decref(j);
	return j != NULL;
}

static int put_words(json_t *global, json_t *jobs, char *p)
{
	json_t *into = global;
	char *word, *value, *after;
	int most = OPTIONS_MOST;

	while (most-- && (word = next_word(&p))) {
		if (word[0] != '-' || !word[1])
			continue; /* the program, a job file, what wrapping left */
		word += word[1] == '-' ? 2 : 1;
		if (!*word)
			continue;
		value = strchr(word, '=');
		if (value) {
			*value++ = '\0';
		} else if (!is_flag(word)) {
			after = p + strspn(p, " ");
			if (*after && *after != '-' && !strchr("\\|;&<>#", *after))
				value = next_word(&p);
		}
		if (proper(word) && (!value || proper(value)) &&
		    put_option(global, jobs, &into, word, value ? value : "1"))
			return -1;
	}
	return 0;
}

json_t *fio_read_command(const char *line)
{
	json_t *command = json_object(), *global = json_object(), *jobs = json_object();
	char *copy = strdup(strstr(line, "fio"));
	int bad = !copy || json_object_set(command, "global", global) || json_object_set(command, "jobs", jobs) ||
		  put_words(global, jobs, copy);

	free(copy);
	json_decref(global);
	json_decref(jobs);
	if (!bad)
		return command;
	json_decref(command);
	return NULL;
}

json_t *fio_job_options(json_t *header, json_t *command, const char *name)
{
	json_t *told = json_object_get(header, "options"), *options = told ? json_copy(told) : json_object();
	json_t *jobs = json_object_get(command, "jobs"), *from = json_object_get(jobs, name), *value;
	const char *key;

	if (!from && json_object_size(jobs) == 0)
		from = json_object_get(command, "global"); /* the jobs are in a file */
	json_object_foreach(from, key, value) {
		if ((!strcmp(key, "bs") || !strcmp(key, "bsrange")) &&
		    (json_object_get(options, "bs") || json_object_get(options, "bsrange")))
			continue;
		if (options && !json_object_get(options, key) && json_object_set(options, key, value)) {
			json_decref(options);
			return NULL;
		}
	}
	return options;
}
