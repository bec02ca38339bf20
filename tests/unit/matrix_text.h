/* Matrices from texts, in a scratch folder. Include after cmocka. */
#ifndef KB_TESTS_MATRIX_TEXT_H
#define KB_TESTS_MATRIX_TEXT_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/matrix.h"
#include "tests/unit/scratch.h"

#define FILE_NAME "matrix-test.ini"

static char source_tree[4096];

static inline void write_file(const char *text)
{
	FILE *f = fopen(FILE_NAME, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static inline struct matrix *read_only(const char *text, const char *const *only, size_t nonly)
{
	const struct matrix_request request = { .file = FILE_NAME, .which = "quick", .seed = 7, .only = only, .nonly = nonly };
	struct error e = { 0 };
	struct matrix *m;

	write_file(text);
	if (matrix_read(&request, &m, &e))
		fail_msg("%s", e.text);
	unlink(FILE_NAME);
	return m;
}

static inline struct matrix *read_text(const char *text)
{
	return read_only(text, NULL, 0);
}

static inline void assert_refused(const struct matrix_request *request, const char *message)
{
	struct matrix *m = (struct matrix *)1;
	struct error e = { 0 };

	assert_int_equal(matrix_read(request, &m, &e), -1);
	assert_null(m);
	if (e.status != STATUS_USAGE || !strstr(e.text, message))
		fail_msg("expected %s, got %d: %s", message, e.status, e.text);
}

static inline int matrix_folder_enter(void **state)
{
	if (!getcwd(source_tree, sizeof(source_tree)) || scratch_open(state))
		return -1;
	return chdir(((struct scratch *)*state)->folder);
}

static inline int matrix_folder_leave(void **state)
{
	return chdir(source_tree) || scratch_close(state);
}

#endif
