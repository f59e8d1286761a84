// SPDX-License-Identifier: BSD-2-Clause
/* stats.c - see stats.h. */
#include "bench/stats.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

double stats_percentile(const double sorted[], size_t count, double fraction)
{
	/* The product of a decimal fraction and a count may lie slightly above its integer. */
	double rank = ceil(fraction * (double)count - 1e-9 * (double)count);

	if (rank < 1)
		return sorted[0];
	return rank >= (double)count ? sorted[count - 1] : sorted[(size_t)rank - 1];
}

static double mean(const double samples[], size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += samples[i];
	return sum / (double)count;
}

/* A second pass keeps small deviations of large samples. */
static double deviation(const double samples[], size_t count, double average)
{
	double sum = 0;

	if (count < 2)
		return 0;
	for (size_t i = 0; i < count; i++)
		sum += (samples[i] - average) * (samples[i] - average);
	return sqrt(sum / (double)(count - 1));
}

void stats_compute(double samples[], size_t count, struct stats *stats)
{
	qsort(samples, count, sizeof(samples[0]), compare);
	stats->min = samples[0];
	stats->max = samples[count - 1];
	stats->typical = count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
	stats->average = mean(samples, count);
	stats->stdev = deviation(samples, count, stats->average);
	stats->p99 = stats_percentile(samples, count, 0.99);
	stats->p999 = stats_percentile(samples, count, 0.999);
}
