/* What the hypervisor_libvirt*.c files share. Only they include libvirt. */
#ifndef KB_HYPERVISOR_LIBVIRT_H
#define KB_HYPERVISOR_LIBVIRT_H

#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <pthread.h>
#include <time.h>

#include "host/domain.h"
#include "host/hypervisor.h"

struct hv {
	virConnectPtr connection;
	char *root;  /* folder of the embedded driver, NULL for other URIs */
	bool local;  /* guests are processes of this host */
	char *pool_folder; /* where our own storage pool is made on another host */
	virStoragePoolPtr pool; /* where copies of files lie, NULL: not looked for yet */
	bool pool_made;    /* it is transient, and ours */
	int lifecycle; /* id of the event registration, -1 none */
	pthread_mutex_t lock; /* guards everything that the event thread changes: guests and the list of them */
	pthread_cond_t changed;
	struct hv_guest *guests;
};

enum { PORT_CONSOLE, PORT_LINK, PORTS };

struct hv_port { /* what a stream's callback is given */
	struct hv_guest *guest;
	virStreamPtr stream;
	bool ended;   /* nothing more will come; under hv->lock */
	struct text received; /* under hv->lock */
};

struct hv_guest {
	struct hv *hv;
	struct hv_guest *next;
	virDomainPtr domain;
	unsigned char uuid[VIR_UUID_BUFLEN];
	pid_t pid; /* 0: not looked for yet */
	const volatile sig_atomic_t *interrupted; /* start()'s */
	struct hv_port port[PORTS];
	char target[DOMAIN_MAX_DISKS][DOMAIN_TARGET_SIZE]; /* of the test disks */
	enum hv_state told; /* what the last wait() reported */
	/* below: under hv->lock, written by the event thread too */
	uint64_t link_at_ns; /* arrival of the oldest byte of the link's received */
	enum hv_state state;
	uint64_t off_at_ns; /* when it went off: its last bytes may still be on their way */
	bool look;          /* an event says that the state needs a closer look */
	bool away;          /* it is being saved and restored: its end is none */
};

/* The text of libvirt's last error in this thread. Returns -1. */
int hv_libvirt_error(struct error *e, enum status status, const char *what);

/* The string value of an XPath expression in an XML document, cut to size; "" when there is none. */
void hv_ask_document(const char *xml, const char *path, char *out, size_t size);

/* Start libvirt's event loop (one thread for the life of the process) and silence its messages. */
int hv_events_start(const char *state_dir, struct error *e);

/* Make the folder of the embedded driver and its qemu.conf. *root and *uri belong to the caller. */
int hv_embed_prepare(const char *state_dir, char **root, char **uri, struct error *e);

/* The last line of a guest's log that is the emulator's own, appended: no line of libvirt's, and no part of the command line. */
void hv_embed_last_words(const char *root, const char *name, struct text *out);

/* Remove what the embedded driver leaves for a guest that is gone: its log. */
void hv_embed_forget(const char *root, const char *name);

/*
 * Collect the emulator that is being started between these two calls when it ends (hypervisor_libvirt_reap.c).
 * NULL, which is allowed, when that cannot be done: then process 1 does. pid: the emulator, -1 when the start failed.
 */
struct hv_reaper;
struct hv_reaper *hv_reaper_begin(void);
void hv_reaper_started(struct hv_reaper *reaper, pid_t pid);

/*
 * Between these two the domain of that name is started or restored; it is destroyed when that takes for ever, or
 * *interrupted is set (hypervisor_libvirt_deadline.c). hv_deadline_end: -1, and e says so: it was. NULL, which is allowed: nobody watches.
 */
struct hv_deadline;
struct hv_deadline *hv_deadline_begin(struct hv *hv, const char *name, const volatile sig_atomic_t *interrupted);
int hv_deadline_end(struct hv_deadline *deadline, struct error *e);

/* The guest's part of the operations, see host/hypervisor.h. */
int hv_guest_start(struct hv *hv, const char *xml, const volatile sig_atomic_t *interrupted, struct hv_guest **guest, struct error *e);
void hv_guest_last_words(struct hv_guest *guest, struct text *out);
int hv_guest_wait(struct hv_guest *guest, int timeout_ms, struct hv_news *news, struct error *e);
int hv_guest_send(struct hv_guest *guest, const void *bytes, size_t length, struct error *e);
int hv_guest_type(struct hv_guest *guest, const void *bytes, size_t length, struct error *e);
enum hv_state hv_guest_state(struct hv_guest *guest);
void hv_guest_destroy(struct hv_guest *guest);

/* Its parts that hypervisor_libvirt_save.c needs, too: the ports of guest->domain; wait until libvirt has disposed of one that ended. */
int hv_guest_open_ports(struct hv_guest *guest, struct error *e);
void hv_guest_close_ports(struct hv_guest *guest);
void hv_guest_await_disposal(struct hv_guest *guest);

/* See host/hypervisor.h (hypervisor_libvirt_save.c). */
int hv_guest_save_restore(struct hv_guest *guest, const char *file, struct error *e);

/* What can be asked of it (hypervisor_libvirt_ask.c). */
int hv_guest_qmp(struct hv_guest *guest, const char *command, struct text *reply, struct error *e);
bool hv_guest_answers(struct hv_guest *guest, int timeout_ms);
int hv_guest_live_xml(struct hv_guest *guest, struct text *xml, struct error *e);
int hv_guest_block(struct hv_guest *guest, unsigned disk, struct hv_block *stats, struct error *e);
int hv_guest_vcpu_ns(struct hv_guest *guest, uint64_t *ns, struct error *e);
pid_t hv_guest_pid(struct hv_guest *guest);

/* Copies of files on another host (hypervisor_libvirt_volume.c); hv_pool_close: what was made for them goes, they stay. */
int hv_put_file(struct hv *hv, const char *local, const char *name, bool anew, char **path, struct error *e);
int hv_soil_file(struct hv *hv, const char *name, struct error *e);
int hv_remove_files(struct hv *hv, void (*say)(const char *line), struct error *e);
int hv_pool_folder(struct hv *hv, const char *uri, struct error *e);
void hv_pool_close(struct hv *hv);

/* The connection's host, and whether it is this one (hypervisor_libvirt_host.c). */
int hv_host(struct hv *hv, struct hv_host *host, struct error *e);
bool hv_is_local(virConnectPtr connection, const char *uri);

/* Called in the event thread with the lock held. */
void hv_guest_event(struct hv_guest *guest, int event, int detail);

uint64_t hv_now_ns(void);

/* So many ms from now on CLOCK_MONOTONIC, as pthread_cond_timedwait(3) takes it. */
struct timespec hv_in_ms(int ms);

/*
 * Wait until callbacks that were removed before can no longer be running: libvirt's own notice of that (the free
 * function) does not come for every kind of connection. False when the event loop does not answer: then what the
 * callbacks use must not be freed.
 */
bool hv_drain(struct hv *hv);

#endif
