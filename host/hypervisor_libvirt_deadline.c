/*
 * libvirt knows no deadline for a start: an emulator that hangs before it answers its monitor (over an NBD server that accepts
 * and says nothing, a file system that is away) is waited for without end, and no signal ends that. Destroying the domain from
 * another thread lets go of whoever waits.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/clock.h"
#include "host/hypervisor_libvirt.h"

#define START_S 120 /* memory that is allocated beforehand takes a while */
#define LOOK_MS 200 /* for a signal */
#define ONCE_MORE_S 2 /* a domain that libvirt did not know yet, or that its emulator survived */

struct hv_deadline {
	struct hv *hv;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t over;
	const volatile sig_atomic_t *interrupted; /* NULL: never */
	bool is_over, passed;
	int signal; /* that ended it before its time; 0: none */
	char name[];
};

static void destroy(const struct hv_deadline *d)
{
	virDomainPtr domain = virDomainLookupByName(d->hv->connection, d->name);

	if (!domain)
		return;
	virDomainDestroy(domain);
	virDomainFree(domain);
}

static void *watch(void *context)
{
	struct hv_deadline *d = context;
	double until = clock_s() + START_S;

	pthread_mutex_lock(&d->lock);
	while (!d->is_over) {
		struct timespec look = hv_in_ms(LOOK_MS);

		pthread_cond_timedwait(&d->over, &d->lock, &look);
		if (!d->passed && d->interrupted && *d->interrupted) {
			d->signal = *d->interrupted;
			until = 0;
		}
		if (d->is_over || clock_s() < until)
			continue;
		d->passed = true;
		pthread_mutex_unlock(&d->lock);
		destroy(d);
		pthread_mutex_lock(&d->lock);
		until = clock_s() + ONCE_MORE_S;
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

struct hv_deadline *hv_deadline_begin(struct hv *hv, const char *name, const volatile sig_atomic_t *interrupted)
{
	size_t length = strlen(name) + 1;
	struct hv_deadline *d = calloc(1, sizeof(*d) + length);
	pthread_condattr_t attributes;

	if (!d)
		return NULL;
	d->hv = hv;
	d->interrupted = interrupted;
	memcpy(d->name, name, length);
	pthread_mutex_init(&d->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&d->over, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&d->thread, NULL, watch, d) == 0)
		return d;
	pthread_cond_destroy(&d->over);
	pthread_mutex_destroy(&d->lock);
	free(d);
	return NULL;
}

int hv_deadline_end(struct hv_deadline *d, struct error *e)
{
	bool passed;
	int signal;

	if (!d)
		return 0;
	pthread_mutex_lock(&d->lock);
	d->is_over = true;
	pthread_cond_signal(&d->over);
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->thread, NULL);
	passed = d->passed;
	signal = d->signal;
	pthread_cond_destroy(&d->over);
	pthread_mutex_destroy(&d->lock);
	free(d);
	if (!passed)
		return 0;
	error_clear(e); /* what libvirt made of the end of the emulator */
	if (signal)
		return error_set(e, STATUS_INCOMPLETE, "interrupted by signal %d while the emulator was coming up", signal);
	return error_set(e, STATUS_INCOMPLETE, "the emulator has not come up within %d s and was ended: does it wait for a server or a file "
			 "system that does not answer?", START_S);
}
