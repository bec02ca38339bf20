/* What a guest cost the host between two instants: CPU by kind of thread, block statistics, KVM statistics. */
#ifndef KB_HOSTCOUNT_H
#define KB_HOSTCOUNT_H

#include "guest/text.h"
#include "host/hypervisor.h"

#define HOSTCOUNT_MAX_KVM 64

/* Thread ids of one running emulator: asked once per boot by QMP (query-cpus-fast, query-iothreads). */
struct hostcount_threads {
	pid_t pid;
	pid_t vcpu[64];
	size_t nvcpus;
	pid_t iothread[8];
	size_t niothreads;
};

int hostcount_threads(const struct hv_ops *ops, struct hv_guest *guest, struct hostcount_threads *t,
		      struct error *e);

struct hostcount {
	uint64_t at_ns; /* CLOCK_MONOTONIC when it was taken */
	bool have_threads;
	bool have_vcpu; /* without threads, of a guest elsewhere: vcpu_ns is what the hypervisor says, in its own steps */
	uint64_t vcpu_ns, iothread_ns, main_ns, other_ns; /* CPU time; main: the emulator's main loop; other: worker threads */
	bool have_block;
	struct hv_block block;
	size_t nkvm; /* 0 without KVM */
	struct { char name[40]; uint64_t value; } kvm[HOSTCOUNT_MAX_KVM];
};

/*
 * Take one. Worker threads that ended in between would be lost, so other_ns is the process's own total
 * minus the known threads.
 */
void hostcount_take(const struct hv_ops *ops, struct hv_guest *guest, const struct hostcount_threads *t,
		    unsigned disk, bool kvm, struct hostcount *out);

/* Append the differences as a JSON object: {"span_ns","cpu":{"vcpu_us","iothread_us","main_us","other_us"} or {"vcpu_us"}|null,
 * "block":{"rd_reqs",…}|null,"kvm":{…}|null}. */
void hostcount_json(const struct hostcount *begin, const struct hostcount *end, struct text *out);

/*
 * Parts for the tests. CPU time in clock ticks (user + system) of a /proc/…/stat line, whatever the name in it
 * holds; run time in ns of a /proc/…/schedstat line. -1 when it is none.
 */
int hostcount_parse_stat(const char *stat, uint64_t *ticks);
int hostcount_parse_schedstat(const char *schedstat, uint64_t *ns);

#endif
