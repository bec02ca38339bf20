/* The host behind a connection: whether it is this one, and what libvirt tells of it. */
#include <libxml/uri.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "host/hypervisor_libvirt.h"

/*
 * qemu:///… and qemu+unix:///… have no host part, but a socket can be that of another host, forwarded: so its name has to
 * be ours, too. A host part is believed to be another host's, whatever it is: a forwarded port looks like this one.
 */
bool hv_is_local(virConnectPtr connection, const char *uri)
{
	xmlURI *parsed = xmlParseURI(uri);
	bool named = parsed && parsed->server && *parsed->server, same;
	struct utsname here = { .nodename = "" };
	char *theirs;

	xmlFreeURI(parsed);
	if (named)
		return false;
	theirs = virConnectGetHostname(connection);
	uname(&here);
	/* libvirt adds the domain where it finds one */
	same = !theirs || (!strncmp(theirs, here.nodename, strcspn(here.nodename, ".")) &&
			   strcspn(theirs, ".") == strcspn(here.nodename, "."));
	free(theirs);
	return same;
}

int hv_host(struct hv *hv, struct hv_host *host, struct error *e)
{
	char *name = virConnectGetHostname(hv->connection), *capabilities;
	virNodeInfo info;

	*host = (struct hv_host){ .here = hv->local };
	snprintf(host->name, sizeof(host->name), "%s", name ? name : "");
	free(name);
	if (virNodeGetInfo(hv->connection, &info) < 0)
		return hv_libvirt_error(e, STATUS_HOST, "libvirt does not tell of its host");
	host->cpus = info.cpus;
	host->memory = (uint64_t)info.memory << 10;
	host->available = virNodeGetFreeMemory(hv->connection);
	capabilities = virConnectGetCapabilities(hv->connection);
	hv_ask_document(capabilities, "string(/capabilities/host/cpu/model)", host->cpu, sizeof(host->cpu));
	hv_ask_document(capabilities, "string(/capabilities/host/cpu/microcode/@version)", host->microcode,
			sizeof(host->microcode));
	free(capabilities);
	return 0;
}
