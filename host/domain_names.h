/* What the domain files share: names that are written and looked for. Private to them. */
#ifndef KB_DOMAIN_NAMES_H
#define KB_DOMAIN_NAMES_H

#include <jansson.h>
#include <libxml/tree.h>
#include <libxml/xpath.h>

#include "host/domain.h"

#define DOMAIN_NAMESPACE "urn:kickbench:domain:1"
#define DOMAIN_QEMU_NAMESPACE "http://libvirt.org/schemas/domain/qemu/1.0"
#define DOMAIN_EXTRA_ALIAS "ua-extra"
#define DOMAIN_NODE "kickbench-disk" /* block node of a disk that libvirt cannot describe */

/* Whether a disk's device stands on a block node of ours (DOMAIN_NODE) instead of libvirt's. */
bool domain_has_own_node(const struct domain_disk *disk);

/* Add <qemu:commandline> and <qemu:override> to the domain, where there is something for them. -1: out of memory. */
int domain_add_qemu(xmlNode *root, xmlNs *qemu, const struct domain_spec *spec);

/* domain.c: the parts that a guest of ours and a copy of a user's domain have in common. */
int domain_check(const struct domain_spec *spec, struct error *e);
void domain_add_owner(xmlNode *metadata, const struct domain_spec *spec);
void domain_add_memory(xmlNode *root, const struct machine *machine);
void domain_add_processors(xmlNode *root, const struct domain_spec *spec);
void domain_add_tuning(xmlNode *root, const struct domain_spec *spec);
void domain_add_iothreads(xmlNode *root, const struct domain_spec *spec);
void domain_add_disk(xmlNode *devices, const struct domain_spec *spec, size_t k);
void domain_add_serial(xmlNode *devices, unsigned port);
int domain_write(xmlDoc *doc, struct text *xml, struct error *e); /* appends */

/* domain_original.c and domain_copy.c: what is looked for in a user's domain, as XPath. name: for messages. */
struct domain_host_device {
	const char *path, *name;
	const char *detail; /* an attribute that tells which, NULL: none */
};
extern const struct domain_host_device domain_host_devices[]; /* path NULL at the end */

#define DOMAIN_ARGUMENT(word) "starts-with(@value,'" word "') or starts-with(@value,'-" word "')"
#define DOMAIN_WRITTEN_DISKS \
	"/domain/devices/disk[not(readonly) and not(@device='cdrom') and not(@device='lun') and not(@type='nvme') and " \
	"not(@type='vhostuser') and not(@type='vhostvdpa')]"
#define DOMAIN_KEEPS_VARIABLES \
	"(/domain/os/nvram or /domain/os[@firmware='efi'] or /domain/os/loader[@type='pflash']) and " \
	"not(/domain/os/loader[@stateless='yes'])"

/* What an expression finds; prefixes kb: (ours) and qemu: are known. NULL: out of memory. */
xmlXPathObject *domain_find(xmlDoc *doc, const char *path);

/* What a verification finds, as domain_verify()'s object has it. */
struct domain_verdict {
	json_t *verified, *unverified, *mismatch;
	int mismatches;
};

/* have NULL: nobody can say. want NULL: nothing was asked, what is there is reported. */
void domain_judge(struct domain_verdict *v, const char *key, const char *want, const char *have);

/* XML of a user or of libvirt; NULL: it is none. */
xmlDoc *domain_parse(const char *xml);

/* The string value of an XPath expression; NULL when it is empty. The caller frees it with free(). */
char *domain_lookup(xmlDoc *doc, const char *path);

/* domain_verify_machine.c: the keys of the machine. qom: the test disk's properties, NULL: unknown. */
void domain_verify_machine(struct domain_verdict *v, const struct domain_machine_evidence *have, xmlDoc *live,
			   const json_t *qom);

#endif
