/* fio's job files: [sections], option=value or bare options, ; and # comments, ${VARIABLES}. */
#ifndef KB_JOBFILE_H
#define KB_JOBFILE_H

#include "guest/options_build.h"

/* Read a job file ("-": stdin) into b. Messages begin with FILE:LINE. */
int jobfile_parse(struct build *b, const char *path, struct error *e);

#endif
