// SPDX-License-Identifier: BSD-2-Clause
/* errors.c - errors go to the window's handler, with the standard's class and a text that helps. */
#include "layer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static MPI_Win win;
static int *memory;

static void open_window(void)
{
	MPI_Win_allocate(40, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}

static void close_window(void)
{
	MPI_Win_free(&win);
}

static int class_of(int code)
{
	int class = MPI_SUCCESS;

	MPI_Error_class(code, &class);
	return class;
}

static bool says(int code, const char *words)
{
	char text[MPI_MAX_ERROR_STRING];
	int length;

	MPI_Error_string(code, text, &length);
	return strstr(text, words) != NULL;
}

static void I5_range(void)
{
	char text[MPI_MAX_ERROR_STRING];
	int number = 0, code, length;

	MPI_Win_lock(MPI_LOCK_SHARED, layer_right(), 0, win);
	code = MPI_Put(&number, 1, MPI_INT, layer_right(), 10, 1, MPI_INT, win);
	EXPECT(class_of(code) == MPI_ERR_RMA_RANGE);
	MPI_Error_string(code, text, &length);
	EXPECT(strstr(text, "] MPI_Put: window ") != NULL);
	EXPECT(strstr(text, ": 4 bytes at displacement 10 (unit 4 bytes) of rank ") != NULL);
	EXPECT(strstr(text, " are bytes 40 to 43, and its window has 40 bytes (MPI_ERR_RMA_RANGE)") != NULL);
	code = MPI_Put(&number, 1, MPI_INT, layer_right(), -1, 1, MPI_INT, win);
	EXPECT(class_of(code) == MPI_ERR_RMA_RANGE);
	MPI_Error_string(code, text, &length);
	EXPECT(strstr(text, " at displacement -1 (unit 4 bytes) of rank ") != NULL);
	MPI_Error_string(MPI_Get(&number, 1, MPI_INT, layer_right(), 36, 1, MPI_INT, win), text, &length);
	EXPECT(strstr(text, "; displacements count units of 4 bytes: 9 would be byte 36 (MPI_ERR_RMA_RANGE)") != NULL);
	EXPECT(MPI_Put(&number, 1, MPI_INT, layer_right(), 9, 1, MPI_INT, win) == MPI_SUCCESS);
	MPI_Win_unlock(layer_right(), win);
}

/*
 * Displacements whose bytes are no number, and negative ones that a datatype's gap would bring
 * back, are out of range too.
 */
static void I5_range_beyond_numbers(void)
{
	const MPI_Aint wraps = (MPI_Aint)1 << (8 * sizeof(MPI_Aint) - 2);
	int number = 77, before = memory[0], result, blocks[2] = { 1, 1 }, gaps[2] = { 1, 3 };
	const int to = layer_right();
	MPI_Datatype behind;

	MPI_Type_indexed(2, blocks, gaps, MPI_INT, &behind);
	MPI_Type_commit(&behind);
	MPI_Win_lock_all(0, win);
	EXPECT(class_of(MPI_Put(&number, 1, MPI_INT, to, wraps, 1, MPI_INT, win)) == MPI_ERR_RMA_RANGE);
	EXPECT(class_of(MPI_Put(&number, 1, MPI_INT, to, -wraps, 1, MPI_INT, win)) == MPI_ERR_RMA_RANGE);
	EXPECT(class_of(MPI_Get(&result, 1, MPI_INT, to, wraps, 1, MPI_INT, win)) == MPI_ERR_RMA_RANGE);
	EXPECT(class_of(MPI_Accumulate(&number, 1, MPI_INT, to, wraps, 1, MPI_INT, MPI_SUM, win)) == MPI_ERR_RMA_RANGE);
	EXPECT(class_of(MPI_Fetch_and_op(&number, &result, MPI_INT, to, wraps, MPI_SUM, win)) == MPI_ERR_RMA_RANGE);
	EXPECT(class_of(MPI_Compare_and_swap(&number, &before, &result, MPI_INT, to, wraps, win)) == MPI_ERR_RMA_RANGE);
	EXPECT(class_of(MPI_Put(memory + 4, 2, MPI_INT, to, wraps, 1, behind, win)) == MPI_ERR_RMA_RANGE);
	EXPECT(class_of(MPI_Put(memory + 4, 2, MPI_INT, to, -1, 1, behind, win)) == MPI_ERR_RMA_RANGE);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	EXPECT(memory[0] == before);
	MPI_Type_free(&behind);
}

/* The text of a code is that of the latest error. */
static void I5_latest_text(void)
{
	char text[MPI_MAX_ERROR_STRING];
	int number = 0, length, put, get;

	MPI_Win_lock(MPI_LOCK_SHARED, layer_right(), 0, win);
	put = MPI_Put(&number, 1, MPI_INT, layer_right(), 10, 1, MPI_INT, win);
	get = MPI_Get(&number, 1, MPI_INT, layer_right(), 11, 1, MPI_INT, win);
	EXPECT(class_of(put) == MPI_ERR_RMA_RANGE && class_of(get) == MPI_ERR_RMA_RANGE);
	MPI_Error_string(get, text, &length);
	EXPECT(strstr(text, "MPI_Get: ") != NULL);
	MPI_Win_unlock(layer_right(), win);
}

/* The texts name the program's calls and constants, the caller's rank and the class. */
static void I5_words_of_mpi(void)
{
	char text[MPI_MAX_ERROR_STRING], caller[64];
	int number = 0, length;
	double value = 0;

	snprintf(caller, sizeof(caller), "Oriel: [rank %d] MPI_Put: window ", layer_rank);
	MPI_Error_string(MPI_Put(&number, 1, MPI_INT, 0, 0, 1, MPI_INT, win), text, &length);
	EXPECT(strncmp(text, caller, strlen(caller)) == 0);
	EXPECT(strstr(text, "call MPI_Win_start, MPI_Win_lock or MPI_Win_fence first (MPI_ERR_RMA_SYNC)") != NULL);
	MPI_Error_string(MPI_Win_unlock(0, win), text, &length);
	EXPECT(strstr(text, "MPI_Win_unlock: window ") != NULL && strstr(text, "call MPI_Win_lock first") != NULL);
	MPI_Win_lock_all(0, win);
	MPI_Error_string(MPI_Accumulate(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win), text, &length);
	EXPECT(strstr(text, "MPI_BAND") != NULL && strstr(text, "MPI_DOUBLE") != NULL &&
	       strstr(text, "(MPI_ERR_OP)") != NULL);
	MPI_Error_string(MPI_Put(&number, 1, MPI_INT, layer_size, 0, 1, MPI_INT, win), text, &length);
	EXPECT(strstr(text, "MPI_Put: window ") != NULL && strstr(text, "(MPI_ERR_RANK)") != NULL);
	MPI_Win_unlock_all(win);
	EXPECT(strstr(text, "oriel_") == NULL && strstr(text, "ORIEL_") == NULL);
}

/* What has no room on the other side. */
static void I5_truncated(void)
{
	int numbers[4] = { 0 }, results[4];
	const int to = layer_right();

	MPI_Win_lock_all(0, win);
	EXPECT(class_of(MPI_Put(numbers, 2, MPI_INT, to, 0, 1, MPI_INT, win)) == MPI_ERR_TRUNCATE);
	EXPECT(class_of(MPI_Get(results, 1, MPI_INT, to, 0, 2, MPI_INT, win)) == MPI_ERR_TRUNCATE);
	EXPECT(class_of(MPI_Accumulate(numbers, 2, MPI_INT, to, 0, 1, MPI_INT, MPI_SUM, win)) == MPI_ERR_TRUNCATE);
	EXPECT(class_of(MPI_Get_accumulate(numbers, 2, MPI_INT, results, 1, MPI_INT, to, 0, 2, MPI_INT, MPI_SUM, win)) ==
	       MPI_ERR_TRUNCATE);
	MPI_Win_unlock_all(win);
}

static void add_nothing(void *in, void *inout, int *length, MPI_Datatype *type)
{
	(void)in, (void)inout, (void)length, (void)type;
}

/* A text names both datatypes, or what derived ones are made of. */
static void expect_names(int code, const char *names)
{
	char text[MPI_MAX_ERROR_STRING];
	int length;

	EXPECT(class_of(code) == MPI_ERR_TYPE);
	MPI_Error_string(code, text, &length);
	EXPECT(strstr(text, names) != NULL);
}

/* Operations of the program's own, and datatypes of more than one kind. */
static void I5_not_combined(void)
{
	int lengths[2] = { 1, 1 }, numbers[2] = { 0 }, result;
	MPI_Aint offsets[2] = { 0, 4 };
	MPI_Datatype types[2] = { MPI_INT, MPI_FLOAT }, mixed, pair;
	MPI_Op mine;

	MPI_Type_create_struct(2, lengths, offsets, types, &mixed);
	MPI_Type_commit(&mixed);
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	MPI_Op_create(add_nothing, 1, &mine);
	MPI_Win_lock_all(0, win);
	expect_names(MPI_Accumulate(numbers, 1, mixed, layer_right(), 0, 1, mixed, MPI_SUM, win),
	             "the origin's is a mixed one, the target's a mixed one");
	expect_names(MPI_Accumulate(numbers, 4, MPI_BYTE, layer_right(), 0, 1, MPI_INT, MPI_SUM, win),
	             "the origin's is MPI_BYTE, the target's MPI_INT");
	expect_names(MPI_Accumulate(numbers, 1, pair, layer_right(), 0, 2, MPI_FLOAT, MPI_SUM, win),
	             "the origin's is MPI_INT, the target's MPI_FLOAT");
	expect_names(MPI_Get_accumulate(numbers, 1, MPI_INT, &result, 1, MPI_FLOAT, layer_right(), 0, 1, MPI_INT, MPI_SUM,
	                                win),
	             "the result's is MPI_FLOAT, the target's MPI_INT");
	EXPECT(class_of(MPI_Accumulate(numbers, 1, MPI_INT, layer_right(), 0, 1, MPI_INT, mine, win)) == MPI_ERR_OP);
	EXPECT(class_of(MPI_Fetch_and_op(numbers, &result, MPI_INT, layer_right(), 0, mine, win)) == MPI_ERR_OP);
	MPI_Win_unlock_all(win);
	MPI_Op_free(&mine);
	MPI_Type_free(&pair);
	MPI_Type_free(&mixed);
}

/* Calls of one element have it of a predefined datatype: no derived one will do, be it of one element. */
static void I5_one_element(void)
{
	int numbers[2] = { 0 }, compare[2] = { 0 }, results[2];
	const int to = layer_right();
	MPI_Datatype types[2];

	MPI_Type_contiguous(2, MPI_INT, &types[0]);
	MPI_Type_dup(MPI_INT, &types[1]);
	MPI_Type_commit(&types[0]);
	MPI_Win_lock_all(0, win);
	for (int again = 0; again < 4; again++) {
		MPI_Datatype type = types[again / 2];

		EXPECT(class_of(MPI_Fetch_and_op(numbers, results, type, to, 0, MPI_SUM, win)) == MPI_ERR_TYPE);
		EXPECT(class_of(MPI_Compare_and_swap(numbers, compare, results, type, to, 0, win)) == MPI_ERR_TYPE);
	}
	MPI_Win_unlock_all(win);
	MPI_Type_free(&types[0]);
	MPI_Type_free(&types[1]);
}

/*
 * A datatype is used once it is committed, be it of no byte; that it has been refused before does
 * no harm then.
 */
static void I5_not_committed(void)
{
	int numbers[4] = { 1, 2, 3, 4 }, results[4] = { 0 };
	const int to = layer_right();
	MPI_Datatype type, empty;

	MPI_Type_vector(2, 1, 2, MPI_INT, &type);
	MPI_Type_contiguous(0, MPI_INT, &empty);
	memset(memory, 0, 40);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (int again = 0; again < 2; again++) {
		EXPECT(class_of(MPI_Put(numbers, 1, type, to, 0, 2, MPI_INT, win)) == MPI_ERR_TYPE);
		EXPECT(class_of(MPI_Put(numbers, 2, MPI_INT, to, 0, 1, type, win)) == MPI_ERR_TYPE);
		EXPECT(says(MPI_Put(numbers, 2, MPI_INT, to, 0, 1, type, win),
		            "the target's datatype is not committed; call MPI_Type_commit first"));
		EXPECT(class_of(MPI_Put(numbers, 1, empty, to, 0, 1, empty, win)) == MPI_ERR_TYPE);
		EXPECT(class_of(MPI_Get(results, 2, MPI_INT, to, 0, 1, type, win)) == MPI_ERR_TYPE);
		EXPECT(class_of(MPI_Accumulate(numbers, 1, type, to, 0, 1, type, MPI_SUM, win)) == MPI_ERR_TYPE);
	}
	MPI_Type_commit(&type);
	MPI_Type_commit(&empty);
	EXPECT(MPI_Put(numbers, 1, empty, to, 0, 1, empty, win) == MPI_SUCCESS);
	EXPECT(MPI_Put(numbers, 1, type, to, 0, 1, type, win) == MPI_SUCCESS);
	MPI_Win_flush(to, win);
	EXPECT(MPI_Get(results, 3, MPI_INT, to, 0, 3, MPI_INT, win) == MPI_SUCCESS);
	MPI_Win_unlock_all(win);
	EXPECT(results[0] == 1 && results[1] == 0 && results[2] == 3);
	MPI_Type_free(&type);
	MPI_Type_free(&empty);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Only windows of the right kind have these calls. */
static void I5_kinds(void)
{
	MPI_Aint bytes;
	MPI_Win dynamic;
	int *theirs, unit, *outside = memory, one[1];

	EXPECT(class_of(MPI_Win_shared_query(win, 0, &bytes, &unit, &theirs)) == MPI_ERR_RMA_FLAVOR);
	EXPECT(class_of(MPI_Win_attach(win, one, sizeof(one))) == MPI_ERR_RMA_FLAVOR);
	EXPECT(class_of(MPI_Win_detach(win, one)) == MPI_ERR_RMA_FLAVOR);
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
	MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
	EXPECT(class_of(MPI_Win_detach(dynamic, outside)) == MPI_ERR_RMA_ATTACH);
	EXPECT(class_of(MPI_Win_attach(dynamic, one, -4)) == MPI_ERR_SIZE);
	EXPECT(class_of(MPI_Win_attach(dynamic, NULL, 4)) == MPI_ERR_ARG);
	EXPECT(class_of(MPI_Win_shared_query(dynamic, 0, &bytes, &unit, &theirs)) == MPI_ERR_RMA_FLAVOR);
	MPI_Win_free(&dynamic);
}

/* A fence's assertions come into force. */
static void F4_no_epoch_follows(void)
{
	int number = 0;

	MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
	EXPECT(MPI_Put(&number, 1, MPI_INT, layer_right(), 0, 1, MPI_INT, win) == MPI_SUCCESS);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	EXPECT(class_of(MPI_Put(&number, 1, MPI_INT, layer_right(), 0, 1, MPI_INT, win)) == MPI_ERR_RMA_SYNC);
}

static void I5_synchronisation(void)
{
	int number = 0;

	EXPECT(class_of(MPI_Put(&number, 1, MPI_INT, layer_right(), 0, 1, MPI_INT, win)) == MPI_ERR_RMA_SYNC);
	EXPECT(class_of(MPI_Win_complete(win)) == MPI_ERR_RMA_SYNC);
	EXPECT(class_of(MPI_Win_unlock(layer_right(), win)) == MPI_ERR_RMA_SYNC);
	EXPECT(class_of(MPI_Win_wait(win)) == MPI_ERR_RMA_SYNC);
}

static void I5_arguments(void)
{
	int number = 0;

	MPI_Win_lock_all(0, win);
	EXPECT(class_of(MPI_Put(&number, 1, MPI_INT, layer_size, 0, 1, MPI_INT, win)) == MPI_ERR_RANK);
	EXPECT(class_of(MPI_Put(&number, -1, MPI_INT, layer_right(), 0, 1, MPI_INT, win)) == MPI_ERR_COUNT);
	EXPECT(says(MPI_Put(&number, -1, MPI_INT, layer_right(), 0, 1, MPI_INT, win),
	            "the origin's count is -1, must be 0 or more"));
	EXPECT(class_of(MPI_Get(&number, 1, MPI_INT, layer_right(), 0, -7, MPI_INT, win)) == MPI_ERR_COUNT);
	EXPECT(says(MPI_Get(&number, 1, MPI_INT, layer_right(), 0, -7, MPI_INT, win),
	            "the target's count is -7, must be 0 or more"));
	EXPECT(class_of(MPI_Put(&number, 1, MPI_DATATYPE_NULL, layer_right(), 0, 1, MPI_INT, win)) == MPI_ERR_TYPE);
	EXPECT(says(MPI_Put(&number, 1, MPI_DATATYPE_NULL, layer_right(), 0, 1, MPI_INT, win),
	            "the origin's datatype is null (MPI_DATATYPE_NULL)"));
	EXPECT(class_of(MPI_Accumulate(&number, 1, MPI_INT, layer_right(), 0, 1, MPI_INT, MPI_OP_NULL, win)) == MPI_ERR_OP);
	EXPECT(class_of(MPI_Compare_and_swap(&number, &number, &number, MPI_FLOAT, layer_right(), 0, win)) == MPI_ERR_TYPE);
	EXPECT(class_of(MPI_Accumulate(&number, 1, MPI_INT, layer_right(), 0, 1, MPI_FLOAT, MPI_SUM, win)) == MPI_ERR_TYPE);
	EXPECT(class_of(MPI_Accumulate(&number, 1, MPI_FLOAT, layer_right(), 0, 1, MPI_FLOAT, MPI_BAND, win)) ==
	       MPI_ERR_OP);
	MPI_Win_unlock_all(win);
	EXPECT(class_of(MPI_Win_lock(77, layer_right(), 0, win)) == MPI_ERR_LOCKTYPE);
	EXPECT(class_of(MPI_Win_lock(77, MPI_PROC_NULL, 0, win)) == MPI_ERR_LOCKTYPE);
	EXPECT(class_of(MPI_Win_lock(MPI_LOCK_SHARED, layer_size, 0, win)) == MPI_ERR_RANK);
	EXPECT(class_of(MPI_Win_flush(layer_size, win)) == MPI_ERR_RANK);
	EXPECT(class_of(MPI_Win_flush(layer_right(), win)) == MPI_ERR_RMA_SYNC);
}

/* An argument that is wrong for every target is an error for MPI_PROC_NULL too, as in both MPIs. */
static void I5_to_nobody(void)
{
	const MPI_Datatype none = MPI_DATATYPE_NULL;
	const int null = MPI_PROC_NULL;
	int number = 0, got = 7;

	MPI_Win_lock_all(0, win);
	EXPECT(class_of(MPI_Put(&number, 1, none, null, 0, 1, MPI_INT, win)) == MPI_ERR_TYPE);
	EXPECT(class_of(MPI_Get(&got, -1, MPI_INT, null, 0, 1, MPI_INT, win)) == MPI_ERR_COUNT);
	EXPECT(class_of(MPI_Accumulate(&number, 1, MPI_INT, null, 0, 1, MPI_INT, MPI_OP_NULL, win)) == MPI_ERR_OP);
	EXPECT(class_of(MPI_Fetch_and_op(&number, &got, none, null, 0, MPI_SUM, win)) == MPI_ERR_TYPE);
	EXPECT(class_of(MPI_Fetch_and_op(&number, &got, MPI_INT, null, 0, MPI_OP_NULL, win)) == MPI_ERR_OP);
	EXPECT(class_of(MPI_Compare_and_swap(&number, &number, &got, MPI_FLOAT, null, 0, win)) == MPI_ERR_TYPE);
	EXPECT(MPI_Accumulate(&number, 1, MPI_INT, null, 0, 1, MPI_INT, MPI_SUM, win) == MPI_SUCCESS);
	EXPECT(MPI_Compare_and_swap(&number, &number, &got, MPI_INT, null, 0, win) == MPI_SUCCESS);
	EXPECT(got == 7);
	MPI_Win_unlock_all(win);
}

/* One that is unknown, or another call's, opens no epoch. */
static void I5_assertions(void)
{
	const int unknown = 1 << 20, to = layer_right();
	MPI_Group world;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	EXPECT(class_of(MPI_Win_lock(MPI_LOCK_SHARED, to, MPI_MODE_NOPUT, win)) == MPI_ERR_ASSERT);
	EXPECT(class_of(MPI_Win_lock(MPI_LOCK_SHARED, to, unknown, win)) == MPI_ERR_ASSERT);
	EXPECT(class_of(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, unknown, win)) == MPI_ERR_ASSERT);
	EXPECT(class_of(MPI_Win_unlock(to, win)) == MPI_ERR_RMA_SYNC);
	EXPECT(class_of(MPI_Win_lock_all(MPI_MODE_NOSTORE | MPI_MODE_NOCHECK, win)) == MPI_ERR_ASSERT);
	EXPECT(class_of(MPI_Win_unlock_all(win)) == MPI_ERR_RMA_SYNC);
	EXPECT(class_of(MPI_Win_start(world, MPI_MODE_NOSTORE, win)) == MPI_ERR_ASSERT);
	EXPECT(class_of(MPI_Win_complete(win)) == MPI_ERR_RMA_SYNC);
	EXPECT(class_of(MPI_Win_post(world, MPI_MODE_NOPRECEDE, win)) == MPI_ERR_ASSERT);
	EXPECT(class_of(MPI_Win_wait(win)) == MPI_ERR_RMA_SYNC);
	EXPECT(class_of(MPI_Win_fence(MPI_MODE_NOCHECK, win)) == MPI_ERR_ASSERT);
	EXPECT(class_of(MPI_Win_fence(unknown, win)) == MPI_ERR_ASSERT);
	MPI_Group_free(&world);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* All that the standard has for each call is taken. */
static void F4_all_assertions(void)
{
	const int precede = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE;
	MPI_Group world;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	EXPECT(MPI_Win_fence(precede, win) == MPI_SUCCESS);
	EXPECT(MPI_Win_fence(precede | MPI_MODE_NOSUCCEED, win) == MPI_SUCCESS);
	EXPECT(MPI_Win_post(world, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win) == MPI_SUCCESS);
	MPI_Barrier(MPI_COMM_WORLD);
	EXPECT(MPI_Win_start(world, MPI_MODE_NOCHECK, win) == MPI_SUCCESS);
	EXPECT(MPI_Win_complete(win) == MPI_SUCCESS && MPI_Win_wait(win) == MPI_SUCCESS);
	EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, layer_right(), MPI_MODE_NOCHECK, win) == MPI_SUCCESS);
	EXPECT(MPI_Win_unlock(layer_right(), win) == MPI_SUCCESS);
	EXPECT(MPI_Win_lock_all(MPI_MODE_NOCHECK, win) == MPI_SUCCESS && MPI_Win_unlock_all(win) == MPI_SUCCESS);
	MPI_Group_free(&world);
	MPI_Barrier(MPI_COMM_WORLD);
}

static int world_handled;

static void world_handler(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
	world_handled++;
}

/* No group is an error of the window, not of MPI_COMM_WORLD, where it would end the program. */
static void I5_no_group(void)
{
	MPI_Errhandler mine;

	MPI_Comm_create_errhandler(world_handler, &mine);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
	EXPECT(class_of(MPI_Win_post(MPI_GROUP_NULL, 0, win)) == MPI_ERR_GROUP);
	EXPECT(class_of(MPI_Win_start(MPI_GROUP_NULL, 0, win)) == MPI_ERR_GROUP);
	EXPECT(class_of(MPI_Win_wait(win)) == MPI_ERR_RMA_SYNC);
	EXPECT(class_of(MPI_Win_complete(win)) == MPI_ERR_RMA_SYNC);
	EXPECT(world_handled == 0);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&mine);
}

/* Ranks of different nodes share no memory by Oriel, and the window is the MPI's, which can here. */
static void I5_not_shared(void)
{
	const int apart = getenv("ORIEL_TEST_NODE") && layer_size > 1;
	MPI_Aint bytes = -1;
	MPI_Win shared;
	int *mine, *theirs, unit, code;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	code = MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &shared);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	EXPECT(code == MPI_SUCCESS);
	if (apart) {
		MPI_Win_free(&shared);
		return;
	}
	MPI_Win_set_errhandler(shared, MPI_ERRORS_RETURN);
	EXPECT(class_of(MPI_Win_shared_query(shared, layer_size, &bytes, &unit, &theirs)) == MPI_ERR_RANK);
	EXPECT(class_of(MPI_Win_shared_query(shared, -9, &bytes, &unit, &theirs)) == MPI_ERR_RANK);
	EXPECT(bytes == -1);
	MPI_Win_free(&shared);
}

static int handled, handled_class;

static void handler(MPI_Win *which, int *code, ...)
{
	handled += *which == win;
	handled_class = class_of(*code);
}

static void I3_error_handler(void)
{
	MPI_Errhandler mine;

	MPI_Win_create_errhandler(handler, &mine);
	MPI_Win_set_errhandler(win, mine);
	handled = 0;
	MPI_Win_complete(win);
	EXPECT(handled == 1 && handled_class == MPI_ERR_RMA_SYNC);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Errhandler_free(&mine);
}

static int deleted;

static int count_deleted(MPI_Win which, int keyval, void *value, void *extra)
{
	(void)which, (void)keyval, (void)value, (void)extra;
	deleted++;
	return MPI_SUCCESS;
}

/* A window with an epoch open is not freed, and keeps its attributes. */
static void W7_free_in_an_epoch(void)
{
	int keyval;

	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deleted, &keyval, NULL);
	MPI_Win_set_attr(win, keyval, &keyval);
	MPI_Win_lock(MPI_LOCK_SHARED, layer_right(), 0, win);
	EXPECT(class_of(MPI_Win_free(&win)) == MPI_ERR_RMA_SYNC);
	EXPECT(win != MPI_WIN_NULL && deleted == 0);
	MPI_Win_unlock(layer_right(), win);
	MPI_Win_delete_attr(win, keyval);
	EXPECT(deleted == 1);
	MPI_Win_free_keyval(&keyval);
}

/*
 * No info is an error of the window too. (MPICH itself has MPI_ERR_ARG for it, and asks
 * MPI_COMM_WORLD's handler.)
 */
static void I5_no_info(void)
{
	MPI_Errhandler mine;

	EXPECT(class_of(MPI_Win_set_info(win, MPI_INFO_NULL)) == MPI_ERR_INFO);
	MPI_Win_create_errhandler(handler, &mine);
	MPI_Win_set_errhandler(win, mine);
	handled = 0;
	MPI_Win_set_info(win, MPI_INFO_NULL);
	EXPECT(handled == 1 && handled_class == MPI_ERR_INFO);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Errhandler_free(&mine);
}

/* What is no window's handle is the MPI's to refuse. */
static void I5_no_window(void)
{
	int number = 0;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	EXPECT(class_of(MPI_Put(&number, 1, MPI_INT, layer_right(), 0, 1, MPI_INT, (MPI_Win)0)) == MPI_ERR_WIN);
	EXPECT(class_of(MPI_Win_flush(layer_right(), MPI_WIN_NULL)) == MPI_ERR_WIN);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* MPI_Win_free sets the program's handle to MPI_WIN_NULL, but not its copies. */
static void I5_freed_window(void)
{
	MPI_Win freed, copy;
	MPI_Info info;
	void *base;
	int number = 0, flag;

	MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &freed);
	copy = freed;
	MPI_Win_free(&freed);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	EXPECT(says(MPI_Put(&number, 1, MPI_INT, 0, 0, 1, MPI_INT, copy), "a window that has been freed (MPI_ERR_WIN)"));
	EXPECT(class_of(MPI_Fetch_and_op(&number, &number, MPI_INT, 0, 0, MPI_SUM, copy)) == MPI_ERR_WIN);
	EXPECT(class_of(MPI_Win_fence(0, copy)) == MPI_ERR_WIN);
	EXPECT(class_of(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, copy)) == MPI_ERR_WIN);
	EXPECT(class_of(MPI_Win_unlock_all(copy)) == MPI_ERR_WIN);
	EXPECT(class_of(MPI_Win_get_info(copy, &info)) == MPI_ERR_WIN);
	EXPECT(class_of(MPI_Win_get_attr(copy, MPI_WIN_BASE, &base, &flag)) == MPI_ERR_WIN);
	EXPECT(class_of(MPI_Win_set_name(copy, "freed")) == MPI_ERR_WIN);
	EXPECT(class_of(MPI_Win_free(&copy)) == MPI_ERR_WIN);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static int comm_handled;

static void comm_handler(MPI_Comm *comm, int *code, ...)
{
	comm_handled += *comm == MPI_COMM_WORLD && class_of(*code) == MPI_ERR_SIZE;
}

static void I5_creation(void)
{
	MPI_Errhandler mine;
	MPI_Win none;

	MPI_Comm_create_errhandler(comm_handler, &mine);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
	MPI_Win_create(memory, -4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &none);
	EXPECT(comm_handled == 1);
	MPI_Errhandler_free(&mine);

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	EXPECT(class_of(MPI_Win_create(memory, -4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &none)) == MPI_ERR_SIZE);
	EXPECT(class_of(MPI_Win_create(memory, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &none)) == MPI_ERR_DISP);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static const struct layer_case cases[] = {
	{ "I5_open", open_window },
	{ "I5_range", I5_range },
	{ "I5_range_beyond_numbers", I5_range_beyond_numbers },
	{ "I5_latest_text", I5_latest_text },
	{ "I5_words_of_mpi", I5_words_of_mpi },
	{ "I5_truncated", I5_truncated },
	{ "I5_not_combined", I5_not_combined },
	{ "I5_one_element", I5_one_element },
	{ "I5_not_committed", I5_not_committed },
	{ "I5_kinds", I5_kinds },
	{ "F4_no_epoch_follows", F4_no_epoch_follows },
	{ "I5_synchronisation", I5_synchronisation },
	{ "I5_arguments", I5_arguments },
	{ "I5_to_nobody", I5_to_nobody },
	{ "I5_assertions", I5_assertions },
	{ "F4_all_assertions", F4_all_assertions },
	{ "I5_no_group", I5_no_group },
	{ "I5_not_shared", I5_not_shared },
	{ "I3_error_handler", I3_error_handler },
	{ "I5_no_info", I5_no_info },
	{ "W7_free_in_an_epoch", W7_free_in_an_epoch },
	{ "I5_no_window", I5_no_window },
	{ "I5_freed_window", I5_freed_window },
	{ "I5_creation", I5_creation },
	{ "I5_close", close_window },
};

LAYER_MAIN(cases)
