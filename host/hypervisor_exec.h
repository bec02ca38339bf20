/*
 * driver = exec: hypervisors that are started by the user's own commands. What hypervisor_exec*.c share.
 *
 * What ops->start takes is a JSON object (hypervisor_exec_describe.c makes it):
 * {"schema":"kickbench-exec/1","name","owner":{"host","pid","started"},"start","stop","kill","verify","link","console",
 *  "baud":N,"log":"PATH","environment":{NAME:VALUE,…}}; what the scenario does not have is absent.
 * While the guest runs, STATE/exec/NAME.json holds it with "group":{"pid","started"} and "folder", for whoever finds
 * it left behind.
 */
#ifndef KB_HYPERVISOR_EXEC_H
#define KB_HYPERVISOR_EXEC_H

#include <jansson.h>

#include "host/boot.h"
#include "host/hypervisor.h"
#include "host/hypervisor_exec_port.h"

#define EXEC_SCHEMA "kickbench-exec/1"

struct hv {
	char *folder; /* STATE/exec */
};

struct exec_port {
	struct exec_port_form form;
	struct text path; /* expanded */
	int in, out;      /* the same descriptor but for stdio; -1: not connected */
	bool ended;
	int why_not;      /* errno of the last attempt to connect */
};

struct hv_guest {
	struct hv *hv;
	json_t *description;
	char **variables; /* "NAME=VALUE", NULL at the end */
	char folder[64];  /* of this boot, removed at its end */
	struct text record; /* path of the file in hv->folder */
	pid_t pid;        /* of the start command, and its process group; 0: never started */
	bool ended;       /* the command, which is collected with the guest */
	int status;       /* then, as a shell has it */
	bool returned;    /* it ended well, as a guest began: the guest lives elsewhere */
	double heard_s;   /* when a port first said something, 0: never */
	bool told_waiting;
	struct exec_port link, console;
	int output;       /* what the start command prints and is no port; -1: closed */
	struct text tail; /* the end of that, for messages */
	unsigned baud;
	double started_s, port_at_s, off_at_s; /* start, last attempt to connect, link's end (0: none) */
	enum hv_state told;
};

/* ---- descriptions (pure) ---- */

/* The text for ops->start. */
int exec_describe(const struct boot_request *r, struct text *out, struct error *e);

int exec_owner(const char *description, char *host, size_t room, long *pid, uint64_t *started);

/* The environment of a description, and FOLDER; the caller frees it with exec_free_variables(). NULL: no memory. */
char **exec_variables(const json_t *description, const char *folder);
void exec_free_variables(char **variables);

/*
 * What the verify command printed against what was asked, as domain_verify()'s object: "verified", "unverified",
 * "mismatch". Lines that are no KEY=VALUE with a key in small letters are passed over; a key that does not exist is a
 * mismatch, as a slip of the pen would otherwise verify nothing. printed NULL: nothing is verified.
 */
json_t *exec_verify(const struct settings *asked, const struct machine *machine, const char *printed);

/* The driver's verify: runs the command of the scenario. */
json_t *exec_boot_verify(struct boot *b, size_t disk);

/* ---- guests (hypervisor_exec_guest.c) ---- */

int exec_guest_start(struct hv *hv, const char *description, const volatile sig_atomic_t *interrupted, struct hv_guest **guest,
		     struct error *e);
int exec_guest_wait(struct hv_guest *guest, int timeout_ms, struct hv_news *news, struct error *e);
enum hv_state exec_guest_state(struct hv_guest *guest);
void exec_guest_destroy(struct hv_guest *guest);
int exec_guest_live(struct hv_guest *guest, struct text *out, struct error *e);

/* Writes to its ports (hypervisor_exec_send.c). */
int exec_guest_send(struct hv_guest *guest, const void *bytes, size_t length, struct error *e);
int exec_guest_type(struct hv_guest *guest, const void *bytes, size_t length, struct error *e);

/* Remove a boot's folder, which holds sockets and small files at most. */
void exec_remove_folder(const char *folder);

#endif
