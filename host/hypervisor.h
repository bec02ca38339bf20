/*
 * What kickbench needs of a hypervisor: start a guest, talk to its two serial ports, look at it, end it.
 * One table per way; hypervisor_libvirt.c is the only file that includes libvirt.
 */
#ifndef KB_HYPERVISOR_H
#define KB_HYPERVISOR_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "guest/error.h"
#include "guest/text.h"

enum hv_state { HV_RUNNING, HV_PAUSED, HV_OFF, HV_CRASHED, HV_INTERNAL_ERROR, HV_IO_ERROR };

struct hv;       /* a connection */
struct hv_guest; /* a running guest of it */

/* What happened since the last call; texts are appended to. */
struct hv_news {
	struct text link;    /* bytes of the second serial port */
	struct text console; /* bytes of the first */
	enum hv_state state;
	uint64_t at_ns;      /* CLOCK_MONOTONIC when the first of the link bytes was received */
};

struct hv_block {
	uint64_t rd_reqs, rd_bytes, rd_times_ns, wr_reqs, wr_bytes, wr_times_ns, fl_reqs, fl_times_ns;
};

struct hv_version {
	char hypervisor[64]; /* "QEMU 7.2.22" */
	char library[64];    /* "libvirt 9.0.0" */
	char emulator[256];  /* path */
};

/* The host of a connection, as its hypervisor tells of it. */
struct hv_host {
	bool here;           /* guests are processes of this host and open its files */
	char name[256];      /* "" unknown */
	char cpu[128], microcode[32]; /* "" unknown */
	unsigned cpus;       /* 0 unknown */
	uint64_t memory, available; /* bytes, 0 unknown */
};

struct hv_ops {
	const char *name; /* "libvirt" */

	/* uri NULL: qemu:///embed below state_dir. */
	int (*open)(struct hv **hv, const char *uri, const char *state_dir, struct error *e);
	void (*close)(struct hv *hv);
	int (*version)(struct hv *hv, struct hv_version *v, struct error *e);
	bool (*offers_kvm)(struct hv *hv);
	int (*host)(struct hv *hv, struct hv_host *host, struct error *e); /* NULL: it is always this one */
	/*
	 * Whether it can start guests with this emulator (NULL: its own choice) and machine type. An error says what is in
	 * the way. May take seconds once per emulator, which is run for it. NULL where nobody can tell before a start.
	 */
	int (*check_machine)(struct hv *hv, const char *emulator, const char *type, struct error *e);

	/*
	 * Start paused, open both serial ports, resume: nothing that the guest says is lost. The text is what the
	 * driver's describe() wrote (host/drivers.h): a domain's XML. interrupted (NULL: never): a signal's number, once there
	 * was one; an emulator that has not come up by then is ended.
	 */
	int (*start)(struct hv *hv, const char *text, const volatile sig_atomic_t *interrupted, struct hv_guest **guest, struct error *e);
	/* Wait until bytes arrive, the state changes or the time is over. 0, or -1 when the connection is lost. */
	int (*wait)(struct hv_guest *guest, int timeout_ms, struct hv_news *news, struct error *e);
	int (*send)(struct hv_guest *guest, const void *bytes, size_t length, struct error *e);
	/* Bytes into the first serial port, as if typed. With a single port it is the same as send. */
	int (*type)(struct hv_guest *guest, const void *bytes, size_t length, struct error *e);
	enum hv_state (*state)(struct hv_guest *guest);

	/* One QMP command as JSON text; reply appended (the whole {"return":…}). -1 when refused. */
	int (*qmp)(struct hv_guest *guest, const char *command, struct text *reply, struct error *e);
	/*
	 * Whether the emulator answers its monitor within timeout_ms: one that hangs lets every other question wait for ever. NULL: not
	 * known, ask.
	 */
	bool (*answers)(struct hv_guest *guest, int timeout_ms);
	/* What is in force, as the hypervisor says it. */
	int (*live_xml)(struct hv_guest *guest, struct text *xml, struct error *e);
	/*
	 * Save the running guest to a new file, end it, and have it go on from there: another process, the same guest. What it had
	 * said until then stays to be heard. The file is removed. -1: the guest is lost, or as it was, as state() tells. Only
	 * of this host. NULL: refused.
	 */
	int (*save_restore)(struct hv_guest *guest, const char *file, struct error *e);
	/* Statistics of test disk number disk. */
	int (*block)(struct hv_guest *guest, unsigned disk, struct hv_block *stats, struct error *e);
	/* CPU time in ns of all vCPUs as the hypervisor counts it. */
	int (*vcpu_ns)(struct hv_guest *guest, uint64_t *ns, struct error *e);
	/* The emulator's process on this host, -1 when it is elsewhere or unknown. */
	pid_t (*pid)(struct hv_guest *guest);

	/* The last line that the emulator itself complained with, appended; nothing when there is none. NULL: not known. */
	void (*last_words)(struct hv_guest *guest, struct text *out);

	/* End it if it still runs (pull the plug), and free. Never fails towards the caller. */
	void (*destroy)(struct hv_guest *guest);

	/* Call back for each running domain whose name begins with DOMAIN_PREFIX: name and its XML. */
	int (*each)(struct hv *hv, void (*fn)(void *context, const char *name, const char *xml), void *context,
		    struct error *e);
	/*
	 * The definition of a domain as it would start next, appended; *running: whether it runs now. An error says that there is
	 * none of that name. NULL where there are no definitions.
	 */
	int (*definition)(struct hv *hv, const char *name, struct text *xml, bool *running, struct error *e);
	int (*destroy_by_name)(struct hv *hv, const char *name, struct error *e);
	/* The kickbench that a text of each() names. -1: it names none. host: "" when it does not say. */
	int (*owner)(const char *text, char *host, size_t room, long *pid, uint64_t *started);

	/*
	 * For guests of another host; NULL where there are none. A copy of the file at `local` that they can open as *path
	 * (the caller frees it), under a name of its own. The copy of an earlier run is used where size and SHA-256 agree, unless
	 * anew: then it is written over, in place, so that it stays on the same blocks. A new copy is read back once.
	 */
	int (*put_file)(struct hv *hv, const char *local, const char *name, bool anew, char **path, struct error *e);
	/* A guest is about to write to the copy: it is not to be trusted until it has been written anew. */
	int (*soil_file)(struct hv *hv, const char *name, struct error *e);
	/* Remove all copies and the place where they lie; say is told each. Returns how many, -1 with e. */
	int (*remove_files)(struct hv *hv, void (*say)(const char *line), struct error *e);
};

extern const struct hv_ops hypervisor_libvirt, hypervisor_exec;

#endif
