/*
 * The run folder. JSON files, each written to a temporary name, synced and renamed, so that a kill at any
 * instant loses at most the trial in flight.
 *
 *	run.json                 schema kickbench-run/1, see below
 *	scenario.ini             the scenario's text as it was run (with --set changes appended as comments)
 *	domains/VARIANT.xml      domain XML of each variant
 *	trials/000001.json       schema kickbench-trial/1; number as in the plan
 *	trials/000001.map        generation maps of a job with verify=, as kickio's verify_map= takes them
 *	trials/000001.cut-1.json a finished trial of a block that was cut and run again: kept, not counted
 *	console/BOOT.log         what boot number BOOT said on its first serial port
 *	report.txt report.json report.html
 *
 * run.json:
 * {"schema":"kickbench-run/1","kickbench":"0.1.0","started":"2026-01-31T12:00:00Z",
 *  "scenario":{"name","file","baseline":"none","blocks":8,"repeats":1,"pairing":"boots","fresh_boot":"per-boot","primary":"iops",
 *              "margin":0.03,"fail_margin":0,"alpha":0.05,"fail_on":["stalled","corrupt"]},
 *  "set":["disk.size=64M"],                              (the --set values, for a resume)
 *  "seed":N,"accel":{"used":"tcg","why":"…"},       (the baseline's on the first guest)
 *  "machines":[{"guest","variant","accel","why","qemu_version","kernel","virtio_status":true}],
 *  "versions":{"hypervisor","library","emulator"},
 *  "guests":[{"name","image","vcpus":1,"memory_bytes":N,"kernel":"6.1.0-32-cloud-amd64","machine":{key:value…}}],
 *  "variants":[{"name","settings":{key:value…}}],       (every key as text, "" when unset; of the machine's keys those
 *                                                         in which variants differ)
 *  "cells":[{"name","guest","workload","point","argv":[…]}],
 *  "plan":{"expected_seconds":N,"boots":[{"boot":1,"block":1,"guest":"linux","variants":["kickfd"],
 *          "trials":[{"trial":1,"cell":0,"variant":"kickfd","repeat":1}]}]},
 *  "environment":{…,"warnings":["…"]},
 *  "hosts":[{"label","name","uri","here":false,"versions","machines","environment"}],  (only where guests ran on another host;
 *                                                         "plan" then tells each boot's "host", 1.. of these, of several)
 *  "sessions":[{"started","ended":"…"|null,"status":"complete"|"interrupted"|…,"message"}]}   (one per run/resume)
 *
 * trials/N.json:
 * {"schema":"kickbench-trial/1","trial":1,"boot":1,"block":1,"repeat":1,"cell":0,"cell_name":"randread numjobs=1",
 *  "guest":"linux","variant":"kickfd","argv":[…],"started":"…Z","seconds":N,
 *  "status":"ok"|"failed"|"stalled"|"corrupt","message":null|"…",
 *  "accel":"tcg","qemu_version":"QEMU 7.2.22 (Debian …)","guest_kernel":"…",
 *  "identity":{"accel","cpu","host","host_cpu","microcode"},   (what differs in one of these is never pooled)
 *  "boot_to_hello_s":1.9,"wall_to_hello_s":2.4,
 *  "effective":{"verified":{…},"unverified":[…],"mismatch":[…],"features":[…]}|null,
 *  "exit_status":0,                        (kickio's)
 *  "fio":{…}|null,                         (kickio's json+ document)
 *  "guest_counters":{"disk":{…}|null,"interrupts":N|null,"cpu":{"user_us","system_us","idle_us"}|null}|null,
 *  "host":{"span_ns","begin_delay_us","end_delay_us","cpu":{"vcpu_us","iothread_us","main_us","other_us"}|null,
 *          "block":{"rd_reqs","rd_bytes","rd_times_ns","wr_reqs","wr_bytes","wr_times_ns","fl_reqs","fl_times_ns"}|null,
 *          "kvm":{name:N…}|null}|null}
 * and, where status is "stalled" and somebody could be asked:
 *  "stall":{"cause":"kick lost"|"interrupt lost"|"device holds it"|"guest dead"|"unknown","why":"the numbers that decided",
 *           "snapshots":[{"queues":[{"queue":0,"ring":"split"|"packed","size",
 *                                    "looked_up_to","used","inuse","signalled",  (the device; of a packed ring "PLACE wrap 0|1")
 *                                    "available","seen",                         (the guest; packed: "next_available":bool)
 *                                   }…],"state":"runs","talks":true,"monitor":true,"vcpu_ms","at_ms",
 *                         "interrupts":{"ioapic":{"10":N…},"cpus":[{"waiting","served"}]}}…],  (two, and one behind the nudges)
 *           "nudges":[{"cpu":N|null,"issued":true,"completed":true,"us":N,"problem":"…"}…],"resumed":true,"console":"last lines"}
 * ("cpu" of a guest on another host has "vcpu_us" alone, as the hypervisor counts it.)
 * ("guest_counters" is what the guest's result frame calls "counters"; see guest/agent.c.)
 */
#ifndef KB_STORE_H
#define KB_STORE_H

#include <jansson.h>
#include <stdbool.h>

#include "guest/error.h"

struct store;

/* What a folder is of: a run, or a matrix of regress (host/cell.h), which has cells/ in place of domains/ and trials/. */
enum store_kind { STORE_RUN, STORE_MATRIX };

/* Make a new folder (path NULL: RESULTS/<time>-<name>), or open one that exists. */
int store_create(const char *path, const char *results, const char *name, enum store_kind kind, struct store **out,
		 struct error *e);
int store_open(const char *path, struct store **out, struct error *e);
const char *store_path(const struct store *s);
void store_close(struct store *s);

/* Remove a run folder in which nothing was written yet. */
void store_discard(struct store *s);

/* Write a file of the run, atomically and synced. name may hold one folder: "trials/000001.json". */
int store_write(struct store *s, const char *name, const char *bytes, size_t length, struct error *e);
int store_write_json(struct store *s, const char *name, const json_t *value, struct error *e);

/* Read a JSON file of the run; checks that its "schema" is schema: a newer format is refused. Caller owns *out. */
int store_read_json(const struct store *s, const char *name, const char *schema, json_t **out, struct error *e);

bool store_has(const struct store *s, const char *name);

/* Rename trials/N.json to the first free trials/N.cut-K.json. */
int store_cut_trial(struct store *s, unsigned trial, struct error *e);

#endif
