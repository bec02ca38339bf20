#include "host/hosts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "host/environment.h"
#include "host/place.h"
#include "host/run_file.h"

static unsigned count(const struct experiment *x)
{
	return x->nhosts ? x->nhosts : 1;
}

const struct experiment *hosts_get(const struct experiment *x, unsigned host)
{
	return host ? &x->peer[host - 1] : x;
}

struct experiment *hosts_of_block(struct experiment *x, unsigned block)
{
	unsigned host = block % count(x);
	struct experiment *at = host ? &x->peer[host - 1] : x;

	at->store = x->store;
	at->run = x->run;
	return at;
}

static int look(struct experiment *x, struct error *e)
{
	struct utsname here = { .nodename = "" };

	if (x->ops->host)
		return x->ops->host(x->hv, &x->host, e);
	uname(&here);
	x->host.here = true;
	snprintf(x->host.name, sizeof(x->host.name), "%s", here.nodename);
	return 0;
}

int hosts_make(struct experiment *x, const char *const *uri, struct hv *const *hv, unsigned n, struct error *e)
{
	x->hv = hv[0];
	x->uri = uri[0];
	if (look(x, e))
		return -1;
	x->peer = n > 1 ? calloc(n - 1, sizeof(*x->peer)) : NULL;
	if (n > 1 && !x->peer)
		return error_set(e, STATUS_HOST, "out of memory");
	x->nhosts = n;
	for (unsigned i = 1; i < n; i++) {
		struct experiment *p = &x->peer[i - 1];

		*p = (struct experiment){ .scenario = x->scenario, .plan = x->plan, .dirs = x->dirs, .driver = x->driver, .ops = x->ops, .hv = hv[i],
					  .uri = uri[i], .interrupted = x->interrupted };
	}
	for (unsigned i = 1; i < n; i++)
		if (look(&x->peer[i - 1], e))
			return error_context(e, "%s", uri[i]);
	return 0;
}

static int prepare(struct experiment *x, void (*say)(const char *), struct error *e)
{
	for (size_t v = 0; v < x->scenario->nvariants; v++)
		if (place_check(&x->host, &x->scenario->variant[v].settings, e))
			return -1;
	if (x->ops->version(x->hv, &x->version, e) || experiment_prepare_machines(x, say, e))
		return -1;
	say("preparing the test disk");
	return experiment_prepare_disks(x, e);
}

static int agree(const struct experiment *x, const struct experiment *peer, const char *label, struct error *e)
{
	for (size_t g = 0; g < x->scenario->nguests; g++)
		for (size_t v = 0; v < x->scenario->nvariants; v++) {
			const struct accel_outcome *a = &experiment_prepared(x, g, v)->accel, *b = &experiment_prepared(peer, g, v)->accel;

			if (a->used != b->used)
				return error_set(e, STATUS_HOST, "host %s comes to %s (%s), host %s to %s (%s): results of KVM and TCG are never "
						 "mixed; accel = tcg in [guest %s] would do for both", x->host.name, accel_name(a->used), a->why,
						 label, accel_name(b->used), b->why, x->scenario->guest[g].name);
		}
	return 0;
}

int hosts_prepare(struct experiment *x, void (*say)(const char *line), struct error *e)
{
	if (prepare(x, say, e))
		return -1;
	for (unsigned i = 1; i < count(x); i++) {
		char line[700];

		snprintf(line, sizeof(line), "host %s", hosts_label(x, i));
		say(line);
		if (prepare(&x->peer[i - 1], say, e) || agree(x, &x->peer[i - 1], hosts_label(x, i), e))
			return -1;
	}
	return 0;
}

void hosts_close(struct experiment *x)
{
	for (unsigned i = 1; i < count(x); i++) {
		experiment_free_machines(&x->peer[i - 1]);
		experiment_free_disks(&x->peer[i - 1]);
		json_decref(x->peer[i - 1].facts);
		x->ops->close(x->peer[i - 1].hv);
	}
	free(x->peer);
	x->peer = NULL;
	x->nhosts = 0;
}

const char *hosts_label(const struct experiment *x, unsigned host)
{
	const struct experiment *mine = hosts_get(x, host);

	for (unsigned i = 0; i < count(x); i++)
		if (i != host && !strcmp(hosts_get(x, i)->host.name, mine->host.name))
			return mine->uri ? mine->uri : "this host";
	return mine->host.name;
}

json_t *hosts_environment(const struct experiment *x, uint64_t needed_bytes)
{
	const struct hv_host *h = &x->host;

	if (h->here || !*h->name)
		return environment_take("", needed_bytes);
	return json_pack("{s:s, s:s*, s:s*, s:i, s:I, s:I, s:[s, s]}", "host", h->name, "cpu", *h->cpu ? h->cpu : NULL, "microcode",
			 *h->microcode ? h->microcode : NULL, "cpus", (int)h->cpus, "memory_bytes", (json_int_t)h->memory,
			 "available_bytes", (json_int_t)h->available, "warnings", "the host is seen through libvirt only: its load, "
			 "its clock rate and what its CPUs did beside are unknown",
			 "a test disk that was restored there after a job that wrote may still be on its way from that host's memory to "
			 "its disk when the next boot begins: nothing can be flushed through libvirt");
}

json_t *hosts_json(const struct experiment *x)
{
	json_t *list;

	if (count(x) == 1 && (x->host.here || !*x->host.name))
		return NULL;
	list = json_array();
	for (unsigned i = 0; i < count(x); i++) {
		const struct experiment *h = hosts_get(x, i);

		json_array_append_new(list, json_pack("{s:s, s:s, s:s*, s:b, s:{s:s, s:s, s:s}, s:o, s:o}", "label", hosts_label(x, i),
						      "name", h->host.name, "uri", h->uri, "here", h->host.here, "versions", "hypervisor",
						      h->version.hypervisor, "library", h->version.library, "emulator",
						      h->version.emulator, "machines", run_file_machines(h), "environment",
						      json_incref(h->facts)));
	}
	return list;
}

int hosts_facts(struct experiment *x, uint64_t needed_bytes, struct error *e)
{
	for (unsigned i = 0; i < count(x); i++) {
		struct experiment *at = i ? &x->peer[i - 1] : x;

		json_decref(at->facts);
		at->facts = hosts_environment(at, needed_bytes);
		if (!at->facts)
			return error_set(e, STATUS_HOST, "out of memory");
	}
	return 0;
}

/* Only what both tell can differ. */
static int same_facts(const json_t *began, const json_t *facts, struct error *e)
{
	static const char *const part[] = { "host", "cpu", "microcode" };

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		const json_t *then = json_object_get(began, part[i]), *now = json_object_get(facts, part[i]);

		if (json_is_string(then) && json_is_string(now) && !json_equal(then, now))
			return error_set(e, STATUS_HOST, "the run began on another host (%s was %s, is %s): its blocks are not added up with "
					 "this one's; go on there, or begin a new run", part[i], json_string_value(then),
					 json_string_value(now));
	}
	return 0;
}

int hosts_same(const struct experiment *x, const json_t *kept, struct error *e)
{
	const json_t *hosts = json_object_get(kept, "hosts"), *host;
	size_t had = json_array_size(hosts), i;

	if ((had ? had : 1) != count(x))
		return error_set(e, STATUS_USAGE, "the run has its blocks on %zu host%s, and here %s %u: give --connect as it was given "
				 "then",
				 had ? had : 1, had > 1 ? "s" : "", count(x) == 1 ? "is" : "are", count(x));
	json_array_foreach(hosts, i, host) {
		const char *label = json_string_value(json_object_get(host, "label"));

		if (count(x) > 1 && (!label || strcmp(label, hosts_label(x, (unsigned)i))))
			return error_set(e, STATUS_USAGE, "host %zu of the run was %s, and now it would be %s: give --connect in the order of "
					 "then", i + 1, label ? label : "?", hosts_label(x, (unsigned)i));
		if (same_facts(json_object_get(host, "environment"), hosts_get(x, (unsigned)i)->facts, e))
			return -1;
	}
	return had ? 0 : same_facts(json_object_get(kept, "environment"), x->facts, e);
}
