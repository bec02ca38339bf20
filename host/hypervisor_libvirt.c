/* Guests through libvirt: the connection. hypervisor_libvirt_guest.c has what is done with one guest. */
#include "host/hypervisor_libvirt.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/domain.h"

#define KEEPALIVE_S 5
#define KEEPALIVE_MISSED 6

/* One event registration per connection; which guest it concerns is found by its UUID. */
static int on_lifecycle(virConnectPtr connection, virDomainPtr domain, int event, int detail, void *context)
{
	struct hv *hv = context;
	unsigned char uuid[VIR_UUID_BUFLEN];

	(void)connection;
	if (virDomainGetUUID(domain, uuid) < 0)
		return 0;
	pthread_mutex_lock(&hv->lock);
	for (struct hv_guest *guest = hv->guests; guest; guest = guest->next)
		if (!memcmp(guest->uuid, uuid, sizeof(uuid)))
			hv_guest_event(guest, event, detail);
	pthread_mutex_unlock(&hv->lock);
	return 0;
}

struct barrier {
	struct hv *hv;
	bool passed;
};

static void pass(int timer, void *context)
{
	struct barrier *barrier = context;
	struct hv *hv = barrier->hv;

	virEventRemoveTimeout(timer);
	pthread_mutex_lock(&hv->lock);
	barrier->passed = true; /* the waiter frees it: not to be touched after the unlock */
	pthread_cond_broadcast(&hv->changed);
	pthread_mutex_unlock(&hv->lock);
}

bool hv_drain(struct hv *hv)
{
	struct barrier *barrier = calloc(1, sizeof(*barrier));
	struct timespec until;
	bool passed;

	if (!barrier)
		return false;
	barrier->hv = hv;
	/* one thread runs all callbacks: when this one comes, those before it are over */
	if (virEventAddTimeout(0, pass, barrier, NULL) < 0) {
		free(barrier);
		return false;
	}
	until = hv_in_ms(5000);
	pthread_mutex_lock(&hv->lock);
	while (!barrier->passed && !pthread_cond_timedwait(&hv->changed, &hv->lock, &until))
		;
	passed = barrier->passed;
	pthread_mutex_unlock(&hv->lock);
	if (passed)
		free(barrier);
	return passed;
}

static void free_hv(struct hv *hv)
{
	bool released = true;

	if (hv->lifecycle >= 0) {
		virConnectDomainEventDeregisterAny(hv->connection, hv->lifecycle);
		released = hv_drain(hv);
	}
	hv_pool_close(hv);
	if (hv->connection)
		virConnectClose(hv->connection);
	if (!released) /* a leak is better than a callback into freed memory */
		return;
	pthread_cond_destroy(&hv->changed);
	pthread_mutex_destroy(&hv->lock);
	free(hv->pool_folder);
	free(hv->root);
	free(hv);
}

/*
 * The first connection of a new folder probes the emulators (seconds), by running some; do it here, where their
 * ends are collected, and not in the middle of the first start.
 */
static void probe(struct hv *hv)
{
	struct hv_reaper *reaper = hv_reaper_begin();

	free(virConnectGetCapabilities(hv->connection));
	hv_reaper_started(reaper, -1);
}

static int connect_to(struct hv *hv, const char *uri, struct error *e)
{
	hv->connection = virConnectOpen(uri);
	if (!hv->connection)
		return hv_libvirt_error(e, STATUS_HOST, "libvirt");
	if (hv->root)
		probe(hv);
	hv->lifecycle = virConnectDomainEventRegisterAny(hv->connection, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
							 VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle), hv, NULL);
	if (hv->lifecycle < 0)
		return hv_libvirt_error(e, STATUS_HOST, "libvirt's events");
	hv->local = hv_is_local(hv->connection, uri);
	/* a host that has vanished without a word: found after half a minute */
	if (!hv->local && virConnectSetKeepAlive(hv->connection, KEEPALIVE_S, KEEPALIVE_MISSED) < 0)
		return hv_libvirt_error(e, STATUS_HOST, "the connection cannot be kept alive");
	return hv->local ? 0 : hv_pool_folder(hv, uri, e);
}

static int hv_open(struct hv **out, const char *uri, const char *state_dir, struct error *e)
{
	struct hv *hv = calloc(1, sizeof(*hv));
	pthread_condattr_t attributes;
	char *embed_uri = NULL;
	int rc = -1;

	*out = NULL;
	if (!hv)
		return error_set(e, STATUS_HOST, "out of memory");
	hv->lifecycle = -1;
	pthread_mutex_init(&hv->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&hv->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (!uri && hv_embed_prepare(state_dir, &hv->root, &embed_uri, e))
		goto out;
	if (hv_events_start(state_dir, e))
		goto out;
	rc = connect_to(hv, uri ? uri : embed_uri, e);
out:
	free(embed_uri);
	if (rc)
		free_hv(hv);
	else
		*out = hv;
	return rc;
}

static void hv_close(struct hv *hv)
{
	if (!hv)
		return;
	while (hv->guests)
		hv_guest_destroy(hv->guests);
	free_hv(hv);
}

void hv_ask_document(const char *xml, const char *path, char *out, size_t size)
{
	xmlDoc *doc = xml ? xmlReadMemory(xml, (int)strlen(xml), NULL, NULL,
					  XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING)
			  : NULL;
	xmlXPathContext *context = doc ? xmlXPathNewContext(doc) : NULL;
	xmlXPathObject *object = context ? xmlXPathEvalExpression(BAD_CAST path, context) : NULL;
	xmlChar *value = object ? xmlXPathCastToString(object) : NULL;

	snprintf(out, size, "%s", value ? (const char *)value : "");
	xmlFree(value);
	xmlXPathFreeObject(object);
	xmlXPathFreeContext(context);
	xmlFreeDoc(doc);
}

static int hv_version(struct hv *hv, struct hv_version *v, struct error *e)
{
	unsigned long number = 0;
	char *capabilities;

	memset(v, 0, sizeof(*v));
	if (virConnectGetVersion(hv->connection, &number) < 0)
		return hv_libvirt_error(e, STATUS_HOST, "libvirt finds no QEMU that works (Debian: package qemu-system-x86)");
	snprintf(v->hypervisor, sizeof(v->hypervisor), "%s %lu.%lu.%lu", virConnectGetType(hv->connection),
		 number / 1000000, number / 1000 % 1000, number % 1000);
	if (virConnectGetLibVersion(hv->connection, &number) < 0)
		return hv_libvirt_error(e, STATUS_HOST, "libvirt's version");
	snprintf(v->library, sizeof(v->library), "libvirt %lu.%lu.%lu", number / 1000000, number / 1000 % 1000,
		 number % 1000);
	capabilities = virConnectGetDomainCapabilities(hv->connection, NULL, "x86_64", NULL, "qemu", 0);
	if (!capabilities)
		return hv_libvirt_error(e, STATUS_HOST, "no emulator for x86_64");
	hv_ask_document(capabilities, "string(/domainCapabilities/path)", v->emulator, sizeof(v->emulator));
	free(capabilities);
	return 0;
}

static bool hv_offers_kvm(struct hv *hv)
{
	char *capabilities = virConnectGetCapabilities(hv->connection);
	char found[16];

	hv_ask_document(capabilities, "count(/capabilities/guest/arch[@name='x86_64']/domain[@type='kvm'])", found,
		     sizeof(found));
	free(capabilities);
	return atoi(found) > 0;
}

static int hv_check_machine(struct hv *hv, const char *emulator, const char *type, struct error *e)
{
	struct hv_reaper *reaper = hv->root ? hv_reaper_begin() : NULL; /* libvirt runs an emulator that it does not know */
	char *capabilities = virConnectGetDomainCapabilities(hv->connection, emulator, "x86_64", type, "qemu", 0);

	hv_reaper_started(reaper, -1);
	if (!capabilities)
		return hv_libvirt_error(e, STATUS_HOST, emulator ? "libvirt cannot use it" : "libvirt");
	free(capabilities);
	return 0;
}

static int hv_each(struct hv *hv, void (*fn)(void *context, const char *name, const char *xml), void *context,
		   struct error *e)
{
	virDomainPtr *domains = NULL;
	int count = virConnectListAllDomains(hv->connection, &domains, VIR_CONNECT_LIST_DOMAINS_ACTIVE);

	if (count < 0)
		return hv_libvirt_error(e, STATUS_HOST, "cannot list the guests");
	for (int i = 0; i < count; i++) {
		const char *name = virDomainGetName(domains[i]);
		char *xml = NULL;

		if (name && !strncmp(name, DOMAIN_PREFIX, strlen(DOMAIN_PREFIX)))
			xml = virDomainGetXMLDesc(domains[i], 0);
		if (xml) /* else it ended in between, or is none of ours */
			fn(context, name, xml);
		free(xml);
		virDomainFree(domains[i]);
	}
	free(domains);
	return 0;
}

static int hv_destroy_by_name(struct hv *hv, const char *name, struct error *e)
{
	virDomainPtr domain = virDomainLookupByName(hv->connection, name);
	int rc = 0;

	if (!domain)
		return 0; /* it is gone: that was the wish */
	if (virDomainDestroy(domain) < 0 && virDomainIsActive(domain) == 1)
		rc = hv_libvirt_error(e, STATUS_HOST, "cannot end a guest that was left over");
	virDomainFree(domain);
	if (!rc && hv->root)
		hv_embed_forget(hv->root, name);
	return rc;
}

static int hv_owner(const char *xml, char *host, size_t room, long *pid, uint64_t *started)
{
	char name[DOMAIN_HOST_SIZE];
	int status = domain_owner(xml, name, pid, started);

	snprintf(host, room, "%s", name);
	return status;
}

static int hv_definition(struct hv *hv, const char *name, struct text *xml, bool *running, struct error *e)
{
	virDomainPtr domain = virDomainLookupByName(hv->connection, name);
	char *found = domain ? virDomainGetXMLDesc(domain, VIR_DOMAIN_XML_INACTIVE) : NULL;
	int status = 0;

	if (found) {
		text_add(xml, "%s", found);
		*running = virDomainIsActive(domain) == 1;
	} else if (virGetLastErrorCode() == VIR_ERR_NO_DOMAIN) {
		status = error_set(e, STATUS_HOST, "this connection has no domain of that name%s",
				   hv->root ? " (--connect qemu:///system is where virt-manager's are)" : "");
	} else {
		status = hv_libvirt_error(e, STATUS_HOST, "its definition");
	}
	free(found);
	if (domain)
		virDomainFree(domain);
	return status;
}

const struct hv_ops hypervisor_libvirt = {
	.name = "libvirt",
	.open = hv_open,
	.close = hv_close,
	.version = hv_version,
	.offers_kvm = hv_offers_kvm,
	.host = hv_host,
	.check_machine = hv_check_machine,
	.start = hv_guest_start,
	.wait = hv_guest_wait,
	.send = hv_guest_send,
	.type = hv_guest_type,
	.state = hv_guest_state,
	.save_restore = hv_guest_save_restore,
	.qmp = hv_guest_qmp,
	.answers = hv_guest_answers,
	.live_xml = hv_guest_live_xml,
	.block = hv_guest_block,
	.vcpu_ns = hv_guest_vcpu_ns,
	.pid = hv_guest_pid,
	.last_words = hv_guest_last_words,
	.destroy = hv_guest_destroy,
	.each = hv_each,
	.definition = hv_definition,
	.destroy_by_name = hv_destroy_by_name,
	.owner = hv_owner,
	.put_file = hv_put_file,
	.soil_file = hv_soil_file,
	.remove_files = hv_remove_files,
};
