// SPDX-License-Identifier: BSD-2-Clause
/*
 * epochs.c - see epochs.h
 *
 * Every rank makes the whole plan and runs the whole model, and carries out its own events in
 * between. A difference is printed and does not change what the rank does next, so that no rank
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

#include "linger.h"
#include "model.h"
#include "plan.h"
#include "serial.h"

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
	oriel_request request[PLAN_REQUESTS_MAX];
	uint64_t taken[PLAN_WINDOWS_MAX][PLAN_SIGNALS]; /* values of signals */
	uint8_t operands[BOARD_SEEN_BYTES];
	uint8_t
		seen[BOARD_SEEN_BYTES]; /* results of atomics; behind that of a compare_and_swap what it was compared with */
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

/* Compares all bytes of a range that no rank can be writing. */
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

/* Compares now: got data may lie in a window, where others put once the epoch is over. */
static void compare_got(struct run *run, const struct plan_op *op)
{
	for (int i = 0; i < op->origin_count; i++)
		compare_stable(run, op->vector ? "getv" : "get", &op->from[i]);
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
		compare_stable(run, "result", &op->result);
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

/* Whether the library is asked to move memory in place. */
static bool moves(void)
{
	const char *share = getenv("ORIEL_SHARE");

	return share && strcmp(share, "1") == 0;
}

/* Then such as can be moved: it fills its pages. */
static void *allocate_heap(size_t size_bytes)
{
	void *memory = NULL;

	if (!moves())
		return malloc(size_bytes);
	return posix_memalign(&memory, PAGE_BYTES, size_bytes) ? NULL : memory;
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
		mapped = memory->mapped = allocate_heap(memory->mapped_bytes);
	else
		mapped = map_pages(memory, region->kind == REGION_FILE);
	if (!mapped || mapped == MAP_FAILED)
		stop(run, "no memory for region %d of %zu bytes", at, region->size_bytes);
	memory->base = mapped + (region->kind == REGION_MALLOC && moves() ? 0 : region->shift);
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

/* Checks where each part lies: the caller's at its base, the others' one after the other. */
static void check_shared(struct run *run, const struct plan_win *win, const void *base)
{
	uint8_t *next = NULL;

	for (int i = 0; i < win->count; i++) {
		const struct plan_part *part = &win->part[win->members[i]];
		size_t size_bytes, unit;
		void *at;

		must(run, oriel_win_shared_query(run->win[run->event.win], i, &at, &size_bytes, &unit),
		     "oriel_win_shared_query");
		if (size_bytes != part->range.size_bytes || unit != part->unit)
			stop(run, "oriel_win_shared_query of member %d gave %zu bytes, unit %zu", i, size_bytes, unit);
		if (win->members[i] == run->job->rank && at != base)
			stop(run, "oriel_win_shared_query gave %p for the own part at %p", at, base);
		if (!win->noncontig && next && size_bytes > 0 && at != next)
			stop(run, "the part of member %d lies at %p, not behind that before it at %p", i, at, (void *)next);
		next = size_bytes > 0 ? (uint8_t *)at + size_bytes : next;
	}
}

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
static const struct oriel_hint hints[] = { { "signals", TEXT_OF(PLAN_SIGNALS) }, { NULL, NULL } };
static const struct oriel_hint moved[] = { { "signals", TEXT_OF(PLAN_SIGNALS) },
	                                       { "share", "true" }, /* each time, not only where it is worth it */
	                                       { NULL, NULL } };

/* Memory of the library's own, shared if the plan says so and the ranks can. */
static void *make_allocated(struct run *run, const struct plan_win *win, oriel_group *group)
{
	static const struct oriel_hint noncontig[] = { { "alloc_shared_noncontig", "true" },
		                                           { "signals", TEXT_OF(PLAN_SIGNALS) },
		                                           { NULL, NULL } };
	const struct plan_part *part = &win->part[run->job->rank];
	oriel_win **to = &run->win[run->event.win];
	void *base = run;

	if (win->shared && run->job->can_share) {
		must(run,
		     oriel_win_allocate_shared(part->range.size_bytes, part->unit, win->noncontig ? noncontig : hints, group,
		                               &base, to),
		     "oriel_win_allocate_shared");
		check_shared(run, win, base);
		return part->range.size_bytes > 0 ? base : NULL;
	}
	must(run, oriel_win_allocate(part->range.size_bytes, part->unit, hints, group, &base, to), "oriel_win_allocate");
	return base;
}

static void allocate(struct run *run, const struct plan_win *win, oriel_group *group)
{
	const struct plan_part *part = &win->part[run->job->rank];
	const struct plan_region *region;
	struct memory *memory;
	void *base = make_allocated(run, win, group);

	if ((part->range.size_bytes == 0) != !base)
		stop(run, "oriel_win_allocate of %zu bytes gave base %p", part->range.size_bytes, base);
	if (!base)
		return;
	region = &run->plan.region[run->job->rank][part->range.region];
	memory = &run->memory[part->range.region];
	*memory = (struct memory){ .serial = region->serial, .kind = region->kind, .base = base };
	run->bytes[part->range.region] = base;
}

/* Dynamic windows: a part is attached in two pieces that touch, where it has room for these. */

static size_t first_piece(const struct plan_part *part)
{
	return part->range.size_bytes > 1 ? part->range.size_bytes / 2 : part->range.size_bytes;
}

static void attach(struct run *run)
{
	const struct plan_part *part = &run->plan.win[run->event.win].part[run->job->rank];
	size_t first = first_piece(part), rest = part->range.size_bytes - first;
	oriel_win *win = run->win[run->event.win];
	uint8_t *base;

	if (first == 0)
		return;
	base = run->bytes[part->range.region] + part->range.offset;
	if (rest > 0)
		must(run, oriel_win_attach(win, base + first, rest), "oriel_win_attach");
	must(run, oriel_win_attach(win, base, first), "oriel_win_attach");
}

/* Detaches regions that the plan has already forgotten; the memory still exists. */
static void detach(struct run *run)
{
	const struct plan_part *part = &run->event.freed.part[run->job->rank];
	size_t first = first_piece(part);
	oriel_win *win = run->win[run->event.win];
	uint8_t *base;

	if (first == 0)
		return;
	base = run->bytes[part->range.region] + part->range.offset;
	linger();
	must(run, oriel_win_detach(win, base), "oriel_win_detach");
	if (part->range.size_bytes > first)
		must(run, oriel_win_detach(win, base + first), "oriel_win_detach");
}

static size_t address_place(int w, int rank)
{
	return BOARD_SEEN_BYTES + sizeof(uint64_t) * ((size_t)w * PLAN_RANKS_MAX + (size_t)rank);
}

/* Tell all members where the part lies, and hear it from them. */
static void tell_address(struct run *run)
{
	const struct plan_win *win = &run->plan.win[run->event.win];
	const struct plan_part *part = &win->part[run->job->rank];
	size_t at = address_place(run->event.win, run->job->rank);
	uint64_t address = 0;

	if (part->range.size_bytes > 0)
		address = (uint64_t)(uintptr_t)(run->bytes[part->range.region] + part->range.offset);
	for (int i = 0; i < win->count; i++)
		must(run, oriel_put(run->job->board, &address, sizeof(address), win->members[i], at), "oriel_put");
	must(run, oriel_win_flush(run->job->board, ORIEL_RANK_ALL), "oriel_win_flush");
	must(run, oriel_win_fence(run->win[run->event.win], ORIEL_MODE_NOSUCCEED), "oriel_win_fence");
	must(run, oriel_win_sync(run->job->board), "oriel_win_sync");
}

static void reattach(struct run *run)
{
	detach(run);
	update_memory(run);
	attach(run);
	tell_address(run);
	run->closed[run->event.win] = false;
}

static void create_dynamic(struct run *run, oriel_group *group)
{
	must(run, oriel_win_create_dynamic(moves() ? moved : hints, group, &run->win[run->event.win]),
	     "oriel_win_create_dynamic");
	attach(run);
	tell_address(run);
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
	} else if (win->dynamic) {
		create_dynamic(run, group);
	} else {
		if (part->range.size_bytes > 0)
			base = run->bytes[part->range.region] + part->range.offset;
		must(run,
		     oriel_win_create(base, part->range.size_bytes, part->unit, moves() ? moved : hints, group,
		                      &run->win[run->event.win]),
		     "oriel_win_create");
	}
	must(run, oriel_group_free(&group), "oriel_group_free");
	run->closed[run->event.win] = false;
	memset(run->taken[run->event.win], 0, sizeof(run->taken[0]));
}

/* Everything has arrived. */
static void check_signals(struct run *run)
{
	const struct plan_part *part = &run->event.freed.part[run->job->rank];
	uint64_t value;

	for (uint32_t i = 0; i < PLAN_SIGNALS; i++) {
		must(run, oriel_signal_read(run->win[run->event.win], i, &value), "oriel_signal_read");
		if (value != part->signal_set[i] + part->signal_added[i])
			stop(run, "signal %u is %llu in the end, not %llu + %llu", i, (unsigned long long)value,
			     (unsigned long long)part->signal_set[i], (unsigned long long)part->signal_added[i]);
	}
}

static void free_window(struct run *run)
{
	int w = run->event.win;

	/* Memory of the library's own ends with the call: look at it before. */
	if (run->event.freed.allocated && run->event.freed.part[run->job->rank].range.size_bytes > 0 &&
	    run->memory[run->event.freed.part[run->job->rank].range.region].kind != REGION_ALLOCATED)
		stop(run, "the plan has lost an allocated region");
	check_signals(run);
	linger();
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

/* The displacement of the first byte of a part: in a dynamic window, its address. */
static size_t base_disp(const struct run *run, int w, int target)
{
	uint64_t address = 0;

	if (run->plan.win[w].dynamic)
		memcpy(&address, run->job->board_bytes + address_place(w, target), sizeof(address));
	return address;
}

static size_t disp(const struct run *run, const struct plan_op *op, int piece)
{
	const struct plan_part *part = &run->plan.win[op->win].part[op->target];

	if (op->size_bytes == 0)
		return op->wild_disp;
	return base_disp(run, op->win, op->target) + (op->to[piece].offset - part->range.offset) / part->unit;
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

static void accumulate_vector(struct run *run, const struct plan_op *op, void *result)
{
	struct oriel_origin_piece from[PLAN_PIECES_MAX], back = { result, op->size_bytes };
	struct oriel_target_piece to[PLAN_PIECES_MAX];
	int target = member(run, op->win, op->target), from_count = op->fill ? op->origin_count : 0;
	oriel_win *win = run->win[op->win];

	for (int i = 0; i < op->origin_count; i++)
		from[i] = (struct oriel_origin_piece){ origin_of(run, op, i), op->from[i].size_bytes };
	for (int i = 0; i < op->target_count; i++)
		to[i] = (struct oriel_target_piece){ disp(run, op, i), op->to[i].size_bytes };
	if (result)
		must(run,
		     oriel_get_accumulatev(win, op->fill ? from : NULL, from_count, &back, 1, op->type, op->combine, target, to,
		                           op->target_count),
		     "oriel_get_accumulatev");
	else
		must(run, oriel_accumulatev(win, from, from_count, op->type, op->combine, target, to, op->target_count),
		     "oriel_accumulatev");
}

static void accumulate(struct run *run, const struct plan_op *op)
{
	void *origin = op->fill ? origin_of(run, op, 0) : NULL;
	void *result = op->result.size_bytes ? run->bytes[op->result.region] + op->result.offset : NULL;
	size_t count = op->size_bytes / elements_bytes(op->type), at = disp(run, op, 0);
	int target = member(run, op->win, op->target);
	oriel_win *win = run->win[op->win];

	if (op->vector)
		accumulate_vector(run, op, result);
	else if (op->family == FAMILY_ACCUMULATE)
		must(run, oriel_accumulate(win, origin, count, op->type, op->combine, target, at), "oriel_accumulate");
	else if (op->family == FAMILY_GET_ACCUMULATE)
		must(run, oriel_get_accumulate(win, origin, result, count, op->type, op->combine, target, at),
		     "oriel_get_accumulate");
	else if (op->family == FAMILY_FETCH_AND_OP)
		must(run, oriel_fetch_and_op(win, origin, result, op->type, op->combine, target, at), "oriel_fetch_and_op");
	else
		must(run, oriel_compare_and_swap(win, origin, op->compare, result, op->type, target, at),
		     "oriel_compare_and_swap");
}

/* Loads and stores of another member's part. */
static void load_or_store(struct run *run, const struct plan_op *op, void *origin)
{
	size_t size_bytes, unit;
	uint8_t *at;
	void *base;

	must(run, oriel_win_shared_query(run->win[op->win], member(run, op->win, op->target), &base, &size_bytes, &unit),
	     "oriel_win_shared_query");
	at = (uint8_t *)base + disp(run, op, 0) * unit;
	if (op->get)
		memcpy(origin, at, op->size_bytes);
	else
		memcpy(at, origin, op->size_bytes);
}

static void operate(struct run *run, const struct plan_op *op)
{
	oriel_win *win = run->win[op->win];
	int target = member(run, op->win, op->target);
	void *origin = origin_of(run, op, 0);

	if (op->fill)
		model_fill_pieces(op, op->seed, run->bytes);
	if (op->signal)
		must(run, oriel_signal(win, target, op->which, op->value, op->set ? ORIEL_SIGNAL_SET : ORIEL_SIGNAL_ADD),
		     "oriel_signal");
	else if (op->family)
		accumulate(run, op);
	else if (op->vector)
		vector_op(run, op);
	else if (op->direct && op->size_bytes > 0 && run->job->can_share)
		load_or_store(run, op, origin);
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

/* Signals. */

/* Take one of a range that has the wanted one in it. */
static bool take_signal(struct run *run)
{
	uint32_t first = run->event.signal / 2, count = PLAN_SIGNALS - first, which = PLAN_SIGNALS;
	oriel_win *win = run->win[run->event.win];
	uint64_t value, *taken;
	int flag = 1;

	if (run->event.way == SIGNAL_TEST)
		must(run, oriel_signal_test(win, first, count, &which, &value, &flag), "oriel_signal_test");
	else
		must(run, oriel_signal_wait(win, first, count, &which, &value), "oriel_signal_wait");
	if (!flag)
		return false;
	if (which < first || which >= PLAN_SIGNALS)
		stop(run, "signal %u is none of %u to %u", which, first, PLAN_SIGNALS - 1);
	taken = &run->taken[run->event.win][which];
	if (value < *taken)
		stop(run, "signal %u has gone back from %llu to %llu", which, (unsigned long long)*taken,
		     (unsigned long long)value);
	*taken = value;
	return true;
}

static void signal_wait(struct run *run)
{
	const struct event *event = &run->event;
	uint64_t value;

	while (event->way != SIGNAL_UNTIL && run->taken[event->win][event->signal] < event->value) {
		if (!take_signal(run))
			sched_yield();
	}
	if (event->way == SIGNAL_UNTIL)
		must(run, oriel_signal_until(run->win[event->win], event->signal, event->value), "oriel_signal_until");
	must(run, oriel_signal_read(run->win[event->win], event->signal, &value), "oriel_signal_read");
	if (value < event->value || value < run->taken[event->win][event->signal])
		stop(run, "signal %u is %llu after a wait for %llu", event->signal, (unsigned long long)value,
		     (unsigned long long)event->value);
}

/* Requests. */

static void iflush(struct run *run)
{
	const struct event *event = &run->event;
	int target = event->target < 0 ? ORIEL_RANK_ALL : member(run, event->win, event->target);
	oriel_request *request = &run->request[event->request];

	if (event->local)
		must(run, oriel_win_iflush_local(run->win[event->win], target, request), "oriel_win_iflush_local");
	else
		must(run, oriel_win_iflush(run->win[event->win], target, request), "oriel_win_iflush");
}

/* A request may be tested as a copy, too. */
static bool request_test(struct run *run)
{
	oriel_request *request = &run->request[run->event.request], copy = *request;
	int flag = -1;

	must(run, oriel_request_test(run->event.step % 2 ? request : &copy, &flag), "oriel_request_test");
	if (flag != 0 && flag != 1)
		stop(run, "oriel_request_test gave flag %d", flag);
	return flag;
}

static void request_wait(struct run *run)
{
	while (run->event.by_test && !request_test(run))
		sched_yield();
	if (!run->event.by_test)
		must(run, oriel_request_wait(&run->request[run->event.request]), "oriel_request_wait");
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

/* Atomics of several origins. */

static size_t board_place(int w, int slot)
{
	return ((size_t)w * PLAN_SLOTS_MAX + (size_t)slot) * BOARD_SLOT_BYTES;
}

/* Reads the present value, which the operation expects. */
static void look(struct run *run, const struct plan_atomic *atomic, size_t at, void *value)
{
	enum oriel_type type = run->plan.win[run->event.win].arena[atomic->target].type;
	int target = member(run, run->event.win, atomic->target);
	oriel_win *win = run->win[run->event.win];

	if (!atomic->looks)
		return;
	must(run, oriel_fetch_and_op(win, NULL, value, type, ORIEL_NO_OP, target, at), "oriel_fetch_and_op");
	must(run, oriel_win_flush(win, target), "oriel_win_flush");
}

static void atomic_vector(struct run *run, const struct plan_atomic *atomic, size_t at, const struct range *all,
                          uint8_t *origin, uint8_t *result)
{
	const struct plan_part *part = &run->plan.win[run->event.win].part[atomic->target];
	enum oriel_type type = run->plan.win[run->event.win].arena[atomic->target].type;
	size_t half = (size_t)(atomic->count / 2) * elements_bytes(type), rest = all->size_bytes - half;
	struct oriel_origin_piece from[] = { { origin, all->size_bytes } }, back[] = { { result, all->size_bytes } };
	struct oriel_target_piece to[] = { { at, half }, { at + half / part->unit, rest } };
	int target = member(run, run->event.win, atomic->target);
	oriel_win *win = run->win[run->event.win];

	if (atomic->family == FAMILY_ACCUMULATE)
		must(run, oriel_accumulatev(win, from, 1, type, atomic->combine, target, to, 2), "oriel_accumulatev");
	else
		must(run, oriel_get_accumulatev(win, from, 1, back, 1, type, atomic->combine, target, to, 2),
		     "oriel_get_accumulatev");
}

/*
 * The function that needs the origin's elements makes them anew; these here live until the end of
 * the phase.
 */
static void atomic_operate(struct run *run, const struct plan_atomic *atomic, uint8_t *origin)
{
	const struct plan_part *part = &run->plan.win[run->event.win].part[atomic->target];
	const struct plan_arena *arena = &run->plan.win[run->event.win].arena[atomic->target];
	uint8_t *result = run->seen + board_place(run->event.win, atomic->slot), *compare = result + ELEMENT_LARGEST;
	size_t each = elements_bytes(arena->type), count = (size_t)atomic->count;
	struct range all = { .offset = arena->range.offset + (size_t)atomic->first * each, .size_bytes = count * each };
	size_t at = base_disp(run, run->event.win, atomic->target) + (all.offset - part->range.offset) / part->unit;
	int target = member(run, run->event.win, atomic->target);
	oriel_win *win = run->win[run->event.win];

	elements_fill(arena->type, origin, all.size_bytes, atomic->seed);
	if (atomic->family == FAMILY_COMPARE_AND_SWAP) {
		elements_fill(arena->type, compare, each, atomic->seed / 2);
		look(run, atomic, at, compare);
		must(run, oriel_compare_and_swap(win, origin, compare, result, arena->type, target, at),
		     "oriel_compare_and_swap");
	} else if (atomic->vector) {
		atomic_vector(run, atomic, at, &all, origin, result);
	} else if (atomic->family == FAMILY_FETCH_AND_OP) {
		must(run, oriel_fetch_and_op(win, origin, result, arena->type, atomic->combine, target, at),
		     "oriel_fetch_and_op");
	} else if (atomic->family == FAMILY_GET_ACCUMULATE) {
		must(run, oriel_get_accumulate(win, origin, result, count, arena->type, atomic->combine, target, at),
		     "oriel_get_accumulate");
	} else {
		must(run, oriel_accumulate(win, origin, count, arena->type, atomic->combine, target, at), "oriel_accumulate");
	}
}

static void atomics(struct run *run)
{
	const struct event *event = &run->event;

	for (int i = event->atomic_first; i < event->atomic_first + event->atomic_count; i++) {
		const struct plan_atomic *atomic = &run->plan.atomics[event->win].list[i];

		atomic_operate(run, atomic, run->operands + board_place(event->win, atomic->slot));
	}
}

/* Before the end of a phase: results go to the owners of the elements. */
static void report(struct run *run)
{
	const struct plan_atomics *all = &run->plan.atomics[run->event.win];
	oriel_win *board = run->job->board;

	for (int i = 0; i < all->count; i++) {
		const struct plan_atomic *atomic = &all->list[i];
		size_t at = board_place(run->event.win, atomic->slot), size_bytes = (size_t)atomic->count * BOARD_SLOT_BYTES;

		if (atomic->origin == run->job->rank)
			must(run, oriel_put(board, run->seen + at, size_bytes, atomic->target, at), "oriel_put");
	}
	must(run, oriel_win_flush(board, ORIEL_RANK_ALL), "oriel_win_flush");
}

/* Describes how an operation has changed an element of an arena, from its result. */
static void make_edge(const struct run *run, const struct plan_atomic *atomic, int element, struct serial_edge *edge)
{
	const struct plan_arena *arena = &run->plan.win[run->event.win].arena[atomic->target];
	const uint8_t *seen = run->job->board_bytes + board_place(run->event.win, atomic->slot);
	uint8_t operands[PLAN_ARENA_MAX * ELEMENT_LARGEST];
	size_t each = elements_bytes(arena->type), at = (size_t)(element - atomic->first) * each;

	memset(edge, 0, sizeof(*edge));
	memcpy(edge->from, seen + at, each);
	memcpy(edge->to, seen + at, each);
	elements_fill(arena->type, operands, (size_t)atomic->count * each, atomic->seed);
	if (atomic->family != FAMILY_COMPARE_AND_SWAP || memcmp(seen, seen + ELEMENT_LARGEST, each) == 0)
		elements_apply(arena->type, atomic->combine, edge->to, operands + at);
}

/* The element's operations: as edges; or their total, onto *total. Gives their number. */
static int gather(const struct run *run, int element, struct serial_edge *edges, uint8_t *total)
{
	const struct plan_atomics *all = &run->plan.atomics[run->event.win];
	const struct plan_arena *arena = &run->plan.win[run->event.win].arena[run->job->rank];
	uint8_t operands[PLAN_ARENA_MAX * ELEMENT_LARGEST];
	size_t each = elements_bytes(arena->type);
	int count = 0;

	for (int i = 0; i < all->count; i++) {
		const struct plan_atomic *atomic = &all->list[i];

		if (atomic->target != run->job->rank || element - atomic->first < 0 || element - atomic->first >= atomic->count)
			continue;
		elements_fill(arena->type, operands, (size_t)atomic->count * each, atomic->seed);
		if (arena->total)
			elements_apply(arena->type, atomic->combine, total, operands + (size_t)(element - atomic->first) * each);
		else
			make_edge(run, atomic, element, &edges[count++]);
	}
	return count;
}

static void check_element(struct run *run, int element, const uint8_t *first, const uint8_t *last)
{
	const struct plan_arena *arena = &run->plan.win[run->event.win].arena[run->job->rank];
	static struct serial_edge edges[PLAN_ATOMICS_MAX];
	size_t each = elements_bytes(arena->type), at = (size_t)element * each;
	uint8_t from[ELEMENT_LARGEST] = { 0 }, to[ELEMENT_LARGEST] = { 0 };
	char text[LINE_BYTES + 200];
	int count;

	memcpy(from, first + at, each);
	memcpy(to, last + at, each);
	count = gather(run, element, edges, from);
	if (arena->total ? memcmp(from, to, each) == 0 : serial_order_exists(edges, count, from, to))
		return;
	run->differences++;
	describe(run, text, sizeof(text));
	printf("not ok %s: no order of %d operations of type %d%s explains element %d at window offset %zu\n", text, count,
	       (int)arena->type, arena->total ? " (a total)" : "", element,
	       arena->range.offset + at - run->plan.win[run->event.win].part[run->job->rank].range.offset);
	fflush(stdout);
}

/* No rank uses the elements any more: checks them, and stores what the model knows. */
static void close_arena(struct run *run)
{
	const struct plan_arena *arena = &run->plan.win[run->event.win].arena[run->job->rank];
	uint8_t first[PLAN_ARENA_MAX * ELEMENT_LARGEST], *now;

	must(run, oriel_win_sync(run->win[run->event.win]), "oriel_win_sync");
	must(run, oriel_win_sync(run->job->board), "oriel_win_sync");
	if (arena->count == 0)
		return;
	now = run->bytes[arena->range.region] + arena->range.offset;
	elements_fill(arena->type, first, arena->range.size_bytes, arena->seed);
	for (int i = 0; i < arena->count; i++)
		check_element(run, i, first, now);
	elements_fill(arena->type, now, arena->range.size_bytes, ~arena->seed);
}

/* Locks. */

static bool is_member(const struct run *run, int w)
{
	const struct plan_win *win = &run->plan.win[w];

	for (int i = 0; i < win->count; i++) {
		if (win->members[i] == run->job->rank)
			return true;
	}
	return false;
}

static void begin_phase(struct run *run)
{
	const struct plan_arena *arena = &run->plan.win[run->event.win].arena[run->job->rank];
	const struct plan_part *part = &run->plan.win[run->event.win].part[run->job->rank];

	if (is_member(run, run->event.win) && part->block.size_bytes > 0)
		plan_block_fill(run->bytes[part->block.region] + part->block.offset, part->block_count);
	if (is_member(run, run->event.win) && arena->count > 0)
		elements_fill(arena->type, run->bytes[arena->range.region] + arena->range.offset, arena->range.size_bytes,
		              arena->seed);
	must(run, oriel_barrier(run->job->handle), "oriel_barrier");
}

static void end_phase(struct run *run)
{
	bool atomics = run->plan.atomics[run->event.win].count > 0;

	if (atomics)
		report(run);
	must(run, oriel_barrier(run->job->handle), "oriel_barrier");
	if (is_member(run, run->event.win))
		close_arena(run);
	if (atomics)
		must(run, oriel_barrier(run->job->handle), "oriel_barrier");
	if (!is_member(run, run->event.win))
		return;
	must(run, oriel_win_sync(run->win[run->event.win]), "oriel_win_sync");
	finish_ops(run);
	compare_window(run);
}

static void lock(struct run *run)
{
	const struct event *event = &run->event;
	enum oriel_lock_type type = event->exclusive ? ORIEL_LOCK_EXCLUSIVE : ORIEL_LOCK_SHARED;

	must(run,
	     oriel_win_lock(run->win[event->win], type, member(run, event->win, event->target),
	                    event->assertions[event->rank]),
	     "oriel_win_lock");
}

static void unlock(struct run *run)
{
	must(run, oriel_win_unlock(run->win[run->event.win], member(run, run->event.win, run->event.target)),
	     "oriel_win_unlock");
	finish_ops(run);
}

/* The block is whole; with the exclusive lock it becomes the next one, in two steps. */
static void visit_block(struct run *run, uint8_t block[PLAN_BLOCK_BYTES])
{
	const struct plan_part *part = &run->plan.win[run->event.win].part[run->event.target];
	size_t at = base_disp(run, run->event.win, run->event.target) +
	            (part->block.offset - part->range.offset) / part->unit,
		   half = PLAN_BLOCK_BYTES / 2;
	int target = member(run, run->event.win, run->event.target);
	oriel_win *win = run->win[run->event.win];
	uint64_t count;

	must(run, oriel_get(win, block, PLAN_BLOCK_BYTES, target, at), "oriel_get");
	must(run, oriel_win_flush(win, target), "oriel_win_flush");
	memcpy(&count, block, sizeof(count));
	if (!plan_block_is_whole(block))
		stop(run, "the block under the lock is torn, count %llu", (unsigned long long)count);
	if (!run->event.exclusive)
		return;
	plan_block_fill(block, count + 1);
	must(run, oriel_put(win, block, half / part->unit * part->unit, target, at), "oriel_put");
	sched_yield();
	must(run,
	     oriel_put(win, block + half / part->unit * part->unit, PLAN_BLOCK_BYTES - half / part->unit * part->unit,
	               target, at + half / part->unit),
	     "oriel_put");
}

static void section(struct run *run)
{
	const struct plan_win *win = &run->plan.win[run->event.win];
	uint8_t block[PLAN_BLOCK_BYTES];

	lock(run);
	if (win->part[run->event.target].block.size_bytes > 0)
		visit_block(run, block);
	for (int i = 0; i < run->event.section_count; i++)
		operate(run, run->event.section[i]);
	atomics(run);
	unlock(run);
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
	case EVENT_REATTACH:
		reattach(run);
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
		operate(run, run->event.op);
		break;
	case EVENT_ATOMICS:
		atomics(run);
		break;
	case EVENT_FLUSH:
		flush(run);
		break;
	case EVENT_IFLUSH:
		iflush(run);
		break;
	case EVENT_COMPLETE:
		must(run, oriel_win_complete(run->win[event->win]), "oriel_win_complete");
		finish_ops(run);
		break;
	case EVENT_PHASE:
		begin_phase(run);
		break;
	case EVENT_PHASE_END:
		end_phase(run);
		break;
	case EVENT_LOCK:
		lock(run);
		break;
	case EVENT_UNLOCK:
		unlock(run);
		break;
	case EVENT_LOCK_ALL:
		must(run, oriel_win_lock_all(run->win[event->win], event->assertions[event->rank]), "oriel_win_lock_all");
		break;
	case EVENT_UNLOCK_ALL:
		must(run, oriel_win_unlock_all(run->win[event->win]), "oriel_win_unlock_all");
		finish_ops(run);
		break;
	case EVENT_SECTION:
		section(run);
		break;
	case EVENT_TEST:
		test_once(run);
		break;
	case EVENT_WAIT:
		close_exposure(run);
		break;
	case EVENT_SIGNAL_WAIT:
		signal_wait(run);
		break;
	case EVENT_REQUEST_TEST:
		request_test(run);
		break;
	case EVENT_REQUEST_WAIT:
		request_wait(run);
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
		if (mine && (run->event.kind == EVENT_FREE || run->event.kind == EVENT_REATTACH))
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
