/*
 * A user's own domain as what a guest is booted from: its definition is taken from the connection or from a file, and
 * every boot gets files of its own for what the domain writes to. The domain and its images are never changed.
 */
#ifndef KB_OWN_DOMAIN_H
#define KB_OWN_DOMAIN_H

#include "host/domain_copy.h"
#include "host/hypervisor.h"
#include "host/scenario.h"

struct own_domain {
	char *source; /* "domain NAME", "domain_xml FILE" */
	char *xml;
	char *id;     /* tells its definition and its images' state from others */
	struct domain_original original;
	struct domain_wishes wishes;
};

/*
 * Take a guest's domain (guest->domain or guest->domain_xml is set) and look at it: whether there can be a copy of it,
 * and whether its files are there and not in use. The error names domain or file, and what to do. *out belongs to the
 * caller.
 */
int own_domain_take(const struct hv_ops *ops, struct hv *hv, const struct guest *guest, struct own_domain **out,
		    struct error *e);
void own_domain_free(struct own_domain *own);

/* The files of one boot of a copy. */
struct own_files {
	char **path; /* of own->original.file[i] */
	size_t count;
	char *stand_in; /* for disks without a file, where the domain has no kernel; NULL: it has one */
};

/* Name them: in folder (made if need be), after the boot. */
int own_files_name(const struct own_domain *own, const char *folder, const char *boot, struct own_files *files,
		   struct error *e);

/* Make those that have been named: overlays, copies of the firmware's variables. */
int own_files_make(const struct own_domain *own, const struct own_files *files, struct error *e);

/* Remove what was made and forget the names. Safe on files that were never named. */
void own_files_remove(struct own_files *files);
void own_files_free(struct own_files *files);

/* An error at the start of a copy, in the user's words: an image that somebody else has open. Always -1. */
int own_domain_explain(const struct own_domain *own, struct error *e);

#endif
