// SPDX-License-Identifier: BSD-2-Clause
/*
 * epochs.c - see epochs.h
 *
 * Every rank makes the whole plan and runs the whole model, and carries out its own events in
 * between. A difference is printed and does not change what the rank does next, so that nobody
 * hangs because of it.
 */
#include "epochs.h"

#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "model.h"
#include "plan.h"

#define DIFFERENCES_PRINTED 3
#define LINE_BYTES 2000
#define PAGE_BYTES 4096u

/* This rank's memory for a region. */
struct memory {
	uint32_t serial;
	enum region_kind kind;
	uint8_t *base; /* first byte of the region */
	void *mapped;  /* what to give back */
	size_t mapped_bytes;
};

struct run {
	struct job *job;
	uint64_t seed;
	struct plan plan;
	struct model model;
	struct event event;
	struct unstable unstable;
	struct memory memory[PLAN_REGIONS_MAX];
	uint8_t *bytes[PLAN_REGIONS_MAX]; /* memory[].base */
	oriel_win *win[PLAN_WINDOWS_MAX];
	bool closed[PLAN_WINDOWS_MAX]; /* a test was true: the exposure epoch is over, wait has nothing to do */
	oriel_mem *mem[PLAN_MEMS_MAX];
	int differences;
};

/* Failing. */

static void describe(const struct run *run, char *text, size_t text_bytes)
{
	char line[LINE_BYTES];

	event_print(&run->plan, &run->event, line, sizeof(line));
	snprintf(text, text_bytes, "seed %llu: step %d, rank %d, window %d: [%s]", (unsigned long long)run->seed,
	         run->event.step, run->job->rank, run->event.win, line);
}

/* A call has failed: there is no going on. Exiting without finalize tells the others. */
__attribute__((format(printf, 2, 3), noreturn)) static void stop(const struct run *run, const char *format, ...)
{
	char text[LINE_BYTES + 200], why[600];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	describe(run, text, sizeof(text));
	printf("not ok %s: %s\n", text, why);
	fflush(stdout);
	_exit(1);
}

static void must(const struct run *run, int rc, const char *call)
{
	if (rc < 0)
		stop(run, "%s gave %d: %s", call, rc, oriel_last_error());
}

static void difference(struct run *run, const char *what, int region, size_t offset, int expected, int got)
{
	const struct plan_win *win = &run->plan.win[run->event.win];
	const struct range *range = &win->part[run->job->rank].range;
	char text[LINE_BYTES + 200];

	if (++run->differences > DIFFERENCES_PRINTED)
		return;
	describe(run, text, sizeof(text));
	printf("not ok %s: %s: region %d offset %zu", text, what, region, offset);
	if (win->live && range->region == region && offset - range->offset < range->size_bytes)
		printf(" (window offset %zu)", offset - range->offset);
	printf(": expected 0x%02x, got 0x%02x\n", (unsigned)expected, (unsigned)got);
	fflush(stdout);
}

/* Comparing. */

static void compare(struct run *run, const char *what, int region, size_t from, size_t to)
{
	const uint8_t *expected = run->model.bytes[run->job->rank][region];
	const uint8_t *got = run->bytes[region];
	size_t at = from;

	if (from >= to || memcmp(expected + from, got + from, to - from) == 0)
		return;
	while (at + 1 < to && expected[at] == got[at])
		at++;
	difference(run, what, region, at, expected[at], got[at]);
}

/* All bytes of a range that nobody can be writing. */
static void compare_stable(struct run *run, const char *what, const struct range *range)
{
	struct unstable *unstable = &run->unstable;
	size_t at = range->offset, end = range->offset + range->size_bytes;

	if (range->size_bytes == 0)
		return;
	plan_unstable(&run->plan, range, unstable);
	for (int i = 0; i < unstable->count && at < end; i++) {
		if (unstable->from[i] > at)
			compare(run, what, range->region, at, unstable->from[i] < end ? unstable->from[i] : end);
		if (unstable->to[i] > at)
			at = unstable->to[i];
	}
	if (at < end)
		compare(run, what, range->region, at, end);
}

static void compare_window(struct run *run)
{
	compare_stable(run, "window", &run->plan.win[run->event.win].part[run->job->rank].range);
}

static void compare_got(struct run *run, const struct plan_op *op)
{
	for (int i = 0; i < op->origin_count; i++) {
		const struct range *range = &op->from[i];

		if (range->size_bytes > 0)
			compare(run, op->vector ? "getv" : "get", range->region, range->offset, range->offset + range->size_bytes);
	}
}

/* Operations that are complete at their origin: look at what was got, overwrite what was put. */
static void finish_ops(struct run *run)
{
	for (int i = 0; i < run->event.done_count; i++) {
		const struct plan_op *op = run->event.done[i];

		if (op->origin != run->job->rank)
			continue;
		if (op->get)
			compare_got(run, op);
		if (op->scribble)
			model_fill_pieces(op, ~op->seed, run->bytes);
	}
}

/* Memory. */

/* Every other file is sealed against shrinking: devices that share memory map only those. */
static uint8_t *map_pages(struct memory *memory, bool file)
{
	int fd = file ? memfd_create("epochs", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;
	int flags = file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;

	if (file && (fd < 0 || ftruncate(fd, (off_t)memory->mapped_bytes)))
		return MAP_FAILED;
	if (file && memory->serial % 2 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		return MAP_FAILED;
	memory->mapped = mmap(NULL, memory->mapped_bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (fd >= 0)
		close(fd);
	return memory->mapped;
}

static void take_memory(struct run *run, int at)
{
	const struct plan_region *region = &run->plan.region[run->job->rank][at];
	struct memory *memory = &run->memory[at];
	uint8_t *mapped;

	memory->serial = region->serial;
	memory->kind = region->kind;
	memory->mapped_bytes = region->size_bytes + region->shift + PAGE_BYTES;
	if (at < REGION_FIXED)
		mapped = run->job->fixed.bytes[at];
	else if (region->kind == REGION_MALLOC)
		mapped = memory->mapped = malloc(memory->mapped_bytes);
	else
		mapped = map_pages(memory, region->kind == REGION_FILE);
	if (!mapped || mapped == MAP_FAILED)
		stop(run, "no memory for region %d of %zu bytes", at, region->size_bytes);
	memory->base = mapped + region->shift;
	run->bytes[at] = memory->base;
	model_first_content(region, memory->base);
}

static void give_back(struct run *run, int at)
{
	struct memory *memory = &run->memory[at];

	if (memory->kind == REGION_MALLOC)
		free(memory->mapped);
	else if (memory->kind == REGION_PAGES || memory->kind == REGION_FILE)
		munmap(memory->mapped, memory->mapped_bytes);
	memset(memory, 0, sizeof(*memory));
	run->bytes[at] = NULL;
}

/* Have memory for what regions there are in the plan; oriel_win_allocate brings its own. */
static void update_memory(struct run *run)
{
	for (int i = 0; i < PLAN_REGIONS_MAX; i++) {
		const struct plan_region *region = &run->plan.region[run->job->rank][i];

		if (run->memory[i].serial == region->serial)
			continue;
		if (run->memory[i].kind != REGION_NONE)
			give_back(run, i);
		if (region->kind != REGION_NONE && region->kind != REGION_ALLOCATED)
			take_memory(run, i);
	}
}

/* Events. */

static oriel_group *make_group(const struct run *run, int count, const int ranks[])
{
	oriel_group *group;

	must(run, oriel_group_incl(run->job->world, count, ranks, &group), "oriel_group_incl");
	return group;
}

static void allocate(struct run *run, const struct plan_win *win, oriel_group *group)
{
	const struct plan_part *part = &win->part[run->job->rank];
	const struct plan_region *region;
	struct memory *memory;
	void *base = run;

	must(run, oriel_win_allocate(part->range.size_bytes, part->unit, NULL, group, &base, &run->win[run->event.win]),
	     "oriel_win_allocate");
	if ((part->range.size_bytes == 0) != !base)
		stop(run, "oriel_win_allocate of %zu bytes gave base %p", part->range.size_bytes, base);
	if (!base)
		return;
	region = &run->plan.region[run->job->rank][part->range.region];
	memory = &run->memory[part->range.region];
	*memory = (struct memory){ .serial = region->serial, .kind = region->kind, .base = base };
	run->bytes[part->range.region] = base;
}

static void create(struct run *run)
{
	const struct plan_win *win = &run->plan.win[run->event.win];
	const struct plan_part *part = &win->part[run->job->rank];
	oriel_group *group = make_group(run, win->count, win->members);
	uint8_t *base = NULL;

	update_memory(run);
	if (win->allocated) {
		allocate(run, win, group);
	} else {
		if (part->range.size_bytes > 0)
			base = run->bytes[part->range.region] + part->range.offset;
		must(run, oriel_win_create(base, part->range.size_bytes, part->unit, NULL, group, &run->win[run->event.win]),
		     "oriel_win_create");
	}
	must(run, oriel_group_free(&group), "oriel_group_free");
	run->closed[run->event.win] = false;
}

static void free_window(struct run *run)
{
	int w = run->event.win;

	/* Memory of the library's own ends with the call: look at it before. */
	if (run->event.freed.allocated && run->event.freed.part[run->job->rank].range.size_bytes > 0 &&
	    run->memory[run->event.freed.part[run->job->rank].range.region].kind != REGION_ALLOCATED)
		stop(run, "the plan has lost an allocated region");
	must(run, oriel_win_free(&run->win[w]), "oriel_win_free");
	if (run->win[w])
		stop(run, "oriel_win_free has left the handle");
	update_memory(run);
}

static void post(struct run *run)
{
	const struct event *event = &run->event;
	oriel_group *group = make_group(run, event->count, event->group);

	must(run, oriel_win_post(run->win[event->win], group, event->assertions[event->rank]), "oriel_win_post");
	must(run, oriel_group_free(&group), "oriel_group_free");
	run->closed[event->win] = false;
}

static void start(struct run *run)
{
	const struct event *event = &run->event;
	oriel_group *group = make_group(run, event->count, event->group);

	must(run, oriel_win_start(run->win[event->win], group, event->assertions[event->rank]), "oriel_win_start");
	must(run, oriel_group_free(&group), "oriel_group_free");
}

/* The place of a rank in a window's group. */
static int member(const struct run *run, int w, int rank)
{
	for (int i = 0; i < run->plan.win[w].count; i++) {
		if (run->plan.win[w].members[i] == rank)
			return i;
	}
	stop(run, "rank %d is no member", rank);
}

static size_t disp(const struct run *run, const struct plan_op *op, int piece)
{
	const struct plan_part *part = &run->plan.win[op->win].part[op->target];

	if (op->size_bytes == 0)
		return op->wild_disp;
	return (op->to[piece].offset - part->range.offset) / part->unit;
}

static void *origin_of(const struct run *run, const struct plan_op *op, int piece)
{
	return op->from[piece].size_bytes ? run->bytes[op->from[piece].region] + op->from[piece].offset : NULL;
}

static void vector_op(struct run *run, const struct plan_op *op)
{
	struct oriel_origin_piece from[PLAN_PIECES_MAX];
	struct oriel_target_piece to[PLAN_PIECES_MAX];
	oriel_win *win = run->win[op->win];
	int target = member(run, op->win, op->target);

	for (int i = 0; i < op->origin_count; i++)
		from[i] = (struct oriel_origin_piece){ origin_of(run, op, i), op->from[i].size_bytes };
	for (int i = 0; i < op->target_count; i++)
		to[i] = (struct oriel_target_piece){ disp(run, op, i), op->to[i].size_bytes };
	if (op->get)
		must(run, oriel_getv(win, from, op->origin_count, target, to, op->target_count), "oriel_getv");
	else
		must(run, oriel_putv(win, from, op->origin_count, target, to, op->target_count), "oriel_putv");
	memset(from, 0xee, sizeof(from)); /* the lists are the caller's again */
	memset(to, 0xee, sizeof(to));
}

static void operate(struct run *run)
{
	const struct plan_op *op = run->event.op;
	oriel_win *win = run->win[op->win];
	int target = member(run, op->win, op->target);
	void *origin = origin_of(run, op, 0);

	if (op->fill)
		model_fill_pieces(op, op->seed, run->bytes);
	if (op->vector)
		vector_op(run, op);
	else if (op->get)
		must(run, oriel_get(win, origin, op->size_bytes, target, disp(run, op, 0)), "oriel_get");
	else
		must(run, oriel_put(win, origin, op->size_bytes, target, disp(run, op, 0)), "oriel_put");
}

static void flush(struct run *run)
{
	const struct event *event = &run->event;
	int target = event->target < 0 ? ORIEL_RANK_ALL : member(run, event->win, event->target);

	if (event->local)
		must(run, oriel_win_flush_local(run->win[event->win], target), "oriel_win_flush_local");
	else
		must(run, oriel_win_flush(run->win[event->win], target), "oriel_win_flush");
	finish_ops(run);
}

static void test_once(struct run *run)
{
	int w = run->event.win, flag = -1;

	if (run->closed[w]) {
		if (oriel_win_test(run->win[w], &flag) != ORIEL_ERR_SYNC)
			stop(run, "oriel_win_test after true was not refused");
		return;
	}
	must(run, oriel_win_test(run->win[w], &flag), "oriel_win_test");
	run->closed[w] = flag;
}

static void close_exposure(struct run *run)
{
	int w = run->event.win;

	if (run->event.by_test) {
		while (!run->closed[w]) {
			test_once(run);
			sched_yield();
		}
	} else if (!run->closed[w]) {
		must(run, oriel_win_wait(run->win[w]), "oriel_win_wait");
	}
	run->closed[w] = true;
	compare_window(run);
}

static void fence(struct run *run)
{
	const struct event *event = &run->event;

	must(run, oriel_win_fence(run->win[event->win], event->assertions[run->job->rank]), "oriel_win_fence");
	finish_ops(run);
	compare_window(run);
}

static void delay(uint32_t us)
{
	struct timespec t = { .tv_nsec = (long)us * 1000 };

	nanosleep(&t, NULL);
}

static void register_memory(struct run *run)
{
	const struct event *event = &run->event;
	const struct range *range = &run->plan.mem[event->rank][event->mem].range;

	must(run,
	     oriel_mem_register(run->job->handle, run->bytes[range->region] + range->offset, range->size_bytes,
	                        &run->mem[event->mem]),
	     "oriel_mem_register");
}

static void carry_out(struct run *run)
{
	const struct event *event = &run->event;

	switch (event->kind) {
	case EVENT_CREATE:
		create(run);
		break;
	case EVENT_FREE:
		free_window(run);
		break;
	case EVENT_FENCE:
		fence(run);
		break;
	case EVENT_BARRIER:
		must(run, oriel_barrier(run->job->handle), "oriel_barrier");
		break;
	case EVENT_POST:
		post(run);
		break;
	case EVENT_START:
		start(run);
		break;
	case EVENT_OP:
		operate(run);
		break;
	case EVENT_FLUSH:
		flush(run);
		break;
	case EVENT_COMPLETE:
		must(run, oriel_win_complete(run->win[event->win]), "oriel_win_complete");
		finish_ops(run);
		break;
	case EVENT_TEST:
		test_once(run);
		break;
	case EVENT_WAIT:
		close_exposure(run);
		break;
	case EVENT_STORE:
		random_fill(run->bytes[event->range.region] + event->range.offset, event->range.size_bytes, event->seed);
		break;
	case EVENT_DELAY:
		delay(event->delay_us);
		break;
	case EVENT_REGISTER:
		register_memory(run);
		break;
	case EVENT_DEREGISTER:
		must(run, oriel_mem_deregister(&run->mem[event->mem]), "oriel_mem_deregister");
		break;
	case EVENT_KINDS:
		break;
	}
}

/* Before a window's memory may go with it: the last look. */
static void before_free(struct run *run)
{
	struct range range = run->event.freed.part[run->job->rank].range;

	if (range.size_bytes == 0)
		return;
	plan_unstable(&run->plan, &range, &run->unstable);
	if (run->unstable.count == 0)
		compare(run, "window before free", range.region, range.offset, range.offset + range.size_bytes);
}

static void print_event(const struct run *run)
{
	char line[LINE_BYTES];

	event_print(&run->plan, &run->event, line, sizeof(line));
	printf("seed %llu rank %d: %s\n", (unsigned long long)run->seed, run->job->rank, line);
	fflush(stdout);
}

/* The whole of this rank's lasting memory, origins too: nothing has gone where it should not. */
static void compare_all(struct run *run)
{
	for (int i = 0; i < REGION_FIXED; i++)
		compare(run, "at the end", i, 0, run->plan.region[run->job->rank][i].size_bytes);
}

static void run_events(struct run *run, bool part, bool verbose)
{
	while (plan_next(&run->plan, &run->event)) {
		bool mine = event_names(&run->plan, &run->event, run->job->rank);

		if (verbose && mine)
			print_event(run);
		if (mine && run->event.kind == EVENT_FREE)
			before_free(run);
		if (part)
			model_apply(&run->model, &run->plan, &run->event);
		if (mine)
			carry_out(run);
	}
	if (!plan_over(&run->plan))
		stop(run, "the plan has left something open");
}

int epochs_run(struct job *job, const struct settings *settings, uint64_t seed)
{
	struct run *run = calloc(1, sizeof(*run));
	int differences;
	bool part;

	if (!run) {
		perror("epochs");
		exit(1);
	}
	run->job = job;
	run->seed = seed;
	plan_init(&run->plan, seed, job->size, settings->steps);
	part = plan_takes_part(&run->plan, job->rank);
	if (part) {
		model_init(&run->model, &run->plan);
		update_memory(run);
	}
	run_events(run, part, settings->verbose);
	if (part)
		compare_all(run);
	model_destroy(&run->model);
	differences = run->differences;
	free(run);
	return differences;
}
