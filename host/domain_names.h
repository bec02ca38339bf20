/* Names that domain.c writes and domain_verify.c looks for. Private to these two. */
#ifndef KB_DOMAIN_NAMES_H
#define KB_DOMAIN_NAMES_H

#define DOMAIN_NAMESPACE "urn:kickbench:domain:1"
#define DOMAIN_ALIAS "ua-disk"      /* libvirt keeps a user's alias only when it begins with ua- */
#define DOMAIN_NODE "kickbench-disk" /* block node of a disk that libvirt cannot describe */

#endif
