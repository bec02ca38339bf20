#include "host/cells_probe.h"

#include "images/probe/job.h"

int cells_probe_read(const struct scenario *s, const struct workload *w, struct cell *c, struct error *e)
{
	struct error inner = { 0 };
	struct job job;

	if (job_parse(c->argv, c->argc, "", &job, &inner))
		return error_at(e, STATUS_USAGE, s->file, w->line, "[workload %s]: %s", w->name, inner.text);
	for (size_t v = 0; v < s->nvariants; v++)
		if (job.op != BLK_FLUSH && job.bytes > s->variant[v].settings.size)
			return error_at(e, STATUS_USAGE, s->file, w->line, "[workload %s]: one request is larger than the test disk of "
					"variant %s", w->name, s->variant[v].name);
	c->writes = job.op == BLK_WRITE && job.mode != JOB_HEALTH;
	c->own_seed = true; /* the probe knows no randseed: its places are the same in every boot */
	c->ios = job.count;
	return 0;
}
