#include "host/machine.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/parse.h"
#include "host/settings.h"

#define PROPERTY "qemu." /* prefix of the keys that name a property of the device */

enum kind { KIND_PATH, KIND_NAME, KIND_LINE, KIND_WORDS, KIND_ACCEL, KIND_COUNT, KIND_SIZE };

/* One row is the whole key: how it is read, where it is kept, what it may be, what it means. */
struct key {
	const char *name;
	enum kind kind;
	size_t offset;
	uint64_t min, max;
	const char *help;
};

static const char *const accels[] = { "auto", "kvm", "tcg", NULL };

#define AT(field) offsetof(struct machine, field)

static const struct key keys[] = {
	{ "emulator", KIND_PATH, AT(emulator), 0, 0, "QEMU's program, a path (libvirt's choice)" },
	{ "firmware", KIND_PATH, AT(firmware), 0, 0, "a file for QEMU's -bios (the machine type's own)" },
	{ "machine", KIND_NAME, AT(type), 0, 0,
	  "machine type: pc, q35 or one with its version, as pc-i440fx-7.2; microvm: disks on virtio-mmio, no PCI (pc)" },
	{ "cpu", KIND_NAME, AT(cpu), 0, 0, "CPU model, max, or host, which needs KVM (host under KVM, qemu64 under TCG)" },
	{ "kernel", KIND_PATH, AT(kernel), 0, 0,
	  "a kernel, with its modules in lib/modules beside it or in /lib/modules; or the folder of an unpacked package (the image's)" },
	{ "initrd", KIND_PATH, AT(initrd), 0, 0, "an initramfs instead of the image's; kickio has to be its init (the image's)" },
	{ "kernel_args", KIND_LINE, AT(kernel_args), 0, 0, "added to the kernel's command line (nothing)" },
	{ "accel", KIND_ACCEL, AT(accel), 0, 0, "auto: KVM where a trial shows that it works, else TCG" },
	{ "vcpus", KIND_COUNT, AT(vcpus), 1, 64, "virtual CPUs (1)" },
	{ "memory", KIND_SIZE, AT(memory), 64 << 20, (uint64_t)1 << 40, "memory (256M)" },
	{ "qemu_args", KIND_WORDS, AT(qemu_args), 0, 0, "words added to QEMU's command line; quotes hold blanks together (nothing)" },
};

#define NKEYS (sizeof(keys) / sizeof(keys[0]))

const char *accel_name(enum accel accel)
{
	return accels[accel];
}

static bool is_string(const struct key *k)
{
	return k->kind == KIND_PATH || k->kind == KIND_NAME || k->kind == KIND_LINE || k->kind == KIND_WORDS;
}

static char **string_of(struct machine *m, const struct key *k)
{
	return (char **)((char *)m + k->offset);
}

static const char *string_in(const struct machine *m, const struct key *k)
{
	return *(char *const *)((const char *)m + k->offset);
}

static const struct key *find(const char *name)
{
	for (size_t i = 0; i < NKEYS; i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

void machine_default(struct machine *m)
{
	*m = (struct machine){ .accel = ACCEL_AUTO, .vcpus = 1, .memory = 256u << 20 };
}

int machine_copy(struct machine *to, const struct machine *from)
{
	bool fine = true;

	*to = *from;
	to->property = NULL;
	to->nproperties = 0;
	for (size_t i = 0; i < NKEYS; i++)
		if (is_string(&keys[i]) && string_in(from, &keys[i])) {
			char **s = string_of(to, &keys[i]);

			*s = strdup(*s);
			fine = fine && *s;
		}
	to->property = calloc(from->nproperties + 1, sizeof(*to->property));
	for (size_t i = 0; to->property && i < from->nproperties; i++) {
		struct machine_property *p = &to->property[to->nproperties++];

		p->name = strdup(from->property[i].name);
		p->value = strdup(from->property[i].value);
		fine = fine && p->name && p->value;
	}
	if (fine && to->property)
		return 0;
	machine_free(to);
	return -1;
}

void machine_free(struct machine *m)
{
	for (size_t i = 0; i < NKEYS; i++)
		if (is_string(&keys[i])) {
			free(*string_of(m, &keys[i]));
			*string_of(m, &keys[i]) = NULL;
		}
	for (size_t i = 0; i < m->nproperties; i++) {
		free(m->property[i].name);
		free(m->property[i].value);
	}
	free(m->property);
	m->property = NULL;
	m->nproperties = 0;
}

int machine_words(const char *args, char ***words, size_t *count)
{
	size_t length = strlen(args);
	/* At most every other byte begins a word; the text follows the pointers. */
	char **list = malloc((length / 2 + 1) * sizeof(*list) + length + 1), *to;

	*words = NULL;
	*count = 0;
	if (!list)
		return -1;
	to = (char *)(list + length / 2 + 1);
	while (*(args += strspn(args, " \t"))) {
		char quote = '\0';

		list[(*count)++] = to;
		for (; *args && (quote || (*args != ' ' && *args != '\t')); args++) {
			if (*args == quote)
				quote = '\0';
			else if (!quote && (*args == '"' || *args == '\''))
				quote = *args;
			else
				*to++ = *args;
		}
		*to++ = '\0';
		if (quote) {
			free(list);
			*count = 0;
			return -1;
		}
	}
	*words = list;
	return 0;
}

enum property_type machine_property_type(const char *value, struct text *plain)
{
	size_t length = strlen(value), digits = strspn(value + (*value == '-'), "0123456789");
	bool on = !strcmp(value, "on") || !strcmp(value, "true");

	if (length >= 2 && *value == '"' && value[length - 1] == '"') {
		text_add(plain, "%.*s", (int)length - 2, value + 1);
		return PROPERTY_STRING;
	}
	if (on || !strcmp(value, "off") || !strcmp(value, "false")) {
		text_add(plain, "%s", on ? "true" : "false");
		return PROPERTY_BOOL;
	}
	text_add(plain, "%s", value);
	if (!digits || digits > 18 || value[(*value == '-') + digits])
		return PROPERTY_STRING;
	return *value == '-' ? PROPERTY_SIGNED : PROPERTY_UNSIGNED;
}

static const char *allowed(const struct key *k, struct text *t)
{
	switch (k->kind) {
	case KIND_PATH:
		return "the path of a file";
	case KIND_NAME:
		return "a name of letters, digits and . _ + -";
	case KIND_LINE:
		return "one line of text";
	case KIND_WORDS:
		return "words, each quote closed";
	case KIND_ACCEL:
		return "auto, kvm, tcg";
	case KIND_COUNT:
		text_add(t, "a number from %" PRIu64 " to %" PRIu64, k->min, k->max);
		return text_get(t);
	case KIND_SIZE:
		text_add(t, "a size such as 256M or 1G, from %" PRIu64 "M to %" PRIu64 "M", k->min >> 20, k->max >> 20);
		return text_get(t);
	}
	return "";
}

static bool is_name(const char *s)
{
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._+-", *s))
			return false;
	return true;
}

static bool are_words(const char *s)
{
	char **words;
	size_t count;
	bool fine = machine_words(s, &words, &count) == 0;

	free(words);
	return fine;
}

static int set_string(char **where, const char *value)
{
	char *copy = *value ? strdup(value) : NULL;

	if (*value && !copy)
		return -1;
	free(*where);
	*where = copy;
	return 0;
}

static int set(struct machine *m, const struct key *k, const char *value)
{
	void *where = (char *)m + k->offset;
	uint64_t v;
	int i;

	switch (k->kind) {
	case KIND_NAME:
		return is_name(value) ? set_string(where, value) : -1;
	case KIND_WORDS:
		return are_words(value) ? set_string(where, value) : -1;
	case KIND_PATH:
	case KIND_LINE:
		return set_string(where, value);
	case KIND_ACCEL:
		i = parse_word(value, accels);
		if (i < 0)
			return -1;
		*(enum accel *)where = (enum accel)i;
		return 0;
	case KIND_COUNT:
		if (parse_u64(value, &v) || v < k->min || v > k->max)
			return -1;
		*(unsigned *)where = (unsigned)v;
		return 0;
	case KIND_SIZE:
		if (parse_size(value, &v) || v < k->min || v > k->max)
			return -1;
		*(uint64_t *)where = v;
		return 0;
	}
	return -1;
}

static void drop_property(struct machine *m, size_t i)
{
	free(m->property[i].name);
	free(m->property[i].value);
	memmove(&m->property[i], &m->property[i + 1], (--m->nproperties - i) * sizeof(*m->property));
}

/* A name that is there already gets the new value; an empty one takes it away. */
static int set_property(struct machine *m, const char *name, const char *value)
{
	struct machine_property *grown, *p;

	for (size_t i = 0; i < m->nproperties; i++)
		if (!strcmp(m->property[i].name, name)) {
			drop_property(m, i);
			break;
		}
	if (!*value)
		return 0;
	grown = realloc(m->property, (m->nproperties + 1) * sizeof(*grown));
	if (!grown)
		return -1;
	m->property = grown;
	p = &grown[m->nproperties];
	p->name = strdup(name);
	p->value = strdup(value);
	m->nproperties++;
	return p->name && p->value ? 0 : -1;
}

/* What the scenario's own keys and the suite set of the device. */
static const struct { const char *property, *key; } taken[] = {
	{ "addr", NULL }, { "bus", NULL }, { "drive", NULL }, { "event_idx", "event_idx" }, { "id", NULL },
	{ "ioeventfd", "ioeventfd" }, { "iothread", "iothread" }, { "num-queues", "queues" }, { "packed", "packed" },
	{ "queue-size", "queue_size" }, { "serial", NULL },
};

static int check_property(const char *key, const char *name, const char *file, int line, struct error *e)
{
	if (!*name || !is_name(name))
		return error_at(e, STATUS_USAGE, file, line, "%s: expected qemu. and the name of a property of virtio-blk-pci", key);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (!strcmp(taken[i].property, name))
			return error_at(e, STATUS_USAGE, file, line, taken[i].key ? "%s: use the key %s, which is verified"
									    : "%s: kickbench sets this property itself", key, taken[i].key);
	return 0;
}

int machine_set(struct machine *m, const char *key, const char *value, const char *file, int line, struct error *e)
{
	const struct key *k = find(key);
	const char *name = strncmp(key, PROPERTY, strlen(PROPERTY)) ? NULL : key + strlen(PROPERTY);
	struct text t = { 0 };

	if (name) {
		if (check_property(key, name, file, line, e))
			return -1;
		if (set_property(m, name, value))
			return error_set(e, STATUS_HOST, "out of memory");
		return 0;
	}
	if (!k)
		return 1;
	if (set(m, k, value) == 0)
		return 0;
	error_at(e, STATUS_USAGE, file, line, "%s = %s: expected %s", key, value, allowed(k, &t));
	text_free(&t);
	return -1;
}

const char *machine_conflict(const struct machine *m)
{
	if (m->cpu && !strcmp(m->cpu, "host") && m->accel == ACCEL_TCG)
		return "cpu = host is the host's own CPU, which accel = tcg does not run: set cpu = max or a model";
	if (m->type && (!strcmp(m->type, "none") || !strncmp(m->type, "isapc", 5)))
		return "this machine has no bus for the test disk: set machine to a kind of pc or q35, or to microvm";
	return NULL;
}

bool machine_is_mmio(const struct machine *m)
{
	return m->type && !strncmp(m->type, "microvm", 7);
}

const char *machine_disk_conflict(const struct machine *m, const struct settings *s)
{
	if (!machine_is_mmio(m))
		return NULL;
	if (s->model != MODEL_VIRTIO)
		return "model names a kind of virtio-blk-pci, and machine = microvm has its disks on virtio-mmio";
	if (s->iothread == TOGGLE_ON && m->accel == ACCEL_TCG)
		return "iothread = on needs ioeventfd, which virtio-mmio (machine = microvm) has under KVM only";
	return NULL;
}

static void get(const struct machine *m, const struct key *k, struct text *out)
{
	const void *where = (const char *)m + k->offset;

	if (is_string(k))
		text_add(out, "%s", string_in(m, k) ? string_in(m, k) : "");
	else if (k->kind == KIND_ACCEL)
		text_add(out, "%s", accel_name(*(const enum accel *)where));
	else if (k->kind == KIND_COUNT && *(const unsigned *)where)
		text_add(out, "%u", *(const unsigned *)where);
	else if (k->kind == KIND_SIZE && *(const uint64_t *)where)
		parse_size_back(*(const uint64_t *)where, out);
}

void machine_get(const struct machine *m, const char *key, struct text *out)
{
	const struct key *k = find(key);

	if (k)
		get(m, k, out);
	for (size_t i = 0; !k && i < m->nproperties; i++)
		if (!strncmp(key, PROPERTY, strlen(PROPERTY)) && !strcmp(m->property[i].name, key + strlen(PROPERTY)))
			text_add(out, "%s", m->property[i].value);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct machine_property *const *)a)->name, (*(const struct machine_property *const *)b)->name);
}

void machine_json(const struct machine *m, struct text *out)
{
	const struct machine_property **sorted = calloc(m->nproperties + 1, sizeof(*sorted));
	struct text value = { 0 };
	const char *sep = "{";

	for (size_t i = 0; i < NKEYS; i++) {
		text_reset(&value);
		get(m, &keys[i], &value);
		if (!value.length)
			continue;
		text_add(out, "%s\"%s\":", sep, keys[i].name);
		text_add_json_string(out, text_get(&value));
		sep = ",";
	}
	for (size_t i = 0; sorted && i < m->nproperties; i++)
		sorted[i] = &m->property[i];
	if (sorted)
		qsort(sorted, m->nproperties, sizeof(*sorted), by_name);
	for (size_t i = 0; sorted && i < m->nproperties; i++) {
		text_add(out, "%s\"" PROPERTY "%s\":", sep, sorted[i]->name);
		text_add_json_string(out, sorted[i]->value);
	}
	text_add(out, "}");
	out->failed = out->failed || !sorted;
	free(sorted);
	text_free(&value);
}

bool machine_same(const struct machine *a, const struct machine *b)
{
	struct text one = { 0 }, other = { 0 };
	bool same;

	machine_json(a, &one);
	machine_json(b, &other);
	same = !one.failed && !other.failed && !strcmp(text_get(&one), text_get(&other));
	text_free(&one);
	text_free(&other);
	return same;
}

const char *machine_key(size_t index, const char **help)
{
	if (index > NKEYS)
		return NULL;
	if (help)
		*help = index < NKEYS ? keys[index].help
				      : "a property of the test disk's device, over what libvirt writes; in double quotes it is a string";
	return index < NKEYS ? keys[index].name : PROPERTY "PROPERTY";
}
