#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/command.h"
#include "host/dirs.h"
#include "host/file_write.h"
#include "host/history.h"
#include "host/history_print.h"
#include "host/parse.h"

static const char *const formats[] = { "text", "csv", "svg", "html", NULL };
static const char *const labels[] = { [HISTORY_DATE] = "date", [HISTORY_EMULATOR] = "emulator", [HISTORY_KERNEL] = "kernel", NULL };

struct options {
	const char *metric, *by, *format, *file;
	int format_index;
	struct history_options history;
	struct history_view view;
};

static int one_of(const char *option, const char *word, const char *const *list, const char *names, int *out, struct error *e)
{
	*out = word ? parse_word(word, list) : 0;
	return *out < 0 ? error_set(e, STATUS_USAGE, "%s %s: expected %s", option, word, names) : 0;
}

static int metric_of(const char *name, enum metric *out, struct error *e)
{
	struct text names = { 0 };

	*out = name ? metric_find(name) : METRICS;
	if (!name || *out != METRICS)
		return 0;
	for (int m = 0; m < METRICS; m++)
		text_add(&names, "%s%s", m ? ", " : "", metric_info((enum metric)m)->name);
	error_set(e, STATUS_USAGE, "--metric %s: expected one of %s", name, text_get(&names));
	text_free(&names);
	return -1;
}

static int parse(int argc, char **argv, struct options *o, struct error *e)
{
	static const struct option longs[] = {
		{ "metric", required_argument, NULL, 'm' }, { "by", required_argument, NULL, 'b' },
		{ "variant", required_argument, NULL, 'v' }, { "cell", required_argument, NULL, 'c' },
		{ "format", required_argument, NULL, 'F' }, { "output", required_argument, NULL, 'o' }, { NULL, 0, NULL, 0 },
	};
	const char **const value[] = { ['m'] = &o->metric, ['b'] = &o->by, ['v'] = &o->history.variant, ['c'] = &o->history.cell,
				       ['F'] = &o->format, ['o'] = &o->file };
	int c = 0, more, by;

	while ((more = command_option("history", argc, argv, longs, &c, e)) > 0)
		*value[c] = optarg;
	if (more)
		return -1;
	if (argc - optind != 1)
		return error_set(e, STATUS_USAGE, "history takes one folder, which holds run folders: here are %d", argc - optind);
	o->view.folder = argv[optind];
	if (metric_of(o->metric, &o->history.metric, e) || one_of("--by", o->by, labels, "date, emulator or kernel", &by, e) ||
	    one_of("--format", o->format, formats, "text, csv, svg or html", &o->format_index, e))
		return -1;
	o->view.by = (enum history_by)by;
	return 0;
}

/* ---- run folders ---- */

static void skip(const struct error *why)
{
	struct text line = { 0 };

	text_add(&line, "left out: %s", why->text);
	command_say(text_get(&line));
	text_free(&line);
}

static int take(struct history *h, const char *path, struct error *e)
{
	struct error why = { 0 };
	struct dataset *d = NULL;
	int rc = 0;

	if (dataset_load(path, &d, &why) || history_add(h, d, &why)) {
		if (why.status == STATUS_HOST)
			rc = error_set(e, STATUS_HOST, "%s", why.text);
		else
			skip(&why);
	}
	dataset_free(d);
	return rc;
}

static bool is_run(const char *path)
{
	char *file = dirs_join(path, "run.json");
	bool found = file && access(file, F_OK) == 0;

	free(file);
	return found;
}

static int take_all(struct history *h, const char *folder, struct dirent **entry, int n, struct error *e)
{
	for (int i = 0; i < n; i++) {
		char *path;
		int rc = 0;

		if (entry[i]->d_name[0] == '.')
			continue;
		path = dirs_join(folder, entry[i]->d_name);
		if (!path)
			return error_set(e, STATUS_HOST, "out of memory");
		if (is_run(path))
			rc = take(h, path, e);
		free(path);
		if (rc)
			return -1;
	}
	return 0;
}

static int load(struct history *h, const char *folder, struct error *e)
{
	struct dirent **entry;
	int n = scandir(folder, &entry, NULL, alphasort), rc;

	if (n < 0)
		return error_errno(e, STATUS_USAGE, "%s", folder);
	rc = take_all(h, folder, entry, n, e);
	for (int i = 0; i < n; i++)
		free(entry[i]);
	free(entry);
	if (rc == 0 && h->nruns == 0)
		return error_set(e, STATUS_USAGE, is_run(folder) ?
				 "%s is a run folder itself: history takes the folder that holds several (kickbench report %s)" :
				 "%s holds no run folder that could be read (a folder with run.json, directly in it)", folder, folder);
	if (rc == 0 && h->nseries == 0)
		return error_set(e, STATUS_USAGE, "no cell and variant of the %zu runs in %s is as asked for", h->nruns, folder);
	return rc;
}

/* ---- output ---- */

static int print(const struct history *h, const struct options *o, struct error *e)
{
	struct text out = { 0 };
	int rc = 0;

	switch (o->format_index) {
	case 0:
		history_text(h, &o->view, &out);
		break;
	case 1:
		history_csv(h, &o->view, &out);
		break;
	case 2:
		rc = history_svg(h, &o->view, &out, e);
		break;
	default:
		rc = history_html(h, &o->view, &out, e);
	}
	if (rc == 0 && out.failed)
		rc = error_set(e, STATUS_HOST, "out of memory");
	if (rc == 0 && o->file && strcmp(o->file, "-") != 0)
		rc = file_write(o->file, text_get(&out), out.length, e);
	else if (rc == 0 && (fwrite(text_get(&out), 1, out.length, stdout) != out.length || fflush(stdout)))
		rc = error_errno(e, STATUS_HOST, "the history could not be written");
	text_free(&out);
	return rc;
}

static int run(int argc, char **argv, struct error *e)
{
	struct options o = { 0 };
	struct history *h = NULL;
	int rc = parse(argc, argv, &o, e);

	if (rc == 0) {
		h = history_new(&o.history);
		rc = h ? 0 : error_set(e, STATUS_HOST, "out of memory");
	}
	if (rc == 0 && load(h, o.view.folder, e) == 0 && history_finish(h, e) == 0)
		rc = print(h, &o, e);
	history_free(h);
	return e->status;
}

const struct command cmd_history = {
	"history", "history DIR [--metric NAME] [--by date|emulator|kernel] [--variant NAME] [--cell PATTERN]\n"
	"       [--format text|csv|svg|html] [-o FILE]",
	"metrics over the run folders in DIR, in the order of time, with change points marked", run,
};
