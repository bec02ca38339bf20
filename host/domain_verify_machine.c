/* What a running guest says about the machine that was asked for. Pure: texts in, judgements out. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/domain_names.h"

#define MIB ((uint64_t)1 << 20)
#define TYPE_END "-machine"
#define CPU_END "-x86_64-cpu"

/* A name of QOM's without what all of its kind end in; out is as large as have. NULL stays NULL. */
static const char *without(const char *have, const char *end, char *out, size_t room)
{
	size_t length = have ? strlen(have) : 0, tail = strlen(end);

	if (!have)
		return NULL;
	if (length > tail && !strcmp(have + length - tail, end))
		length -= tail;
	snprintf(out, room, "%.*s", (int)length, have);
	return out;
}

/* "pc" and "q35" are the newest of their family, as "pc-i440fx-7.2" and "pc-q35-10.0". */
static bool is_type(const char *want, const char *have)
{
	if (!strcmp(want, "pc"))
		return !strncmp(have, "pc-i440fx-", 10);
	if (!strcmp(want, "q35"))
		return !strncmp(have, "pc-q35-", 7);
	return !strcmp(want, have);
}

/* A model without a version is the emulator's choice of one: "EPYC" may run as "EPYC-v1". */
static bool is_cpu(const char *want, const char *have)
{
	size_t length = strlen(want);

	return !strncmp(want, have, length) && (!have[length] || !strncmp(have + length, "-v", 2));
}

static void check_type(struct domain_verdict *v, const struct domain_machine_evidence *h)
{
	char buffer[128];
	const char *want = h->asked->type, *have = without(h->type, TYPE_END, buffer, sizeof(buffer));

	domain_judge(v, "machine", want && have && is_type(want, have) ? have : want, have);
}

static void check_cpu(struct domain_verdict *v, const struct domain_machine_evidence *h)
{
	char buffer[128];
	const char *want = h->asked->cpu, *have = without(h->cpu, CPU_END, buffer, sizeof(buffer));

	domain_judge(v, "cpu", want && have && is_cpu(want, have) ? have : want, have);
}

static void check_numbers(struct domain_verdict *v, const struct domain_machine_evidence *h)
{
	char want[32], have[32];

	snprintf(want, sizeof(want), "%u", h->asked->vcpus);
	snprintf(have, sizeof(have), "%u", h->vcpus);
	domain_judge(v, "vcpus", h->asked->vcpus ? want : NULL, h->vcpus ? have : NULL);
	/* libvirt rounds up to whole MiB */
	snprintf(want, sizeof(want), "%" PRIu64 "M", (h->asked->memory + MIB - 1) / MIB);
	snprintf(have, sizeof(have), "%" PRIu64 "M", h->memory / MIB);
	domain_judge(v, "memory", h->asked->memory ? want : NULL, h->memory ? have : NULL);
}

/* What the emulator was told to boot: its machine's own properties. */
static void check_boot(struct domain_verdict *v, const struct domain_machine_evidence *h, xmlDoc *live)
{
	json_t *boot = h->boot ? json_loads(h->boot, 0, NULL) : NULL;
	const char *initrd = json_string_value(json_object_get(boot, "initrd"));
	const char *append = json_string_value(json_object_get(boot, "append")), *args = h->asked->kernel_args;
	char *firmware = domain_lookup(live, "string(/domain/os/loader)");

	/* The file's name says nothing of what is in it: the guest's kernel names itself. */
	domain_judge(v, "kernel", h->asked->kernel ? h->kernel : NULL, h->guest_kernel);
	if (h->asked->initrd)
		domain_judge(v, "initrd", h->asked->initrd, initrd);
	if (args)
		domain_judge(v, "kernel_args", args, append && strstr(append, args) ? args : append);
	if (h->asked->firmware)
		domain_judge(v, "firmware", h->asked->firmware, firmware ? firmware : live ? "the machine type's own" : NULL);
	free(firmware);
	json_decref(boot);
}

static void check_emulator(struct domain_verdict *v, const struct domain_machine_evidence *h, xmlDoc *live)
{
	char *emulator = domain_lookup(live, "string(/domain/devices/emulator)");

	domain_judge(v, "emulator", h->asked->emulator, emulator);
	domain_judge(v, "qemu_version", NULL, h->qemu_version);
	domain_judge(v, "accel", accel_name(h->accel), h->kvm < 0 ? NULL : h->kvm ? "kvm" : "tcg");
	free(emulator);
}

/* Each word has to be in the live XML's command line: libvirt hands that on as it is. */
static void check_arguments(struct domain_verdict *v, const struct domain_machine_evidence *h, xmlDoc *live)
{
	const char *args = h->asked->qemu_args;
	bool all = true;
	char **words;
	size_t count;

	if (!args || machine_words(args, &words, &count))
		return;
	for (size_t i = 0; i < count && all; i++) {
		bool found = false;

		for (size_t k = 1; !found; k++) {
			char path[128], *word;

			snprintf(path, sizeof(path), "string(/domain/*[local-name()='commandline']/*[local-name()='arg'][%zu]/@value)", k);
			word = domain_lookup(live, path);
			found = word && !strcmp(word, words[i]);
			free(word);
			if (!word)
				break;
		}
		all = found || !*words[i];
	}
	free(words);
	domain_judge(v, "qemu_args", args, !live ? NULL : all ? args : "not all of them on the command line");
}

static void check_properties(struct domain_verdict *v, const struct domain_machine_evidence *h, const json_t *qom)
{
	for (size_t i = 0; i < h->asked->nproperties; i++) {
		const struct machine_property *p = &h->asked->property[i];
		const json_t *have = json_object_get(qom, p->name);
		struct text key = { 0 }, want = { 0 }, is = { 0 };

		text_add(&key, "qemu.%s", p->name);
		if (machine_property_type(p->value, &want) == PROPERTY_BOOL) { /* in the words of the other settings */
			bool on = !strcmp(text_get(&want), "true");

			text_reset(&want);
			text_add(&want, "%s", on ? "on" : "off");
		}
		if (json_is_boolean(have))
			text_add(&is, "%s", json_is_true(have) ? "on" : "off");
		else if (json_is_integer(have))
			text_add(&is, "%" JSON_INTEGER_FORMAT, json_integer_value(have));
		else if (json_is_string(have))
			text_add(&is, "%s", json_string_value(have));
		domain_judge(v, text_get(&key), text_get(&want), have ? text_get(&is) : NULL);
		text_free(&key);
		text_free(&want);
		text_free(&is);
	}
}

void domain_verify_machine(struct domain_verdict *v, const struct domain_machine_evidence *have, xmlDoc *live,
			   const json_t *qom)
{
	check_emulator(v, have, live);
	check_type(v, have);
	check_cpu(v, have);
	check_numbers(v, have);
	check_boot(v, have, live);
	check_arguments(v, have, live);
	check_properties(v, have, qom);
}
