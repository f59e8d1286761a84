// SPDX-License-Identifier: BSD-2-Clause
/*
 * driver.c - runs a tool on a backend: options, memory, turns, samples, report
 *
 * WARM_UP unmeasured turns or operations of each size make connections and touch memory. A sample
 * is the time from the end of one turn to the end of the next, so that no time is lost. If turns
 * follow barriers (isolated epochs, -c) it is the turn alone. Turns of few ticks have samples that
 * are means of REPEATS turns. No sample is dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/backend.h"
#include "bench/memory.h"
#include "bench/options.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "bench/requests.h"
#include "bench/stats.h"
#include "bench/steps.h"
#include "bench/ticks.h"
#include "bench/tool.h"
#include "bench/yields.h"

#define WARM_UP 100 /* turns, or operations of batches, but at least one batch */
#define DEPTH 128
#define CYCLE_BYTES ((size_t)4096) /* operations of a batch reuse that much, as in perftest */
#define CHECKED_CYCLE_BYTES ((size_t)1 << 20)
#define STEPPED_TURNS 8 /* --count: the turn with the fewest instructions has waited least */
#define LATE_NS 100000u /* by then the others wait for the hub */
#define DURATION_SAMPLES ((size_t)1 << 24)
#define CHUNK_NS 10000000u
#define EXIT_USAGE 2
#define SPINS 4096
#define SPINS_OVERSUBSCRIBED 16
#define EXIT_UNSUPPORTED 77 /* as for skipped tests */

/* Counts of a process so far, or over some time. */
struct counts {
	long yields;
	struct requests requests;
};

struct run {
	const struct perf_options *options;
	struct tool_plan plan;
	struct perf_place place;
	perf_turn_fn turn;
	struct perf_turn t;
	double *samples; /* ticks, for the present size */
	size_t sample_max;
	size_t sample_count;
	long turns;           /* in them */
	long operations;      /* in them, to each neighbour */
	struct counts counts; /* of this rank meanwhile */
	struct steps steps;   /* --count: in the turn with the fewest */
	double best_per_tick; /* operations in the best batch */
	uint64_t counted;     /* FLOW_COUNT_AT_LAST: the target's word after this turn */
	long left;            /* bandwidth: operations left; the last batch may be shorter */
	struct progress progress;
};

long perf_spins;

static long min_long(long a, long b)
{
	return a < b ? a : b;
}

/* Memory. */

static size_t slot_bytes(const struct perf_options *o)
{
	size_t largest = perf_options_largest(o), cycle = o->check ? CHECKED_CYCLE_BYTES : CYCLE_BYTES;

	return ((largest > cycle ? largest : cycle) + 63) & ~(size_t)63;
}

static int make_memory(struct run *run)
{
	const struct perf_options *o = run->options;
	size_t bytes = slot_bytes(o) * (size_t)o->neighbours + o->align_bytes;

	run->place.origin_bytes = bytes;
	run->place.window_bytes = bytes;
	if (o->memory != MEMORY_ALLOC_MEM)
		run->place.origin = memory_make(o->memory, bytes);
	if (windows_are_programs(o))
		run->place.window = memory_make(o->memory, bytes);
	if ((o->memory != MEMORY_ALLOC_MEM && !run->place.origin) || (windows_are_programs(o) && !run->place.window))
		return 1;
	run->sample_max = o->duration_s > 0 ? DURATION_SAMPLES : (size_t)o->iterations;
	run->samples = malloc(run->sample_max * sizeof(run->samples[0]));
	if (!run->samples)
		return fprintf(stderr, "perf: no memory for %zu samples; give fewer with -n\n", run->sample_max), 1;
	memset(run->samples, 0, run->sample_max * sizeof(run->samples[0])); /* make pages now */
	return 0;
}

/* Returns the bytes of a turn's data in all slots. */
static size_t turn_bytes(const struct run *run)
{
	const struct perf_turn *t = &run->t;

	return (size_t)min_long(t->operations, t->slots) * t->stride_bytes;
}

static void set_size(struct run *run, size_t size_bytes, long depth)
{
	size_t cycle = run->options->check ? CHECKED_CYCLE_BYTES : CYCLE_BYTES;
	struct perf_turn *t = &run->t;
	long fit = size_bytes == 0 || size_bytes > cycle ? 1 : (long)(cycle / size_bytes);

	t->size_bytes = size_bytes;
	t->stride_bytes = size_bytes;
	t->operations = depth;
	t->slots = min_long(depth, fit);
}

/* Checking. */

static const unsigned gets = FLOW_GET_BY_HUB | FLOW_GET_FROM_HUB;

/*
 * Returns the rank whose data is expected. Data for gets is equal on all ranks, which may share
 * slots.
 */
static int data_source(const struct run *run, int from)
{
	return run->plan.flow & gets ? 0 : from;
}

static const unsigned sums = FLOW_ADD_TO_LAST | FLOW_COUNT_AT_LAST;

/* Sets sums to 0 and operands to known values. */
static void fill_sums(struct run *run)
{
	const struct perf_turn *t = &run->t;

	run->counted = 0;
	if (is_target(t))
		memset((uint8_t *)(uintptr_t)t->window, 0, t->zone_bytes * (size_t)t->neighbours);
	else if (run->plan.flow & FLOW_COUNT_AT_LAST)
		*words_of(t) = (struct perf_words){ .operand = 1 };
	for (size_t at = 0; run->plan.flow & FLOW_ADD_TO_LAST && at < turn_bytes(run); at += t->stride_bytes)
		sums_fill(t->type, t->origin + at, t->stride_bytes, t->rank, t->mark);
}

static void fill(struct run *run)
{
	const struct perf_turn *t = &run->t;
	uint8_t *data = run->plan.flow & gets ? (uint8_t *)(uintptr_t)t->window : t->origin;

	if (run->plan.flow & sums)
		fill_sums(run);
	else
		data_fill(data, turn_bytes(run), data_source(run, t->rank), t->mark, t->slots == 1);
}

/* Returns the first wrong byte of a zone of sums: each operation has added to its slot once. */
static size_t check_zone(const struct run *run, const uint8_t *zone, int from)
{
	const struct perf_turn *t = &run->t;
	size_t bytes = turn_bytes(run), at = 0;

	for (long slot = 0; at < bytes; slot++, at += t->stride_bytes) {
		long times = (t->operations - slot + t->slots - 1) / t->slots;
		size_t wrong = sums_check(t->type, zone + at, t->stride_bytes, from, t->mark, times);

		if (wrong < t->stride_bytes)
			return at + wrong;
	}
	return bytes;
}

/* Returns turn_bytes() if the target has counted all operations, else 0. */
static size_t check_count(const struct run *run)
{
	const struct perf_turn *t = &run->t;
	uint64_t count;

	memcpy(&count, t->window, sizeof(count));
	return count == (uint64_t)REPEATS * (uint64_t)t->neighbours ? turn_bytes(run) : 0;
}

static int check_from(const struct run *run, int from)
{
	const struct perf_turn *t = &run->t;
	const uint8_t *data = t->window + perf_zone(t, from, t->rank);
	size_t bytes = turn_bytes(run), at;

	if (run->plan.flow & gets)
		data = tool.kind == TOOL_LATENCY ? get_origin(t, from) : t->origin;
	if (run->plan.flow & FLOW_COUNT_AT_LAST)
		at = check_count(run);
	else if (run->plan.flow & FLOW_ADD_TO_LAST)
		at = check_zone(run, data, from);
	else
		at = data_check(data, bytes, data_source(run, from), t->mark, t->slots == 1);
	if (at == bytes)
		return 0;
	fprintf(stderr, "%s_%s: rank %d: size %zu: byte %zu of the data of rank %d is 0x%02x, not what was sent\n",
	        backend.name, tool.name, t->rank, t->size_bytes, at, from, data[at]);
	return 1;
}

/* Returns true if rank `to` gets data of rank `from` in a turn. */
static bool flows(const struct run *run, int from, int to)
{
	unsigned flow = run->plan.flow;

	if (from == to)
		return false;
	if (flow & FLOW_PUT_ALL)
		return true;
	if (flow & (FLOW_PUT_TO_LAST | sums))
		return to == run->t.neighbours;
	if (from == 0)
		return (flow & (FLOW_PUT_FROM_HUB | FLOW_GET_FROM_HUB)) || ((flow & FLOW_PUT_TO_NEXT) && to == 1);
	return to == 0 && (flow & (FLOW_PUT_TO_HUB | FLOW_GET_BY_HUB));
}

static int check(const struct run *run)
{
	int rc = 0;

	for (int from = 0; rc == 0 && from < run->place.size; from++) {
		if (flows(run, from, run->t.rank))
			rc = check_from(run, from);
	}
	return rc;
}

/* Turns. */

static void be_late(void)
{
	uint64_t until = ticks_clock_ns() + LATE_NS;

	while (ticks_clock_ns() < until)
		;
}

/* Returns the operations of the next batch or turn. */
static long next_operations(struct run *run, long depth)
{
	if (tool.kind == TOOL_LATENCY)
		return 1;
	return min_long(run->left, depth);
}

/* Adds a sample: `turns` turns, or one batch, took `ticks` together. */
static void record(struct run *run, double ticks, long turns)
{
	double per_tick = (double)(run->t.operations * turns) / ticks;

	run->samples[run->sample_count++] = ticks / (double)turns;
	run->turns += turns;
	run->operations += run->t.operations * turns;
	if (per_tick > run->best_per_tick)
		run->best_per_tick = per_tick;
}

/* With --outside, keeps the target out of the implementation until the others' turn has counted. */
static void stay_outside(struct run *run)
{
	const struct perf_turn *t = &run->t;
	const uint64_t *word = (const uint64_t *)(const void *)t->window;

	run->counted += (uint64_t)REPEATS * (uint64_t)t->neighbours;
	if (!run->options->outside || !(run->plan.flow & FLOW_COUNT_AT_LAST) || !is_target(t))
		return;
	for (long spins = 0; __atomic_load_n(word, __ATOMIC_ACQUIRE) < run->counted; spins++)
		perf_spin(spins);
}

/* Runs a turn between barriers, and checks its bytes on request. */
static int turn_apart(struct run *run, bool counted)
{
	bool checked = run->options->check;
	uint64_t begin, end;

	run->t.mark++;
	if (checked)
		fill(run);
	if (backend.barrier())
		return 1;
	if (run->plan.isolated && run->options->post_late && run->t.rank == 0)
		be_late();
	begin = ticks_now();
	if (run->turn(&run->t))
		return 1;
	stay_outside(run);
	end = ticks_now();
	if (counted)
		record(run, (double)(end - begin), 1);
	if (!checked)
		return 0;
	return backend.barrier() || check(run);
}

/* Runs `operations` operations in turns or batches of `depth`. */
static int turns_apart(struct run *run, long operations, long depth, bool counted)
{
	for (run->left = operations; run->left > 0; run->left -= run->t.operations) {
		run->t.operations = next_operations(run, depth);
		if (turn_apart(run, counted))
			return 1;
		if (ticks_now() > run->progress.next)
			progress_show(&run->progress, run->t.size_bytes, run->operations);
	}
	return 0;
}

static int turns_of_sample(struct run *run, long turns, long depth)
{
	for (long i = 0; i < turns; i++, run->left -= run->t.operations) {
		run->t.operations = next_operations(run, depth);
		run->t.mark++;
		if (run->turn(&run->t))
			return 1;
		stay_outside(run);
	}
	return 0;
}

/* Runs turns back to back. A sample of several turns is never cut short. */
static int turns_in_a_row(struct run *run, long operations, long depth, bool counted)
{
	const long together = run->plan.together ? REPEATS : 1;
	uint64_t end, begin = ticks_now();

	run->left = operations;
	while (run->left > 0) {
		if (turns_of_sample(run, together, depth))
			return 1;
		end = ticks_now();
		if (counted)
			record(run, (double)(end - begin), together);
		begin = end;
		if (end > run->progress.next) {
			progress_show(&run->progress, run->t.size_bytes, run->operations);
			begin = ticks_now();
		}
	}
	return 0;
}

static int turns(struct run *run, long operations, long depth, bool counted)
{
	if (run->plan.isolated || run->options->check)
		return turns_apart(run, operations, depth, counted);
	return turns_in_a_row(run, operations, depth, counted);
}

/*
 * Decides on rank 0 how a timed run continues. Returns a number of operations, negative if they do
 * not count, or 0 at the end.
 */
static int64_t next_chunk(const struct run *run, uint64_t begin_ns, long chunk, long depth)
{
	double now_s = (double)(ticks_clock_ns() - begin_ns) * 1e-9;
	const struct perf_options *o = run->options;

	if (now_s >= o->duration_s)
		return 0;
	if (run->sample_count + (size_t)(chunk / depth) + 1 > run->sample_max) {
		fprintf(stderr, "perf: ended after %.1f s: there is room for %zu samples\n", now_s, run->sample_max);
		return 0;
	}
	return now_s < o->margin_s || now_s >= o->duration_s - o->margin_s ? -chunk : chunk;
}

static int turns_by_time(struct run *run, long depth)
{
	uint64_t begin_ns = ticks_clock_ns();
	long chunk = tool.kind == TOOL_LATENCY ? WARM_UP : depth;

	for (;;) {
		int64_t next = run->t.rank == 0 ? next_chunk(run, begin_ns, chunk, depth) : 0;
		uint64_t chunk_ns = ticks_clock_ns();

		if (backend.agree(&next))
			return 1;
		if (next == 0)
			return 0;
		if (turns(run, (long)(next < 0 ? -next : next), depth, next > 0))
			return 1;
		if (ticks_clock_ns() - chunk_ns < CHUNK_NS / 2)
			chunk *= 2;
	}
}

static struct counts counts_so_far(void)
{
	return (struct counts){ yields_so_far(), requests_so_far() };
}

static struct counts counts_since(const struct counts *before)
{
	struct counts now = counts_so_far();

	now.yields -= before->yields;
	now.requests.posted -= before->requests.posted;
	now.requests.doorbells -= before->requests.doorbells;
	now.requests.completions -= before->requests.completions;
	now.requests.reads -= before->requests.reads;
	now.requests.atomics -= before->requests.atomics;
	return now;
}

static int measure_counted(struct run *run, long depth)
{
	struct counts before = counts_so_far();
	int rc =
		run->options->duration_s > 0 ? turns_by_time(run, depth) : turns(run, run->options->iterations, depth, true);

	run->counts = counts_since(&before);
	return rc;
}

/* Runs a turn whose instructions rank 0 counts, once the others wait for it. */
static int step_turn(struct run *run, long depth)
{
	struct steps steps;
	int rc;

	run->t.operations = tool.kind == TOOL_LATENCY ? 1 : depth;
	run->t.mark++;
	if (backend.barrier())
		return 1;
	if (run->t.rank != 0) {
		rc = run->turn(&run->t);
		stay_outside(run);
		return rc;
	}
	be_late();
	steps_begin();
	rc = run->turn(&run->t);
	steps = steps_end();
	stay_outside(run);
	if (run->steps.instructions == 0 || steps.instructions < run->steps.instructions)
		run->steps = steps;
	return rc;
}

static int measure_steps(struct run *run, long depth)
{
	run->steps = (struct steps){ 0 };
	for (int i = 0; run->options->count && i < STEPPED_TURNS; i++) {
		if (step_turn(run, depth))
			return 1;
	}
	return 0;
}

/* Measures one row of the report. */
static int measure(struct run *run, size_t size_bytes, long depth)
{
	long warm_up = tool.kind == TOOL_LATENCY || depth < WARM_UP ? WARM_UP : depth;
	uint8_t stale = (uint8_t)(run->t.mark - 1);

	set_size(run, size_bytes, depth);
	run->sample_count = 0;
	run->turns = 0;
	run->operations = 0;
	run->best_per_tick = 0;
	memset((uint8_t *)(uintptr_t)run->t.window, stale, run->t.zone_bytes * (size_t)run->t.neighbours);
	memset(run->t.origin, stale, run->t.zone_bytes * (size_t)run->t.neighbours);
	if (run->plan.flow & FLOW_COUNT_AT_LAST)
		fill_sums(run);
	if (backend.barrier() || turns(run, min_long(warm_up, run->options->iterations), depth, false) || backend.barrier())
		return 1;
	return measure_counted(run, depth) || measure_steps(run, depth) || backend.barrier();
}

/* Report. */

static double total(const struct run *run)
{
	double sum = 0;

	for (size_t i = 0; i < run->sample_count; i++)
		sum += run->samples[i];
	return sum;
}

static void print_samples(const struct run *run)
{
	printf("#, usec\n");
	for (size_t i = 0; i < run->sample_count; i++)
		printf("%zu, %.3f\n", i + 1, run->samples[i]);
}

static void report_latency(struct run *run, struct report_row *row)
{
	double us = ticks_us() * run->plan.factor;

	for (size_t i = 0; i < run->sample_count; i++)
		run->samples[i] *= us;
	if (run->options->unsorted)
		print_samples(run);
	stats_compute(run->samples, run->sample_count, &row->latency);
	if (run->options->histogram && !run->options->unsorted)
		print_samples(run);
}

static void report_bandwidth(struct run *run, struct report_row *row)
{
	double per_s = 1e6 / ticks_us() * (run->plan.both_ways ? 2 : 1) * run->t.neighbours;

	row->peak_per_s = run->best_per_tick * per_s;
	row->average_per_s = (double)run->operations / total(run) * per_s;
}

static void report_counts(const struct run *run, struct report_row *row)
{
	const struct requests *requests = &run->counts.requests;
	double turns = (double)run->turns;

	row->yields_per_turn = (double)run->counts.yields / turns;
	row->posted_per_turn = (double)requests->posted / turns;
	row->doorbells_per_turn = (double)requests->doorbells / turns;
	row->completions_per_turn = (double)requests->completions / turns;
	row->reads_per_turn = (double)requests->reads / turns;
	row->atomics_per_turn = (double)requests->atomics / turns;
	row->steps = run->steps;
}

static int measure_and_report(struct run *run, struct report *report, size_t size_bytes, long depth)
{
	struct report_row row = { .size_bytes = size_bytes, .depth = depth };

	if (measure(run, size_bytes, depth))
		return 1;
	if (run->place.rank != 0)
		return 0;
	progress_clear(&run->progress);
	row.iterations = run->operations;
	if (run->sample_count == 0)
		return fprintf(stderr, "perf: nothing was counted; give a longer duration (-D) or a shorter margin (-f)\n"), 1;
	if (tool.kind == TOOL_LATENCY)
		report_latency(run, &row);
	else
		report_bandwidth(run, &row);
	report_counts(run, &row);
	report_row(report, &row);
	return 0;
}

static int run_size(struct run *run, struct report *report, size_t size_bytes)
{
	const long *depth = tool.depths;
	long given = run->options->depth;

	if (tool.kind == TOOL_LATENCY)
		return measure_and_report(run, report, size_bytes, 1);
	if (given || !depth)
		return measure_and_report(run, report, size_bytes, given ? given : DEPTH);
	for (; *depth; depth++) {
		if (measure_and_report(run, report, size_bytes, *depth))
			return 1;
	}
	return 0;
}

static int run_all(struct run *run)
{
	const struct perf_options *o = run->options;
	struct report report = { .tool = &tool, .backend = backend.name, .options = o, .place = &run->place };
	int rc = run->place.rank == 0 ? report_begin(&report) : 0;

	for (int i = 0; rc == 0 && i < o->size_count; i++)
		rc = run_size(run, &report, o->sizes[i]);
	if (rc == 0 && run->place.rank == 0)
		rc = report_end(&report);
	return rc;
}

/* Starting. */

static int plan_and_find(struct run *run)
{
	const struct perf_options *o = run->options;
	int rc = tool.plan(o, &run->plan);

	if (rc)
		return rc;
	if (o->check && run->plan.flow == 0)
		return fprintf(stderr, "%s: there are no bytes to check (-c)\n", tool.name), 2;
	if (o->count && !steps_possible())
		return fprintf(stderr, "%s: --count steps through instructions on x86-64 only\n", tool.name), EXIT_UNSUPPORTED;
	run->turn = backend.turn(run->plan.pattern, o->sync);
	if (run->turn)
		return 0;
	fprintf(stderr, "%s_%s: %s is not supported with -S %s\n", backend.name, tool.name, tool.name, sync_name(o->sync));
	return EXIT_UNSUPPORTED;
}

static int check_ranks(const struct run *run)
{
	int need = run->options->neighbours + 1;

	if (run->place.size == need || (run->plan.any_ranks && run->place.size >= 1))
		return 0;
	if (run->place.rank == 0)
		fprintf(stderr, "%s_%s: needs %d ranks, not %d: oriel-run -n %d ...\n", backend.name, tool.name, need,
		        run->place.size, need);
	return EXIT_USAGE;
}

static int open_and_run(struct run *run)
{
	int rc;

	perf_spins = SPINS_OVERSUBSCRIBED;
	rc = backend.open(run->options, &run->place);
	if (rc)
		return rc;
	if (run->place.size <= sysconf(_SC_NPROCESSORS_ONLN))
		perf_spins = SPINS;
	run->t.rank = run->place.rank;
	run->t.neighbours = run->options->neighbours;
	run->t.lock = run->options->lock;
	run->t.type = run->options->type;
	run->t.offset_bytes = run->options->align_bytes;
	run->t.zone_bytes = slot_bytes(run->options);
	run->t.origin = run->place.origin + run->t.offset_bytes;
	run->t.window = run->place.window + run->t.offset_bytes;
	if (run->place.rank == 0 && !ticks_are_tsc && !run->options->no_clock_warning)
		fprintf(stderr, "%s_%s: no invariant TSC; time stamps come from clock_gettime\n", backend.name, tool.name);
	progress_begin(&run->progress, run->place.rank == 0);
	rc = check_ranks(run);
	if (rc) {
		backend.close(); /* together, so that no rank is missed before rank 0 has printed */
		return rc;
	}
	rc = run_all(run);
	return rc ? rc : backend.close();
}

int main(int argc, char *argv[])
{
	struct perf_options options;
	struct run run = { .options = &options };
	int rc = perf_options_parse(&options, &tool, &backend, argc, argv);

	if (rc)
		return rc == OPTIONS_HELP ? 0 : rc;
	rc = plan_and_find(&run);
	if (rc)
		return rc;
	ticks_begin();
	rc = make_memory(&run);
	return rc ? rc : open_and_run(&run);
}
