/* One guest through libvirt: saved to a file, ended, and brought back. */
#include <unistd.h>

#include "host/hypervisor_libvirt.h"

#define LAST_WORDS_US 200000 /* what a paused guest had said is in by then */

static void set_away(struct hv_guest *guest, bool away, enum hv_state state)
{
	pthread_mutex_lock(&guest->hv->lock);
	guest->away = away;
	guest->state = state;
	guest->look = !away; /* its own word counts */
	pthread_mutex_unlock(&guest->hv->lock);
}

/* As when a guest is destroyed: no callback may be left that uses a stream. */
static int let_go(struct hv_guest *guest, struct error *e)
{
	for (int i = 0; i < PORTS; i++)
		if (guest->port[i].stream)
			virStreamEventRemoveCallback(guest->port[i].stream); /* fails when its end removed it */
	if (!hv_drain(guest->hv))
		return error_set(e, STATUS_INCOMPLETE, "libvirt's event loop does not answer");
	hv_guest_await_disposal(guest);
	hv_guest_close_ports(guest);
	return 0;
}

static int restore(struct hv_guest *guest, const char *file, struct error *e)
{
	struct hv *hv = guest->hv;
	struct hv_reaper *reaper = hv->root ? hv_reaper_begin() : NULL;
	struct hv_deadline *deadline = hv_deadline_begin(hv, virDomainGetName(guest->domain), guest->interrupted);
	int status = virDomainRestoreFlags(hv->connection, file, NULL, VIR_DOMAIN_SAVE_PAUSED);
	virDomainPtr back = status < 0 ? NULL : virDomainLookupByUUID(hv->connection, guest->uuid);

	if (!back)
		hv_libvirt_error(e, STATUS_INCOMPLETE, "libvirt cannot restore the guest");
	hv_deadline_end(deadline, back ? &(struct error){ 0 } : e);
	guest->pid = 0;
	if (!back) {
		hv_reaper_started(reaper, -1);
		return -1;
	}
	virDomainFree(guest->domain);
	guest->domain = back;
	hv_reaper_started(reaper, hv_guest_pid(guest));
	return 0;
}

int hv_guest_save_restore(struct hv_guest *guest, const char *file, struct error *e)
{
	if (!guest->hv->local)
		return error_set(e, STATUS_INCOMPLETE, "a guest of another host is not saved: the file would stay there");
	if (virDomainSuspend(guest->domain) < 0)
		return hv_libvirt_error(e, STATUS_INCOMPLETE, "libvirt cannot pause the guest");
	usleep(LAST_WORDS_US);
	set_away(guest, true, HV_PAUSED);
	if (virDomainSaveFlags(guest->domain, file, NULL, VIR_DOMAIN_SAVE_PAUSED) < 0) {
		hv_libvirt_error(e, STATUS_INCOMPLETE, "libvirt cannot save the guest");
		unlink(file);
		set_away(guest, false, HV_PAUSED);
		virDomainResume(guest->domain);
		return -1;
	}
	if (let_go(guest, e) || restore(guest, file, e) || hv_guest_open_ports(guest, e)) {
		unlink(file);
		set_away(guest, false, HV_OFF);
		return -1;
	}
	unlink(file);
	set_away(guest, false, HV_RUNNING);
	if (virDomainResume(guest->domain) < 0)
		return hv_libvirt_error(e, STATUS_INCOMPLETE, "libvirt cannot let the restored guest run");
	return 0;
}
