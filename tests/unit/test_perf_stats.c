// SPDX-License-Identifier: BSD-2-Clause
/* test_perf_stats.c - unit tests of perf/bench/stats.c and perf/bench/memory.h's bytes */
#include "bench/stats.c"

#include <CUnit/Basic.h>

#include "bench/memory.c"
#include "suites.h"

#define NEAR 1e-9

static void stats__one_sample(void)
{
	double samples[] = { 2.5 };
	struct stats s;

	stats_compute(samples, 1, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.min, 2.5, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.max, 2.5, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.typical, 2.5, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.average, 2.5, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.stdev, 0, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.p99, 2.5, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.p999, 2.5, NEAR);
}

static void stats__even_count_has_its_median_in_the_middle(void)
{
	double samples[] = { 8, 1, 4, 2 };
	struct stats s;

	stats_compute(samples, 4, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.typical, 3, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.min, 1, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.max, 8, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.average, 3.75, NEAR);
}

static void stats__odd_count(void)
{
	double samples[] = { 9, 1, 5 };
	struct stats s;

	stats_compute(samples, 3, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.typical, 5, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.stdev, 4, NEAR);
}

/* 2 4 4 4 5 5 7 9: mean 5, sum of squares 32. */
static void stats__deviation_is_that_of_a_sample(void)
{
	double samples[] = { 9, 4, 5, 2, 4, 7, 4, 5 };
	struct stats s;

	stats_compute(samples, 8, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.average, 5, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.stdev, sqrt(32.0 / 7), NEAR);
}

static void stats__small_spread_of_large_samples(void)
{
	double samples[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3 };
	struct stats s;

	stats_compute(samples, 3, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.stdev, 1, 1e-6);
}

static void stats__the_slowest_sample_counts(void)
{
	double samples[1000];
	struct stats s;

	for (int i = 0; i < 1000; i++)
		samples[i] = i == 17 ? 5000 : 1;
	stats_compute(samples, 1000, &s);
	CU_ASSERT_DOUBLE_EQUAL(s.max, 5000, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.average, 5.999, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.p999, 1, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(s.typical, 1, NEAR);
}

static void stats__percentiles_are_nearest_rank(void)
{
	double samples[1000];

	for (int i = 0; i < 1000; i++)
		samples[i] = i + 1;
	CU_ASSERT_DOUBLE_EQUAL(stats_percentile(samples, 1000, 0.99), 990, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(stats_percentile(samples, 1000, 0.999), 999, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(stats_percentile(samples, 100, 0.99), 99, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(stats_percentile(samples, 100, 0.999), 100, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(stats_percentile(samples, 101, 0.99), 100, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(stats_percentile(samples, 2, 0.99), 2, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(stats_percentile(samples, 1000, 0), 1, NEAR);
}

static void data__what_was_filled_is_found(void)
{
	uint8_t data[700];

	data_fill(data, sizeof(data), 3, 9, true);
	CU_ASSERT_EQUAL(data[699], 9);
	CU_ASSERT_EQUAL(data_check(data, sizeof(data), 3, 9, true), sizeof(data));
	CU_ASSERT_EQUAL(data_check(data, 0, 3, 9, true), 0);
	data_fill(data, sizeof(data), 0, 255, false);
	CU_ASSERT_EQUAL(data_check(data, sizeof(data), 0, 255, false), sizeof(data));
}

static void data__every_wrong_byte_is_found(void)
{
	uint8_t data[700];

	data_fill(data, sizeof(data), 1, 42, true);
	for (size_t i = 0; i < sizeof(data); i++) {
		data[i] ^= 0x10;
		CU_ASSERT_EQUAL(data_check(data, sizeof(data), 1, 42, true), i);
		data[i] ^= 0x10;
	}
}

static void data__other_turns_and_ranks_differ_in_every_byte(void)
{
	for (size_t i = 0; i < 700; i++) {
		CU_ASSERT_NOT_EQUAL(data_byte(1, 42, i), data_byte(1, 43, i));
		CU_ASSERT_NOT_EQUAL(data_byte(1, 42, i), data_byte(2, 42, i));
	}
}

void suite_perf_stats(void)
{
	CU_pSuite suite = CU_add_suite("perf_stats", NULL, NULL);

	CU_add_test(suite, "one_sample", stats__one_sample);
	CU_add_test(suite, "even_count_has_its_median_in_the_middle", stats__even_count_has_its_median_in_the_middle);
	CU_add_test(suite, "odd_count", stats__odd_count);
	CU_add_test(suite, "deviation_is_that_of_a_sample", stats__deviation_is_that_of_a_sample);
	CU_add_test(suite, "small_spread_of_large_samples", stats__small_spread_of_large_samples);
	CU_add_test(suite, "the_slowest_sample_counts", stats__the_slowest_sample_counts);
	CU_add_test(suite, "percentiles_are_nearest_rank", stats__percentiles_are_nearest_rank);
	CU_add_test(suite, "what_was_filled_is_found", data__what_was_filled_is_found);
	CU_add_test(suite, "every_wrong_byte_is_found", data__every_wrong_byte_is_found);
	CU_add_test(suite, "other_turns_and_ranks_differ_in_every_byte", data__other_turns_and_ranks_differ_in_every_byte);
}
