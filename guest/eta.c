/* The line that tells how a run goes while it goes. */
#include "guest/output.h"

#include "guest/format.h"

/* "r(4)": equal neighbours together, groups with a comma between. */
static void states(struct text *out, const char *s)
{
	for (bool first = true; *s; first = false) {
		unsigned n = 1;

		while (s[n] == s[0])
			n++;
		text_add(out, "%s%c(%u)", first ? "" : ",", *s, n);
		s += n;
	}
}

/* Per second since the line before, in brackets; nothing when nothing moved. */
static void rates(struct text *out, const uint64_t now[DDIRS], const uint64_t before[DDIRS], uint64_t us,
		  bool binary, const char *unit, const char *behind)
{
	static const char letters[DDIRS] = { 'r', 'w', 't' };
	bool any = false;

	for (int d = 0; d < DDIRS; d++) {
		uint64_t more = now[d] > before[d] ? now[d] - before[d] : 0;
		char number[FORMAT_SIZE];

		if (more == 0)
			continue;
		format_number(number, (uint64_t)((double)more * 1e6 / (double)us), FORMAT_DIGITS, binary, unit);
		text_add(out, "%s%c=%s", any ? "," : "[", letters[d], number);
		any = true;
	}
	if (any)
		text_add(out, "%s]", behind);
}

static void remaining(struct text *out, uint64_t us)
{
	unsigned long long s = (us + 500000) / 1000000;
	unsigned long long days = s / 86400, hours = s / 3600 % 24;

	if (us == UINT64_MAX) {
		text_add(out, "--");
		return;
	}
	if (days)
		text_add(out, "%02llud:", days);
	if (days || hours)
		text_add(out, "%02lluh:", hours);
	text_add(out, "%02llum:%02llus", s / 60 % 60, s % 60);
}

static bool all_in(const char *s, char state)
{
	bool any = false;

	for (; *s; s++) {
		if (*s == '_' || *s == 'X' || *s == 'K' || *s == 'E')
			continue;
		if (*s != state)
			return false;
		any = true;
	}
	return any;
}

void output_eta(struct text *out, const struct jobs *jobs, const struct progress *now, const struct progress *before)
{
	uint64_t us = now->elapsed_us > before->elapsed_us ? now->elapsed_us - before->elapsed_us : 1;
	bool ramp = all_in(now->states, '/');

	(void)jobs;
	text_add(out, "Jobs: %u (f=%u)", now->running, now->files);
	/* fio estimates nothing in the first three seconds */
	if (now->elapsed_us < 3000000 || now->running == 0)
		return;
	text_add(out, ": [");
	states(out, now->states);
	if (ramp || now->eta_us == UINT64_MAX)
		text_add(out, "][-.-%%]");
	else
		text_add(out, "][%.1f%%]",
			 100.0 * (double)now->elapsed_us / ((double)now->elapsed_us + (double)now->eta_us));
	rates(out, now->bytes, before->bytes, us, true, "B/s", "");
	rates(out, now->ios, before->ios, us, false, "", " IOPS");
	text_add(out, "[eta ");
	remaining(out, now->eta_us);
	text_add(out, "]");
}
