// SPDX-License-Identifier: BSD-2-Clause
/* oriel.c - the turns of backend.h on Oriel's public calls */
#include <infiniband/verbs.h>
#include <oriel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/backend.h"

static oriel_job *job;
static oriel_group *world, *others; /* others: the hub's neighbours; a neighbour's hub */
static oriel_group *all_others;     /* all ranks except this one */
static oriel_win *win;
static oriel_mem *origin_mem;
static oriel_win *agree_win; /* one number of rank 0; its fences leave the epochs of `win` alone */
static int64_t *agreed;
static uint64_t *bases; /* each rank's address in a dynamic window; NULL: displacements from 0 */
static void *window_of_oriel, *origin_of_oriel; /* from oriel_alloc */
static enum perf_sync sync;

static int fail(const char *call)
{
	fprintf(stderr, "%s: %s\n", call, oriel_last_error());
	return 1;
}

/* Steps. */

static int start(const struct perf_turn *turn)
{
	(void)turn;
	return oriel_win_start(win, others, 0) ? fail("oriel_win_start") : 0;
}

static int complete(const struct perf_turn *turn)
{
	(void)turn;
	return oriel_win_complete(win) ? fail("oriel_win_complete") : 0;
}

static int post(const struct perf_turn *turn)
{
	(void)turn;
	return oriel_win_post(win, others, 0) ? fail("oriel_win_post") : 0;
}

static int await(const struct perf_turn *turn)
{
	(void)turn;
	return oriel_win_wait(win) ? fail("oriel_win_wait") : 0;
}

static int fence(void)
{
	return oriel_win_fence(win, 0) ? fail("oriel_win_fence") : 0;
}

static int flush_one(int target)
{
	return oriel_win_flush(win, target) ? fail("oriel_win_flush") : 0;
}

static int flush_all(void)
{
	return flush_one(ORIEL_RANK_ALL);
}

static size_t there(int to, size_t disp)
{
	return (bases ? (size_t)bases[to] : 0) + disp;
}

static int put(const struct perf_turn *turn, int to, size_t at)
{
	return oriel_put(win, turn->origin + at, turn->size_bytes, to, there(to, put_disp(turn, to) + at))
	           ? fail("oriel_put")
	           : 0;
}

static int get(const struct perf_turn *turn, int from, uint8_t *here, size_t at)
{
	return oriel_get(win, here, turn->size_bytes, from, there(from, get_disp(turn) + at)) ? fail("oriel_get") : 0;
}

static int lock(const struct perf_turn *turn, int to)
{
	enum oriel_lock_type type = turn->lock == LOCK_SHARED ? ORIEL_LOCK_SHARED : ORIEL_LOCK_EXCLUSIVE;

	return oriel_win_lock(win, type, to, 0) ? fail("oriel_win_lock") : 0;
}

static int unlock(const struct perf_turn *turn, int to)
{
	(void)turn;
	return oriel_win_unlock(win, to) ? fail("oriel_win_unlock") : 0;
}

static int accumulate(const struct perf_turn *turn, int to, size_t at)
{
	static const enum oriel_type types[] = {
		[TYPE_DOUBLE] = ORIEL_DOUBLE, [TYPE_CHAR] = ORIEL_INT8, [TYPE_LONG] = ORIEL_INT64
	};
	size_t count = turn->size_bytes / type_bytes(turn->type);

	return oriel_accumulate(win, turn->origin + at, count, types[turn->type], ORIEL_SUM, to,
	                        there(to, put_disp(turn, to) + at))
	           ? fail("oriel_accumulate")
	           : 0;
}

static int fetch_and_add(const struct perf_turn *turn, int to)
{
	struct perf_words *words = words_of(turn);

	return oriel_fetch_and_op(win, &words->operand, &words->result, ORIEL_INT64, ORIEL_SUM, to,
	                          there(to, word_disp(turn)))
	           ? fail("oriel_fetch_and_op")
	           : 0;
}

static int swap(const struct perf_turn *turn, int to)
{
	struct perf_words *words = words_of(turn);

	return oriel_compare_and_swap(win, &words->operand, &words->compare, &words->result, ORIEL_INT64, to,
	                              there(to, word_disp(turn)))
	           ? fail("oriel_compare_and_swap")
	           : 0;
}

static int put_signal(const struct perf_turn *turn, int to)
{
	(void)turn;
	return oriel_signal(win, to, 0, 1, ORIEL_SIGNAL_SET) ? fail("oriel_signal") : 0;
}

static int await_signal(const struct perf_turn *turn)
{
	uint64_t value;
	uint32_t signal;

	(void)turn;
	return oriel_signal_wait(win, 0, 1, &signal, &value) ? fail("oriel_signal_wait") : 0;
}

static void look(long spins)
{
	perf_spin(spins);
}

#include "backends/turns_acc.h"
#include "backends/turns_signal.h"

/* Exchanges puts between all ranks. */
static int exchange(const struct perf_turn *turn)
{
	if (oriel_win_post(win, all_others, 0) || oriel_win_start(win, all_others, 0))
		return fail("oriel_win_post, oriel_win_start");
	for (int rank = 0; rank <= turn->neighbours; rank++) {
		if (rank != turn->rank && put(turn, rank, 0))
			return 1;
	}
	return complete(turn) || await(turn);
}

/* Windows. */

static int win_create(const struct perf_turn *turn)
{
	oriel_win *made;

	if (oriel_win_create((void *)(uintptr_t)turn->window, turn->size_bytes, 1, NULL, world, &made))
		return fail("oriel_win_create");
	return oriel_win_free(&made) ? fail("oriel_win_free") : 0;
}

static int win_allocate(const struct perf_turn *turn)
{
	oriel_win *made;
	void *base;

	if (oriel_win_allocate(turn->size_bytes, 1, NULL, world, &base, &made))
		return fail("oriel_win_allocate");
	return oriel_win_free(&made) ? fail("oriel_win_free") : 0;
}

static int win_dynamic(const struct perf_turn *turn)
{
	void *memory = (void *)(uintptr_t)turn->window;
	oriel_win *made;

	if (oriel_win_create_dynamic(NULL, world, &made))
		return fail("oriel_win_create_dynamic");
	if (oriel_win_attach(made, memory, turn->size_bytes) || oriel_win_detach(made, memory))
		return fail("oriel_win_attach, or detach");
	return oriel_win_free(&made) ? fail("oriel_win_free") : 0;
}

static perf_turn_fn turn_of_windows(enum perf_pattern pattern)
{
	switch (pattern) {
	case PATTERN_WIN_CREATE:
		return win_create;
	case PATTERN_WIN_ALLOCATE:
		return win_allocate;
	case PATTERN_WIN_DYNAMIC:
		return win_dynamic;
	default:
		return NULL;
	}
}

static perf_turn_fn turn_of(enum perf_pattern pattern, enum perf_sync by)
{
	perf_turn_fn turn;

	if (pattern == PATTERN_EXCHANGE && by == SYNC_PSCW)
		return exchange;
	if (pattern == PATTERN_SIGNAL)
		return by == SYNC_FLUSH ? signal_lat : NULL;
	turn = turn_of_windows(pattern);
	if (turn)
		return turn;
	turn = by == SYNC_LOCK ? turn_of_locks(pattern) : turn_of_steps(pattern, by);
	return turn ? turn : turn_of_accumulates(pattern, by);
}

/* Joining. */

/* Returns true if `win` uses fence epochs. */
static bool fences(void)
{
	return sync == SYNC_FENCE || sync == SYNC_FLUSH;
}

static int barrier(void)
{
	if (fences())
		return fence(); /* with flush, it ends one long epoch and opens the next */
	return oriel_win_sync(win) || oriel_win_fence(agree_win, 0) ? fail("barrier") : 0;
}

static int agree(int64_t *value)
{
	int rc = barrier();

	for (int to = 1; rc == 0 && oriel_rank(job) == 0 && to < oriel_size(job); to++)
		rc = oriel_put(agree_win, value, sizeof(*value), to, 0) ? fail("oriel_put") : 0;
	if (rc || oriel_win_fence(agree_win, 0))
		return rc ? rc : fail("oriel_win_fence");
	if (oriel_rank(job) != 0)
		*value = *agreed;
	return barrier(); /* then all have read the number */
}

/* Makes the group of members first to last of world, except one. */
static int make_group(int first, int last, int without, oriel_group **group)
{
	int count = 0, *ranks = calloc((size_t)(last - first + 1), sizeof(ranks[0]));

	if (!ranks)
		return fprintf(stderr, "perf: no memory for a list of ranks\n"), 1;
	for (int rank = first; rank <= last; rank++) {
		if (rank != without)
			ranks[count++] = rank;
	}
	if (oriel_group_incl(world, count, ranks, group))
		count = -1;
	free(ranks);
	return count < 0 ? fail("oriel_group_incl") : 0;
}

static int make_groups(const struct perf_place *place)
{
	int last = place->size - 1;

	if (oriel_group_world(job, &world))
		return fail("oriel_group_world");
	if (make_group(0, last, place->rank, &all_others))
		return 1;
	return place->rank == 0 ? make_group(0, last, 0, &others) : make_group(0, 0, -1, &others);
}

/* Distributes each rank's address by a window of addresses. */
static int tell_bases(const struct perf_place *place)
{
	uint64_t mine = (uintptr_t)place->window;
	size_t bytes = (size_t)place->size * sizeof(mine);
	oriel_win *told;
	void *base;
	int rc;

	bases = malloc(bytes);
	if (!bases)
		return fprintf(stderr, "perf: no memory for %d addresses\n", place->size), 1;
	rc = oriel_win_allocate(bytes, sizeof(mine), NULL, world, &base, &told) || oriel_win_fence(told, 0);
	for (int to = 0; rc == 0 && to < place->size; to++)
		rc = oriel_put(told, &mine, sizeof(mine), to, (size_t)place->rank);
	if (rc || oriel_win_fence(told, ORIEL_MODE_NOSUCCEED))
		return fail("telling addresses");
	memcpy(bases, base, bytes);
	return oriel_win_free(&told) ? fail("oriel_win_free") : 0;
}

static int make_dynamic_window(const struct oriel_hint *hints, const struct perf_place *place)
{
	if (oriel_win_create_dynamic(hints, world, &win))
		return fail("oriel_win_create_dynamic");
	if (oriel_win_attach(win, place->window, place->window_bytes))
		return fail("oriel_win_attach");
	return tell_bases(place);
}

static int make_moved_window(const struct perf_place *place)
{
	static const struct oriel_hint hints[] = { { "signals", "1" }, { "share", "true" }, { NULL, NULL } };
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };

	if (oriel_win_create(place->window, place->window_bytes, 1, hints, world, &win) || oriel_win_query(win, &info))
		return fail("oriel_win_create");
	if (!info.share)
		fprintf(stderr,
		        "perf: the memory of -w share is not moved here, as with -w create; ORIEL_VERBOSE=1 tells why\n");
	return 0;
}

static int make_window(const struct perf_options *options, struct perf_place *place)
{
	static const struct oriel_hint hints[] = { { "signals", "1" }, { NULL, NULL } };
	void *base = NULL;

	switch (options->window) {
	case WINDOW_DYNAMIC:
		return make_dynamic_window(hints, place);
	case WINDOW_ALLOC_MEM:
		place->window = window_of_oriel = oriel_alloc(job, place->window_bytes);
		if (!place->window)
			return fail("oriel_alloc");
		break;
	case WINDOW_SHARE:
		return make_moved_window(place);
	case WINDOW_CREATE:
		break;
	case WINDOW_ALLOCATE:
		if (oriel_win_allocate(place->window_bytes, 1, hints, world, &base, &win))
			return fail("oriel_win_allocate");
		place->window = base;
		return 0;
	}
	return oriel_win_create(place->window, place->window_bytes, 1, hints, world, &win) ? fail("oriel_win_create") : 0;
}

static int make_windows(const struct perf_options *options, struct perf_place *place)
{
	void *base = NULL;

	if (oriel_win_allocate(sizeof(*agreed), 1, NULL, world, &base, &agree_win))
		return fail("oriel_win_allocate");
	agreed = base;
	if (make_window(options, place))
		return 1;
	if (options->memory == MEMORY_ALLOC_MEM) {
		place->origin = origin_of_oriel = oriel_alloc(job, place->origin_bytes);
		if (!place->origin)
			return fail("oriel_alloc");
	}
	if (options->memory == MEMORY_REGISTERED &&
	    oriel_mem_register(job, place->origin, place->origin_bytes, &origin_mem))
		return fail("oriel_mem_register");
	return oriel_win_fence(agree_win, 0) ? fail("oriel_win_fence") : 0;
}

/* Guesses the device for the report: the library does not report it, but there may be only one. */
static void tell_device(const struct perf_options *options, struct perf_place *place)
{
	const char *name = options->device ? options->device : getenv("ORIEL_DEVICE");
	struct ibv_device **list;
	int count = 0;

	if (name) {
		snprintf(place->device, sizeof(place->device), "%s", name);
		return;
	}
	list = ibv_get_device_list(&count);
	if (count <= 1)
		snprintf(place->device, sizeof(place->device), "%s", count == 1 ? ibv_get_device_name(list[0]) : "soft");
	if (list)
		ibv_free_device_list(list);
}

static int open_job(const struct perf_options *options, struct perf_place *place)
{
	struct oriel_options wanted = { .struct_bytes = sizeof(wanted), .device = options->device };

	sync = options->sync;
	if (oriel_init(&wanted, &job))
		return fail("oriel_init");
	place->rank = oriel_rank(job);
	place->size = oriel_size(job);
	tell_device(options, place);
	if (make_groups(place) || make_windows(options, place))
		return 1;
	if (sync == SYNC_LOCK_ALL)
		return oriel_win_lock_all(win, 0) ? fail("oriel_win_lock_all") : barrier();
	return fences() ? fence() : 0;
}

static int close_job(void)
{
	if (fences() && oriel_win_fence(win, ORIEL_MODE_NOSUCCEED))
		return fail("oriel_win_fence");
	if (sync == SYNC_LOCK_ALL && oriel_win_unlock_all(win))
		return fail("oriel_win_unlock_all");
	if (oriel_win_fence(agree_win, ORIEL_MODE_NOSUCCEED) || oriel_win_free(&agree_win) || oriel_win_free(&win))
		return fail("oriel_win_free");
	oriel_free(job, window_of_oriel);
	oriel_free(job, origin_of_oriel);
	free(bases);
	if (origin_mem && oriel_mem_deregister(&origin_mem))
		return fail("oriel_mem_deregister");
	oriel_group_free(&all_others);
	oriel_group_free(&others);
	oriel_group_free(&world);
	return oriel_finalize(&job) ? fail("oriel_finalize") : 0;
}

static const struct perf_refusal refusals[] = {
	{ "-Q", "Oriel asks for completions itself: every quarter of its queue, and for what somebody waits for" },
	{ "-I", "Oriel sends inline what the device allows, and copies somewhat larger operations" },
	{ "-l", "Oriel makes its lists of work requests itself: small puts leave together with the flag or the flush" },
	{ "-p", "Oriel's ports are chosen by the system, and told by the launcher" },
	{ NULL, NULL },
};

const struct perf_backend backend = {
	.name = "oriel",
	.refusals = refusals,
	.open = open_job,
	.barrier = barrier,
	.agree = agree,
	.turn = turn_of,
	.close = close_job,
};
