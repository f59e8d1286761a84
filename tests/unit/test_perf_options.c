// SPDX-License-Identifier: BSD-2-Clause
/* test_perf_options.c - unit tests of perf/bench/options.c. What it tells on stderr is thrown away. */
#include "bench/options.c"

#include <CUnit/Basic.h>
#include <fcntl.h>
#include <unistd.h>

#include "suites.h"

#define ARGS_MAX 32

static const struct perf_refusal refusals[] = { { "-Q", "it decides itself" }, { NULL, NULL } };
static const struct perf_backend by = { .name = "test", .refusals = refusals };
static const struct tool latency = {
	.name = "lat",
	.what = "",
	.sync = SYNC_FENCE,
	.size_bytes = 8,
	.iterations = 1000,
	.refuses = "-t --shape",
};

static const struct tool with_empty = { .name = "e", .what = "", .iterations = 1, .refuses = "", .empty = true };

static struct perf_options parsed;

/* Parse words separated by spaces. */
static int parse_with(const struct tool *which, const char *line)
{
	static char text[256]; /* names are kept as pointers */
	char *args[ARGS_MAX] = { (char *)(uintptr_t) "test_lat" }, *rest = text;
	int count = 1, rc, old = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);

	snprintf(text, sizeof(text), "%s", line);
	while (count < ARGS_MAX - 1 && (args[count] = strsep(&rest, " ")))
		count += *args[count] != '\0';
	args[count] = NULL;
	dup2(null, STDERR_FILENO);
	rc = perf_options_parse(&parsed, which, &by, count, args);
	dup2(old, STDERR_FILENO);
	close(old);
	close(null);
	return rc;
}

static int parse(const char *line)
{
	return parse_with(&latency, line);
}

static void options__defaults_are_the_tools(void)
{
	CU_ASSERT_EQUAL(parse(""), 0);
	CU_ASSERT_EQUAL(parsed.size_count, 1);
	CU_ASSERT_EQUAL(parsed.sizes[0], 8);
	CU_ASSERT_EQUAL(parsed.iterations, 1000);
	CU_ASSERT_EQUAL(parsed.sync, SYNC_FENCE);
	CU_ASSERT_EQUAL(parsed.window, WINDOW_ALLOCATE);
	CU_ASSERT_EQUAL(parsed.memory, MEMORY_HEAP);
	CU_ASSERT_EQUAL(parsed.neighbours, 1);
	CU_ASSERT_EQUAL(parsed.signal_every, -1);
	CU_ASSERT_PTR_NULL(parsed.json_file);
	CU_ASSERT_FALSE(parsed.check);
}

static void options__letters(void)
{
	CU_ASSERT_EQUAL(parse("-s 4096 -n 7 -l 4 -I 64 -q 3 -d rxe0 -p 20000 -H -F -c -w create -S pscw -m huge"), 0);
	CU_ASSERT_EQUAL(parsed.sizes[0], 4096);
	CU_ASSERT_EQUAL(parsed.iterations, 7);
	CU_ASSERT_EQUAL(parsed.post_list, 4);
	CU_ASSERT_EQUAL(parsed.inline_bytes, 64);
	CU_ASSERT_EQUAL(parsed.neighbours, 3);
	CU_ASSERT_STRING_EQUAL(parsed.device, "rxe0");
	CU_ASSERT_EQUAL(parsed.port, 20000);
	CU_ASSERT_TRUE(parsed.histogram && !parsed.unsorted && parsed.no_clock_warning && parsed.check);
	CU_ASSERT_EQUAL(parsed.window, WINDOW_CREATE);
	CU_ASSERT_EQUAL(parsed.sync, SYNC_PSCW);
	CU_ASSERT_EQUAL(parsed.memory, MEMORY_HUGE);
	CU_ASSERT_EQUAL(parse("-U"), 0);
	CU_ASSERT_TRUE(parsed.histogram && parsed.unsorted);
}

static void options__long_names(void)
{
	CU_ASSERT_EQUAL(parse("--size=16 --iters 9 --report_gbits --align 3 --post early --out_json"), 0);
	CU_ASSERT_EQUAL(parsed.sizes[0], 16);
	CU_ASSERT_EQUAL(parsed.iterations, 9);
	CU_ASSERT_TRUE(parsed.gbits);
	CU_ASSERT_EQUAL(parsed.align_bytes, 3);
	CU_ASSERT_FALSE(parsed.post_late);
	CU_ASSERT_STRING_EQUAL(parsed.json_file, "perf_out.json");
	CU_ASSERT_FALSE(parsed.outside);
	CU_ASSERT_EQUAL(parse("--target outside"), 0);
	CU_ASSERT_TRUE(parsed.outside);
	CU_ASSERT_EQUAL(parse("--target inside"), 2);
	CU_ASSERT_EQUAL(parse("--out_json_file=x --out_json"), 0);
	CU_ASSERT_STRING_EQUAL(parsed.json_file, "x");
}

static void options__sizes(void)
{
	CU_ASSERT_EQUAL(parse("--sizes 8,4K,1M"), 0);
	CU_ASSERT_EQUAL(parsed.size_count, 3);
	CU_ASSERT_EQUAL(parsed.sizes[1], 4096);
	CU_ASSERT_EQUAL(parsed.sizes[2], 1048576);
	CU_ASSERT_EQUAL(perf_options_largest(&parsed), 1048576);
	CU_ASSERT_EQUAL(parse("-a"), 0);
	CU_ASSERT_EQUAL(parsed.size_count, 23);
	CU_ASSERT_EQUAL(parsed.sizes[0], 2);
	CU_ASSERT_EQUAL(parsed.sizes[22], 8u << 20);
}

static void options__wrong_values_are_told(void)
{
	const char *wrong_ones[] = {
		"-s x",       "-s -1",      "-s 8,16",      "-s 8x",  "-s 2G",    "-s 17179869184", "--sizes 8,,9",
		"--sizes 8,", "-n 0",       "-n x",         "-n 1e3", "-D x",     "-D -1",          "-S push",
		"-w shared",  "-m stack",   "--align 4096", "-q 0",   "-p 70000", "--post soon",    "-x",
		"word",       "--nonsense", "-I -1",        "-s",     "-f 1",
	};

	for (size_t i = 0; i < sizeof(wrong_ones) / sizeof(wrong_ones[0]); i++)
		CU_ASSERT_EQUAL(parse(wrong_ones[i]), 2);
}

static void options__no_meaning_is_refused(void)
{
	CU_ASSERT_EQUAL(parse("-t 4"), 2);
	CU_ASSERT_EQUAL(parse("--tx-depth 4"), 2);
	CU_ASSERT_EQUAL(parse("--shape osu"), 2);
	CU_ASSERT_EQUAL(parse("-Q 4"), 2);
	CU_ASSERT_EQUAL(parse("--cq-mod=4"), 2);
	CU_ASSERT_EQUAL(parse("-s 0"), 2);
	CU_ASSERT_EQUAL(parse_with(&with_empty, "-s 0 -t 4"), 0);
	CU_ASSERT_EQUAL(parsed.depth, 4);
}

static void options__duration_and_margin(void)
{
	CU_ASSERT_EQUAL(parse("-D 10"), 0);
	CU_ASSERT_DOUBLE_EQUAL(parsed.margin_s, 2, 1e-9);
	CU_ASSERT_EQUAL(parse("-D 1"), 0);
	CU_ASSERT_DOUBLE_EQUAL(parsed.margin_s, 0.25, 1e-9);
	CU_ASSERT_EQUAL(parse("-D 3 -f 1"), 0);
	CU_ASSERT_DOUBLE_EQUAL(parsed.margin_s, 1, 1e-9);
	CU_ASSERT_EQUAL(parse("-D 2 -f 1"), 2);
}

static void options__words_in_lists(void)
{
	CU_ASSERT_TRUE(listed("-t --shape", "-t"));
	CU_ASSERT_TRUE(listed("-t --shape", "--shape"));
	CU_ASSERT_FALSE(listed("-t --shape", "--sha"));
	CU_ASSERT_FALSE(listed("-t --shape", "-shape"));
	CU_ASSERT_FALSE(listed("", "-t"));
}

void suite_perf_options(void)
{
	CU_pSuite suite = CU_add_suite("perf_options", NULL, NULL);

	CU_add_test(suite, "defaults_are_the_tools", options__defaults_are_the_tools);
	CU_add_test(suite, "letters", options__letters);
	CU_add_test(suite, "long_names", options__long_names);
	CU_add_test(suite, "sizes", options__sizes);
	CU_add_test(suite, "wrong_values_are_told", options__wrong_values_are_told);
	CU_add_test(suite, "no_meaning_is_refused", options__no_meaning_is_refused);
	CU_add_test(suite, "duration_and_margin", options__duration_and_margin);
	CU_add_test(suite, "words_in_lists", options__words_in_lists);
}
