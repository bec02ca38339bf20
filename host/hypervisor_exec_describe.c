/* What the commands of driver = exec are told, and what the verify command tells: texts in, texts out. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/hypervisor_exec.h"
#include "host/process.h"
#include "host/system.h"

static void put(json_t *environment, const char *prefix, const char *key, const char *value)
{
	char name[128];
	size_t n = (size_t)snprintf(name, sizeof(name), "KICKBENCH_%s%s", prefix, key);

	for (size_t i = 0; i < n && i < sizeof(name) - 1; i++)
		name[i] = isalnum((unsigned char)name[i]) ? (char)toupper((unsigned char)name[i]) : '_';
	json_object_set_new(environment, name, json_string(value ? value : ""));
}

static void put_number(json_t *environment, const char *key, unsigned long long value, const char *unit)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu%s", value, unit);
	put(environment, "", key, text);
}

/* Every key there is, an empty text where it is unset: a command need not ask what exists. */
static void put_settings(json_t *environment, const struct boot_request *r)
{
	struct text value = { 0 };
	const char *key;

	for (size_t i = 0; (key = machine_key(i, NULL)); i++) {
		if (strchr(key, '.'))
			continue;
		text_reset(&value);
		machine_get(r->machine, key, &value);
		put(environment, "", key, text_get(&value));
	}
	for (size_t i = 0; i < r->machine->nproperties; i++)
		put(environment, "qemu.", r->machine->property[i].name, r->machine->property[i].value);
	for (size_t i = 0; (key = settings_key(i, NULL)); i++) {
		text_reset(&value);
		settings_get(r->settings[0], key, &value);
		put(environment, "", key, text_get(&value));
	}
	text_free(&value);
}

static json_t *environment(const struct boot_request *r, const char *name)
{
	json_t *all = json_object();

	put_settings(all, r);
	put(all, "", "name", name);
	put(all, "", "variant", r->variant);
	put_number(all, "boot", r->boot, "");
	put_number(all, "block", r->block, "");
	put(all, "", "disk", r->source[0]);
	put(all, "", "serial", boot_serials[0]);
	put(all, "", "readonly", !r->under[0] ? "" : r->under[0]->readonly ? "on" : "off");
	put(all, "", "discard", !r->under[0] ? "" : r->under[0]->discard ? "on" : "off");
	put_number(all, "memory", r->machine->memory >> 20, "M");
	if (r->image && r->image->kernel) { /* else what the scenario says, or nothing */
		put(all, "", "kernel", r->image->kernel);
		put(all, "", "initrd", r->image->initrd);
	}
	put(all, "", "arguments", r->image ? r->image->arguments : NULL);
	put(all, "", "archive", r->image && r->image->system ? r->image->system->archive : NULL);
	return all;
}

static void put_text(json_t *object, const char *key, const char *value)
{
	if (value)
		json_object_set_new(object, key, json_string(value));
}

int exec_describe(const struct boot_request *r, struct text *out, struct error *e)
{
	const struct exec_commands *c = &r->guest->exec;
	struct utsname host = { 0 };
	char name[128], *text;
	json_t *d;

	uname(&host);
	snprintf(name, sizeof(name), DOMAIN_PREFIX "%s", r->name);
	d = json_pack("{s:s,s:s,s:{s:s,s:I,s:I},s:i}", "schema", EXEC_SCHEMA, "name", name, "owner", "host", host.nodename, "pid",
		      (json_int_t)getpid(), "started", (json_int_t)process_started(getpid()), "baud", (int)c->baud);
	put_text(d, "start", c->start);
	put_text(d, "stop", c->stop);
	put_text(d, "kill", c->kill);
	put_text(d, "verify", c->verify);
	put_text(d, "link", c->link);
	put_text(d, "console", c->console);
	put_text(d, "log", r->console_log);
	json_object_set_new(d, "environment", environment(r, name));
	text = d ? json_dumps(d, JSON_INDENT(1)) : NULL;
	json_decref(d);
	if (!text)
		return error_set(e, STATUS_HOST, "the guest's commands cannot be written as JSON");
	text_add(out, "%s\n", text);
	free(text);
	return 0;
}

int exec_owner(const char *description, char *host, size_t room, long *pid, uint64_t *started)
{
	json_t *d = json_loads(description, 0, NULL), *owner = json_object_get(d, "owner");
	json_t *p = json_object_get(owner, "pid"), *s = json_object_get(owner, "started");
	int status = json_is_integer(p) && json_is_integer(s) ? 0 : -1;

	*pid = (long)json_integer_value(p);
	*started = (uint64_t)json_integer_value(s);
	snprintf(host, room, "%s", json_string_value(json_object_get(owner, "host")) ?: "");
	json_decref(d);
	return status;
}

static char *variable(const char *name, const char *value)
{
	struct text t = { 0 };

	text_add(&t, "%s=%s", name, value);
	if (t.failed)
		text_free(&t);
	return t.data;
}

char **exec_variables(const json_t *description, const char *folder)
{
	json_t *all = json_object_get(description, "environment"), *value;
	char **list = calloc(json_object_size(all) + 2, sizeof(*list));
	const char *name;
	size_t n = 0;

	if (!list)
		return NULL;
	list[n++] = variable("KICKBENCH_FOLDER", folder);
	json_object_foreach(all, name, value)
		list[n++] = variable(name, json_string_value(value) ?: "");
	for (size_t i = 0; i < n; i++)
		if (!list[i]) {
			for (i = 0; i < n; i++)
				free(list[i]);
			free(list);
			return NULL;
		}
	return list;
}

void exec_free_variables(char **variables)
{
	for (size_t i = 0; variables && variables[i]; i++)
		free(variables[i]);
	free(variables);
}

/* ---- verify ---- */

/* The text of a key as it was asked for, and of value as the scenario would write it. 1: there is no such key. */
static int both(const struct settings *asked, const struct machine *machine, const char *key, const char *value,
		struct text *want, struct text *have)
{
	struct settings s;
	struct machine m;
	struct error e = { 0 };
	int status;

	settings_default(&s);
	machine_default(&m);
	status = settings_set(&s, key, value, "", 0, &e);
	if (status <= 0) {
		settings_get(asked, key, want);
		settings_get(&s, key, have);
	} else {
		status = machine_set(&m, key, value, "", 0, &e);
		machine_get(machine, key, want);
		machine_get(&m, key, have);
	}
	if (status) { /* no value of this key: as it stands */
		text_reset(have);
		text_add(have, "%s", value);
	}
	settings_free(&s);
	machine_free(&m);
	return status > 0;
}

struct verdict {
	json_t *verified, *mismatch;
};

static void judge(struct verdict *v, const struct settings *asked, const struct machine *machine, const char *key,
		  const char *value)
{
	struct text want = { 0 }, have = { 0 };

	if (both(asked, machine, key, value, &want, &have))
		json_array_append_new(v->mismatch, json_pack("{s:s,s:s,s:s}", "key", key, "want", "a key that exists", "have", value));
	else if (!want.length || !strcmp(text_get(&want), "auto") || !strcmp(text_get(&want), text_get(&have)))
		json_object_set_new(v->verified, key, json_string(text_get(&have)));
	else
		json_array_append_new(v->mismatch, json_pack("{s:s,s:s,s:s}", "key", key, "want", text_get(&want), "have",
							     text_get(&have)));
	text_free(&want);
	text_free(&have);
}

/* One line of the command's output. */
static void take_line(struct verdict *v, const struct settings *asked, const struct machine *machine, char *line)
{
	char *equals, *end;

	line += strspn(line, " \t");
	equals = line + strspn(line, "abcdefghijklmnopqrstuvwxyz_0123456789");
	if (equals == line || *equals != '=')
		return;
	*equals++ = '\0';
	end = equals + strlen(equals);
	while (end > equals && isspace((unsigned char)end[-1]))
		*--end = '\0';
	judge(v, asked, machine, line, equals);
}

static bool told(const struct verdict *v, const char *key)
{
	json_t *one;
	size_t i;

	json_array_foreach(v->mismatch, i, one)
		if (!strcmp(json_string_value(json_object_get(one, "key")) ?: "", key))
			return true;
	return json_object_get(v->verified, key) != NULL;
}

json_t *exec_verify(const struct settings *asked, const struct machine *machine, const char *printed)
{
	/* Whoever made the file knows them; the last two are there only when they were asked for. */
	static const char *const ours[] = { "size", "path", "filesystem", "latency_ns", "inject_error" };
	struct verdict v = { json_object(), json_array() };
	json_t *unverified = json_array();
	char *copy = printed ? strdup(printed) : NULL, *save = NULL;
	const char *key;

	for (char *line = copy ? strtok_r(copy, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		take_line(&v, asked, machine, line);
	free(copy);
	for (size_t i = 0; (key = settings_key(i, NULL)); i++) {
		struct text want = { 0 };
		bool skip = false;

		for (size_t k = 0; k < sizeof(ours) / sizeof(ours[0]); k++)
			skip = skip || !strcmp(key, ours[k]);
		settings_get(asked, key, &want);
		skip = skip && (strcmp(key, "latency_ns") || !asked->latency_ns) && (strcmp(key, "inject_error") || !asked->inject);
		if (!skip && want.length && !told(&v, key))
			json_array_append_new(unverified, json_string(key));
		text_free(&want);
	}
	return json_pack("{s:o,s:o,s:o,s:[]}", "verified", v.verified, "unverified", unverified, "mismatch", v.mismatch,
			 "features");
}
