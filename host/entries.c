#include "host/entries.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/parse.h"

#define LONGEST_LINE 8000
#define LONGEST_NAME 49 /* inih cuts longer section and key names */

struct reading {
	struct entries *out;
	const char *next; /* the rest of the text */
	char *whole;      /* the value of the line at hand when inih has no room for it, NULL: it has */
	int line;
	struct error *e;
};

static int no_memory(struct error *e)
{
	return error_set(e, STATUS_HOST, "out of memory");
}

/* What is no UTF-8 could not be written into the run's JSON, and would be missing there. */
static bool is_text(const char *bytes, size_t length)
{
	json_t *string = memchr(bytes, '\0', length) ? NULL : json_stringn(bytes, length);

	json_decref(string);
	return string != NULL;
}

static int read_whole(const char *file, char **text, struct error *e)
{
	FILE *f = fopen(file, "r");
	size_t length = 0, room = 4096, n;
	char *data = malloc(room);

	if (!f) {
		error_errno(e, STATUS_USAGE, "%s", file);
		free(data);
		return -1;
	}
	while (data && (n = fread(data + length, 1, room - length - 1, f)) > 0) {
		length += n;
		if (room - length < 2) {
			char *more = realloc(data, room *= 2);

			if (!more)
				free(data);
			data = more;
		}
	}
	if (data && (ferror(f) || !is_text(data, length))) {
		error_at(e, STATUS_USAGE, file, 0, ferror(f) ? "cannot be read" : "is not a text file in UTF-8");
		free(data);
		fclose(f);
		return -1;
	}
	fclose(f);
	if (!data)
		return no_memory(e);
	data[length] = '\0';
	*text = data;
	return 0;
}

static struct section *find_section(struct entries *all, const char *kind, const char *name)
{
	for (size_t i = 0; i < all->nsections; i++)
		if (!strcmp(all->section[i].kind, kind) && !strcmp(all->section[i].name, name))
			return &all->section[i];
	return NULL;
}

static struct section *add_section(struct entries *all, const char *kind, const char *name, const char *file, int line)
{
	struct section *grown = realloc(all->section, (all->nsections + 1) * sizeof(*grown));
	struct section *s;

	if (!grown)
		return NULL;
	all->section = grown;
	s = &grown[all->nsections++];
	*s = (struct section){ .kind = strdup(kind), .name = strdup(name), .file = file, .line = line };
	return s->kind && s->name ? s : NULL;
}

static struct entry *find_entry(struct section *s, const char *key)
{
	for (size_t i = 0; i < s->nentries; i++)
		if (!strcmp(s->entry[i].key, key))
			return &s->entry[i];
	return NULL;
}

/* Add a key or replace its value. */
static int put_entry(struct section *s, const char *key, const char *value, const char *file, int line)
{
	struct entry *entry = find_entry(s, key);
	char *copy = strdup(value);

	if (!copy)
		return -1;
	if (!entry) {
		struct entry *grown = realloc(s->entry, (s->nentries + 1) * sizeof(*grown));

		if (!grown) {
			free(copy);
			return -1;
		}
		s->entry = grown;
		entry = &grown[s->nentries++];
		*entry = (struct entry){ .key = strdup(key) };
		if (!entry->key) {
			s->nentries--;
			free(copy);
			return -1;
		}
	}
	free(entry->value);
	entry->value = copy;
	entry->file = file;
	entry->line = line;
	return 0;
}

static int start_section(struct reading *r, const char *header)
{
	const char *end = strchr(header, ']');
	char name[LONGEST_NAME + 1], *rest;

	if (!end || end - header - 1 > LONGEST_NAME || end == header + 1)
		return error_at(r->e, STATUS_USAGE, r->out->file, r->line,
				"a section header is [KIND] or [KIND NAME], at most %d characters", LONGEST_NAME);
	memcpy(name, header + 1, (size_t)(end - header - 1));
	name[end - header - 1] = '\0';
	rest = strpbrk(name, " \t");
	if (rest) {
		*rest++ = '\0';
		rest += strspn(rest, " \t");
	} else {
		rest = name + strlen(name);
	}
	if (find_section(r->out, name, rest))
		return error_at(r->e, STATUS_USAGE, r->out->file, r->line, "section [%s%s%s] stands here twice", name,
				*rest ? " " : "", rest);
	return add_section(r->out, name, rest, r->out->file, r->line) ? 0 : no_memory(r->e);
}

/* Whether a line sets a key whose value is text for a shell, in which ';' begins no comment. */
static bool is_command(const char *line, size_t length)
{
	static const char *const keys[] = { "start", "stop", "kill", "verify" };
	size_t n = 0;

	while (n < length && line[n] != '=' && !isspace((unsigned char)line[n]))
		n++;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (n == strlen(keys[i]) && !strncmp(line, keys[i], n))
			return true;
	return false;
}

/*
 * inih (as distributions build it) takes 200 bytes a line, and cuts what looks like a comment at the end of it. Here it
 * gets the key with a stand-in for the value, which waits, without its comment unless it is a command.
 */
static int put_aside(struct reading *r, const char *start, size_t length, char *buffer, size_t room)
{
	const char *equals = memchr(start, '=', length);
	size_t key = equals ? (size_t)(equals - start) : length, n;

	if (!equals || key + 4 > room || length > LONGEST_LINE)
		return error_at(r->e, STATUS_USAGE, r->out->file, r->line, length > LONGEST_LINE || equals
				? "line is longer than %d characters" : "expected KEY = VALUE in at most %d characters", LONGEST_LINE);
	equals++;
	n = length - key - 1;
	while (n && isspace((unsigned char)*equals)) {
		equals++;
		n--;
	}
	for (size_t i = 1; i < n && !is_command(start, length); i++)
		if (equals[i] == ';' && isspace((unsigned char)equals[i - 1]))
			n = i;
	while (n && isspace((unsigned char)equals[n - 1]))
		n--;
	free(r->whole);
	r->whole = strndup(equals, n);
	if (!r->whole)
		return no_memory(r->e);
	memcpy(buffer, start, key);
	memcpy(buffer + key, "=-\n", 4);
	return 0;
}

/* inih's fgets: hand over one line, count it, and see the section headers that inih does not report. */
static char *next_line(char *buffer, int room, void *stream)
{
	struct reading *r = stream;
	size_t length = strcspn(r->next, "\n");
	const char *start = r->next;

	if (!*start || r->e->status)
		return NULL;
	r->line++;
	r->next += length + (start[length] == '\n');
	while (length && isspace((unsigned char)*start)) { /* no continuation lines */
		start++;
		length--;
	}
	if (length + 2 > (size_t)room && (*start == '#' || *start == ';'))
		length = (size_t)room - 2; /* nobody reads the rest of a comment */
	if (length + 2 > (size_t)room || is_command(start, length))
		return put_aside(r, start, length, buffer, (size_t)room) ? NULL : buffer;
	memcpy(buffer, start, length);
	memcpy(buffer + length, "\n", 2);
	if (buffer[0] == '[' && start_section(r, buffer))
		return NULL;
	return buffer;
}

static int take_key(void *user, const char *section, const char *key, const char *value)
{
	struct reading *r = user;
	struct section *s;

	(void)section;
	if (r->e->status)
		return 0;
	if (r->out->nsections == 0) {
		error_at(r->e, STATUS_USAGE, r->out->file, r->line, "%s stands outside of any section", key);
		return 0;
	}
	if (r->whole)
		value = r->whole;
	s = &r->out->section[r->out->nsections - 1];
	if (strlen(key) >= LONGEST_NAME) {
		error_at(r->e, STATUS_USAGE, r->out->file, r->line, "key is longer than %d characters", LONGEST_NAME - 1);
		return 0;
	}
	if (find_entry(s, key)) {
		error_at(r->e, STATUS_USAGE, r->out->file, r->line, "%s stands here twice in [%s%s%s]", key, s->kind,
			 *s->name ? " " : "", s->name);
		return 0;
	}
	if (put_entry(s, key, value, r->out->file, r->line)) {
		no_memory(r->e);
		return 0;
	}
	free(r->whole);
	r->whole = NULL;
	return 1;
}

int entries_read(const char *file, struct entries *out, struct error *e)
{
	struct reading r = { .out = out, .e = e };
	int bad;

	*out = (struct entries){ .file = strdup(file) };
	if (!out->file)
		return no_memory(e);
	if (read_whole(file, &out->source, e)) {
		entries_free(out);
		return -1;
	}
	r.next = out->source + (strncmp(out->source, "\xef\xbb\xbf", 3) ? 0 : 3); /* byte order mark of some editors */
	bad = ini_parse_stream(next_line, &r, take_key, &r);
	free(r.whole);
	if (bad > 0 && !e->status)
		error_at(e, STATUS_USAGE, file, bad, "expected [SECTION] or KEY = VALUE");
	if (bad < 0 && !e->status)
		no_memory(e);
	if (e->status) {
		entries_free(out);
		return -1;
	}
	return 0;
}

/* Split "variant.a.b.key=value": kind, name (may hold dots), key, which may be qemu.PROPERTY. Points into copy. */
static bool split_set(char *copy, char **kind, char **name, char **key, char **value)
{
	char *equals = strchr(copy, '='), *first, *last;

	if (!equals)
		return false;
	*equals = '\0';
	*value = equals + 1;
	first = strchr(copy, '.');
	last = strrchr(copy, '.');
	if (!first || !last[1])
		return false;
	if (last - first > 5 && !strncmp(last - 5, ".qemu", 5))
		last -= 5;
	*first = *last = '\0';
	*kind = copy;
	*key = last + 1;
	*name = first == last ? NULL : first + 1;
	return **kind && (!*name || **name);
}

/* "--set TEXT", kept as long as the entries: it is the file that messages name. */
static const char *keep_place(struct entries *out, const char *text)
{
	char **grown = realloc(out->set, (out->nset + 1) * sizeof(*grown));
	size_t room = strlen(text) + 7;
	char *place;

	if (!grown)
		return NULL;
	out->set = grown;
	place = malloc(room);
	if (!place)
		return NULL;
	snprintf(place, room, "--set %s", text);
	return out->set[out->nset++] = place;
}

int entries_set(struct entries *out, const char *text, struct error *e)
{
	static const char *const named_kinds[] = { "variant", "workload", "guest", "matrix", "except", NULL };
	char *copy = strdup(text), *kind, *name, *key, *value;
	const char *place = keep_place(out, text);
	bool named, found = false;
	int status = 0;

	if (!copy || !place) {
		free(copy);
		return no_memory(e);
	}
	if (!is_text(text, strlen(text)) || strchr(text, '\n')) {
		status = error_set(e, STATUS_USAGE, "--set: a value is one line of UTF-8");
		goto out;
	}
	if (!split_set(copy, &kind, &name, &key, &value)) {
		status = error_set(e, STATUS_USAGE, "--set %s: expected SECTION.KEY=VALUE or SECTION.NAME.KEY=VALUE", text);
		goto out;
	}
	named = parse_word(kind, named_kinds) >= 0;
	if (!named && !name && !find_section(out, kind, "") && !add_section(out, kind, "", place, 0)) {
		status = no_memory(e);
		goto out;
	}
	for (size_t i = 0; i < out->nsections && !status; i++) {
		struct section *s = &out->section[i];

		if (strcmp(s->kind, kind) || (name && strcmp(s->name, name)))
			continue;
		found = true;
		if (put_entry(s, key, value, place, 0))
			status = no_memory(e);
	}
	if (!found && !status)
		status = error_set(e, STATUS_USAGE, "--set %s: %s has no section [%s%s%s]", text, out->file, kind,
				   name ? " " : "", name ? name : "");
out:
	free(copy);
	return status;
}

void entries_free(struct entries *out)
{
	for (size_t i = 0; i < out->nsections; i++) {
		struct section *s = &out->section[i];

		for (size_t k = 0; k < s->nentries; k++) {
			free(s->entry[k].key);
			free(s->entry[k].value);
		}
		free(s->entry);
		free(s->kind);
		free(s->name);
	}
	for (size_t i = 0; i < out->nset; i++)
		free(out->set[i]);
	free(out->set);
	free(out->section);
	free(out->source);
	free(out->file);
	*out = (struct entries){ 0 };
}
