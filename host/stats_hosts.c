#include "host/stats_hosts.h"

#include <math.h>
#include <stdlib.h>

#include "host/stats_checks.h"

struct one {
	double sum;
	size_t blocks;
};

/* Which hosts are farthest apart. host[] of the k values is below count. */
static void extremes(const double *value, const unsigned *host, size_t k, struct one *one, size_t count, struct stats_hosts *out)
{
	out->low_mean = out->high_mean = NAN;
	for (size_t i = 0; i < k; i++) {
		one[host[i]].sum += value[i];
		one[host[i]].blocks++;
	}
	for (unsigned h = 0; h < count; h++) {
		double mean = one[h].sum / (double)one[h].blocks;

		if (one[h].blocks == 0)
			continue;
		if (!(out->low_mean <= mean)) {
			out->low = h;
			out->low_mean = mean;
			out->low_blocks = one[h].blocks;
		}
		if (!(out->high_mean >= mean)) {
			out->high = h;
			out->high_mean = mean;
			out->high_blocks = one[h].blocks;
		}
	}
}

int stats_hosts(const double *log_ratio, const unsigned *host, size_t n, struct stats_hosts *out)
{
	double *value = calloc(n ? n : 1, sizeof(*value));
	unsigned *group = calloc(n ? n : 1, sizeof(*group));
	struct stats_variance v = { 0 };
	struct one *one = NULL;
	size_t k = 0, count = 0;
	int status = -1;

	*out = (struct stats_hosts){ .f = NAN, .p = NAN, .df1 = NAN, .df2 = NAN };
	if (!value || !group)
		goto done;
	for (size_t i = 0; i < n; i++)
		if (isfinite(log_ratio[i])) {
			value[k] = log_ratio[i];
			group[k++] = host[i];
			count = host[i] >= count ? host[i] + 1u : count;
		}
	one = calloc(count ? count : 1, sizeof(*one));
	if (!one || (k && stats_variance(value, group, k, &v)))
		goto done;
	extremes(value, group, k, one, count, out);
	out->blocks = k;
	out->hosts = v.groups;
	if (v.groups >= 2 && k > v.groups) {
		out->df1 = (double)(v.groups - 1);
		out->df2 = (double)(k - v.groups);
		out->f = v.f;
		out->p = v.p;
	}
	status = 0;
done:
	free(one);
	free(value);
	free(group);
	return status;
}
