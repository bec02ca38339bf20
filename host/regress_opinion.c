/* What the host itself finds out about a cell: the job whose flushes are logged, and the image when the guest is gone. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/program.h"
#include "host/regress_private.h"

#define OPINION "second opinion"

int cell_run_flush(struct cell_run *c, struct error *e)
{
	const char *os = json_string_value(json_object_get(c->boot.hello, "os"));
	struct opinion_flush_job *job = &c->flush_job;

	if (!c->up || c->cell->readonly)
		return 0;
	opinion_flush_job(c->cell->bytes, c->cell->block_size, os && !strcmp(os, "Linux"), job);
	snprintf(c->flush.path, sizeof(c->flush.path), "%s/cells/%06u-flush.map", store_path(c->r->store), c->cell->number);
	return cell_run_job(c, &(struct cell_task){ .name = "writes and fsyncs in turn", .argv = job->argv, .argc = job->argc, .map = &c->flush }, e);
}

/* From a server of the user's, which is asked when its guest has gone. */
static int copy_nbd(const struct cell_run *c, struct error *e)
{
	const struct program program = { .package = "qemu-utils", .out = -1, .interrupted = c->r->interrupted };
	struct text source = { 0 };
	int status;

	text_add(&source, "driver=nbd,server.type=unix,server.path=");
	for (const char *p = c->cell->settings.path; *p; p++)
		text_add(&source, *p == ',' ? ",," : "%c", *p);
	status = source.failed ? error_set(e, STATUS_HOST, "out of memory") :
		 program_must((const char *const[]){ "qemu-img", "convert", "--image-opts", "-O", "raw", text_get(&source), c->disk.scratch, NULL },
			      &program, "the disk could not be copied from its server", e);
	text_free(&source);
	return status;
}

/* The file that the host reads, NULL: there is none, and *why not. */
static const char *image_of(const struct cell_run *c, const char **why, struct error *e)
{
	*why = "the disk keeps nothing that the host could read";
	if (c->cell->settings.backend == BACKEND_NULL)
		return NULL;
	if (c->cell->settings.backend != BACKEND_NBD)
		return c->disk.path;
	*why = e->text;
	return copy_nbd(c, e) ? NULL : c->disk.scratch;
}

/* Every part of the image against the map of the job that wrote it last. */
static int judge_images(struct cell_run *c, struct error *e)
{
	struct error problem = { 0 };
	const char *why, *image = image_of(c, &why, &problem);

	if (!image)
		return cell_run_note(c, OPINION, CELL_SKIPPED, why, e);
	if (!c->nmaps)
		return c->cell->readonly ? 0 : cell_run_note(c, OPINION, CELL_SKIPPED, "no job went over the disk as the last", e);
	for (size_t i = 0; i < c->nmaps; i++) {
		const struct opinion_request request = {
			.kickio = c->r->kickio, .image = image, .guest_path = REGRESS_NAME, .map = c->map[i].path, .verify = REGRESS_VERIFY,
			.block_size = c->cell->block_size,
		};
		char name[96];

		snprintf(name, sizeof(name), OPINION ", %s", c->map[i].where);
		if (!*c->map[i].path) {
			if (cell_run_note(c, name, c->map[i].without, c->map[i].why, e))
				return -1;
			continue;
		}
		if (opinion_image(&request, name, c->result, e))
			return -1;
	}
	return 0;
}

static int judge_log(struct cell_run *c, struct error *e)
{
	struct opinion_log_request request = {
		.log = c->disk.log, .every = c->flush_job.every, .disk_bytes = c->cell->bytes,
		.image = { .kickio = c->r->kickio, .image = c->disk.scratch, .guest_path = c->boot.disk_path[0], .map = c->flush.path,
			   .verify = REGRESS_VERIFY, .block_size = c->flush_job.block_size },
	};
	struct error why = { 0 };

	if (!*c->disk.log)
		return 0;
	if (!*c->flush.path)
		return cell_run_note(c, "flush log", *c->flush.why ? c->flush.without : CELL_SKIPPED,
				     *c->flush.why ? c->flush.why : "the job that has flushes answered was not reached", e);
	if (opinion_flush_writes(c->flush.fio, &c->flush_job, &request.writes, &why) ||
	    opinion_map_id(c->flush.path, request.image.guest_path, &request.map_id, &why))
		return cell_run_note(c, "flush log", CELL_FAIL, why.text, e);
	return opinion_log(&request, c->result, e);
}

int cell_run_opinions(struct cell_run *c, struct error *e)
{
	if (c->boot.stage != BOOT_UP)
		return 0;
	if (!*c->disk.log && !c->cell->readonly && cell_run_note(c, "flush log", CELL_SKIPPED, cell_run_no_log(c), e))
		return -1;
	return judge_images(c, e) || judge_log(c, e) ? -1 : 0;
}
