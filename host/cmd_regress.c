#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/command.h"
#include "host/matrix_print.h"
#include "host/regress.h"
#include "host/regress_file.h"

/* Everything that the command holds. */
struct regressing {
	struct regress_options options;
	struct session session;
	struct matrix *matrix;
	struct regress r;
	json_t *kept; /* run.json of a folder that goes on */
	struct regress_file_line line;
	char file[4096];
};

/* What is asked for: on the line, or by the folder that goes on. */
static int read_matrix(struct regressing *g, struct error *e)
{
	struct regress_options *o = &g->options;
	struct matrix_request q = { .file = g->file, .set = o->set, .nset = o->nset, .which = o->which ? o->which : REGRESS_MATRIX,
				    .seed = o->seed, .only = o->only, .nonly = o->nonly };

	if (o->resume) {
		if (store_open(o->resume, &g->r.store, e) || store_read_json(g->r.store, "run.json", REGRESS_SCHEMA, &g->kept, e) ||
		    regress_file_line(g->kept, &g->line, e))
			return -1;
		snprintf(g->file, sizeof(g->file), "%s/scenario.ini", o->resume);
		q = (struct matrix_request){ .file = g->file, .set = g->line.set, .nset = g->line.nset, .which = g->line.which,
					     .seed = g->line.seed, .only = g->line.only, .nonly = g->line.nonly };
	} else if (session_scenario(&g->session.dirs, o->scenario ? o->scenario : REGRESS_SCENARIO, g->file, sizeof(g->file), e)) {
		return -1;
	}
	g->r.line = (struct regress_line){ .scenario = o->resume ? g->file : o->scenario, .which = q.which, .set = q.set, .nset = q.nset,
					   .connect = o->connect };
	g->r.only = q.only;
	g->r.nonly = q.nonly;
	return matrix_read(&q, &g->matrix, e);
}

static void print_pairs(const struct matrix *m, const char *title, const struct covering_pair *pair, size_t count, bool reasons)
{
	struct text words = { 0 };

	if (count)
		printf("%s\n", title);
	for (size_t i = 0; i < count; i++) {
		const char *why = reasons ? matrix_forbids(m, pair[i].a, pair[i].value_a, pair[i].b, pair[i].value_b) : NULL;

		text_reset(&words);
		matrix_pair_text(m, &pair[i], &words);
		printf("  %s%s%s\n", text_get(&words), why ? ": " : "", why ? why : "");
	}
	text_free(&words);
}

static void print_list(const struct matrix *m)
{
	const struct covering *c = &m->covering;

	printf("%s, matrix %s, seed %llu: %zu cells; %zu pairs of the values of %zu options are possible, %zu are not\n",
	       m->scenario->name ? m->scenario->name : REGRESS_SCENARIO, m->name, (unsigned long long)m->seed, m->ncells, c->npairs,
	       m->noptions, c->nimpossible);
	for (size_t i = 0; i < m->ncells; i++)
		printf("  %3u  %s\n", m->cell[i].number, m->cell[i].name);
	print_pairs(m, "Impossible:", c->impossible, c->nimpossible, true);
	print_pairs(m, "Possible, and in no cell, because other options would have to be what they cannot be beside it:", c->uncovered,
		    c->nuncovered, false);
}

static void announce(const struct regress *r)
{
	const struct matrix *m = r->matrix;
	const struct accel_outcome *a = &r->x.prepared[0].accel;
	size_t left_out = m->covering.nimpossible + m->covering.nuncovered;

	fprintf(stderr, "%s: %s\n", accel_name(a->used), a->why);
	fprintf(stderr, "matrix %s: ", m->name);
	if (r->nonly)
		fprintf(stderr, "%zu cell%s of --only\n", m->ncells, m->ncells == 1 ? "" : "s");
	else
		fprintf(stderr, "%zu cells with all %zu pairs that the values of %zu options can make, seed %llu\n", m->ncells,
			m->covering.npairs, m->noptions, (unsigned long long)m->seed);
	if (!r->nonly && left_out)
		fprintf(stderr, "%zu more pairs cannot be: kickbench regress --list names them\n", left_out);
	fprintf(stderr, "results: %s\n", store_path(r->store));
}

/* Print and keep the reports; *status: what the folder comes to. */
static int report(const struct regressing *g, int *status, struct error *e)
{
	struct matrix_folder f;

	if (matrix_print_keep(g->r.store, stdout, &f, e))
		return -1;
	*status = matrix_status(&f, g->options.bisect);
	matrix_folder_free(&f);
	if (*status != STATUS_OK && *status != STATUS_FAILED)
		error_set(e, STATUS_INCOMPLETE, "no cell passed and none failed: nothing was found out");
	return 0;
}

static void hint(const struct regress *r)
{
	const char *path = store_path(r->store);

	fprintf(stderr, "what was finished is kept: kickbench report %s shows it, kickbench regress --resume %s goes on\n", path, path);
}

/* 0: *status is the exit status. */
static int run_cells(struct regressing *g, int *status, struct error *e)
{
	const struct regress_options *o = &g->options;
	struct regress *r = &g->r;

	/* Under the lock: else somebody who came second could discard the first one's folder. */
	if (session_open(&g->session, g->matrix->scenario->guest[0].driver, o->connect,
			 o->resume ? o->resume : o->output ? o->output : REGRESS_SCENARIO, e))
		return -1;
	if (!o->resume && store_create(o->output, "results", g->matrix->scenario->name ? g->matrix->scenario->name : REGRESS_SCENARIO,
				       STORE_MATRIX, &r->store, e))
		return -1;
	r->matrix = g->matrix;
	r->session = &g->session;
	r->interrupted = &command_signal;
	if (regress_prepare(r, o->resume != NULL, command_say, e)) {
		if (!o->resume && !r->x.run)
			store_discard(r->store);
		return -1;
	}
	announce(r);
	if (regress_run(r, e)) {
		hint(r);
		return -1;
	}
	return report(g, status, e);
}

static int regress(int argc, char **argv, struct error *e)
{
	struct regressing *g = calloc(1, sizeof(*g));
	int status = -1;

	if (!g)
		return error_set(e, STATUS_HOST, "out of memory"), e->status;
	g->session.lock = -1;
	if (regress_options_parse(argc, argv, &g->options, e) || dirs_find(&g->session.dirs, e) || read_matrix(g, e))
		goto out;
	if (g->options.list) {
		print_list(g->matrix);
		status = STATUS_OK;
	} else if (run_cells(g, &status, e)) {
		status = -1;
	}
out:
	if (status < 0)
		status = command_bisect(g->options.bisect, e->status);
	regress_free(&g->r);
	session_close(&g->session);
	matrix_free(g->matrix);
	json_decref(g->kept);
	regress_file_line_free(&g->line);
	regress_options_free(&g->options);
	free(g);
	return status;
}

const struct command cmd_regress = {
	"regress", "regress [--quick | --full | --matrix NAME] [--guest G] [--only CELL]... [--seed N] [--list] [-o DIR]\n"
	"                         [--set SECTION.KEY=VALUE]... [--connect URI] [--bisect] [SCENARIO]\n"
	"       kickbench regress --resume DIR [--bisect] [--connect URI]",
	"try a driver and its device under every pair of their options: are the data right, does nothing hang, do errors arrive", regress,
};
