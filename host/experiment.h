/* A whole run: everything that is needed for it, and the loop over its boots. */
#ifndef KB_EXPERIMENT_H
#define KB_EXPERIMENT_H

#include "host/accel.h"
#include "host/boot.h"
#include "host/dirs.h"
#include "host/disk.h"
#include "host/drivers.h"
#include "host/plan.h"
#include "host/progress.h"
#include "host/store.h"

/* What a guest is booted from and with. */
struct prepared {
	unsigned guest, variant; /* the first that needed it */
	struct machine machine; /* its files are absolute paths */
	struct image image;
	struct system *system; /* of a disk image, NULL: none */
	struct accel_outcome accel;
};

struct experiment {
	const struct scenario *scenario;
	const char *const *set; /* --set values, kept for a resume */
	size_t nset;
	const struct plan *plan;
	const struct dirs *dirs;
	const struct driver *driver;
	const struct hv_ops *ops; /* the driver's */
	struct hv *hv;
	const char *uri;               /* of hv, NULL: libvirt within this process */
	struct hv_host host;           /* of hv */
	struct hv_version version;
	struct prepared *prepared;     /* distinct ones */
	size_t nprepared;
	unsigned *prepared_of;         /* by guest, then by variant: see experiment_prepared() */
	struct settings *settings;     /* by variant, cache resolved */
	struct disk *disk;             /* distinct test disks */
	size_t ndisks;
	unsigned (*disk_of)[2];        /* by variant: index into disk of file 0 and file 1; file 1 only for pairing = disks */
	struct store *store;
	json_t *run;                   /* run.json */
	json_t *facts;                 /* hosts_environment() of this session */
	double expected_s;
	struct progress_view view;
	const volatile sig_atomic_t *interrupted;
	/*
	 * Of several hosts this one measures the blocks i with i % nhosts == 0, and peer[k] those with k + 1: each has a
	 * connection, machines and disks of its own; store, run and view are this one's. See host/hosts.h.
	 */
	struct experiment *peer;
	unsigned nhosts; /* 0: nobody has said, one */
};

/* Image, emulator and accelerator of every guest with every variant. say: told before something takes long. */
int experiment_prepare_machines(struct experiment *x, void (*say)(const char *line), struct error *e);
const struct prepared *experiment_prepared(const struct experiment *x, size_t guest, size_t variant);

/* The folder of the throw-away files of boots. */
void experiment_overlays(const struct experiment *x, char *path, size_t room);

/* Settings and test disks of every variant. */
int experiment_prepare_disks(struct experiment *x, struct error *e);

/* Make run.json, scenario.ini and domains/ of a new run; or take up run.json of one that is resumed. */
int experiment_record(struct experiment *x, struct error *e);
int experiment_take_up(struct experiment *x, struct error *e);

/*
 * Run every block that is not complete. 0: all trials are stored, ok or not; -1: the run
 * stopped early. Either way no guest is left running, and run.json says how this session ended.
 */
int experiment_run(struct experiment *x, struct error *e);

/* Parts of experiment_free(): what each host has of its own. */
void experiment_free_machines(struct experiment *x);
void experiment_free_disks(struct experiment *x);

/* Frees what the functions above have made; removes test disks that lie in memory. */
void experiment_free(struct experiment *x);

#endif
