#include "host/matrix_print.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int text(const struct matrix_folder *f, struct text *out, struct error *e)
{
	return matrix_report_text(f, false, out, e);
}

/* Those of report_format_find() that a matrix has. */
static const struct form {
	const char *name, *file;
	int (*write)(const struct matrix_folder *f, struct text *out, struct error *e);
} forms[] = {
	{ "text", "report.txt", text },
	{ "html", "report.html", matrix_report_html },
	{ "json", "report.json", matrix_report_json },
	{ "junit", "report.xml", matrix_report_junit },
};

#define NFORMS (sizeof(forms) / sizeof(forms[0]))

static const struct form *form_of(const struct report_request *r, struct error *e)
{
	struct text names = { 0 };

	if (r->options.layout != LAYOUT_CELLS) {
		error_set(e, STATUS_USAGE, "a regression matrix has one layout, that of its cells");
		return NULL;
	}
	for (size_t i = 0; i < NFORMS; i++) {
		if (!r->format || strcmp(forms[i].name, r->format->name) == 0) {
			text_free(&names);
			return &forms[i];
		}
		text_add(&names, "%s%s", i ? ", " : "", forms[i].name);
	}
	error_set(e, STATUS_USAGE, "a regression matrix has no report format %s: it is one of %s", r->format->name, text_get(&names));
	text_free(&names);
	return NULL;
}

static bool coloured(FILE *out)
{
	return isatty(fileno(out)) && !getenv("NO_COLOR");
}

static int print_text(const struct matrix_folder *f, FILE *out, struct error *e)
{
	struct text t = { 0 };
	int rc = matrix_report_text(f, coloured(out), &t, e);

	if (rc == 0)
		fputs(text_get(&t), out);
	text_free(&t);
	return rc;
}

static int keep(struct store *store, const struct matrix_folder *f, struct error *e)
{
	for (size_t i = 0; i < NFORMS; i++) {
		struct text t = { 0 };
		int rc = forms[i].write(f, &t, e) || store_write(store, forms[i].file, text_get(&t), t.length, e) ? -1 : 0;

		text_free(&t);
		if (rc)
			return -1;
	}
	return 0;
}

int matrix_print_keep(struct store *store, FILE *out, struct matrix_folder *f, struct error *e)
{
	struct matrix_folder read;

	if (matrix_folder_read(store_path(store), &read, e))
		return -1;
	if ((out && print_text(&read, out, e)) || keep(store, &read, e)) {
		matrix_folder_free(&read);
		return -1;
	}
	if (f)
		*f = read;
	else
		matrix_folder_free(&read);
	return 0;
}

static int incomplete(const struct matrix_folder *f, struct error *e)
{
	if (f->missing)
		error_set(e, STATUS_INCOMPLETE, "%s: %u of %zu cells have not been run", f->path, f->missing, json_array_size(f->cells));
	else
		error_set(e, STATUS_INCOMPLETE, "%s: not one cell could be tried, all were skipped", f->path);
	return STATUS_INCOMPLETE;
}

static int print_one(const char *path, const struct report_request *request, struct matrix_folder *f, struct error *e)
{
	const struct form *form = form_of(request, e);
	struct text t = { 0 };
	int rc;

	if (!form || matrix_folder_read(path, f, e))
		return -1;
	rc = form->write(f, &t, e) ? -1 : report_put(&t, request->file, e);
	text_free(&t);
	if (rc)
		matrix_folder_free(f);
	return rc;
}

static int refresh(const char *path, struct matrix_folder *f, struct error *e)
{
	struct store *store;
	int rc;

	if (store_open(path, &store, e))
		return -1;
	rc = matrix_print_keep(store, stdout, f, e);
	store_close(store);
	return rc;
}

int matrix_print(const char *path, const struct report_request *request, bool plain, struct error *e)
{
	struct matrix_folder f;
	int status;

	if (plain ? refresh(path, &f, e) : print_one(path, request, &f, e))
		return e->status;
	status = matrix_status(&f, false);
	if (status == STATUS_INCOMPLETE)
		incomplete(&f, e);
	matrix_folder_free(&f);
	return status;
}

int matrix_print_compare(const char *before, const char *after, const struct report_request *request, struct error *e)
{
	struct matrix_folder a = { 0 }, b = { 0 };
	struct text t = { 0 };
	unsigned worse = 0;
	int status = -1;

	if (request->format && strcmp(request->format->name, forms[0].name) != 0) {
		error_set(e, STATUS_USAGE, "two regression matrices are compared as text: leave out --format %s", request->format->name);
		goto out;
	}
	if (matrix_folder_read(before, &a, e) || matrix_folder_read(after, &b, e) || matrix_compare_text(&a, &b, &t, &worse, e) ||
	    report_put(&t, request->file, e))
		goto out;
	status = worse ? STATUS_FAILED : b.missing || matrix_status(&b, false) == STATUS_INCOMPLETE ? incomplete(&b, e) : STATUS_OK;
out:
	matrix_folder_free(&a);
	matrix_folder_free(&b);
	text_free(&t);
	return status < 0 ? e->status : status;
}
