/* The host as it was when the run began, and what about it spoils measurements. */
#ifndef KB_ENVIRONMENT_H
#define KB_ENVIRONMENT_H

#include <jansson.h>
#include <stdint.h>

#include "guest/error.h"

/*
 * {"host":name,"cpu","microcode","cpus":N,"smt":"on"|"off"|null,"governor":…|null,"kernel","machine","os","load1":N,
 *  "memory_bytes":N,"available_bytes":N,"swap_used_bytes":N,"warnings":["…"]}. root: where /proc and /sys are
 * ("" for this host; a test gives a folder). needed_bytes: memory that the guests will take.
 * NULL when memory ran out.
 */
json_t *environment_take(const char *root, uint64_t needed_bytes);

#endif
