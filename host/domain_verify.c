/* What a domain's XML and its emulator say about settings that were asked for. Pure: texts in, JSON out. */
#include "host/domain.h"

#include <inttypes.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/domain_names.h"

#define MAX_CPUS 1024
#define LACK_SIZE 96

xmlDoc *domain_parse(const char *xml)
{
	if (!xml)
		return NULL;
	return xmlReadMemory(xml, (int)strlen(xml), NULL, NULL,
			     XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
}

char *domain_lookup(xmlDoc *doc, const char *path)
{
	xmlXPathContext *context = doc ? xmlXPathNewContext(doc) : NULL;
	xmlXPathObject *object = NULL;
	xmlChar *value;
	char *copy = NULL;

	if (!context)
		return NULL;
	xmlXPathRegisterNs(context, BAD_CAST "kb", BAD_CAST DOMAIN_NAMESPACE);
	object = xmlXPathEvalExpression(BAD_CAST path, context);
	if (object) {
		value = xmlXPathCastToString(object);
		if (value && *value)
			copy = strdup((const char *)value);
		xmlFree(value);
	}
	xmlXPathFreeObject(object);
	xmlXPathFreeContext(context);
	return copy;
}

void domain_target(const char *xml, size_t disk, char target[DOMAIN_TARGET_SIZE])
{
	xmlDoc *doc = domain_parse(xml);
	char path[128], *name;

	snprintf(path, sizeof(path), "string(/domain/devices/disk[alias/@name='" DOMAIN_ALIAS "%zu']/target/@dev)", disk);
	name = domain_lookup(doc, path);
	snprintf(target, DOMAIN_TARGET_SIZE, "%s", name ? name : "");
	free(name);
	xmlFreeDoc(doc);
}

int domain_owner(const char *xml, char host[DOMAIN_HOST_SIZE], long *pid, uint64_t *started)
{
	xmlDoc *doc = domain_parse(xml);
	char *host_text = domain_lookup(doc, "string(/domain/metadata/kb:owner/@host)");
	char *pid_text = domain_lookup(doc, "string(/domain/metadata/kb:owner/@pid)");
	char *started_text = domain_lookup(doc, "string(/domain/metadata/kb:owner/@started)");
	char *pid_end = NULL, *started_end = NULL;
	int rc = -1;

	if (pid_text && started_text) {
		*pid = strtol(pid_text, &pid_end, 10);
		*started = strtoull(started_text, &started_end, 10);
		rc = *pid_end || *started_end || *pid <= 0 ? -1 : 0;
	}
	snprintf(host, DOMAIN_HOST_SIZE, "%s", host_text ? host_text : "");
	free(host_text);
	free(pid_text);
	free(started_text);
	xmlFreeDoc(doc);
	return rc;
}

/* Everything that one verification reads and writes. */
struct check {
	const struct settings *asked;
	size_t disk;
	xmlDoc *xml;
	json_t *qom, *iothread; /* objects or NULL */
	json_t *features;       /* array of names, NULL when the query was not possible */
	json_t *offered;        /* the device's, as features */
	json_t *node;           /* our own block node as the command line made it, NULL: an ordinary disk */
	struct domain_verdict verdict;
};

void domain_judge(struct domain_verdict *v, const char *key, const char *want, const char *have)
{
	if (!have) {
		if (want)
			json_array_append_new(v->unverified, json_string(key));
		return;
	}
	if (!want || !strcmp(want, have)) {
		json_object_set_new(v->verified, key, json_string(have));
		return;
	}
	json_array_append_new(v->mismatch, json_pack("{s:s, s:s, s:s}", "key", key, "want", want, "have", have));
	v->mismatches++;
}

static void judge(struct check *c, const char *key, const char *want, const char *have)
{
	domain_judge(&c->verdict, key, want, have);
}

static const char *toggle_text(enum toggle value)
{
	return value == TOGGLE_UNSET ? NULL : value == TOGGLE_ON ? "on" : "off";
}

static const char *on_off(bool on)
{
	return on ? "on" : "off";
}

static bool lists(const json_t *names, const char *name)
{
	size_t i;
	json_t *feature;

	json_array_foreach(names, i, feature)
		if (!strcmp(json_string_value(feature), name))
			return true;
	return false;
}

static bool has_feature(const struct check *c, const char *name)
{
	return lists(c->features, name);
}

/* "off: the guest's driver did not negotiate VIRTIO_F_RING_PACKED": what is in force without a feature, and through whom. */
static const char *without(const struct check *c, const char *have, const char *feature, char words[LACK_SIZE])
{
	bool offered = lists(c->offered, feature);

	snprintf(words, LACK_SIZE, "%s: %s %s", have,
		 offered ? "the guest's driver did not negotiate" : "the device does not offer", feature);
	return words;
}

/* A setting that is in force only as a feature that was negotiated. */
static void judge_feature(struct check *c, const char *key, enum toggle want, const char *feature)
{
	char lack[LACK_SIZE];
	const char *have = !c->features ? NULL : has_feature(c, feature) ? "on" : "off";

	if (have && want == TOGGLE_ON && !strcmp(have, "off"))
		have = without(c, have, feature, lack);
	judge(c, key, toggle_text(want), have);
}

static void judge_number(struct check *c, const char *key, json_int_t want, bool asked, const json_t *have)
{
	char want_text[32], have_text[32];

	snprintf(want_text, sizeof(want_text), "%" JSON_INTEGER_FORMAT, want);
	snprintf(have_text, sizeof(have_text), "%" JSON_INTEGER_FORMAT, json_integer_value(have));
	judge(c, key, asked ? want_text : NULL, json_is_integer(have) ? have_text : NULL);
}

/* An attribute of the disk's <driver> in the live XML. */
static char *driver_attribute(const struct check *c, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "string(/domain/devices/disk[alias/@name='" DOMAIN_ALIAS "%zu']/driver/@%s)", c->disk, name);
	return domain_lookup(c->xml, path);
}

static void check_notification(struct check *c)
{
	const struct settings *s = c->asked;
	const json_t *ioeventfd = json_object_get(c->qom, "ioeventfd");

	judge(c, "ioeventfd", toggle_text(s->ioeventfd),
	      json_is_boolean(ioeventfd) ? on_off(json_is_true(ioeventfd)) : NULL);
	judge_feature(c, "event_idx", s->event_idx, "VIRTIO_RING_F_EVENT_IDX");
	judge_feature(c, "packed", s->packed, "VIRTIO_F_RING_PACKED");
}

/* How many the device has proves nothing: a driver without VIRTIO_BLK_F_MQ uses the first one alone. */
static void check_queues(struct check *c)
{
	const json_t *queues = json_object_get(c->qom, "num-queues");
	char want[32], lack[LACK_SIZE];

	if (c->asked->queues > 1 && json_integer_value(queues) > 1 && !has_feature(c, "VIRTIO_BLK_F_MQ")) {
		snprintf(want, sizeof(want), "%u", c->asked->queues);
		judge(c, "queues", want, c->features ? without(c, "1", "VIRTIO_BLK_F_MQ", lack) : NULL);
	} else {
		judge_number(c, "queues", c->asked->queues, c->asked->queues != 0, queues);
	}
	judge_number(c, "queue_size", c->asked->queue_size, c->asked->queue_size != 0,
		     json_object_get(c->qom, "queue-size"));
}

/* The device's link is what counts; the XML stands in where the emulator would not say. */
static void check_iothread(struct check *c)
{
	const char *link = json_string_value(json_object_get(c->qom, "iothread"));
	char *number = link ? NULL : driver_attribute(c, "iothread");
	const char *have = link ? on_off(*link) : c->xml ? on_off(number != NULL) : NULL;

	judge(c, "iothread", toggle_text(c->asked->iothread), have);
	if (c->asked->iothread == TOGGLE_ON)
		judge_number(c, "poll_max_ns", c->asked->poll_max_ns, c->asked->poll_max_ns >= 0,
			     json_object_get(c->iothread, "poll-max-ns"));
	free(number);
}

/* A device type of its own stands for each model but the plain one. */
static void check_model(struct check *c)
{
	const char *type = json_string_value(json_object_get(c->qom, "type"));
	const char *want = model_name(c->asked->model), *have = NULL;
	bool modern = has_feature(c, "VIRTIO_F_VERSION_1");

	if (c->asked->model == MODEL_VIRTIO) /* the emulator's choice: nothing that could be contradicted */
		return;
	if (type && !strcmp(type, "virtio-blk-pci-non-transitional"))
		have = model_name(MODEL_NON_TRANSITIONAL);
	else if (type && !strcmp(type, "virtio-blk-pci-transitional"))
		have = model_name(MODEL_TRANSITIONAL);
	else if (type)
		have = model_name(MODEL_VIRTIO);
	if (c->asked->model == MODEL_NON_TRANSITIONAL && c->features && !modern)
		have = "without VIRTIO_F_VERSION_1";
	judge(c, "model", want, have);
}

/* Our node's description, when the device really stands on it: the uppermost. NULL: it does not. */
static const json_t *own_node(const struct check *c)
{
	const char *drive = json_string_value(json_object_get(c->qom, "drive"));
	const char *name = json_string_value(json_object_get(c->node, "node-name"));

	return c->node && drive && name && !strcmp(drive, name) ? c->node : NULL;
}

/* The first node of this driver, from there downwards; any: the lowest. */
static const json_t *node_below(const json_t *node, const char *driver)
{
	const json_t *next = node;

	while (next && !(driver && json_string_value(json_object_get(next, "driver")) &&
			 !strcmp(json_string_value(json_object_get(next, "driver")), driver))) {
		node = next;
		next = json_object_get(node, "image");
		if (!next)
			next = json_object_get(node, "file");
	}
	return driver ? next : node;
}

static void check_backend(struct check *c)
{
	bool known = json_object_get(c->qom, "drive") != NULL;
	const json_t *node = own_node(c), *lowest = node_below(node, NULL), *failing = node_below(node, "blkdebug");
	const char *kind = json_string_value(json_object_get(lowest, "driver"));
	const char *iotype = json_string_value(json_object_get(json_array_get(json_object_get(failing, "inject-error"), 0), "iotype"));

	if (c->asked->backend == BACKEND_NULL) {
		judge(c, "backend", "null", !known ? NULL : kind && !strcmp(kind, "null-co") ? "null" : "file");
		judge_number(c, "latency_ns", (json_int_t)c->asked->latency_ns, true,
			     json_object_get(lowest, "latency-ns"));
	} else {
		bool nbd = c->asked->backend == BACKEND_NBD;
		const char *want = nbd ? "nbd" : c->asked->backend == BACKEND_MEMORY ? "memory" : "file";
		const char *have = kind && !strcmp(kind, "null-co") ? "null" : kind && !strcmp(kind, "nbd") ? "nbd" : nbd ? "file" : want;

		judge(c, "backend", want, known ? have : NULL);
	}
	if (c->asked->inject != INJECT_NONE)
		judge(c, "inject_error", c->asked->inject == INJECT_READ ? "read" : "write", !known ? NULL : iotype ? iotype : "none");
}

/* The cache mode that node and device make together; NULL: the device would not say. */
static const char *own_cache(const struct check *c, const json_t *file)
{
	const char *through = json_string_value(json_object_get(c->qom, "write-cache"));
	const json_t *cache = json_object_get(file, "cache");
	bool direct = json_is_true(json_object_get(cache, "direct"));

	if (!through)
		return NULL;
	if (!strcmp(through, "off"))
		return cache_name(direct ? CACHE_DIRECTSYNC : CACHE_WRITETHROUGH);
	if (json_is_true(json_object_get(cache, "no-flush")))
		return cache_name(CACHE_UNSAFE);
	return cache_name(direct ? CACHE_NONE : CACHE_WRITEBACK);
}

/* cache and io of the file: in the XML, or in our own node, where the stand-in's XML says nothing about it. */
static void check_file(struct check *c)
{
	const struct settings *s = c->asked;
	const char *wanted = s->cache == CACHE_AUTO ? NULL : cache_name(s->cache);
	char *cache, *io;

	if (s->backend == BACKEND_NULL)
		return;
	if (c->node) {
		const json_t *file = node_below(c->node, NULL);

		judge(c, "cache", wanted, own_cache(c, file));
		if (s->backend != BACKEND_NBD)
			judge(c, "io", disk_io_name(s->io), json_string_value(json_object_get(file, "aio")));
		return;
	}
	cache = driver_attribute(c, "cache");
	io = driver_attribute(c, "io");
	judge(c, "cache", wanted, cache);
	judge(c, "io", disk_io_name(s->io), io);
	free(cache);
	free(io);
}

/* "0,2-3" as a set; libvirt writes the same set in its own way ("0,1" becomes "0-1"). */
static void cpu_set(const char *list, bool set[MAX_CPUS])
{
	char *end;

	memset(set, 0, MAX_CPUS * sizeof(set[0]));
	while (*list) {
		bool without = *list == '^'; /* libvirt's "0-3,^2" */
		unsigned long from = strtoul(list + without, &end, 10), to = from;

		if (end == list + without)
			return;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = from; cpu <= to && cpu < MAX_CPUS; cpu++)
			set[cpu] = !without;
		list = end + strspn(end, ", ");
	}
}

static bool same_cpus(const char *a, const char *b)
{
	bool in_a[MAX_CPUS], in_b[MAX_CPUS];

	cpu_set(a, in_a);
	cpu_set(b, in_b);
	return !memcmp(in_a, in_b, sizeof(in_a));
}

static void check_pin(struct check *c, const char *key, const char *want, const char *path)
{
	char *have;

	if (!want)
		return;
	have = domain_lookup(c->xml, path);
	if (have && same_cpus(have, want))
		judge(c, key, want, want);
	else
		judge(c, key, want, have ? have : c->xml ? "free" : NULL);
	free(have);
}

static void check_pins(struct check *c)
{
	char path[128];
	char *number = driver_attribute(c, "iothread");

	check_pin(c, "vcpupin", c->asked->vcpupin, "string(/domain/cputune/vcpupin[@vcpu='0']/@cpuset)");
	check_pin(c, "emulatorpin", c->asked->emulatorpin, "string(/domain/cputune/emulatorpin/@cpuset)");
	snprintf(path, sizeof(path), "string(/domain/cputune/iothreadpin[@iothread='%d']/@cpuset)",
		 number ? atoi(number) : 0);
	check_pin(c, "iothreadpin", c->asked->iothreadpin, path);
	free(number);
}

/* "VIRTIO_F_VERSION_1: Device compliant …" is kept as its name. */
static void add_names(json_t *names, const json_t *list)
{
	size_t i;
	json_t *item;

	json_array_foreach(list, i, item) {
		const char *s = json_string_value(item);

		if (s)
			json_array_append_new(names, json_stringn(s, strcspn(s, ": ")));
	}
}

/* Names of the features of one side ("guest-features" those that it accepted); NULL when the reply holds none. */
static json_t *features_of(const char *reply, const char *side)
{
	json_t *root = reply ? json_loads(reply, 0, NULL) : NULL;
	const json_t *status = json_object_get(root, "return");
	const json_t *told = json_object_get(status ? status : root, side);
	json_t *names = NULL;

	if (told) {
		names = json_array();
		add_names(names, json_object_get(told, "transports"));
		add_names(names, json_object_get(told, "dev-features"));
	}
	json_decref(root);
	return names;
}

/* Our -blockdev of this disk in the live XML, NULL when it has none. */
static json_t *find_node(xmlDoc *xml, size_t disk)
{
	char path[256], *words;
	json_t *node;

	snprintf(path, sizeof(path),
		 "string(//*[local-name()='arg'][contains(@value,'\"node-name\":\"" DOMAIN_NODE "%zu\"')]/@value)", disk);
	words = domain_lookup(xml, path);
	node = words ? json_loads(words, 0, NULL) : NULL;
	free(words);
	return node;
}

/* A property list as it is, or a whole reply around it. NULL when it is neither. */
static json_t *object(const char *text)
{
	json_t *root = text ? json_loads(text, 0, NULL) : NULL;
	json_t *inner = json_object_get(root, "return");

	if (!json_is_object(inner))
		return root;
	json_incref(inner);
	json_decref(root);
	return inner;
}

static void check_filesystem(struct check *c, int have)
{
	if (c->asked->filesystem != FILESYSTEM_NONE)
		judge(c, "filesystem", filesystem_name(c->asked->filesystem),
		      have < 0 ? NULL : filesystem_name((enum filesystem)have));
}

int domain_verify(const struct settings *asked, size_t disk, const struct domain_evidence *have, struct text *out)
{
	struct check c = {
		.asked = asked,
		.disk = disk,
		.xml = domain_parse(have->live_xml),
		.qom = object(have->qom),
		.iothread = object(have->iothread),
		.features = features_of(have->virtio_status, "guest-features"),
		.offered = features_of(have->virtio_status, "host-features"),
		.verdict = { .verified = json_object(), .unverified = json_array(), .mismatch = json_array() },
	};
	json_t *all;
	char *words;

	c.node = find_node(c.xml, disk);
	check_notification(&c);
	check_queues(&c);
	check_iothread(&c);
	check_model(&c);
	check_backend(&c);
	check_file(&c);
	check_filesystem(&c, have->filesystem);
	check_pins(&c);
	if (have->machine)
		domain_verify_machine(&c.verdict, have->machine, c.xml, c.qom);
	all = json_pack("{s:o, s:o, s:o, s:o}", "verified", c.verdict.verified, "unverified",
			c.verdict.unverified, "mismatch", c.verdict.mismatch, "features", c.features ? c.features : json_array());
	words = json_dumps(all, JSON_COMPACT);
	text_add(out, "%s", words ? words : "null");
	free(words);
	json_decref(all);
	json_decref(c.qom);
	json_decref(c.offered);
	json_decref(c.iothread);
	json_decref(c.node);
	xmlFreeDoc(c.xml);
	return c.verdict.mismatches;
}
