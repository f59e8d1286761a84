// SPDX-License-Identifier: BSD-2-Clause
/* stats.h - statistics of a list of samples */
#ifndef ORIEL_PERF_STATS_H
#define ORIEL_PERF_STATS_H

#include <stddef.h>

struct stats {
	double min, max, typical, average, stdev, p99, p999;
};

/*
 * Sorts the samples (at least one) and fills *stats from all: max is the largest, typical the
 * median (even count: mean of the middle two), stdev the sample standard deviation (0 for one
 * sample), p99 and p999 nearest-rank percentiles.
 */
void stats_compute(double samples[], size_t count, struct stats *stats);

/* Returns the smallest sample that at least `fraction` of all sorted samples do not exceed. */
double stats_percentile(const double sorted[], size_t count, double fraction);

#endif
