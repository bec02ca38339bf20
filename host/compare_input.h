/* What the compare command is given, loaded: run folders, and files of fio's output. */
#ifndef KB_COMPARE_INPUT_H
#define KB_COMPARE_INPUT_H

#include <stdbool.h>

#include "host/dataset.h"

struct compare_input {
	char *path;    /* of the folder or file */
	char *variant; /* NULL: none was named */
	struct dataset *d;
};

/*
 * Read "FOLDER", "FOLDER:VARIANT", "FILE" or "FILE:NAME". A file of fio's output is imported into a folder that is gone when this
 * returns; its variant is NAME, or the file's name without folder and suffix.
 */
int compare_input_load(const char *argument, struct compare_input *in, struct error *e);
void compare_input_free(struct compare_input *in);

/* Do both name one folder? */
bool compare_input_same(const struct compare_input *a, const struct compare_input *b);

#endif
