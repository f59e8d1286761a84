// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_misuse.c CASE wrong|right|fatal - MPI programs that misuse a call, and nearly the same ones that do not
 *
 * Each case is for four ranks, and has no race. Where it is wrong, the calls that a report names
 * stand in lines with the mark WRONG; tests/check/run looks for exactly these. `fatal` is wrong, and
 * errors of the window end the job.
 */
#include "mpi_cases.h"
#include "check/mpi_group.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static bool wrong;

static void put(int target)
{
	MPI_Put(buffer, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win); /* WRONG */
}

static void message(int from, int to)
{
	if (rank == from)
		MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD);
	if (rank == to)
		MPI_Recv(NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- requests ---- */

static void rput(int target)
{
	MPI_Request request;

	MPI_Rput(buffer, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win, &request); /* WRONG */
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void K24_request_in_fence(void)
{
	MPI_Win_fence(wrong ? 0 : MPI_MODE_NOSUCCEED, win); /* WRONG */
	if (rank == 0 && !wrong)
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
	if (rank == 0)
		rput(2);
	if (rank == 0 && !wrong)
		MPI_Win_unlock(2, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void K24_request_in_start(void)
{
	MPI_Group origin = group_of(0), target = group_of(2);

	if (rank == 2)
		MPI_Win_post(origin, 0, win);
	if (rank == 0) {
		MPI_Win_start(target, 0, win); /* WRONG */
		if (wrong)
			rput(2);
		MPI_Win_complete(win);
	}
	if (rank == 2)
		MPI_Win_wait(win);
	MPI_Group_free(&origin);
	MPI_Group_free(&target);
}

static void K26_request_not_complete(void)
{
	MPI_Request request;

	if (rank != 0)
		return;
	MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
	MPI_Rput(buffer, 8, MPI_BYTE, 2, 0, 8, MPI_BYTE, win, &request); /* WRONG */
	MPI_Win_unlock(2, win);
	if (!wrong)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- assertions ---- */

static void K25_noprecede(void)
{
	MPI_Win_fence(0, win);
	if (rank == 0 && wrong)
		put(2);
	MPI_Win_fence(MPI_MODE_NOPRECEDE, win); /* WRONG */
	if (rank == 0 && !wrong)
		put(2);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void K25_noprecede_of_some(void)
{
	MPI_Win_fence(wrong && rank == 3 ? 0 : MPI_MODE_NOPRECEDE, win); /* WRONG */
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void K25_noput_of_a_fence(void)
{
	MPI_Win_fence(rank == 2 ? MPI_MODE_NOPUT : 0, win); /* WRONG */
	if (rank == 0)
		put(wrong ? 2 : 1);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

/* The post comes before the put, or after it. */
static void noput_of_a_post(bool is_early)
{
	MPI_Group origin = group_of(0), target = group_of(2);

	if (rank == 2 && !is_early)
		message(0, 2);
	if (rank == 2) {
		MPI_Win_post(origin, MPI_MODE_NOPUT, win); /* WRONG */
		if (is_early)
			message(2, 0);
		MPI_Win_wait(win);
	}
	if (rank == 0) {
		if (is_early)
			message(2, 0);
		MPI_Win_start(target, 0, win);
		if (wrong)
			put(2);
		else
			MPI_Get(buffer, 8, MPI_BYTE, 2, 0, 8, MPI_BYTE, win);
		if (!is_early)
			message(0, 2);
		MPI_Win_complete(win);
	}
	MPI_Group_free(&origin);
	MPI_Group_free(&target);
}

static void K25_noput_of_an_early_post(void)
{
	noput_of_a_post(true);
}

static void K25_noput_of_a_late_post(void)
{
	noput_of_a_post(false);
}

static void K25_nocheck_of_a_start(void)
{
	MPI_Group origin = group_of(0), target = group_of(2);

	if (wrong && rank == 0)
		MPI_Win_start(target, MPI_MODE_NOCHECK, win); /* WRONG */
	message(0, 2);
	if (rank == 2)
		MPI_Win_post(origin, MPI_MODE_NOCHECK, win); /* WRONG */
	message(2, 0);
	if (!wrong && rank == 0)
		MPI_Win_start(target, MPI_MODE_NOCHECK, win);
	if (rank == 0)
		MPI_Win_complete(win);
	if (rank == 2)
		MPI_Win_wait(win);
	MPI_Group_free(&origin);
	MPI_Group_free(&target);
}

static void lock(int assertions)
{
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, assertions, win); /* WRONG */
}

/* Each of two ranks holds a lock, the second with NOCHECK. */
static void K25_nocheck_of_a_lock(void)
{
	if (rank == 0)
		lock(0);
	if (rank == 0 && !wrong)
		MPI_Win_unlock(2, win);
	message(0, 1);
	if (rank == 1) {
		lock(MPI_MODE_NOCHECK);
		MPI_Win_unlock(2, win);
	}
	message(1, 0);
	if (rank == 0 && wrong)
		MPI_Win_unlock(2, win);
}

static void K25_lock_beside_nocheck(void)
{
	if (rank == 0)
		MPI_Win_lock_all(MPI_MODE_NOCHECK, win); /* WRONG */
	if (rank == 0 && !wrong)
		MPI_Win_unlock_all(win);
	message(0, 1);
	if (rank == 1) {
		lock(0);
		MPI_Win_unlock(2, win);
	}
	message(1, 0);
	if (rank == 0 && wrong)
		MPI_Win_unlock_all(win);
}

/* ---- calls that are refused ---- */

static void K27_put_behind_an_epoch(void)
{
	if (rank != 0)
		return;
	MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
	if (!wrong)
		put(2);
	MPI_Win_unlock(2, win); /* WRONG */
	if (wrong)
		put(2);
}

/* The name of its symbol is that of void halo::swap<double>(double *, void (*)(int)) of C++. */
static void put_of_cxx(int target) __asm__("_ZN4halo4swapIdEEvPT_PFviE") __attribute__((noinline));

static void put_of_cxx(int target)
{
	MPI_Put(buffer, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win); /* WRONG */
}

static void K27_put_of_cxx(void)
{
	if (rank != 0)
		return;
	if (!wrong)
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
	put_of_cxx(2);
	if (!wrong)
		MPI_Win_unlock(2, win);
}

static void K27_put_before_any_epoch(void)
{
	if (rank == 0 && !wrong)
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
	if (rank == 0)
		put(2);
	if (rank == 0 && !wrong)
		MPI_Win_unlock(2, win);
}

static void K27_put_to_a_rank_that_start_does_not_name(void)
{
	MPI_Group origin = group_of(0), target = group_of(2);

	if (rank == 2)
		MPI_Win_post(origin, 0, win);
	if (rank == 0) {
		MPI_Win_start(target, 0, win); /* WRONG */
		put(wrong ? 1 : 2);
		MPI_Win_complete(win);
	}
	if (rank == 2)
		MPI_Win_wait(win);
	MPI_Group_free(&origin);
	MPI_Group_free(&target);
}

static void K27_lock_in_an_epoch(void)
{
	if (rank != 0)
		return;
	lock(0);
	if (!wrong)
		MPI_Win_unlock(2, win);
	lock(0);
	MPI_Win_unlock(2, win);
}

static void K27_second_post(void)
{
	MPI_Group origin = group_of(0), target = group_of(2);

	for (int turn = 0; turn < 2 && rank == 2; turn++) {
		MPI_Win_post(origin, 0, win); /* WRONG */
		if (turn == 1 || !wrong)
			MPI_Win_wait(win);
	}
	for (int turn = wrong; turn < 2 && rank == 0; turn++) {
		MPI_Win_start(target, 0, win);
		MPI_Win_complete(win);
	}
	MPI_Group_free(&origin);
	MPI_Group_free(&target);
}

static void K27_unlock_without_lock(void)
{
	if (rank != 0)
		return;
	MPI_Win_lock_all(0, win); /* WRONG */
	if (wrong)
		MPI_Win_unlock(2, win); /* WRONG */
	MPI_Win_unlock_all(win);
}

static void K27_fence_in_an_epoch(void)
{
	if (rank == 0)
		lock(0);
	if (rank == 0 && !wrong)
		MPI_Win_unlock(2, win);
	if (rank == 0 || !wrong)
		MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win); /* WRONG */
	if (rank == 0 && wrong)
		MPI_Win_unlock(2, win);
}

static void K27_free_in_an_epoch(void)
{
	MPI_Win other;

	MPI_Win_create(base, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
	MPI_Win_set_name(other, "halo");
	MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
	if (rank == 0)
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, other); /* WRONG */
	if (rank == 0 && wrong)
		MPI_Win_free(&other); /* WRONG */
	if (rank == 0)
		MPI_Win_unlock(2, other);
	MPI_Win_free(&other);
}

static void K27_out_of_range(void)
{
	MPI_Win other;

	MPI_Win_create(base, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other); /* WRONG */
	MPI_Win_set_name(other, "halo");
	MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, other);
		MPI_Put(buffer, 8, MPI_BYTE, 2, wrong ? BYTES - 7 : BYTES - 8, 8, MPI_BYTE, other); /* WRONG */
		MPI_Win_unlock(2, other);
	}
	MPI_Win_free(&other);
}

/* The displacement counts bytes, or units of 8 bytes, as that of the window does. */
static void K27_displacement_in_bytes(void)
{
	MPI_Win other;

	MPI_Win_create(base, BYTES, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &other); /* WRONG */
	MPI_Win_set_name(other, "halo");
	MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, other);
		MPI_Put(buffer, 8, MPI_BYTE, 2, wrong ? 64 : 8, 8, MPI_BYTE, other); /* WRONG */
		MPI_Win_unlock(2, other);
	}
	MPI_Win_free(&other);
}

/* The size is in bytes, as the call wants it, or in units of 8 bytes. */
static void K27_size_in_units(void)
{
	MPI_Win other;

	MPI_Win_create(base, wrong ? BYTES / 8 : BYTES, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &other); /* WRONG */
	MPI_Win_set_name(other, "halo");
	MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, other);
		MPI_Put(buffer, 8, MPI_BYTE, 2, BYTES / 8 - 1, 8, MPI_BYTE, other); /* WRONG */
		MPI_Win_unlock(2, other);
	}
	MPI_Win_free(&other);
}

/* Bytes are no integers: an accumulate has one predefined datatype on both sides. */
static void K27_types_of_an_accumulate(void)
{
	if (rank != 0)
		return;
	MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
	MPI_Accumulate(buffer, wrong ? 8 : 2, wrong ? MPI_BYTE : MPI_INT, 2, 0, 2, MPI_INT, MPI_SUM, win); /* WRONG */
	MPI_Win_unlock(2, win);
}

/* ---- collective calls, which move nothing: no MPI waits in them ---- */

static void K28_collective_calls_differ(void)
{
	int number = 0, sum;

	if (rank == 3 && wrong)
		MPI_Reduce(&number, &sum, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); /* WRONG */
	else
		MPI_Bcast(&number, 0, MPI_INT, 0, MPI_COMM_WORLD); /* WRONG */
}

static void K28_roots_differ(void)
{
	int number = 0;

	MPI_Bcast(&number, 0, MPI_INT, rank == 3 && wrong ? 3 : 0, MPI_COMM_WORLD); /* WRONG */
}

static void K28_collective_call_of_some(void)
{
	int number = 0;
	MPI_Comm own;

	MPI_Comm_dup(MPI_COMM_WORLD, &own);
	MPI_Bcast(&number, 0, MPI_INT, 0, own); /* WRONG */
	if (rank != 3 || !wrong)
		MPI_Bcast(&number, 0, MPI_INT, 0, own); /* WRONG */
	MPI_Comm_free(&own);
}

/* ---- accumulates ---- */

static void K28_accumulate_not_aligned(void)
{
	MPI_Win other;
	int64_t one = 1;

	MPI_Win_create(base, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other); /* WRONG */
	MPI_Win_set_name(other, "halo");
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, other);
		MPI_Accumulate(&one, 1, MPI_INT64_T, 2, wrong ? 4 : 8, 1, MPI_INT64_T, MPI_SUM, other); /* WRONG */
		MPI_Win_unlock(2, other);
	}
	MPI_Win_free(&other);
}

/* ---- threads ---- */

static void *send_message(void *unused)
{
	(void)unused;
	MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD); /* WRONG */
	return NULL;
}

/* MPI_Init has asked for no threads; its line is that of the other file. */
static void K28_call_of_another_thread(void)
{
	pthread_t thread;

	if (rank == 1)
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 0 && !wrong)
		send_message(NULL);
	if (rank == 0 && wrong && pthread_create(&thread, NULL, send_message, NULL) == 0)
		pthread_join(thread, NULL);
}

static atomic_bool is_received;

static void *wait_for_nothing(void *unused)
{
	MPI_Request request;

	while (!atomic_load(&is_received)) {
		request = MPI_REQUEST_NULL;
		MPI_Wait(&request, MPI_STATUS_IGNORE); /* WRONG */
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	return unused;
}

/* MPI gives the level SERIALIZED. The message is late. */
static void K28_calls_at_once(void)
{
	pthread_t thread;

	if (rank == 1) {
		nanosleep(&(struct timespec){ 0, 200000000 }, NULL);
		MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	}
	if (rank != 0)
		return;
	atomic_store(&is_received, !wrong);
	if (pthread_create(&thread, NULL, wait_for_nothing, NULL))
		exit(1);
	MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* WRONG */
	atomic_store(&is_received, true);
	pthread_join(thread, NULL);
	if (!wrong)
		wait_for_nothing(NULL);
}

/* ---- memory that is freed ---- */

static void K28_window_memory_freed(void)
{
	void *memory = malloc(BYTES);
	MPI_Win other;

	MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other); /* WRONG */
	MPI_Win_set_name(other, "halo");
	if (rank == 1 && wrong)
		free(memory); /* WRONG */
	MPI_Win_free(&other);
	if (rank != 1 || !wrong)
		free(memory);
}

static void K28_buffer_freed(void)
{
	void *memory = calloc(1, BYTES);

	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
		MPI_Put(memory, 8, MPI_BYTE, 2, 0, 8, MPI_BYTE, win); /* WRONG */
		if (!wrong)
			MPI_Win_flush_local(2, win);
		free(memory); /* WRONG */
		MPI_Win_unlock(2, win);
	} else {
		free(memory);
	}
}

static void K28_buffer_moved(void)
{
	void *memory = calloc(1, BYTES), *moved;
	MPI_Request request;

	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
		MPI_Rget(memory, 8, MPI_BYTE, 2, 0, 8, MPI_BYTE, win, &request); /* WRONG */
		if (!wrong)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		moved = realloc(memory, 1000000 * BYTES); /* WRONG */
		if (wrong)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Win_unlock(2, win);
		memory = moved;
	}
	free(memory);
}

/* ---- windows ---- */

static void K26_no_memory(void)
{
	MPI_Win other;

	MPI_Win_create(rank == 1 && wrong ? NULL : base, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other); /* WRONG */
	MPI_Win_set_name(other, "halo");
	MPI_Win_free(&other);
}

static void K26_window_not_freed(void)
{
	MPI_Win other;

	MPI_Win_create(base, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other); /* WRONG */
	MPI_Win_set_name(other, "halo");
	if (!wrong)
		MPI_Win_free(&other);
}

static int free_window(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)extra;
	return MPI_Win_free(value);
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first. */
static void K26_window_freed_at_the_end(void)
{
	static MPI_Win other;
	int keyval;

	MPI_Win_create(base, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other); /* WRONG */
	MPI_Win_set_name(other, "halo");
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_window, &keyval, NULL);
	if (!wrong)
		MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &other);
	MPI_Comm_free_keyval(&keyval);
}

/* The window that is not freed is another finding. */
static void K26_lock_at_the_end(void)
{
	MPI_Win other;

	MPI_Win_create(base, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other); /* WRONG */
	MPI_Win_set_name(other, "halo");
	if (rank == 0)
		MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, other); /* WRONG */
	if (rank == 0 && !wrong)
		MPI_Win_unlock(2, other);
	if (!wrong)
		MPI_Win_free(&other);
}

/* ---- running them ---- */

static const struct check_case cases[] = {
	{ "K24_request_in_fence", K24_request_in_fence },
	{ "K24_request_in_start", K24_request_in_start },
	{ "K26_request_not_complete", K26_request_not_complete },
	{ "K25_noprecede", K25_noprecede },
	{ "K25_noprecede_of_some", K25_noprecede_of_some },
	{ "K25_noput_of_a_fence", K25_noput_of_a_fence },
	{ "K25_noput_of_an_early_post", K25_noput_of_an_early_post },
	{ "K25_noput_of_a_late_post", K25_noput_of_a_late_post },
	{ "K25_nocheck_of_a_start", K25_nocheck_of_a_start },
	{ "K25_nocheck_of_a_lock", K25_nocheck_of_a_lock },
	{ "K25_lock_beside_nocheck", K25_lock_beside_nocheck },
	{ "K27_put_behind_an_epoch", K27_put_behind_an_epoch },
	{ "K27_put_before_any_epoch", K27_put_before_any_epoch },
	{ "K27_put_of_cxx", K27_put_of_cxx },
	{ "K27_put_to_a_rank_that_start_does_not_name", K27_put_to_a_rank_that_start_does_not_name },
	{ "K27_lock_in_an_epoch", K27_lock_in_an_epoch },
	{ "K27_second_post", K27_second_post },
	{ "K27_unlock_without_lock", K27_unlock_without_lock },
	{ "K27_fence_in_an_epoch", K27_fence_in_an_epoch },
	{ "K27_free_in_an_epoch", K27_free_in_an_epoch },
	{ "K27_out_of_range", K27_out_of_range },
	{ "K27_displacement_in_bytes", K27_displacement_in_bytes },
	{ "K27_size_in_units", K27_size_in_units },
	{ "K27_types_of_an_accumulate", K27_types_of_an_accumulate },
	{ "K28_collective_calls_differ", K28_collective_calls_differ },
	{ "K28_roots_differ", K28_roots_differ },
	{ "K28_collective_call_of_some", K28_collective_call_of_some },
	{ "K28_accumulate_not_aligned", K28_accumulate_not_aligned },
	{ "K28_window_memory_freed", K28_window_memory_freed },
	{ "K28_call_of_another_thread", K28_call_of_another_thread },
	{ "K28_calls_at_once", K28_calls_at_once },
	{ "K28_buffer_freed", K28_buffer_freed },
	{ "K28_buffer_moved", K28_buffer_moved },
	{ "K26_no_memory", K26_no_memory },
	{ "K26_window_not_freed", K26_window_not_freed },
	{ "K26_window_freed_at_the_end", K26_window_freed_at_the_end },
	{ "K26_lock_at_the_end", K26_lock_at_the_end },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	const struct check_case *chosen = cases_begin(argc, argv, cases);

	if (!chosen)
		return 2;
	wrong = strcmp(argv[2], "right") != 0;
	if (strcmp(argv[2], "fatal") != 0)
		MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	chosen->run();
	return cases_end();
}
