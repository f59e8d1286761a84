// SPDX-License-Identifier: BSD-2-Clause
/*
 * requests.c - requests of operations in arrays beside those of messages, their statuses, what is
 * open when the epoch ends, what is freed, and epochs of fence and of start.
 */
#include "layer.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS 4
#define TURNS 20 /* no multiple of 3 */
#define FREED 32 /* where those lie whose requests are freed */

static MPI_Win win;
static int *memory;
static int sent[PAIRS], received[PAIRS], got[PAIRS], put[PAIRS];
static MPI_Request requests[4 * PAIRS];

static void open_window(void)
{
	MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	memset(memory, 0, 64 * sizeof(int));
}

static void close_window(void)
{
	MPI_Win_free(&win);
}

/* In turns a message in, one out, a put and a get; nothing of them overlaps. */
static void begin(int seed)
{
	for (int i = 0; i < PAIRS; i++) {
		memory[i] = 1000 + layer_rank + i;
		received[i] = got[i] = -1;
		sent[i] = put[i] = seed + 10 * layer_rank + i;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	MPI_Win_sync(win);
	for (int i = 0; i < PAIRS; i++) {
		MPI_Request *four = requests + 4 * i;

		MPI_Irecv(&received[i], 1, MPI_INT, layer_left(), i, MPI_COMM_WORLD, &four[0]);
		MPI_Rput(&put[i], 1, MPI_INT, layer_right(), PAIRS + i, 1, MPI_INT, win, &four[1]);
		MPI_Isend(&sent[i], 1, MPI_INT, layer_right(), i, MPI_COMM_WORLD, &four[2]);
		MPI_Rget(&got[i], 1, MPI_INT, layer_right(), i, 1, MPI_INT, win, &four[3]);
	}
}

static void end(int seed)
{
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < PAIRS; i++) {
		EXPECT(received[i] == seed + 10 * layer_left() + i);
		EXPECT(got[i] == 1000 + layer_right() + i);
		EXPECT(memory[PAIRS + i] == seed + 10 * layer_left() + i);
	}
	for (int i = 0; i < 4 * PAIRS; i++)
		EXPECT(requests[i] == MPI_REQUEST_NULL);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Of operations no more than the error is defined. */
static void check_status(int index, const MPI_Status *status)
{
	int count = -1;

	if (index % 4 != 0)
		return;
	MPI_Get_count(status, MPI_INT, &count);
	EXPECT(count == 1 && status->MPI_SOURCE == layer_left() && status->MPI_TAG == index / 4);
}

static void R1_waitany_mixed(void)
{
	int index, seen[4 * PAIRS] = { 0 };
	MPI_Status status;

	begin(1);
	for (int left = 4 * PAIRS; left > 0; left--) {
		EXPECT(MPI_Waitany(4 * PAIRS, requests, &index, &status) == MPI_SUCCESS);
		EXPECT(index >= 0 && index < 4 * PAIRS && !seen[index]++);
		check_status(index, &status);
	}
	MPI_Waitany(4 * PAIRS, requests, &index, &status);
	EXPECT(index == MPI_UNDEFINED);
	end(1);
}

static void R1_waitsome_mixed(void)
{
	int count, indices[4 * PAIRS], left = 4 * PAIRS;
	MPI_Status statuses[4 * PAIRS];

	begin(2);
	while (left > 0) {
		EXPECT(MPI_Waitsome(4 * PAIRS, requests, &count, indices, statuses) == MPI_SUCCESS);
		EXPECT(count > 0 && count <= left);
		for (int i = 0; i < count; i++)
			check_status(indices[i], &statuses[i]);
		left -= count;
	}
	MPI_Waitsome(4 * PAIRS, requests, &count, indices, statuses);
	EXPECT(count == MPI_UNDEFINED);
	end(2);
}

static void R1_testall_mixed(void)
{
	MPI_Status statuses[4 * PAIRS];
	int flag = 0;

	begin(3);
	while (!flag)
		EXPECT(MPI_Testall(4 * PAIRS, requests, &flag, statuses) == MPI_SUCCESS);
	for (int i = 0; i < 4 * PAIRS; i++)
		check_status(i, &statuses[i]);
	end(3);
}

static void R1_testany_and_testsome_mixed(void)
{
	int index, flag, count, indices[4 * PAIRS], left = 4 * PAIRS;
	MPI_Status statuses[4 * PAIRS];

	begin(4);
	while (left > 0) {
		MPI_Testany(4 * PAIRS, requests, &index, &flag, statuses);
		left -= flag && index != MPI_UNDEFINED;
		MPI_Testsome(4 * PAIRS, requests, &count, indices, statuses);
		left -= count == MPI_UNDEFINED ? 0 : count;
	}
	end(4);
}

#define LARGE (1 << 18) /* numbers; over a card none of the gets is complete at the first look */

static int *large;

/* One get of each of four parts; there is no message to be complete before them. */
static MPI_Win begin_large(MPI_Request *four)
{
	MPI_Win whole;
	int *there;

	MPI_Win_allocate(LARGE * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &there, &whole);
	large = malloc(LARGE * sizeof(int));
	for (int i = 0; i < LARGE; i++) {
		there[i] = i + layer_rank;
		large[i] = -1;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, whole);
	for (int i = 0; i < 4; i++)
		MPI_Rget(large + i * (LARGE / 4), LARGE / 4, MPI_INT, layer_right(), i * (LARGE / 4), LARGE / 4, MPI_INT, whole,
		         &four[i]);
	return whole;
}

/* Its data is there, to the last number. */
static void check_large(int part)
{
	EXPECT(part >= 0 && part < 4);
	for (int i = part * (LARGE / 4); part >= 0 && part < 4 && i < (part + 1) * (LARGE / 4); i++)
		if (large[i] != i + layer_right()) {
			EXPECT(!"what has been got is there when its request is complete");
			return;
		}
}

static void end_large(MPI_Win whole, const MPI_Request *four)
{
	for (int i = 0; i < 4; i++)
		EXPECT(four[i] == MPI_REQUEST_NULL);
	MPI_Win_unlock_all(whole);
	MPI_Win_free(&whole);
	free(large);
}

static void R4_waitany_and_wait_large(void)
{
	MPI_Request four[4];
	MPI_Win whole = begin_large(four);
	int index = -1;

	EXPECT(MPI_Waitany(4, four, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	check_large(index);
	for (int i = 3; i >= 0; i--) {
		EXPECT(MPI_Wait(&four[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
		check_large(i);
	}
	end_large(whole, four);
}

static void R4_waitsome_and_waitall_large(void)
{
	MPI_Request four[4];
	MPI_Status statuses[4];
	MPI_Win whole = begin_large(four);
	int count = 0, indices[4];

	EXPECT(MPI_Waitsome(4, four, &count, indices, statuses) == MPI_SUCCESS);
	EXPECT(count > 0 && count <= 4);
	for (int i = 0; i < count; i++)
		check_large(indices[i]);
	EXPECT(MPI_Waitall(4, four, statuses) == MPI_SUCCESS);
	for (int i = 0; i < 4; i++)
		check_large(i);
	end_large(whole, four);
}

static void R4_testany_large(void)
{
	MPI_Request four[4];
	MPI_Win whole = begin_large(four);
	int index = -1, flag = 0;

	for (int left = 4; left > 0; left -= flag) {
		EXPECT(MPI_Testany(4, four, &index, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
		if (flag)
			check_large(index);
	}
	end_large(whole, four);
}

static void R4_testsome_large(void)
{
	MPI_Request four[4];
	MPI_Status statuses[4];
	MPI_Win whole = begin_large(four);
	int count = 0, indices[4];

	for (int left = 4; left > 0; left -= count) {
		EXPECT(MPI_Testsome(4, four, &count, indices, statuses) == MPI_SUCCESS);
		for (int i = 0; i < count; i++)
			check_large(indices[i]);
	}
	end_large(whole, four);
}

/* The epoch completes the operations; their requests are completed by the program, be it later. */
static void R2_open_at_unlock(void)
{
	MPI_Status statuses[4 * PAIRS];

	begin(5);
	MPI_Win_unlock_all(win);
	MPI_Waitall(4 * PAIRS, requests, statuses);
	MPI_Win_lock_all(0, win);
	end(5);
}

/* Or when the window is gone. */
static void R2_open_at_free(void)
{
	int number = 7 + layer_rank, back[2] = { -1, -1 };
	MPI_Request two[2];
	MPI_Status statuses[2];
	MPI_Win gone;
	int *here;

	MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &here, &gone);
	here[0] = here[1] = number;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, layer_right(), 0, gone);
	MPI_Rget(&back[0], 1, MPI_INT, layer_right(), 0, 1, MPI_INT, gone, &two[0]);
	MPI_Rget(&back[1], 1, MPI_INT, layer_right(), 1, 1, MPI_INT, gone, &two[1]);
	MPI_Win_unlock(layer_right(), gone);
	EXPECT(back[0] == 7 + layer_right() && back[1] == 7 + layer_right());
	MPI_Win_free(&gone);
	EXPECT(MPI_Waitall(2, two, statuses) == MPI_SUCCESS);
	EXPECT(two[0] == MPI_REQUEST_NULL && two[1] == MPI_REQUEST_NULL);
}

/*
 * A request that the program gives away is complete with the epoch, and others beside it are not
 * disturbed.
 */
static void R5_freed_before_the_epoch_ends(void)
{
	int one = 1, old = -1, kept = -1;
	MPI_Request freed, held;
	MPI_Status statuses[4 * PAIRS];

	begin(6);
	for (int i = 0; i < TURNS; i++) {
		MPI_Raccumulate(&one, 1, MPI_INT, layer_right(), FREED, 1, MPI_INT, MPI_SUM, win, &freed);
		MPI_Rget(&kept, 1, MPI_INT, layer_right(), 0, 1, MPI_INT, win, &held);
		EXPECT(MPI_Request_free(&freed) == MPI_SUCCESS && freed == MPI_REQUEST_NULL);
		EXPECT(MPI_Wait(&held, MPI_STATUS_IGNORE) == MPI_SUCCESS && kept == 1000 + layer_right());
	}
	MPI_Rput(&one, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &freed);
	EXPECT(MPI_Request_free(&freed) == MPI_SUCCESS && freed == MPI_REQUEST_NULL);
	MPI_Waitall(4 * PAIRS, requests, statuses);
	MPI_Rget_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, layer_right(), FREED, 1, MPI_INT, MPI_SUM, win, &freed);
	MPI_Request_free(&freed);
	end(6);
	EXPECT(old == TURNS && memory[FREED] == TURNS + 1);
}

/* The request of a message goes with it, as before. */
static void R5_freed_beside_a_message(void)
{
	int number = 3 + layer_rank, back = -1;
	MPI_Request request;
	MPI_Status statuses[4 * PAIRS];

	begin(7);
	MPI_Isend(&number, 1, MPI_INT, layer_right(), PAIRS, MPI_COMM_WORLD, &request);
	EXPECT(MPI_Request_free(&request) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
	MPI_Recv(&back, 1, MPI_INT, layer_left(), PAIRS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	EXPECT(back == 3 + layer_left());
	MPI_Waitall(4 * PAIRS, requests, statuses);
	end(7);
}

/* All are given away, at once and in another order; none is looked for afterwards. */
static void R5_all_freed(void)
{
	int number[TURNS], back = -1;
	MPI_Request many[TURNS];

	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < TURNS; i++) {
		number[i] = 500 + layer_rank + i;
		MPI_Rput(&number[i], 1, MPI_INT, layer_right(), FREED + 1 + i, 1, MPI_INT, win, &many[i]);
	}
	for (int i = 0; i < TURNS; i++)
		MPI_Request_free(&many[(3 * i + 1) % TURNS]);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, layer_rank, 0, win);
	for (int i = 0; i < TURNS; i++)
		EXPECT(memory[FREED + 1 + i] == 500 + layer_left() + i);
	MPI_Win_unlock(layer_rank, win);
	MPI_Win_lock(MPI_LOCK_SHARED, layer_right(), 0, win);
	MPI_Rget(&back, 1, MPI_INT, layer_right(), FREED + 1, 1, MPI_INT, win, &many[0]);
	EXPECT(MPI_Wait(&many[0], MPI_STATUS_IGNORE) == MPI_SUCCESS && back == 500 + layer_rank);
	MPI_Win_unlock(layer_right(), win);
}

/* Of a window of three parts and a number: one is got, one put to, and in the third numbers are added. */
#define PART (1 << 20) /* numbers: 4 MiB */

enum { PUT, GOT, ADDED, FETCHED, ISSUED };

static MPI_Win thirds;
static int *parts, *from, *into, *ones, *were;

static void open_thirds(void)
{
	MPI_Win_allocate((3 * PART + 1) * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &parts, &thirds);
	from = malloc(PART * sizeof(int));
	into = malloc(PART * sizeof(int));
	ones = malloc(PART * sizeof(int));
	were = malloc(PART * sizeof(int));
	for (int i = 0; i < PART; i++)
		ones[i] = 1;
}

static void close_thirds(void)
{
	MPI_Win_free(&thirds);
	free(from);
	free(into);
	free(ones);
	free(were);
}

static void fill(int count, int seed)
{
	for (int i = 0; i < count; i++) {
		parts[i] = seed + layer_rank + i;
		parts[PART + i] = -1;
		parts[2 * PART + i] = 5;
		from[i] = seed + 2 * layer_rank + i;
		into[i] = were[i] = -1;
	}
}

/* What is fetched is of other numbers than those that are added to. */
static void issue(int to, int count, MPI_Request four[ISSUED])
{
	int half = count / 2;

	MPI_Rput(from, count, MPI_INT, to, PART, count, MPI_INT, thirds, &four[PUT]);
	MPI_Rget(into, count, MPI_INT, to, 0, count, MPI_INT, thirds, &four[GOT]);
	MPI_Raccumulate(ones, half, MPI_INT, to, 2 * PART, half, MPI_INT, MPI_SUM, thirds, &four[ADDED]);
	MPI_Rget_accumulate(ones, half, MPI_INT, were, half, MPI_INT, to, 2 * PART + half, half, MPI_INT, MPI_SUM, thirds,
	                    &four[FETCHED]);
}

/* `count` numbers begin with a first one, and each is by `step` more than the one before. */
static int is_row(const int *numbers, int count, int first, int step)
{
	for (int i = 0; i < count; i++)
		if (numbers[i] != first + i * step)
			return 0;
	return 1;
}

/* One after the other, by waits or by tests; what is fetched is there, and what is put may be changed. */
static void finish(int count, int seed, int to, int by_test, MPI_Request four[ISSUED])
{
	for (int i = ISSUED - 1; i >= 0; i--) {
		int flag = 0;

		while (by_test && !flag)
			EXPECT(MPI_Test(&four[i], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
		if (!by_test)
			EXPECT(MPI_Wait(&four[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
		EXPECT(four[i] == MPI_REQUEST_NULL);
		if (i == FETCHED)
			EXPECT(is_row(were, count / 2, 5, 0));
		if (i == GOT)
			EXPECT(is_row(into, count, seed + to, 1));
	}
	memset(from, 0xee, (size_t)count * sizeof(int));
}

/* At the target of that rank's, behind the epoch. */
static void check_thirds(int count, int seed, int origin)
{
	EXPECT(is_row(parts + PART, count, seed + 2 * origin, 1));
	EXPECT(is_row(parts + 2 * PART, count, 6, 0));
}

static void between_fences(int count, int seed, int by_test)
{
	MPI_Request four[ISSUED];
	int more = seed;

	fill(count, seed);
	MPI_Win_fence(MPI_MODE_NOPRECEDE, thirds);
	issue(layer_right(), count, four);
	finish(count, seed, layer_right(), by_test, four);
	MPI_Put(&more, 1, MPI_INT, layer_right(), 3 * PART, 1, MPI_INT, thirds); /* the epoch is open still */
	MPI_Win_fence(MPI_MODE_NOSUCCEED, thirds);
	check_thirds(count, seed, layer_left());
	EXPECT(parts[3 * PART] == seed);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void R2_R4_between_fences(void)
{
	for (int turn = 0; turn < 4; turn++)
		between_fences(turn / 2 ? PART : 2, 100 + turn, turn % 2);
}

static void origin_of_a_late_post(MPI_Group target, int count, int seed, int by_test)
{
	MPI_Request four[ISSUED];
	int to = layer_rank + 1, flag, more = seed;

	MPI_Win_start(target, 0, thirds);
	issue(to, count, four);
	for (int i = 0; i < 5 * ISSUED; i++) {
		MPI_Test(&four[i % ISSUED], &flag, MPI_STATUS_IGNORE);
		EXPECT(!flag);
	}
	MPI_Send(NULL, 0, MPI_INT, to, 0, MPI_COMM_WORLD); /* post now */
	finish(count, seed, to, by_test, four);
	MPI_Put(&more, 1, MPI_INT, to, 3 * PART, 1, MPI_INT, thirds); /* the epoch is open still */
	MPI_Win_complete(thirds);
}

static void target_of_a_late_post(MPI_Group origin, int count, int seed)
{
	MPI_Recv(NULL, 0, MPI_INT, layer_rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_post(origin, 0, thirds);
	MPI_Win_wait(thirds);
	check_thirds(count, seed, layer_rank - 1);
	EXPECT(parts[3 * PART] == seed);
}

/* Ranks are origin and target in turns. */
static void P4_R4_late_post(void)
{
	int other = layer_rank ^ 1;
	MPI_Group all, group;

	MPI_Win_get_group(thirds, &all);
	MPI_Group_incl(all, 1, &other, &group);
	for (int turn = 0; turn < 4; turn++) {
		int count = turn / 2 ? PART : 2;

		fill(count, 200 + turn);
		MPI_Barrier(MPI_COMM_WORLD);
		if (layer_rank % 2 == 0)
			origin_of_a_late_post(group, count, 200 + turn, turn % 2);
		else
			target_of_a_late_post(group, count, 200 + turn);
	}
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

/*
 * The epochs complete the operations; their requests are completed by the program, be it in the
 * next epoch.
 */
static void R5_open_at_complete(void)
{
	MPI_Request four[ISSUED], next[ISSUED];
	MPI_Group all, group;
	int other = layer_rank ^ 1;

	MPI_Win_get_group(thirds, &all);
	MPI_Group_incl(all, 1, &other, &group);
	fill(PART, 300);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_post(group, 0, thirds);
	MPI_Win_start(group, 0, thirds);
	issue(other, PART, four);
	MPI_Win_complete(thirds);
	MPI_Win_wait(thirds);
	check_thirds(PART, 300, other);
	finish(PART, 300, other, 0, four);
	fill(PART, 301);
	MPI_Win_fence(0, thirds);
	issue(layer_right(), PART, next);
	MPI_Win_fence(0, thirds);
	check_thirds(PART, 301, layer_left());
	finish(PART, 301, layer_right(), 1, next);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, thirds);
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

#ifdef OPEN_MPI /* MPICH waits for all */
/* A wait for all tells of a failed message while another is pending, which comes only then. */
static void R1_error_beside_a_get(void)
{
	enum { FAILS, COMES_LATER, GET };
	int sent[2] = { 1, 2 }, one, later[2], got, class;
	MPI_Request three[3], sending;
	MPI_Status statuses[3];

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Irecv(&one, 1, MPI_INT, layer_left(), FAILS, MPI_COMM_WORLD, &three[FAILS]);
	MPI_Irecv(later, 2, MPI_INT, layer_left(), COMES_LATER, MPI_COMM_WORLD, &three[COMES_LATER]);
	MPI_Isend(sent, 2, MPI_INT, layer_right(), FAILS, MPI_COMM_WORLD, &sending);
	MPI_Win_lock(MPI_LOCK_SHARED, layer_right(), 0, win);
	MPI_Rget(&got, 1, MPI_INT, layer_right(), 0, 1, MPI_INT, win, &three[GET]);
	MPI_Error_class(MPI_Waitall(3, three, statuses), &class);
	EXPECT(class == MPI_ERR_IN_STATUS);
	MPI_Send(sent, 2, MPI_INT, layer_right(), COMES_LATER, MPI_COMM_WORLD);
	EXPECT(MPI_Waitall(3, three, statuses) == MPI_SUCCESS && later[1] == 2);
	MPI_Wait(&sending, MPI_STATUS_IGNORE);
	MPI_Win_unlock(layer_right(), win);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Barrier(MPI_COMM_WORLD);
}
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
/* Polling by these calls alone completes requests, and leaves them to the program. */
static void R4_status_of_all_large(void)
{
	MPI_Request four[4];
	MPI_Status statuses[4];
	MPI_Win whole = begin_large(four);
	int flag = 0;

	while (!flag)
		EXPECT(MPI_Request_get_status_all(4, four, &flag, statuses) == MPI_SUCCESS);
	for (int i = 0; i < 4; i++)
		check_large(i);
	EXPECT(MPI_Waitall(4, four, statuses) == MPI_SUCCESS);
	end_large(whole, four);
}

static void R4_status_of_any_and_some_large(void)
{
	MPI_Request four[4];
	MPI_Status statuses[4];
	MPI_Win whole = begin_large(four);
	int index = -1, flag = 0, count = 0, indices[4];

	while (!flag)
		EXPECT(MPI_Request_get_status_any(4, four, &index, &flag, statuses) == MPI_SUCCESS);
	check_large(index);
	while (count < 4)
		EXPECT(MPI_Request_get_status_some(4, four, &count, indices, statuses) == MPI_SUCCESS);
	for (int i = 0; i < 4; i++)
		check_large(indices[i]);
	EXPECT(MPI_Waitall(4, four, statuses) == MPI_SUCCESS);
	end_large(whole, four);
}
#endif

static const struct layer_case cases[] = {
	{ "R1_open", open_window },
	{ "R1_waitany_mixed", R1_waitany_mixed },
	{ "R1_waitsome_mixed", R1_waitsome_mixed },
	{ "R1_testall_mixed", R1_testall_mixed },
	{ "R1_testany_and_testsome_mixed", R1_testany_and_testsome_mixed },
	{ "R4_waitany_and_wait_large", R4_waitany_and_wait_large },
	{ "R4_waitsome_and_waitall_large", R4_waitsome_and_waitall_large },
	{ "R4_testany_large", R4_testany_large },
	{ "R4_testsome_large", R4_testsome_large },
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
	{ "R4_status_of_all_large", R4_status_of_all_large },
	{ "R4_status_of_any_and_some_large", R4_status_of_any_and_some_large },
#endif
	{ "R2_open_at_unlock", R2_open_at_unlock },
	{ "R2_open_at_free", R2_open_at_free },
	{ "R5_freed_before_the_epoch_ends", R5_freed_before_the_epoch_ends },
	{ "R5_freed_beside_a_message", R5_freed_beside_a_message },
	{ "R5_all_freed", R5_all_freed },
	{ "R2_open_thirds", open_thirds },
	{ "R2_R4_between_fences", R2_R4_between_fences },
	{ "P4_R4_late_post", P4_R4_late_post },
	{ "R5_open_at_complete", R5_open_at_complete },
	{ "R2_close_thirds", close_thirds },
#ifdef OPEN_MPI
	{ "R1_error_beside_a_get", R1_error_beside_a_get },
#endif
	{ "R1_close", close_window },
};

LAYER_MAIN(cases)
