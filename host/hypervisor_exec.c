/* driver = exec: no connection to anything, but a folder that says what runs. */
#include "host/hypervisor_exec.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/dirs.h"
#include "host/hypervisor_exec_command.h"
#include "host/os.h"
#include "host/process.h"

#define END_S 10.0

static int exec_open(struct hv **out, const char *uri, const char *state_dir, struct error *e)
{
	struct hv *hv;

	*out = NULL;
	if (uri)
		return error_set(e, STATUS_USAGE, "--connect %s: the guests of driver = exec are started by commands on this host", uri);
	hv = calloc(1, sizeof(*hv));
	if (hv)
		hv->folder = dirs_join(state_dir, "exec");
	if (!hv || !hv->folder) {
		free(hv);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	if (dirs_make(hv->folder, e)) {
		free(hv->folder);
		free(hv);
		return -1;
	}
	*out = hv;
	return 0;
}

static void exec_close(struct hv *hv)
{
	free(hv->folder);
	free(hv);
}

static int exec_version(struct hv *hv, struct hv_version *v, struct error *e)
{
	(void)hv;
	(void)e;
	*v = (struct hv_version){ .hypervisor = "started by the scenario's commands" };
	return 0;
}

static bool exec_offers_kvm(struct hv *hv)
{
	(void)hv;
	return false;
}

/* What commands cannot tell. Quietly: whoever asks can do without. */
static int exec_qmp(struct hv_guest *guest, const char *command, struct text *reply, struct error *e)
{
	(void)guest;
	(void)reply;
	return error_set(e, STATUS_HOST, "driver = exec has no way to ask %.40s", command);
}

static int exec_block(struct hv_guest *guest, unsigned disk, struct hv_block *stats, struct error *e)
{
	(void)guest;
	(void)disk;
	(void)stats;
	return error_set(e, STATUS_HOST, "driver = exec has no block statistics");
}

static int exec_vcpu_ns(struct hv_guest *guest, uint64_t *ns, struct error *e)
{
	(void)guest;
	(void)ns;
	return error_set(e, STATUS_HOST, "driver = exec does not know vCPUs");
}

static pid_t exec_pid(struct hv_guest *guest)
{
	(void)guest;
	return -1; /* the shell's is known, the emulator's is not */
}

/* ---- guests that were left behind ---- */

static int exec_each(struct hv *hv, void (*fn)(void *, const char *, const char *), void *context, struct error *e)
{
	DIR *dir = opendir(hv->folder);
	struct dirent *d;

	if (!dir)
		return error_errno(e, STATUS_HOST, "%s", hv->folder);
	while ((d = readdir(dir))) {
		size_t n = strlen(d->d_name);
		char *path, *text, name[256];
		json_t *j;

		if (n < 6 || n > sizeof(name) || strcmp(d->d_name + n - 5, ".json"))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)n - 5, d->d_name);
		path = dirs_join(hv->folder, d->d_name);
		j = path ? json_load_file(path, 0, NULL) : NULL;
		text = j ? json_dumps(j, 0) : NULL;
		if (text)
			fn(context, name, text);
		free(text);
		free(path);
		json_decref(j);
	}
	closedir(dir);
	return 0;
}

/*
 * The process group, unless its number belongs to somebody else by now: its leader began at another time, or nobody in
 * it has our folder's name in the environment.
 */
static void kill_group(const json_t *d, const char *folder)
{
	const json_t *group = json_object_get(d, "group");
	pid_t pid = (pid_t)json_integer_value(json_object_get(group, "pid"));
	struct text variable = { 0 };
	bool ours;

	if (pid <= 1)
		return;
	text_add(&variable, "KICKBENCH_FOLDER=%s", folder);
	ours = process_started(pid) ? process_lives(pid, (uint64_t)json_integer_value(json_object_get(group, "started")))
				    : os_group_has(pid, text_get(&variable));
	if (ours)
		kill(-pid, SIGKILL);
	text_free(&variable);
}

static int exec_destroy_by_name(struct hv *hv, const char *name, struct error *e)
{
	struct text path = { 0 };
	json_t *d;
	const char *folder, *command;
	char **variables;

	text_add(&path, "%s/%s.json", hv->folder, name);
	d = json_load_file(text_get(&path), 0, NULL);
	folder = json_string_value(json_object_get(d, "folder"));
	if (!folder) {
		error_set(e, STATUS_HOST, "%s does not say what runs", text_get(&path));
	} else {
		command = json_string_value(json_object_get(d, "kill")) ?: json_string_value(json_object_get(d, "stop"));
		variables = exec_variables(d, folder);
		if (command && variables)
			command_run(command, variables, END_S, NULL);
		exec_free_variables(variables);
		kill_group(d, folder);
		exec_remove_folder(folder);
		if (unlink(text_get(&path)))
			error_errno(e, STATUS_HOST, "%s", text_get(&path));
	}
	json_decref(d);
	text_free(&path);
	return e->status ? -1 : 0;
}

void exec_remove_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		char *path = strcmp(d->d_name, ".") && strcmp(d->d_name, "..") ? dirs_join(folder, d->d_name) : NULL;

		if (path)
			unlink(path);
		free(path);
	}
	if (dir)
		closedir(dir);
	rmdir(folder); /* what a command has put folders into is its own business */
}

json_t *exec_boot_verify(struct boot *b, size_t disk)
{
	struct text printed = { 0 };
	bool asked = b->ops->live_xml(b->guest, &printed, &(struct error){ 0 }) == 0;
	json_t *verdict = exec_verify(b->request.settings[disk], b->request.machine, asked ? text_get(&printed) : NULL);

	text_free(&printed);
	return verdict;
}

const struct hv_ops hypervisor_exec = {
	.name = "exec",
	.open = exec_open,
	.close = exec_close,
	.version = exec_version,
	.offers_kvm = exec_offers_kvm,
	.start = exec_guest_start,
	.wait = exec_guest_wait,
	.send = exec_guest_send,
	.type = exec_guest_type,
	.state = exec_guest_state,
	.qmp = exec_qmp,
	.live_xml = exec_guest_live,
	.block = exec_block,
	.vcpu_ns = exec_vcpu_ns,
	.pid = exec_pid,
	.destroy = exec_guest_destroy,
	.each = exec_each,
	.destroy_by_name = exec_destroy_by_name,
	.owner = exec_owner,
};
