// SPDX-License-Identifier: BSD-2-Clause
/*
 * random.c FIRST COUNT free|racy|sizes - random programs of oriel.h without a race, or with one each
 *
 * Each seed has a window "seed N" of its own, and some phases. In a phase each cell of each rank's
 * memory belongs to one rank, which puts, gets and accumulates there, or is read by all, or is
 * summed up by all. The seed chooses the call that ends a phase: flush and barrier, fence, start
 * and post, an exclusive lock, or a signal. In form `racy` one of these is left out, between two
 * phases in which different ranks put to cell 0 of rank 0; all other orders stay. "seed N may be
 * hidden" is printed where that is a barrier behind a flush: the owner of a cell may poll it.
 *
 * Compiled with LOADS, a rank loads and stores its own cells, in place of put and get. All values
 * have 16 bytes then, since a smaller one may be a flag. A fetch may still learn of an access, so
 * that its race is not reported.
 *
 * In form `sizes` two ranks put pieces of any size to a third one. Those of half of the seeds touch,
 * or share a byte. "seed N races" is printed for each seed of which the puts share one.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oriel.h"

#define CELLS 16
#ifdef LOADS
enum { HAS_LOADS = 1, CELL_BYTES = 16 };
#else
enum { HAS_LOADS = 0, CELL_BYTES = 8 };
#endif
#define PHASES 6
#define OPERATIONS 6
#define NONE_LEFT_OUT (-2)

enum way { WAY_FLUSH, WAY_FENCE, WAY_EPOCH, WAY_LOCK, WAY_SIGNAL, WAYS };
enum use { USE_OWNED, USE_READ, USE_SUMMED };

static volatile size_t cell_bytes = CELL_BYTES; /* no copy becomes instructions, which are not seen */
static oriel_job *job;
static oriel_group *world;
static oriel_win *win;
static int rank, size;
static char name[32];  /* of the window */
static char *memory;   /* of it, at this rank */
static uint64_t state; /* of the generator; the same on all ranks */
static uint64_t buffers[PHASES][OPERATIONS + 1][4];

static uint32_t draw(uint32_t limit)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ z >> 31) % limit);
}

static void must(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, oriel_last_error());
	exit(1);
}

/* A phase's random choices. All ranks make the same. */
struct phase {
	int first; /* that puts to cell 0 of rank 0 */
	enum use use[CELLS];
	int owner[CELLS];
};

static struct phase draw_phase(int number)
{
	struct phase phase = { .first = number % size };

	for (int i = 0; i < CELLS; i++) {
		phase.use[i] = (enum use)draw(3);
		phase.owner[i] = (int)draw((uint32_t)size);
	}
	return phase;
}

/* To cell 0 of rank 0. */
static void put_first(void *buffer)
{
	if (!HAS_LOADS || rank != 0)
		must(oriel_put(win, buffer, CELL_BYTES, 0, 0)); /* RACE */
	else
		memcpy(memory, buffer, cell_bytes); /* RACE */
}

/* An operation on a cell, which its use allows to this rank. */
static void operate(const struct phase *phase, int target, int cell, uint64_t *buffer, uint32_t kind)
{
	size_t disp = (size_t)cell * CELL_BYTES;
	bool here = HAS_LOADS && target == rank;

	if (phase->use[cell] == USE_SUMMED && kind % 2)
		must(oriel_accumulate(win, buffer, CELL_BYTES / 8, ORIEL_UINT64, ORIEL_SUM, target, disp));
	else if (phase->use[cell] == USE_SUMMED && HAS_LOADS)
		must(oriel_get_accumulate(win, buffer, buffer + 2, 2, ORIEL_UINT64, ORIEL_SUM, target, disp));
	else if (phase->use[cell] == USE_SUMMED)
		must(oriel_fetch_and_op(win, buffer, buffer + 1, ORIEL_UINT64, ORIEL_SUM, target, disp));
	else if (phase->use[cell] == USE_READ && here)
		memcpy(buffer, memory + disp, cell_bytes);
	else if (phase->use[cell] == USE_READ)
		must(oriel_get(win, buffer, CELL_BYTES, target, disp));
	else if (phase->owner[cell] == rank && kind % 2 && here)
		memcpy(memory + disp, buffer, cell_bytes);
	else if (phase->owner[cell] == rank && kind % 2)
		must(oriel_put(win, buffer, CELL_BYTES, target, disp));
	else if (phase->owner[cell] == rank && here)
		memcpy(buffer, memory + disp, cell_bytes);
	else if (phase->owner[cell] == rank)
		must(oriel_get(win, buffer, CELL_BYTES, target, disp));
}

/* Cells of a target, each once: operations of one origin do not order each other. */
static void operate_all(const struct phase *phase, int number, bool one_target)
{
	uint64_t(*buffer)[4] = buffers[number];

	for (int i = 1; i <= OPERATIONS; i++) {
		uint32_t target = one_target ? 0 : draw((uint32_t)size), cell = 1 + draw(2) + 2 * (uint32_t)i, kind = draw(2);

		operate(phase, (int)target, (int)cell, buffer[i], kind);
	}
	if (phase->first == rank)
		put_first(buffer[0]);
}

/* ---- ways to end a phase; `left_out`: one part is missing ---- */

static void run_flush(int phases, int left_out)
{
	bool without_barrier = draw(2);

	if (rank == 0 && left_out >= 0 && (without_barrier || (HAS_LOADS && left_out % size == 0))) /* no flush is needed */
		printf("%s may be hidden\n", name);
	must(oriel_win_lock_all(win, 0));
	for (int i = 0; i < phases; i++) {
		struct phase phase = draw_phase(i);

		operate_all(&phase, i, false);
		if (i != left_out || without_barrier)
			must(oriel_win_flush(win, ORIEL_RANK_ALL));
		if (i != left_out || !without_barrier)
			must(oriel_barrier(job));
	}
	must(oriel_win_unlock_all(win));
}

static void run_fence(int phases, int left_out)
{
	must(oriel_win_fence(win, ORIEL_MODE_NOPRECEDE));
	for (int i = 0; i < phases; i++) {
		struct phase phase = draw_phase(i);

		operate_all(&phase, i, false);
		if (i != left_out)
			must(oriel_win_fence(win, 0));
	}
}

/* Rank 0 is the target of all. Without its wait an epoch says nothing of the one before. */
static void run_epoch(int phases, int left_out)
{
	int zero = 0;
	oriel_group *target;

	must(oriel_group_incl(world, 1, &zero, &target));
	for (int i = 0; i < phases; i++) {
		struct phase phase = draw_phase(i);

		if (rank == 0 && i - 1 != left_out)
			must(oriel_win_post(win, world, 0));
		if (i - 1 != left_out)
			must(oriel_win_start(win, target, 0));
		operate_all(&phase, i, true);
		if (i == left_out)
			continue;
		must(oriel_win_complete(win));
		if (rank == 0)
			must(oriel_win_wait(win));
	}
	must(oriel_group_free(&target));
}

/* Only cell 0 of rank 0, which all ranks put to in any order. */
static void run_lock(int phases, int left_out)
{
	for (int i = 0; i < phases; i++) {
		must(oriel_win_lock(win, left_out >= 0 ? ORIEL_LOCK_SHARED : ORIEL_LOCK_EXCLUSIVE, 0, 0));
		put_first(buffers[i][0]);
		must(oriel_win_unlock(win, 0));
	}
}

/* A token goes round: rank r puts to rank 0 behind rank r - 1, which has signalled. */
static void run_signal(int phases, int left_out)
{
	uint64_t value;
	uint32_t which;

	must(oriel_win_lock_all(win, 0));
	for (int i = 0; i < phases; i++) {
		int next = (i + 1) % size;

		if (rank == i % size) {
			if (i == left_out && next != rank)
				must(oriel_signal(win, next, 0, 1, ORIEL_SIGNAL_ADD));
			put_first(buffers[i][0]);
			if (i != left_out || next == rank)
				must(oriel_win_flush(win, 0));
			if (i != left_out && next != rank)
				must(oriel_signal(win, next, 0, 1, ORIEL_SIGNAL_ADD));
		} else if (rank == next) {
			must(oriel_signal_wait(win, 0, 1, &which, &value));
		}
	}
	must(oriel_win_unlock_all(win));
}

static void (*const ways[WAYS])(int phases, int left_out) = {
	[WAY_FLUSH] = run_flush, [WAY_FENCE] = run_fence,   [WAY_EPOCH] = run_epoch,
	[WAY_LOCK] = run_lock,   [WAY_SIGNAL] = run_signal,
};

/* ---- puts of any size ---- */

#define LARGE_BYTES (12u << 20) /* of the memory that is put to */

/* Pieces at one distance. */
struct spread {
	size_t first, bytes, distance;
	int count;
};

static size_t end_of(const struct spread *spread)
{
	return spread->first + (size_t)(spread->count - 1) * spread->distance + spread->bytes;
}

static struct spread draw_spread(void)
{
	static const int counts[] = { 1, 1, 3, 100 };
	struct spread spread = { .count = counts[draw(4)] };

	spread.bytes = 1 + draw(1u << draw(23)) / (uint32_t)spread.count;
	spread.distance = spread.bytes + 1 + draw((uint32_t)spread.bytes);
	spread.first = draw(LARGE_BYTES / 4);
	return spread;
}

/* Returns pieces that begin where the others end, or one byte before. */
static struct spread draw_neighbour(const struct spread *other)
{
	struct spread spread = draw_spread();

	spread.first = end_of(other) - draw(2);
	return spread;
}

static bool share_a_byte(const struct spread *a, const struct spread *b)
{
	for (int i = 0; i < a->count; i++) {
		for (int k = 0; k < b->count; k++) {
			size_t of_a = a->first + (size_t)i * a->distance, of_b = b->first + (size_t)k * b->distance;

			if (of_a < of_b + b->bytes && of_b < of_a + a->bytes)
				return true;
		}
	}
	return false;
}

static void put_spread(const struct spread *spread)
{
	static uint8_t memory[LARGE_BYTES];
	struct oriel_origin_piece origin = { memory, spread->bytes * (size_t)spread->count };
	struct oriel_target_piece target[100];

	for (int i = 0; i < spread->count; i++)
		target[i] = (struct oriel_target_piece){ spread->first + (size_t)i * spread->distance, spread->bytes };
	must(oriel_putv(win, &origin, 1, 2, target, spread->count));
}

static void run_sizes(uint64_t seed)
{
	const struct oriel_hint hints[] = { { "name", name }, { NULL, NULL } };
	struct spread spreads[2];
	void *base;

	state = seed * 0x2545f4914f6cdd1du;
	snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
	spreads[0] = draw_spread();
	spreads[1] = draw(2) ? draw_neighbour(&spreads[0]) : draw_spread();
	must(oriel_win_allocate(rank == 2 ? 4 * LARGE_BYTES : 0, 1, hints, world, &base, &win));
	must(oriel_win_lock_all(win, 0));
	if (rank <= 1)
		put_spread(&spreads[rank]);
	must(oriel_win_unlock_all(win));
	must(oriel_win_free(&win));
	if (rank == 0 && share_a_byte(&spreads[0], &spreads[1]))
		printf("%s races\n", name);
}

/* ---- running them ---- */

static void run(uint64_t seed, bool racy)
{
	const struct oriel_hint hints[] = { { "signals", "1" }, { "name", name }, { NULL, NULL } };
	void *base;
	int phases, left_out;

	state = seed * 0x2545f4914f6cdd1du;
	snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
	phases = 2 + (int)draw(PHASES - 1);
	left_out = (int)draw((uint32_t)phases - 1);
	must(oriel_win_allocate(CELLS * CELL_BYTES, 1, hints, world, &base, &win));
	memory = base;
	ways[seed % WAYS](phases, racy ? left_out : NONE_LEFT_OUT);
	must(oriel_barrier(job));
	must(oriel_win_free(&win));
}

int main(int argc, char **argv)
{
	unsigned long long first, count;

	if (argc != 4 || oriel_init(NULL, &job))
		return 2;
	first = strtoull(argv[1], NULL, 10);
	count = strtoull(argv[2], NULL, 10);
	rank = oriel_rank(job);
	size = oriel_size(job);
	must(oriel_group_world(job, &world));
	for (unsigned long long seed = first; seed < first + count; seed++) {
		if (strcmp(argv[3], "sizes") == 0)
			run_sizes(seed);
		else
			run(seed, strcmp(argv[3], "racy") == 0);
	}
	must(oriel_group_free(&world));
	must(oriel_finalize(&job));
	return 0;
}
