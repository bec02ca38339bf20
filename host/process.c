#include "host/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t process_started(pid_t pid)
{
	char path[64], line[1024], *p;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	p = strrchr(line, ')'); /* the command's name may hold anything */
	if (p && (p[1] != ' ' || strchr("ZXx", p[2])))
		return 0;
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

bool process_lives(pid_t pid, uint64_t started)
{
	uint64_t now = process_started(pid);

	return now != 0 && now == started;
}
