/*
 * One experiment on several hosts: does the effect depend on the host? A pure function; it warns and changes no verdict.
 */
#ifndef KB_STATS_HOSTS_H
#define KB_STATS_HOSTS_H

#include <stddef.h>

struct stats_hosts {
	size_t blocks, hosts;   /* of those with a value */
	double df1, df2;
	double f, p;            /* NAN: no answer */
	unsigned low, high;     /* the hosts with the smallest and the largest effect */
	double low_mean, high_mean; /* their mean log ratios */
	size_t low_blocks, high_blocks;
};

/*
 * Host × variant interaction of a randomised block design whose blocks are nested in hosts. With two variants the block
 * log ratio takes out the block and the host's main effect; what is left between hosts is the interaction: the one-way F test
 * of log_ratio[i] (NAN: none) over host[i] with hosts - 1 and blocks - hosts degrees of freedom (Fisher 1925; Montgomery,
 * Design and Analysis of Experiments, chapter 3). Takes the spread of a block to be the same on all hosts. NAN with one
 * host, without a host of two blocks, or without any spread. Returns -1 when memory runs out.
 */
int stats_hosts(const double *log_ratio, const unsigned *host, size_t n, struct stats_hosts *out);

#endif
