/* What domain.c, domain_qemu.c and the domain_verify files share: names that are written and looked for. Private to them. */
#ifndef KB_DOMAIN_NAMES_H
#define KB_DOMAIN_NAMES_H

#include <jansson.h>
#include <libxml/tree.h>

#include "host/domain.h"

#define DOMAIN_NAMESPACE "urn:kickbench:domain:1"
#define DOMAIN_ALIAS "ua-disk"      /* libvirt keeps a user's alias only when it begins with ua- */
#define DOMAIN_EXTRA_ALIAS "ua-extra"
#define DOMAIN_NODE "kickbench-disk" /* block node of a disk that libvirt cannot describe */

/* Whether a disk's device stands on a block node of ours (DOMAIN_NODE) instead of libvirt's. */
bool domain_has_own_node(const struct settings *s);

/* Add <qemu:commandline> and <qemu:override> to the domain, where there is something for them. -1: out of memory. */
int domain_add_qemu(xmlNode *root, xmlNs *qemu, const struct domain_spec *spec);

/* What a verification finds, as domain_verify()'s object has it. */
struct domain_verdict {
	json_t *verified, *unverified, *mismatch;
	int mismatches;
};

/* have NULL: nobody can say. want NULL: nothing was asked, what is there is reported. */
void domain_judge(struct domain_verdict *v, const char *key, const char *want, const char *have);

/* The string value of an XPath expression; NULL when it is empty. The caller frees it with free(). */
char *domain_lookup(xmlDoc *doc, const char *path);

/* domain_verify_machine.c: the keys of the machine. qom: the test disk's properties, NULL: unknown. */
void domain_verify_machine(struct domain_verdict *v, const struct domain_machine_evidence *have, xmlDoc *live,
			   const json_t *qom);

#endif
