/* What emulator and guest memory tell about the queues of a test disk. No question that is refused is a failure. */
#include "host/stall_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_QUEUES 256
#define MOST_CPUS 16
#define MONITOR_MS 5000

#define AVAIL 0x80 /* of a packed descriptor's flags */
#define USED 0x8000
#define AT_PLACE 2 /* of event suppression: at a place; only with EVENT_IDX */

/* ---- pure ---- */

static uint64_t number(const json_t *value, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(value, key));
}

bool stall_read_status(const json_t *value, struct stall_queue *q, struct stall_places *at)
{
	json_t *last = json_object_get(value, "last-avail-idx");

	*at = (struct stall_places){ .desc = number(value, "vring-desc"), .avail = number(value, "vring-avail"),
				     .used = number(value, "vring-used") };
	*q = (struct stall_queue){
		.number = (unsigned)number(value, "queue-index"), .size = (unsigned)number(value, "vring-num"),
		.known = json_is_integer(last), /* another process (vhost) may keep it */
		.last_avail = (uint16_t)json_integer_value(last), .used = (uint16_t)number(value, "used-idx"),
		.inuse = (unsigned)number(value, "inuse"), .signalled = (uint16_t)number(value, "signalled-used"),
		.signalled_known = json_is_true(json_object_get(value, "signalled-used-valid")),
	};
	return at->desc && q->size;
}

size_t stall_read_words(const char *text, uint32_t *word, size_t n)
{
	size_t got = 0;

	while (got < n && (text = strchr(text, ':'))) {
		char *end;

		for (text++; got < n && *text == ' '; text = end) {
			word[got] = (uint32_t)strtoul(text, &end, 16);
			if (end == text || strncmp(text, " 0x", 3))
				return got;
			got++;
		}
	}
	return got;
}

/*
 * Whether EVENT_IDX was negotiated shows in avail_event: only then does the device write it, and it stays close behind what
 * it has looked at. 0 is memory that nobody wrote, or one value in 65536.
 */
void stall_read_split(struct stall_queue *q, uint16_t avail, uint16_t used_event, uint16_t avail_event)
{
	q->packed = false;
	q->guest_known = true;
	q->avail = avail;
	q->seen = used_event;
	q->seen_known = avail_event && (uint16_t)(q->last_avail - avail_event) <= q->size &&
			(uint16_t)(q->used - used_event) <= q->size;
}

static bool given_back(uint16_t flags)
{
	return !(flags & AVAIL) == !(flags & USED);
}

/* The lap in which the device fills place `used` next: that of the last one that it filled, changed at the ring's end. */
static bool lap_of_used(const uint16_t *flags, unsigned size, unsigned used)
{
	for (unsigned back = 1; back <= size; back++) {
		bool before = back > used; /* in the lap before */
		uint16_t f = flags[before ? used + size - back : used - back];

		if (given_back(f))
			return !(f & USED) == before;
	}
	return true;
}

/* How far place b is behind a, in laps of size. */
static unsigned behind(uint16_t a, uint16_t b, unsigned size)
{
	int n = (a & ~STALL_WRAP) - (b & ~STALL_WRAP);

	return (unsigned)((a ^ b) & STALL_WRAP ? n + (int)size : n);
}

void stall_read_packed(struct stall_queue *q, const uint16_t *flags, uint16_t driver_place, uint16_t driver_events)
{
	unsigned used = q->used, next = q->last_avail;
	bool lap, lap_next;

	q->packed = true;
	if (used >= q->size || next >= q->size) {
		q->known = false; /* no places in this ring */
		return;
	}
	lap = lap_of_used(flags, q->size, used);
	lap_next = lap != (next < used || (next == used && q->inuse));
	q->guest_known = true;
	q->pending = !(flags[next] & AVAIL) != lap_next && !(flags[next] & USED) == lap_next;
	q->used = (uint16_t)(used | (lap ? STALL_WRAP : 0));
	q->last_avail = (uint16_t)(next | (lap_next ? STALL_WRAP : 0));
	q->seen = driver_place;
	q->seen_known = driver_events == AT_PLACE && behind(q->used, driver_place, q->size) <= q->size;
}

void stall_read_console(const char *console, char *line, size_t room)
{
	static const char *const words[] = { "Kernel panic", "panic: ", "soft lockup", "hard LOCKUP", "BUG: ", "Oops: ", "rcu: INFO: " };
	const char *at = NULL;
	size_t i, n;

	for (i = 0; !at && i < sizeof(words) / sizeof(words[0]); i++)
		at = strstr(console, words[i]);
	n = at ? strcspn(at, "\r\n") : 0;
	snprintf(line, room, "%.*s", (int)(n < room ? n : room), at ? at : "");
	for (i = 0; line[i]; i++)
		if ((unsigned char)line[i] < ' ' || (unsigned char)line[i] >= 0x7f)
			line[i] = '?';
}

json_t *stall_read_interrupts(const char *text)
{
	json_t *all = json_object(), *controller = NULL;
	unsigned line;
	unsigned long long count;
	char name[64];

	for (; all && *text; text += strcspn(text, "\n"), text += *text == '\n') {
		if (sscanf(text, "IRQ statistics for %63[^:\r\n]", name) == 1) {
			controller = json_object();
			if (json_object_set_new(all, name, controller))
				controller = NULL;
		} else if (controller && sscanf(text, "%u: %llu", &line, &count) == 2) {
			snprintf(name, sizeof(name), "%u", line);
			json_object_set_new(controller, name, json_integer((json_int_t)count));
		}
	}
	return all;
}

/* ---- asked ---- */

/* The "return" of one command, NULL when it was refused. */
static json_t *ask(struct boot *b, json_t *command)
{
	char *words = json_dumps(command, JSON_COMPACT);
	struct text reply = { 0 };
	json_t *whole = NULL, *value;

	if (words && b->ops->qmp && b->ops->qmp(b->guest, words, &reply, &(struct error){ 0 }) == 0)
		whole = json_loads(text_get(&reply), 0, NULL);
	value = json_incref(json_object_get(whole, "return"));
	json_decref(whole);
	json_decref(command);
	free(words);
	text_free(&reply);
	return value;
}

static json_t *monitor(struct boot *b, const char *line)
{
	return ask(b, json_pack("{s:s,s:{s:s}}", "execute", "human-monitor-command", "arguments", "command-line", line));
}

/* n halves ('h') or words ('w') of guest memory. */
static bool read_memory(struct boot *b, uint64_t at, char unit, uint32_t *word, size_t n)
{
	json_t *reply;
	char line[64];
	bool all;

	snprintf(line, sizeof(line), "xp /%zux%c 0x%llx", n, unit, (unsigned long long)at);
	reply = monitor(b, line);
	all = json_is_string(reply) && stall_read_words(json_string_value(reply), word, n) == n;
	json_decref(reply);
	return all;
}

static void read_split(struct boot *b, struct stall_queue *q, const struct stall_places *at)
{
	uint32_t avail[2], used_event, avail_event;

	if (read_memory(b, at->avail, 'h', avail, 2) && read_memory(b, at->avail + 4 + 2 * q->size, 'h', &used_event, 1) &&
	    read_memory(b, at->used + 4 + 8 * q->size, 'h', &avail_event, 1))
		stall_read_split(q, (uint16_t)avail[1], (uint16_t)used_event, (uint16_t)avail_event);
}

static int read_packed(struct boot *b, struct stall_queue *q, const struct stall_places *at, struct error *e)
{
	uint32_t *desc = calloc(q->size, 4 * sizeof(*desc)), driver[2];
	uint16_t *flags = calloc(q->size, sizeof(*flags));
	int status = desc && flags ? 0 : error_set(e, STATUS_HOST, "out of memory");

	q->packed = true;
	if (status == 0 && read_memory(b, at->desc, 'w', desc, 4 * (size_t)q->size) && read_memory(b, at->avail, 'h', driver, 2)) {
		for (size_t i = 0; i < q->size; i++)
			flags[i] = (uint16_t)(desc[4 * i + 3] >> 16);
		stall_read_packed(q, flags, (uint16_t)driver[0], (uint16_t)driver[1]);
	}
	free(desc);
	free(flags);
	return status;
}

/* Whether the device offers a packed ring, which a driver may not take up. */
static bool offers_packed(struct boot *b, size_t disk)
{
	struct text path = { 0 };
	json_t *value;
	bool packed;

	domain_qom_path(disk, &path);
	value = ask(b, json_pack("{s:s,s:{s:s,s:s}}", "execute", "qom-get", "arguments", "path", text_get(&path), "property",
				 "packed"));
	packed = json_is_true(value);
	json_decref(value);
	text_free(&path);
	return packed;
}

/* A split ring has the device's used index in memory; where a packed one says how it wants events, that is 0 to 2. */
static bool looks_split(struct boot *b, const struct stall_queue *q, const struct stall_places *at)
{
	uint32_t used[2];

	return q->used > 2 && read_memory(b, at->used, 'h', used, 2) && used[1] == q->used;
}

static json_t *ask_queue(struct boot *b, size_t disk, unsigned queue)
{
	struct text path = { 0 };
	json_t *value;

	domain_virtio_path(b->request.machine, disk, &path);
	value = ask(b, json_pack("{s:s,s:{s:s,s:i}}", "execute", "x-query-virtio-queue-status", "arguments", "path", text_get(&path),
				 "queue", (int)queue));
	text_free(&path);
	return value;
}

static int take_queues(struct boot *b, size_t disk, struct stall_snapshot *out, struct error *e)
{
	bool packed = offers_packed(b, disk);
	json_t *value;

	for (unsigned i = 0; i < MOST_QUEUES && (value = ask_queue(b, disk, i)); i++) {
		struct stall_queue *more, q;
		struct stall_places at;
		bool there = stall_read_status(value, &q, &at);

		json_decref(value);
		if (!there)
			continue;
		if (!packed || looks_split(b, &q, &at))
			read_split(b, &q, &at);
		else if (read_packed(b, &q, &at, e))
			return -1;
		more = realloc(out->queue, (out->nqueues + 1) * sizeof(*more));
		if (!more)
			return error_set(e, STATUS_HOST, "out of memory");
		out->queue = more;
		out->queue[out->nqueues++] = q;
	}
	return 0;
}

/* One line of "info lapic", without its name. NULL: there is none. */
static json_t *lapic_line(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (!at)
		return NULL;
	at += strlen(name);
	at += strspn(at, " \t");
	return json_stringn(at, strcspn(at, "\r\n"));
}

/* How often which line was raised, and what waits in each CPU's controller. Message-signalled interrupts have no line. */
static json_t *take_interrupts(struct boot *b)
{
	json_t *reply = monitor(b, "info irq"), *all = json_is_string(reply) ? stall_read_interrupts(json_string_value(reply)) : NULL;
	json_t *cpus = json_array();

	json_decref(reply);
	for (unsigned i = 0; i < MOST_CPUS && i < b->threads.nvcpus; i++) {
		char line[32];
		json_t *waiting, *served;

		snprintf(line, sizeof(line), "info lapic %u", i);
		reply = monitor(b, line);
		waiting = json_is_string(reply) ? lapic_line(json_string_value(reply), "\nIRR\t") : NULL;
		served = json_is_string(reply) ? lapic_line(json_string_value(reply), "\nISR\t") : NULL;
		json_decref(reply);
		if (!waiting || !served) {
			json_decref(waiting);
			json_decref(served);
			break;
		}
		json_array_append_new(cpus, json_pack("{s:o,s:o}", "waiting", waiting, "served", served));
	}
	if (json_array_size(cpus) && !all)
		all = json_object();
	if (json_array_size(cpus))
		json_object_set(all, "cpus", cpus);
	json_decref(cpus);
	return all;
}

int stall_snapshot_take(struct boot *b, size_t disk, struct stall_snapshot *out, struct error *e)
{
	struct hostcount count;

	*out = (struct stall_snapshot){ .state = b->ops->state(b->guest) };
	stall_read_console(text_get(&b->link.tail), out->last_words, sizeof(out->last_words));
	out->deaf = out->state == HV_RUNNING && b->ops->answers && !b->ops->answers(b->guest, MONITOR_MS);
	if (out->deaf || out->state == HV_OFF || out->state == HV_CRASHED)
		return 0;
	hostcount_take(b->ops, b->guest, &b->threads, (unsigned)disk, false, &count);
	out->vcpu_known = count.have_threads || count.have_vcpu;
	out->vcpu_ns = count.vcpu_ns;
	out->at_ns = count.at_ns;
	if (take_queues(b, disk, out, e)) {
		stall_snapshot_free(out);
		return -1;
	}
	out->interrupts = take_interrupts(b);
	return 0;
}

/* ---- told ---- */

static json_t *index_json(const struct stall_queue *q, uint16_t index)
{
	return q->packed ? json_sprintf("%u wrap %u", index & ~STALL_WRAP, index & STALL_WRAP ? 1 : 0) : json_integer(index);
}

static json_t *queue_json(const struct stall_queue *q)
{
	json_t *j = json_pack("{s:i,s:s,s:i}", "queue", (int)q->number, "ring", q->packed ? "packed" : "split", "size", (int)q->size);

	if (j && q->known) {
		json_object_set_new(j, "looked_up_to", index_json(q, q->last_avail));
		json_object_set_new(j, "used", index_json(q, q->used));
		json_object_set_new(j, "inuse", json_integer(q->inuse));
	}
	if (j && q->signalled_known)
		json_object_set_new(j, "signalled", json_integer(q->signalled));
	if (j && q->guest_known)
		json_object_set_new(j, q->packed ? "next_available" : "available", q->packed ? json_boolean(q->pending) : json_integer(q->avail));
	if (j && q->seen_known)
		json_object_set_new(j, "seen", index_json(q, q->seen));
	return j;
}

json_t *stall_snapshot_json(const struct stall_snapshot *s)
{
	json_t *queues = json_array(), *j;

	for (size_t i = 0; i < s->nqueues; i++)
		json_array_append_new(queues, queue_json(&s->queue[i]));
	j = json_pack("{s:o,s:s,s:b,s:b}", "queues", queues, "state", hv_state_words(s->state), "talks", s->talks, "monitor", !s->deaf);
	if (j && s->vcpu_known) {
		json_object_set_new(j, "vcpu_ms", json_real((double)s->vcpu_ns / 1e6));
		json_object_set_new(j, "at_ms", json_real((double)s->at_ns / 1e6));
	}
	if (j && s->interrupts)
		json_object_set(j, "interrupts", s->interrupts);
	return j;
}

void stall_snapshot_free(struct stall_snapshot *s)
{
	free(s->queue);
	json_decref(s->interrupts);
	*s = (struct stall_snapshot){ 0 };
}
