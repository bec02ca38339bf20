/* One guest through libvirt: start, its two serial ports, its state, its end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/hypervisor_libvirt.h"

#define LAST_BYTES_NS 300000000u /* how long an ended guest's ports are still listened to */
#define LOOK_AGAIN_NS 1000000000u
#define SEND_NS 5000000000u

uint64_t hv_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct timespec hv_in_ms(int ms)
{
	uint64_t at = hv_now_ns() + (uint64_t)ms * 1000000u;

	return (struct timespec){ .tv_sec = (time_t)(at / 1000000000u), .tv_nsec = (long)(at % 1000000000u) };
}

static bool is_over(enum hv_state state)
{
	return state == HV_OFF || state == HV_CRASHED;
}

static void set_state(struct hv_guest *guest, enum hv_state state)
{
	if (is_over(guest->state)) /* the first end is the true one: destroying a crashed guest is an event too */
		return;
	if (is_over(state))
		guest->off_at_ns = hv_now_ns();
	guest->state = state;
	pthread_cond_broadcast(&guest->hv->changed);
}

void hv_guest_event(struct hv_guest *guest, int event, int detail)
{
	if (guest->away)
		return;
	switch (event) {
	case VIR_DOMAIN_EVENT_STOPPED:
		/* FAILED: the emulator went away without having announced a shutdown */
		set_state(guest, detail == VIR_DOMAIN_EVENT_STOPPED_CRASHED || detail == VIR_DOMAIN_EVENT_STOPPED_FAILED
				  ? HV_CRASHED : HV_OFF);
		break;
	case VIR_DOMAIN_EVENT_CRASHED:
		set_state(guest, HV_CRASHED);
		break;
	case VIR_DOMAIN_EVENT_SUSPENDED:
	case VIR_DOMAIN_EVENT_RESUMED:
		guest->look = true; /* why it stopped has to be asked, which is not done in this thread */
		pthread_cond_broadcast(&guest->hv->changed);
		break;
	default:
		break;
	}
}

static void receive(struct hv_port *port, const char *bytes, size_t length, bool end)
{
	struct hv_guest *guest = port->guest;

	pthread_mutex_lock(&guest->hv->lock);
	if (length && port == &guest->port[PORT_LINK] && !port->received.length)
		guest->link_at_ns = hv_now_ns();
	text_add_bytes(&port->received, bytes, length);
	if (end)
		port->ended = true;
	pthread_cond_broadcast(&guest->hv->changed);
	pthread_mutex_unlock(&guest->hv->lock);
}

static void on_stream(virStreamPtr stream, int events, void *context)
{
	struct hv_port *port = context;
	char bytes[4096];
	int n;

	for (;;) {
		n = virStreamRecv(stream, bytes, sizeof(bytes));
		if (n <= 0)
			break;
		receive(port, bytes, (size_t)n, false);
	}
	if (n == -2 && !(events & (VIR_STREAM_EVENT_ERROR | VIR_STREAM_EVENT_HANGUP)))
		return;
	virStreamEventRemoveCallback(stream); /* else a stream at its end would call for ever */
	receive(port, bytes, 0, true);
}

static int open_port(struct hv_guest *guest, int index, struct error *e)
{
	static const char *const device[PORTS] = { "serial0", "serial1" };
	struct hv_port *port = &guest->port[index];

	port->guest = guest;
	port->stream = virStreamNew(guest->hv->connection, VIR_STREAM_NONBLOCK);
	if (!port->stream || virDomainOpenConsole(guest->domain, device[index], port->stream, 0) < 0)
		return hv_libvirt_error(e, STATUS_HOST, "cannot open the guest's serial port");
	if (virStreamEventAddCallback(port->stream,
				      VIR_STREAM_EVENT_READABLE | VIR_STREAM_EVENT_ERROR | VIR_STREAM_EVENT_HANGUP,
				      on_stream, port, NULL) < 0)
		return hv_libvirt_error(e, STATUS_HOST, "cannot listen to the guest's serial port");
	return 0;
}

int hv_guest_open_ports(struct hv_guest *guest, struct error *e)
{
	return open_port(guest, PORT_CONSOLE, e) || open_port(guest, PORT_LINK, e) ? -1 : 0;
}

static void enlist(struct hv_guest *guest)
{
	struct hv *hv = guest->hv;

	pthread_mutex_lock(&hv->lock);
	guest->next = hv->guests;
	hv->guests = guest;
	pthread_mutex_unlock(&hv->lock);
}

static void delist(struct hv_guest *guest)
{
	struct hv *hv = guest->hv;

	pthread_mutex_lock(&hv->lock);
	for (struct hv_guest **at = &hv->guests; *at; at = &(*at)->next)
		if (*at == guest) {
			*at = guest->next;
			break;
		}
	pthread_mutex_unlock(&hv->lock);
}

int hv_guest_start(struct hv *hv, const char *xml, const volatile sig_atomic_t *interrupted, struct hv_guest **out, struct error *e)
{
	struct hv_guest *guest = calloc(1, sizeof(*guest));
	struct hv_reaper *reaper;
	struct hv_deadline *deadline;
	char name[256];

	*out = NULL;
	if (!guest)
		return error_set(e, STATUS_HOST, "out of memory");
	guest->hv = hv;
	guest->interrupted = interrupted;
	for (size_t k = 0; k < DOMAIN_MAX_DISKS; k++)
		domain_target(xml, k, guest->target[k]);
	hv_ask_document(xml, "string(/domain/name)", name, sizeof(name));
	reaper = hv->root ? hv_reaper_begin() : NULL;
	deadline = hv_deadline_begin(hv, name, interrupted);
	guest->domain = virDomainCreateXML(hv->connection, xml, VIR_DOMAIN_START_PAUSED);
	if (!guest->domain)
		hv_libvirt_error(e, STATUS_HOST, "libvirt refuses the guest");
	hv_deadline_end(deadline, guest->domain ? &(struct error){ 0 } : e);
	hv_reaper_started(reaper, guest->domain ? hv_guest_pid(guest) : -1);
	if (!guest->domain) {
		if (hv->root)
			hv_embed_forget(hv->root, name);
		free(guest);
		return -1;
	}
	virDomainGetUUID(guest->domain, guest->uuid);
	enlist(guest);
	if (hv_guest_open_ports(guest, e))
		goto fail;
	if (virDomainResume(guest->domain) < 0) {
		hv_libvirt_error(e, STATUS_HOST, "cannot let the guest run");
		goto fail;
	}
	*out = guest;
	return 0;
fail:
	hv_guest_destroy(guest);
	return -1;
}

/* Why the emulator stands still: libvirt keeps only "paused" for some of it. */
static enum hv_state ask_why_paused(struct hv_guest *guest)
{
	struct text reply = {0};
	struct error ignored = {0};
	enum hv_state state = HV_PAUSED;

	if (!hv_guest_qmp(guest, "{\"execute\":\"query-status\"}", &reply, &ignored)) {
		if (strstr(reply.data, "\"internal-error\""))
			state = HV_INTERNAL_ERROR;
		else if (strstr(reply.data, "\"io-error\""))
			state = HV_IO_ERROR;
		else if (strstr(reply.data, "\"guest-panicked\""))
			state = HV_CRASHED;
		else if (strstr(reply.data, "\"running\":true"))
			state = HV_RUNNING;
	}
	text_free(&reply);
	return state;
}

/* Whether a call has failed because the connection is gone, which is then the error. The question forgets the call's. */
static bool lost(const struct hv *hv, struct error *e)
{
	struct error why = { 0 };

	hv_libvirt_error(&why, STATUS_INCOMPLETE, "the connection to libvirt is lost");
	if (virConnectIsAlive(hv->connection) == 1)
		return false;
	error_set(e, STATUS_INCOMPLETE, "%s", why.text);
	return true;
}

/* Ask libvirt itself; events can be missed when a daemon restarts. -1 when the connection is lost. */
static int look(struct hv_guest *guest, struct error *e)
{
	int known, reason;
	enum hv_state state = HV_RUNNING;

	pthread_mutex_lock(&guest->hv->lock);
	guest->look = false;
	if (is_over(guest->state)) {
		pthread_mutex_unlock(&guest->hv->lock);
		return 0;
	}
	pthread_mutex_unlock(&guest->hv->lock);
	if (virDomainGetState(guest->domain, &known, &reason, 0) < 0) {
		if (virGetLastErrorCode() != VIR_ERR_NO_DOMAIN && lost(guest->hv, e))
			return -1;
		known = VIR_DOMAIN_SHUTOFF; /* a transient domain that ended does not exist */
		reason = VIR_DOMAIN_SHUTOFF_UNKNOWN;
	}
	if (known == VIR_DOMAIN_SHUTOFF)
		state = reason == VIR_DOMAIN_SHUTOFF_CRASHED || reason == VIR_DOMAIN_SHUTOFF_FAILED ? HV_CRASHED : HV_OFF;
	else if (known == VIR_DOMAIN_CRASHED)
		state = HV_CRASHED;
	else if (known == VIR_DOMAIN_PAUSED)
		state = ask_why_paused(guest);
	pthread_mutex_lock(&guest->hv->lock);
	/* an end without an event may have one that is just on its way and knows more: give it the time */
	if (!is_over(state) || known == VIR_DOMAIN_CRASHED || guest->off_at_ns)
		set_state(guest, state);
	else
		guest->off_at_ns = hv_now_ns();
	pthread_mutex_unlock(&guest->hv->lock);
	return 0;
}

/* The state to be told: an end only once the last bytes are in, so that nothing comes after it. */
static enum hv_state tellable(const struct hv_guest *guest, uint64_t now)
{
	if (!is_over(guest->state) || (guest->port[PORT_CONSOLE].ended && guest->port[PORT_LINK].ended) ||
	    now - guest->off_at_ns > LAST_BYTES_NS)
		return guest->state;
	return guest->told;
}

static void take(struct hv_guest *guest, struct hv_news *news, enum hv_state state)
{
	struct text *link = &guest->port[PORT_LINK].received, *console = &guest->port[PORT_CONSOLE].received;

	if (link->length)
		news->at_ns = guest->link_at_ns;
	text_add_bytes(&news->link, text_get(link), link->length);
	text_add_bytes(&news->console, text_get(console), console->length);
	text_reset(link);
	text_reset(console);
	news->state = guest->told = state;
}

int hv_guest_wait(struct hv_guest *guest, int timeout_ms, struct hv_news *news, struct error *e)
{
	struct hv *hv = guest->hv;
	uint64_t now = hv_now_ns(), deadline = now + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000u;
	uint64_t look_at = now + LOOK_AGAIN_NS;

	pthread_mutex_lock(&hv->lock);
	for (;;) {
		enum hv_state state = tellable(guest, now);
		uint64_t until = deadline < look_at ? deadline : look_at;
		struct timespec at;

		if (guest->port[PORT_LINK].received.length || guest->port[PORT_CONSOLE].received.length ||
		    state != guest->told || is_over(state) || now >= deadline) {
			take(guest, news, state);
			break;
		}
		if (guest->look || now >= look_at) {
			pthread_mutex_unlock(&hv->lock);
			if (look(guest, e))
				return -1;
			pthread_mutex_lock(&hv->lock);
			now = hv_now_ns();
			look_at = now + LOOK_AGAIN_NS;
			continue;
		}
		if (is_over(guest->state) && guest->off_at_ns + LAST_BYTES_NS < until)
			until = guest->off_at_ns + LAST_BYTES_NS + 1;
		at.tv_sec = (time_t)(until / 1000000000u);
		at.tv_nsec = (long)(until % 1000000000u);
		pthread_cond_timedwait(&hv->changed, &hv->lock, &at);
		now = hv_now_ns();
	}
	pthread_mutex_unlock(&hv->lock);
	return 0;
}

static int port_send(struct hv_port *port, const void *bytes, size_t length, struct error *e)
{
	uint64_t deadline = hv_now_ns() + SEND_NS;
	const char *at = bytes;

	while (length) {
		int n = virStreamSend(port->stream, at, length);

		if (n >= 0) {
			at += n;
			length -= (size_t)n;
			continue;
		}
		if (n != -2) {
			struct error why = { 0 };

			hv_libvirt_error(&why, STATUS_INCOMPLETE, "the guest's serial port takes nothing");
			return lost(port->guest->hv, e) ? -1 : error_set(e, STATUS_INCOMPLETE, "%s", why.text);
		}
		if (hv_now_ns() > deadline)
			return error_set(e, STATUS_INCOMPLETE, "the guest did not read its serial port for 5 s");
		usleep(1000);
	}
	return 0;
}

int hv_guest_send(struct hv_guest *guest, const void *bytes, size_t length, struct error *e)
{
	return port_send(&guest->port[PORT_LINK], bytes, length, e);
}

int hv_guest_type(struct hv_guest *guest, const void *bytes, size_t length, struct error *e)
{
	return port_send(&guest->port[PORT_CONSOLE], bytes, length, e);
}

enum hv_state hv_guest_state(struct hv_guest *guest)
{
	struct error ignored = {0};
	enum hv_state state;
	bool ask;

	pthread_mutex_lock(&guest->hv->lock);
	ask = guest->look;
	pthread_mutex_unlock(&guest->hv->lock);
	if (ask)
		look(guest, &ignored);
	pthread_mutex_lock(&guest->hv->lock);
	state = guest->state;
	pthread_mutex_unlock(&guest->hv->lock);
	return state;
}

/*
 * libvirt (9.0 seen) deadlocks when a console stream is aborted at the moment in which another of its threads
 * disposes of the domain: each holds the lock that the other wants. So let that be over first: the domain has
 * left the list, and the thread that took it off has had time to drop its last reference.
 */
void hv_guest_await_disposal(struct hv_guest *guest)
{
	unsigned char uuid[VIR_UUID_BUFLEN];
	virDomainPtr still;

	if (virDomainGetUUID(guest->domain, uuid))
		return;
	for (int turn = 0; turn < 400; turn++) {
		still = virDomainLookupByUUID(guest->hv->connection, uuid);
		if (!still)
			break;
		virDomainFree(still);
		usleep(5000);
	}
	usleep(50000);
}

void hv_guest_close_ports(struct hv_guest *guest)
{
	for (int i = 0; i < PORTS; i++) {
		if (guest->port[i].stream) {
			virStreamAbort(guest->port[i].stream);
			virStreamFree(guest->port[i].stream);
		}
		guest->port[i].stream = NULL;
		guest->port[i].ended = false;
	}
}

void hv_guest_last_words(struct hv_guest *guest, struct text *out)
{
	if (guest->hv->root)
		hv_embed_last_words(guest->hv->root, virDomainGetName(guest->domain), out);
}

void hv_guest_destroy(struct hv_guest *guest)
{
	struct hv *hv;
	bool drained;

	if (!guest)
		return;
	hv = guest->hv;
	delist(guest);
	virDomainDestroy(guest->domain); /* fails when it is off already */
	for (int i = 0; i < PORTS; i++)
		if (guest->port[i].stream)
			virStreamEventRemoveCallback(guest->port[i].stream); /* fails when its end removed it */
	drained = hv_drain(hv);
	hv_guest_await_disposal(guest);
	hv_guest_close_ports(guest);
	if (hv->root)
		hv_embed_forget(hv->root, virDomainGetName(guest->domain));
	virDomainFree(guest->domain);
	if (!drained) /* a leak is better than a callback into freed memory */
		return;
	for (int i = 0; i < PORTS; i++)
		text_free(&guest->port[i].received);
	free(guest);
}
