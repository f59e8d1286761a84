// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_loads.c CASE racy|free - MPI programs with a race of a load or store, and nearly the same ones without
 *
 * It is compiled with -fsanitize=thread. Each case is for four ranks. Where it has a race, both
 * accesses stand in lines with the mark RACE; tests/check/run looks for exactly these. Rank 2 owns
 * the memory, if nothing else is said. Values have 16 bytes: a smaller one may be a flag.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "mpi_pair.h"

#define VALUE 16

static volatile uint8_t sink;
static uint8_t result[BYTES];

static void put(int target, MPI_Aint disp)
{
	MPI_Put(buffer, VALUE, MPI_BYTE, target, disp, VALUE, MPI_BYTE, win); /* RACE */
}

static void flushed_put(int target)
{
	put(target, 0);
	MPI_Win_flush(target, win);
}

static void load(void)
{
	sink = base[0]; /* RACE */
}

/* Another epoch than that of lock_all. */
static void end_lock_all(void)
{
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void begin_lock_all(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
}

static MPI_Group group_of(int member)
{
	MPI_Group all, one;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &member, &one);
	MPI_Group_free(&all);
	return one;
}

/* ---- each pair of operations: an operation and a load or store, without and with order ---- */

static void order(void)
{
	if (rank == 0)
		MPI_Win_flush(2, win);
	if (!racy)
		MPI_Barrier(MPI_COMM_WORLD);
}

static void K7_put_and_load(void)
{
	if (rank == 0)
		put(2, 0);
	order();
	if (rank == 2)
		load();
}

static void K7_put_and_store(void)
{
	if (rank == 0)
		put(2, 0);
	order();
	if (rank == 2)
		base[VALUE - 1] = 1; /* RACE */
}

static void K7_get_and_store(void)
{
	if (rank == 0)
		MPI_Get(result, VALUE, MPI_BYTE, 2, 0, VALUE, MPI_BYTE, win); /* RACE */
	order();
	if (rank == 2)
		base[3] = 1; /* RACE */
}

static void K7_accumulate_and_load(void)
{
	static uint64_t ones[2] = { 1, 1 };

	if (rank == 0)
		MPI_Accumulate(ones, 2, MPI_UINT64_T, 2, 0, 2, MPI_UINT64_T, MPI_SUM, win); /* RACE */
	order();
	if (rank == 2)
		load();
}

static void K7_accumulate_and_store(void)
{
	static uint64_t one = 1;

	if (rank == 0)
		MPI_Accumulate(&one, 1, MPI_UINT64_T, 2, 0, 1, MPI_UINT64_T, MPI_SUM, win); /* RACE */
	order();
	if (rank == 2)
		*(uint64_t *)base = 0; /* RACE */
}

static void K7_read_atomically_and_load(void)
{
	static uint64_t results[2];
	MPI_Datatype word = MPI_UINT64_T;

	if (rank == 0)
		MPI_Get_accumulate(NULL, 0, word, results, 2, word, 2, 0, 2, word, MPI_NO_OP, win); /* RACE */
	order();
	if (rank == 2 && racy)
		base[9] = 1; /* RACE */
	if (rank == 2 && !racy)
		sink = base[9];
}

/* ---- bytes ---- */

static void K8_last_byte(void)
{
	if (rank == 0)
		put(2, 7);
	if (rank == 2)
		sink = base[racy ? 7 + VALUE - 1 : 7 + VALUE]; /* RACE */
}

static void K8_column(void)
{
	MPI_Datatype column;

	MPI_Type_vector(4, 4, 16, MPI_BYTE, &column);
	MPI_Type_commit(&column);
	if (rank == 0)
		MPI_Put(buffer, 1, column, 2, 0, 1, column, win); /* RACE */
	if (rank == 2) {
		for (int row = 0; row < 4; row++)
			for (int i = 4; i < (racy ? 17 : 16); i++)
				base[16 * row + i] = 1; /* RACE */
	}
	MPI_Type_free(&column);
}

/* ---- completion ---- */

static void K9_flush_local(void)
{
	if (rank == 0) {
		put(2, 0);
		if (racy)
			MPI_Win_flush_local(2, win);
		else
			MPI_Win_flush(2, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2)
		load();
}

static void K9_load_before_wait(void)
{
	MPI_Group group = group_of(rank == 0 ? 2 : 0);

	end_lock_all();
	if (rank == 2)
		MPI_Win_post(group, 0, win);
	if (rank == 0) {
		MPI_Win_start(group, 0, win);
		put(2, 0);
		MPI_Win_complete(win);
	}
	if (rank == 2 && racy)
		load();
	if (rank == 2)
		MPI_Win_wait(win);
	if (rank == 2 && !racy)
		load();
	MPI_Group_free(&group);
	begin_lock_all();
}

static void K9_store_before_post(void)
{
	MPI_Group group = group_of(rank == 0 ? 2 : 0);

	end_lock_all();
	if (rank == 2 && !racy)
		base[0] = 1;
	if (rank == 2)
		MPI_Win_post(group, 0, win);
	if (rank == 2 && racy)
		base[0] = 1; /* RACE */
	if (rank == 0) {
		MPI_Win_start(group, 0, win);
		put(2, 0);
		MPI_Win_complete(win);
	}
	if (rank == 2)
		MPI_Win_wait(win);
	MPI_Group_free(&group);
	begin_lock_all();
}

static void K9_load_before_fence(void)
{
	end_lock_all();
	MPI_Win_fence(0, win);
	if (rank == 0)
		put(2, 0);
	if (rank == 2 && racy)
		load();
	MPI_Win_fence(0, win);
	if (rank == 2 && !racy)
		load();
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	begin_lock_all();
}

static void K9_fence_of_another_window(void)
{
	MPI_Win other;

	end_lock_all();
	MPI_Win_create(base, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
	MPI_Win_set_name(other, "other");
	MPI_Win_fence(0, win);
	MPI_Win_fence(0, other);
	if (rank == 0)
		put(2, 0);
	if (!racy)
		MPI_Win_fence(0, win);
	MPI_Win_fence(0, other);
	if (rank == 2)
		load();
	MPI_Win_fence(0, other);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_free(&other);
	begin_lock_all();
}

static void K11_dynamic(void)
{
	static uint8_t memory[VALUE];
	MPI_Aint there = 0;
	MPI_Win dynamic;

	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
	MPI_Win_set_name(dynamic, window_name);
	MPI_Win_attach(dynamic, memory, VALUE);
	MPI_Get_address(memory, &there);
	MPI_Bcast(&there, 1, MPI_AINT, 2, MPI_COMM_WORLD);
	MPI_Win_lock_all(0, dynamic);
	if (rank == 0)
		MPI_Put(buffer, VALUE, MPI_BYTE, 2, there, VALUE, MPI_BYTE, dynamic); /* RACE */
	if (rank == 0 && !racy)
		MPI_Win_flush(2, dynamic);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2)
		sink = memory[1]; /* RACE */
	MPI_Win_unlock_all(dynamic);
	MPI_Barrier(MPI_COMM_WORLD); /* rank 0's put is complete, before rank 2 detaches */
	MPI_Win_detach(dynamic, memory);
	MPI_Win_free(&dynamic);
}

static void K11_oneself(void)
{
	if (rank != 2)
		return;
	put(2, 0);
	if (!racy)
		MPI_Win_flush(2, win);
	base[1] = 1; /* RACE */
	MPI_Win_flush(2, win);
}

/* ---- buffers ---- */

static void K9_source_is_overwritten(void)
{
	if (rank != 0)
		return;
	put(2, 0);
	if (!racy)
		MPI_Win_flush_local(2, win);
	buffer[5] = 1; /* RACE */
	MPI_Win_flush(2, win);
}

static void K9_result_is_read_early(void)
{
	if (rank != 0)
		return;
	MPI_Get(result, VALUE, MPI_BYTE, 2, 0, VALUE, MPI_BYTE, win); /* RACE */
	if (!racy)
		MPI_Win_flush(2, win);
	sink = result[5]; /* RACE */
	MPI_Win_flush(2, win);
}

/* The two sources are as far from each other as memory allows. */
static void K9_sources_far_from_each_other(void)
{
	static uint64_t compared, before;
	volatile uint64_t origin = 1;

	if (rank != 0)
		return;
	MPI_Compare_and_swap((void *)&origin, &compared, &before, MPI_UINT64_T, 2, 64, win); /* RACE */
	if (!racy)
		MPI_Win_flush(2, win);
	origin = 2; /* RACE */
	MPI_Win_flush(2, win);
}

static void K9_request(void)
{
	MPI_Request request;

	if (rank != 0)
		return;
	MPI_Rget(result, VALUE, MPI_BYTE, 2, 0, VALUE, MPI_BYTE, win, &request); /* RACE */
	if (!racy)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	sink = result[2]; /* RACE */
	if (racy)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void K9_result_of_accumulate(void)
{
	static uint64_t one = 1, before;

	if (rank != 0)
		return;
	MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, 2, 0, MPI_SUM, win); /* RACE */
	if (!racy)
		MPI_Win_flush(2, win);
	sink = (uint8_t)before; /* RACE */
	MPI_Win_flush(2, win);
}

static void put_of_stack(void) __attribute__((noinline));
static void overwrite_stack(void) __attribute__((noinline));
static void fill(uint8_t values[BYTES]) __attribute__((noinline));

static void fill(uint8_t values[BYTES])
{
	for (int i = 0; i < BYTES; i++)
		values[i] = (uint8_t)i; /* RACE */
}

static void put_of_stack(void)
{
	uint8_t values[BYTES];

	fill(values);
	MPI_Put(values, BYTES, MPI_BYTE, 2, 0, BYTES, MPI_BYTE, win); /* RACE */
	if (!racy)
		MPI_Win_flush(2, win);
}

static void overwrite_stack(void)
{
	uint8_t values[BYTES];

	fill(values);
	sink = values[0];
}

static void K9_stack_of_a_function_that_has_returned(void)
{
	if (rank != 0)
		return;
	put_of_stack();
	overwrite_stack();
	MPI_Win_flush(2, win);
}

/* ---- order ---- */

static void K12_exclusive_lock(void)
{
	end_lock_all();
	MPI_Win_lock(racy ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 2, 0, win);
	if (rank == 0)
		put(2, 0);
	if (rank == 2)
		base[0] = 1; /* RACE */
	MPI_Win_unlock(2, win);
	begin_lock_all();
}

static void K12_exclusive_lock_elsewhere(void)
{
	end_lock_all();
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
		put(2, 0);
		MPI_Win_unlock(2, win);
	}
	if (rank == 2) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, racy ? 1 : 2, 0, win);
		load();
		MPI_Win_unlock(racy ? 1 : 2, win);
	}
	begin_lock_all();
}

static void K12_message_of_a_third(void)
{
	if (rank == 0) {
		flushed_put(2);
		MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
	}
	if (rank == 1 && !racy)
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 1)
		MPI_Send(NULL, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD);
	if (rank == 1 && racy)
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 2) {
		MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		load();
	}
}

static void K13_load_before_ibarrier_ends(void)
{
	MPI_Request request;

	if (rank == 0)
		flushed_put(2);
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	if (rank == 2 && racy)
		load();
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == 2 && !racy)
		load();
}

static void K13_bcast_from(void)
{
	int value = 0;

	if (rank == 0)
		flushed_put(2);
	MPI_Bcast(&value, 1, MPI_INT, racy ? 2 : 0, MPI_COMM_WORLD);
	if (rank == 2)
		load();
}

static void K13_reduce_to(void)
{
	int value = 0, sum;

	if (rank == 0)
		flushed_put(2);
	MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, racy ? 1 : 2, MPI_COMM_WORLD);
	if (rank == 2)
		load();
}

static void K13_exscan_of(void)
{
	int value = 0, sum;

	if (rank == (racy ? 3 : 1))
		flushed_put(2);
	MPI_Exscan(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 2)
		load();
}

static void K13_barrier_without_the_origin(void)
{
	MPI_Comm part;

	MPI_Comm_split(MPI_COMM_WORLD, racy ? rank == 0 : 0, rank, &part);
	if (rank == 0)
		flushed_put(2);
	MPI_Barrier(part);
	if (rank == 2)
		load();
	MPI_Comm_free(&part);
}

/* ---- flags ---- */

static void K19_flag_of_an_accumulate(void)
{
	static uint64_t one = 1;

	if (rank == 0) {
		put(2, 0);
		if (!racy)
			MPI_Win_flush(2, win);
		MPI_Accumulate(&one, 1, MPI_UINT64_T, 2, 64, 1, MPI_UINT64_T, MPI_REPLACE, win);
		usleep(50000); /* rank 2 sees it, and goes on, before it is complete */
		MPI_Win_flush(2, win);
	}
	if (rank == 2) {
		while (*(volatile uint64_t *)(base + 64) == 0)
			MPI_Win_sync(win);
		load();
		*(uint64_t *)(base + 64) = 0;
		MPI_Win_flush(2, win);
	}
}

static void K19_flag_of_a_put(void)
{
	static uint64_t one = 1;

	if (rank == 0) {
		put(2, 0);
		if (!racy)
			MPI_Win_flush(2, win);
		MPI_Put(&one, 8, MPI_BYTE, 2, 64, 8, MPI_BYTE, win);
		MPI_Win_flush(2, win);
	}
	if (rank == 2) {
		while (*(volatile uint64_t *)(base + 64) == 0)
			MPI_Win_sync(win);
		load();
		*(uint64_t *)(base + 64) = 0;
	}
}

/* A flag of 16 bytes may be seen in parts. */
static void K19_flag_of_many_bytes(void)
{
	if (rank == 0) {
		memset(buffer, 1, VALUE);
		if (racy)
			put(2, 0);
		else
			MPI_Accumulate(buffer, 1, MPI_UINT64_T, 2, 0, 1, MPI_UINT64_T, MPI_REPLACE, win);
		MPI_Win_flush(2, win);
	}
	if (rank == 2) {
		while (*(volatile uint64_t *)base == 0) /* RACE */
			MPI_Win_sync(win);
	}
}

/* Rank 2 stores a flag, and makes no call until rank 0 has seen it, put, and answered. */
static void store_flag(void)
{
	*(volatile uint64_t *)(base + 64) = 1;
	while (*(volatile uint64_t *)(base + 72) == 0)
		continue;
	MPI_Win_flush(2, win);
}

static void await_flag(void)
{
	static uint64_t seen, none;

	for (seen = 0; seen == 0;) {
		MPI_Fetch_and_op(&none, &seen, MPI_UINT64_T, 2, 64, MPI_NO_OP, win);
		MPI_Win_flush(2, win);
	}
}

/* Rank 0 fetches it. Rank 1 knows of it by rank 0, and puts when rank 2 has made its next call. */
static void fetch_flag(void)
{
	static uint64_t one = 1;

	if (rank == 0) {
		await_flag();
		flushed_put(2);
		MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		MPI_Put(&one, 8, MPI_BYTE, 2, 72, 8, MPI_BYTE, win);
		MPI_Win_flush(2, win);
	}
	if (rank == 1) {
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		usleep(100000);
		flushed_put(2);
	}
}

static void store_late(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		put(2, 0);
	if (rank == 0 && !racy)
		MPI_Win_flush(2, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2)
		base[0] = 1; /* RACE */
}

static void K19_flag_that_is_fetched(void)
{
	if (rank == 2)
		base[0] = 1;
	if (rank == 2)
		store_flag();
	fetch_flag();
	store_late();
}

static void K19_flag_behind_a_call(void)
{
	if (rank == 2) {
		base[0] = 1;
		MPI_Win_flush(2, win);
		store_flag();
	}
	fetch_flag();
	store_late();
}

/* Rank 2 has stored the flag, and is asleep when rank 0 puts. */
static void K19_flag_without_an_answer(void)
{
	if (rank == 2) {
		base[0] = 1;
		*(volatile uint64_t *)(base + 64) = 1;
		usleep(100000);
		MPI_Win_flush(2, win);
	}
	if (rank == 0) {
		await_flag();
		put(2, 0);
	}
	if (rank == 0 && !racy)
		MPI_Win_flush(2, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2)
		base[0] = 1; /* RACE */
}

static void K22_atomic_words(void)
{
	static uint64_t ones[2] = { 1, 1 };

	if (rank == 0)
		MPI_Accumulate(ones, 2, MPI_UINT64_T, 2, 0, 2, MPI_UINT64_T, MPI_SUM, win); /* RACE */
	if (rank == 2 && !racy)
		atomic_fetch_add((_Atomic uint64_t *)base, 1);
	if (rank == 2 && racy)
		*(uint64_t *)base = 5; /* RACE */
}

/* ---- loads and stores of other members' parts ---- */

static MPI_Win shared;
static volatile uint8_t *there, *own_part; /* rank 2's part, and this rank's */

static void begin_shared(void)
{
	MPI_Aint size;
	int unit;

	MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own_part, &shared);
	MPI_Win_set_name(shared, "halo");
	MPI_Win_shared_query(shared, 2, &size, &unit, &there);
	MPI_Win_lock_all(0, shared);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void end_shared(void)
{
	if (rank == 3)
		flushed_put(0);
	MPI_Win_unlock_all(shared);
	MPI_Win_free(&shared);
}

static void store_there(void)
{
	for (int i = 0; i < VALUE; i++)
		there[i] = 1; /* RACE */
}

static void load_there(void)
{
	for (int i = 0; i < VALUE; i++)
		sink = there[i]; /* RACE */
}

static void K22_put_and_load_of_another(void)
{
	begin_shared();
	if (rank == 0)
		MPI_Put(buffer, VALUE, MPI_BYTE, 2, 0, VALUE, MPI_BYTE, shared); /* RACE */
	if (rank == 0 && !racy)
		MPI_Win_flush(2, shared);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		sink = there[3]; /* RACE */
	end_shared();
}

static void K22_store_and_load(void)
{
	begin_shared();
	if (rank == 0)
		store_there();
	if (!racy)
		MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		load_there();
	end_shared();
}

static void K22_stores_of_one_word(void)
{
	begin_shared();
	if (rank == 0 || (rank == 2 && racy))
		*(volatile uint64_t *)there = 1; /* RACE */
	end_shared();
}

static void K22_message_of_a_third(void)
{
	begin_shared();
	if (rank == 0)
		store_there();
	if (rank == 0 && !racy)
		MPI_Send(NULL, 0, MPI_BYTE, 3, 0, MPI_COMM_WORLD);
	if (rank == 3 && !racy)
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 3)
		MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Recv(NULL, 0, MPI_BYTE, 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		load_there();
	}
	end_shared();
}

static void K22_neighbour_without_query(void)
{
	int bytes = racy ? BYTES + VALUE : BYTES;

	begin_shared();
	if (rank == 0)
		store_there();
	if (rank == 1) {
		for (int i = 0; i < bytes; i++)
			own_part[i] = 1; /* RACE */
	}
	end_shared();
}

static void K22_exclusive_lock(void)
{
	begin_shared();
	MPI_Win_unlock_all(shared);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 3; i++) {
		if (rank < 2)
			MPI_Win_lock(racy ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 2, 0, shared);
		if (rank < 2)
			store_there();
		if (rank < 2)
			MPI_Win_unlock(2, shared);
	}
	MPI_Win_lock_all(0, shared);
	end_shared();
}

/* With a flag, of any sort, nothing is reported. */
static void K22_flag(void)
{
	begin_shared();
	if (rank == 0)
		store_there();
	if (rank == 0 && !racy)
		*(volatile uint64_t *)(there + 64) = 1;
	while (rank == 1 && !racy && !*(volatile uint64_t *)(there + 64))
		;
	if (rank == 1)
		load_there();
	end_shared();
}

static void K22_atomic_flag(void)
{
	_Atomic uint64_t *flag;

	begin_shared();
	flag = (_Atomic uint64_t *)(uintptr_t)(there + 64);
	if (rank == 0)
		store_there();
	if (rank == 0 && !racy)
		atomic_store_explicit(flag, 1, memory_order_release);
	while (rank == 1 && !racy && !atomic_load_explicit(flag, memory_order_acquire))
		;
	if (rank == 1)
		load_there();
	end_shared();
}

/* A relaxed atomic says that the value is there, and nothing of what was stored before. */
static void pass_by_atomic(memory_order store, memory_order load)
{
	_Atomic uint64_t *flag = (_Atomic uint64_t *)(uintptr_t)(there + 64);

	if (rank == 0) {
		store_there();
		atomic_store_explicit(flag, 1, store);
	}
	while (rank == 1 && !atomic_load_explicit(flag, load))
		;
	if (rank == 1)
		load_there();
}

static void K22_relaxed_flag(void)
{
	begin_shared();
	if (racy)
		pass_by_atomic(memory_order_relaxed, memory_order_relaxed);
	else
		pass_by_atomic(memory_order_release, memory_order_acquire);
	end_shared();
}

/* All members count what they do, which orders nothing. */
static void K22_relaxed_counter(void)
{
	_Atomic uint64_t *counter;

	begin_shared();
	counter = (_Atomic uint64_t *)(uintptr_t)(there + 64);
	if (rank == 0)
		store_there();
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
	if (!racy)
		MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		load_there();
	end_shared();
}

/* Each member has a lock of its own threads in its part, which orders no members. */
static void K22_atomics_of_each_member(void)
{
	begin_shared();
	if (rank == 0)
		store_there();
	if (!racy)
		MPI_Barrier(MPI_COMM_WORLD);
	atomic_fetch_add((_Atomic uint64_t *)(uintptr_t)(own_part + 64), 1);
	if (rank == 1)
		load_there();
	end_shared();
}

/* MPI_Win_sync orders what stands before and behind it. */
static void K22_relaxed_flag_behind_sync(void)
{
	_Atomic uint64_t *flag;

	begin_shared();
	flag = (_Atomic uint64_t *)(uintptr_t)(there + 64);
	if (rank == 0)
		store_there();
	if (rank == 0 && !racy) {
		MPI_Win_sync(shared);
		atomic_store_explicit(flag, 1, memory_order_relaxed);
	}
	while (rank == 1 && !racy && !atomic_load_explicit(flag, memory_order_relaxed))
		MPI_Win_sync(shared);
	if (rank == 1)
		load_there();
	end_shared();
}

static void K22_flag_that_is_put(void)
{
	static uint64_t one = 1;

	begin_shared();
	if (rank == 0)
		store_there();
	if (rank == 0 && !racy) {
		MPI_Put(&one, 8, MPI_BYTE, 2, 64, 8, MPI_BYTE, shared);
		MPI_Win_flush(2, shared);
	}
	while (rank == 1 && !racy && !*(volatile uint64_t *)(there + 64))
		;
	if (rank == 1)
		load_there();
	end_shared();
}

/* Rank 0 is asleep when rank 1 loads: what it has stored is recorded later. */
static void K22_flag_that_is_got(void)
{
	volatile uint64_t *flag = (volatile uint64_t *)(base + 64);
	uint64_t value = 0;

	begin_shared();
	if (rank == 0)
		store_there();
	if (rank == 0 && !racy) {
		*flag = 1;
		usleep(100000);
	}
	while (rank == 1 && !racy && !value) {
		MPI_Get(&value, 8, MPI_BYTE, 0, 64, 8, MPI_BYTE, win);
		MPI_Win_flush(0, win);
	}
	if (rank == 1)
		load_there();
	end_shared();
}

/* Flags that one line sets, and one line looks at: each is set behind a sync, or a fence. */
static void pass_rows(bool by_fence)
{
	volatile uint64_t *flags = (volatile uint64_t *)(uintptr_t)(there + 64);

	for (int row = 0; row < 4; row++) {
		if (rank == 0) {
			for (int i = 0; i < VALUE; i++)
				there[row * VALUE + i] = 1; /* RACE */
		}
		if (rank == 0 && by_fence)
			atomic_thread_fence(memory_order_release);
		else if (rank == 0)
			MPI_Win_sync(shared);
		if (rank == 0 && !racy)
			flags[row] = 1;
		while (rank == 1 && !racy && !flags[row])
			MPI_Win_sync(shared);
		if (rank == 1) {
			for (int i = 0; i < VALUE; i++)
				sink = there[row * VALUE + i]; /* RACE */
		}
	}
}

static void K22_flags_behind_sync(void)
{
	begin_shared();
	pass_rows(false);
	end_shared();
}

static void K22_flags_behind_a_fence(void)
{
	begin_shared();
	if (!racy)
		pass_rows(true);
	if (rank < 2 && racy)
		store_there();
	end_shared();
}

static void K22_mutex_of_processes(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t *mutex;

	begin_shared();
	mutex = (pthread_mutex_t *)(uintptr_t)(there + 128);
	pthread_mutexattr_init(&attributes);
	if (rank == 2 && !racy) {
		pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
		pthread_mutex_init(mutex, &attributes);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 3 && rank < 2; i++) {
		if (!racy)
			pthread_mutex_lock(mutex);
		store_there();
		if (!racy)
			pthread_mutex_unlock(mutex);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	end_shared();
}

/* ---- functions of the C library ---- */

static void K20_memcpy(void)
{
	volatile size_t bytes = racy ? 1 : 0;

	if (rank == 0)
		put(2, 0);
	if (rank == 2)
		memcpy(result, base + VALUE - bytes, 40 + bytes); /* RACE */
}

static void K20_memset(void)
{
	volatile size_t bytes = racy ? VALUE + 1 : VALUE;

	if (rank == 0)
		put(2, VALUE);
	if (rank == 2)
		memset(base, 1, bytes); /* RACE */
}

static void K20_strlen(void)
{
	size_t end = racy ? VALUE : VALUE - 1;

	if (rank == 2)
		memset(base, 1, end);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		put(2, VALUE);
	if (rank == 2)
		sink = (uint8_t)strlen((const char *)base); /* RACE */
}

/* ---- much between the halves of a race ---- */

static void K25_much_between(void)
{
	if (rank == 0)
		put(2, 0);
	for (int round = 0; round < 200; round++) {
		if (rank == 2) {
			for (int i = VALUE; i < BYTES; i++)
				base[i] = (uint8_t)(base[i] + 1);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 0 && !racy)
		MPI_Win_flush(2, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2)
		load();
}

/* ---- running them ---- */

static const struct check_case cases[] = {
	{ "K7_put_and_load", K7_put_and_load },
	{ "K7_put_and_store", K7_put_and_store },
	{ "K7_get_and_store", K7_get_and_store },
	{ "K7_accumulate_and_load", K7_accumulate_and_load },
	{ "K7_accumulate_and_store", K7_accumulate_and_store },
	{ "K7_read_atomically_and_load", K7_read_atomically_and_load },
	{ "K8_last_byte", K8_last_byte },
	{ "K8_column", K8_column },
	{ "K9_flush_local", K9_flush_local },
	{ "K9_load_before_wait", K9_load_before_wait },
	{ "K9_store_before_post", K9_store_before_post },
	{ "K9_load_before_fence", K9_load_before_fence },
	{ "K9_fence_of_another_window", K9_fence_of_another_window },
	{ "K11_dynamic", K11_dynamic },
	{ "K11_oneself", K11_oneself },
	{ "K9_source_is_overwritten", K9_source_is_overwritten },
	{ "K9_result_is_read_early", K9_result_is_read_early },
	{ "K9_sources_far_from_each_other", K9_sources_far_from_each_other },
	{ "K9_request", K9_request },
	{ "K9_result_of_accumulate", K9_result_of_accumulate },
	{ "K9_stack_of_a_function_that_has_returned", K9_stack_of_a_function_that_has_returned },
	{ "K12_exclusive_lock", K12_exclusive_lock },
	{ "K12_exclusive_lock_elsewhere", K12_exclusive_lock_elsewhere },
	{ "K12_message_of_a_third", K12_message_of_a_third },
	{ "K13_load_before_ibarrier_ends", K13_load_before_ibarrier_ends },
	{ "K13_bcast_from", K13_bcast_from },
	{ "K13_reduce_to", K13_reduce_to },
	{ "K13_exscan_of", K13_exscan_of },
	{ "K13_barrier_without_the_origin", K13_barrier_without_the_origin },
	{ "K19_flag_of_an_accumulate", K19_flag_of_an_accumulate },
	{ "K19_flag_of_a_put", K19_flag_of_a_put },
	{ "K19_flag_of_many_bytes", K19_flag_of_many_bytes },
	{ "K19_flag_that_is_fetched", K19_flag_that_is_fetched },
	{ "K19_flag_behind_a_call", K19_flag_behind_a_call },
	{ "K19_flag_without_an_answer", K19_flag_without_an_answer },
	{ "K22_atomic_words", K22_atomic_words },
	{ "K22_put_and_load_of_another", K22_put_and_load_of_another },
	{ "K22_store_and_load", K22_store_and_load },
	{ "K22_stores_of_one_word", K22_stores_of_one_word },
	{ "K22_message_of_a_third", K22_message_of_a_third },
	{ "K22_neighbour_without_query", K22_neighbour_without_query },
	{ "K22_exclusive_lock", K22_exclusive_lock },
	{ "K22_flag", K22_flag },
	{ "K22_atomic_flag", K22_atomic_flag },
	{ "K22_relaxed_flag", K22_relaxed_flag },
	{ "K22_relaxed_counter", K22_relaxed_counter },
	{ "K22_atomics_of_each_member", K22_atomics_of_each_member },
	{ "K22_relaxed_flag_behind_sync", K22_relaxed_flag_behind_sync },
	{ "K22_flag_that_is_put", K22_flag_that_is_put },
	{ "K22_flag_that_is_got", K22_flag_that_is_got },
	{ "K22_flags_behind_sync", K22_flags_behind_sync },
	{ "K22_flags_behind_a_fence", K22_flags_behind_a_fence },
	{ "K22_mutex_of_processes", K22_mutex_of_processes },
	{ "K20_memcpy", K20_memcpy },
	{ "K20_memset", K20_memset },
	{ "K20_strlen", K20_strlen },
	{ "K25_much_between", K25_much_between },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return pair_main(argc, argv, cases);
}
