/*
 * One run on several hosts: block i is measured on host i % n, all of it, and host follows host, because two connections can
 * lead to one machine. A block's difference between variants never is one between hosts.
 */
#ifndef KB_HOSTS_H
#define KB_HOSTS_H

#include "host/experiment.h"

/*
 * Fill x->host of its connection, and make a peer for each further one, with the scenario, plan and store of x. hv[0] is
 * x's own and stays the caller's, hv[1..] become the peers'. uri[0] may be NULL. An error when two are one.
 */
int hosts_make(struct experiment *x, const char *const *uri, struct hv *const *hv, unsigned n, struct error *e);

/* Prepare machines and test disks of all hosts, which have to come to the same accelerators. */
int hosts_prepare(struct experiment *x, void (*say)(const char *line), struct error *e);

/* End the peers' connections and free what they have of their own. */
void hosts_close(struct experiment *x);

/* The experiment (x or a peer) that measures a block, with x's store and run.json. */
struct experiment *hosts_of_block(struct experiment *x, unsigned block);
const struct experiment *hosts_get(const struct experiment *x, unsigned host);

/* What tells it from the others: its name, or its URI where two have the same name. */
const char *hosts_label(const struct experiment *x, unsigned host);

/*
 * run.json's "hosts": [{"label","name","uri","here":true,"versions":{…},"machines":[…],"environment":{…}}]; NULL where there
 * is only this host. Of another host only what libvirt tells is known. facts are taken.
 */
json_t *hosts_json(const struct experiment *x);

/* As environment_take() of the experiment's host. */
json_t *hosts_environment(const struct experiment *x, uint64_t needed_bytes);

/* Take it of each host, as its facts. */
int hosts_facts(struct experiment *x, uint64_t needed_bytes, struct error *e);

/*
 * A resumed run needs the hosts that it began with, in their order, with the CPUs and microcode of then. kept: run.json;
 * facts are taken.
 */
int hosts_same(const struct experiment *x, const json_t *kept, struct error *e);

#endif
