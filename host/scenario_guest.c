/*
 * What a guest is booted from, and by what: an image, a domain of the connection, a file with the definition of one;
 * libvirt, or commands.
 */
#include <stdlib.h>
#include <string.h>

#include "host/hypervisor_exec_port.h"
#include "host/scenario.h"
#include "host/scenario_keys.h"

static const struct entry *entry_of(const struct section *s, const char *key)
{
	for (size_t i = 0; i < s->nentries; i++)
		if (!strcmp(s->entry[i].key, key))
			return &s->entry[i];
	return NULL;
}

static int check_source(struct guest *g, const struct section *from, struct error *e)
{
	static const char *const sources[] = { "image", "domain", "domain_xml" }, *const domains[] = { "network", "host_devices" };
	const struct entry *first = NULL, *at;
	bool domain;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		at = entry_of(from, sources[i]);
		if (at && first)
			return error_at(e, STATUS_USAGE, at->file, at->line, "%s: the guest is booted from %s already", at->key, first->key);
		first = at ? at : first;
	}
	domain = first && strcmp(first->key, "image");
	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
		at = entry_of(from, domains[i]);
		if (at && !domain)
			return error_at(e, STATUS_USAGE, at->file, at->line, "%s is for a guest with domain or domain_xml", at->key);
	}
	if (domain)
		g->machine.memory = g->machine.vcpus = 0; /* as the domain has them */
	return 0;
}

static int check_driver(struct guest *g, const struct section *from, struct error *e)
{
	static const char *const keys[] = { "start", "stop", "kill", "verify", "link", "console", "baud" };
	const char *why;

	if (g->driver != DRIVER_EXEC) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (entry_of(from, keys[i]))
				return error_at(e, STATUS_USAGE, from->file, from->line, "[guest %s]: %s needs driver = exec", g->name, keys[i]);
		return 0;
	}
	why = g->domain || g->domain_xml ? "driver = exec starts commands: domain and domain_xml are libvirt's" : exec_check(&g->exec);
	return why ? error_at(e, STATUS_USAGE, from->file, from->line, "[guest %s]: %s", g->name, why) : 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* Keys that do not go together; NULL: none. */
static const char *guest_conflict(const struct guest *g)
{
	bool none = !strcmp(g->image, IMAGE_NONE), exec = g->driver == DRIVER_EXEC;
	bool file = ends_with(g->image, ".qcow2") || ends_with(g->image, ".raw") || ends_with(g->image, ".img");

	if ((g->domain || g->domain_xml) && (g->profile || g->login || g->user || g->password_file || g->password_env))
		return "kickio has to start by itself in a domain: profile, login, user and password belong to a disk image";
	if ((g->domain || g->domain_xml) && g->tool == TOOL_PROBE)
		return "the probe is a kernel of its own, and a domain boots another: leave one of both out";
	if (none && !exec)
		return "image = none is for driver = exec, whose start command knows what it boots";
	if (exec && g->profile && !none)
		return "a profile drives a guest of driver = exec whose disk is the start command's business: image = none";
	if (exec && file)
		return "driver = exec makes nothing of a disk image: the start command names it, and image = none";
	if (file && !g->profile)
		return "a disk image needs a profile (linux, openbsd, freebsd, netbsd, dragonfly, or the file of one)";
	if (g->profile && g->tool == TOOL_PROBE)
		return "the probe has no system that a profile could drive: leave one of both out";
	if (g->profile && !strcmp(g->image, "images/linux"))
		return "a profile drives a disk image: name it with image = FILE.qcow2";
	if (!g->profile && (g->login || g->user || g->password_file || g->password_env))
		return exec ? "login, user and password need a profile: how to log in on the guest's console"
			    : "login, user and password belong to a disk image with a profile";
	if (g->login == GUEST_LOGIN_NONE && (g->user || g->password_file || g->password_env))
		return "login = none uses no user and no password";
	if (g->password_file && g->password_env)
		return "password_file and password_env are two places for one password";
	return NULL;
}

int scenario_guest_read(struct guest *g, const char *file, const struct section *from, struct error *e)
{
	const char *why;

	if (from) {
		g->line = from->line;
		if (check_source(g, from, e) || scenario_keys_read(g, from, e))
			return -1;
	}
	if (!g->image)
		g->image = strdup(g->driver == DRIVER_EXEC ? IMAGE_NONE : g->tool == TOOL_PROBE ? "images/probe" : "images/linux");
	if (!g->image)
		return error_set(e, STATUS_HOST, "out of memory");
	why = from ? guest_conflict(g) : NULL;
	if (why)
		return error_at(e, STATUS_USAGE, from->file, from->line, "[guest %s]: %s", g->name, why);
	/* The probe wants nothing of a CPU: the same one under every accelerator is one difference less. */
	if (g->tool == TOOL_PROBE && g->driver == DRIVER_LIBVIRT && !g->machine.cpu &&
	    machine_set(&g->machine, "cpu", "qemu64", file, g->line, e))
		return -1;
	return from ? check_driver(g, from, e) : 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool guest_same_source(const struct guest *a, const struct guest *b)
{
	return same_text(a->image, b->image) && same_text(a->domain, b->domain) && same_text(a->domain_xml, b->domain_xml) &&
	       a->network == b->network && a->host_devices == b->host_devices;
}

void guest_source(const struct guest *g, struct text *out)
{
	if (g->domain)
		text_add(out, "domain %s", g->domain);
	else if (g->domain_xml)
		text_add(out, "domain_xml %s", g->domain_xml);
	else
		text_add(out, "%s", g->image);
}
