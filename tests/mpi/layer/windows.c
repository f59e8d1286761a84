// SPDX-License-Identifier: BSD-2-Clause
/* windows.c - making windows of every kind, and what they tell of themselves. */
#include "layer.h"

#include <stdlib.h>
#include <string.h>

/* Each rank tells its right neighbour a number, at displacement 1. */
static void ring(MPI_Win win, MPI_Comm comm, const int *here)
{
	int rank, size, number;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	number = 100 + rank;
	MPI_Win_fence(0, win);
	MPI_Put(&number, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	EXPECT(here[1] == 100 + (rank + size - 1) % size);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void *attribute(MPI_Win win, int keyval)
{
	void *value = NULL;
	int found = 0;

	MPI_Win_get_attr(win, keyval, &value, &found);
	EXPECT(found);
	return value;
}

static void I3_created(void)
{
	int memory[4] = { 0 };
	MPI_Win win;

	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	EXPECT(attribute(win, MPI_WIN_BASE) == memory);
	EXPECT(*(MPI_Aint *)attribute(win, MPI_WIN_SIZE) == sizeof(memory));
	EXPECT(*(int *)attribute(win, MPI_WIN_DISP_UNIT) == sizeof(int));
	EXPECT(*(int *)attribute(win, MPI_WIN_CREATE_FLAVOR) == MPI_WIN_FLAVOR_CREATE);
	ring(win, MPI_COMM_WORLD, memory);
	MPI_Win_free(&win);
	EXPECT(win == MPI_WIN_NULL);
}

static void I3_allocated(void)
{
	MPI_Win win;
	int *memory;

	MPI_Win_allocate(16, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	EXPECT(attribute(win, MPI_WIN_BASE) == memory);
	EXPECT(*(int *)attribute(win, MPI_WIN_CREATE_FLAVOR) == MPI_WIN_FLAVOR_ALLOCATE);
	ring(win, MPI_COMM_WORLD, memory);
	MPI_Win_free(&win);
}

static void MM1_unified(void)
{
	MPI_Win win;
	void *memory;

	MPI_Win_allocate(16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	EXPECT(*(int *)attribute(win, MPI_WIN_MODEL) == MPI_WIN_UNIFIED);
	MPI_Win_free(&win);
}

static void SW3_shared(void)
{
	MPI_Aint bytes;
	MPI_Win win;
	int *memory, *theirs, unit;

	MPI_Win_allocate_shared(16, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	EXPECT(*(int *)attribute(win, MPI_WIN_CREATE_FLAVOR) == MPI_WIN_FLAVOR_SHARED);
	ring(win, MPI_COMM_WORLD, memory);
	MPI_Win_shared_query(win, layer_right(), &bytes, &unit, &theirs);
	EXPECT(bytes == 16 && unit == sizeof(int) && theirs[1] == 100 + layer_rank);
	MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &theirs);
	EXPECT(bytes == 16 && theirs[1] == 100 + layer_size - 1);
	MPI_Win_free(&win);
}

/* Parts and units of each rank's own; the first has none. */
static void SW3_parts_differ(void)
{
	int *memory, *first, *theirs, unit, mine = layer_rank == 0 ? 0 : 8 * layer_rank;
	MPI_Aint bytes;
	MPI_Win win;

	MPI_Win_allocate_shared(mine, layer_rank + 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_shared_query(win, layer_right(), &bytes, &unit, &theirs);
	EXPECT(bytes == 8 * layer_right() && unit == layer_right() + 1);
	MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first);
	EXPECT(layer_size == 1 || (bytes == 8 && unit == 2));
	if (layer_size > 1) {
		MPI_Win_shared_query(win, 1, &bytes, &unit, &theirs);
		EXPECT(first == theirs);
	}
	MPI_Win_free(&win);
}

/* A part of 0 bytes has no address, in no member. */
static void SW3_part_of_nothing(void)
{
	int *memory, *theirs, unit;
	MPI_Aint bytes;
	MPI_Win win;

	MPI_Win_allocate_shared(layer_rank % 2 ? 16 : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	for (int rank = 0; rank < layer_size; rank++) {
		MPI_Win_shared_query(win, rank, &bytes, &unit, &theirs);
		EXPECT(bytes == (rank % 2 ? 16 : 0) && unit == sizeof(int) && !theirs == !bytes);
		EXPECT(rank != layer_rank || theirs == memory);
	}
	MPI_Win_get_attr(win, MPI_WIN_BASE, &theirs, &unit);
	EXPECT(theirs == memory);
	MPI_Win_free(&win);
	MPI_Win_allocate_shared(0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &theirs);
	EXPECT(bytes == 0 && !theirs && !memory);
	MPI_Win_free(&win);
}

static void DW1_dynamic(void)
{
	int *memory = calloc(4, sizeof(*memory)), number = 7 + layer_rank;
	MPI_Aint here, there;
	MPI_Win win;

	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	EXPECT(attribute(win, MPI_WIN_BASE) == MPI_BOTTOM);
	EXPECT(*(int *)attribute(win, MPI_WIN_CREATE_FLAVOR) == MPI_WIN_FLAVOR_DYNAMIC);
	MPI_Win_attach(win, memory, 16);
	MPI_Get_address(memory + 3, &here); /* the last of what is attached */
	MPI_Sendrecv(&here, 1, MPI_AINT, layer_left(), 0, &there, 1, MPI_AINT, layer_right(), 0, MPI_COMM_WORLD,
	             MPI_STATUS_IGNORE);
	MPI_Win_lock(MPI_LOCK_SHARED, layer_right(), 0, win);
	MPI_Put(&number, 1, MPI_INT, layer_right(), there, 1, MPI_INT, win);
	MPI_Win_unlock(layer_right(), win);
	MPI_Barrier(MPI_COMM_WORLD);
	EXPECT(memory[3] == 7 + layer_left());
	MPI_Win_detach(win, memory);
	MPI_Win_free(&win);
	free(memory);
}

/* Subsets, other orders, and MPI_COMM_SELF. */
static void W6_communicators(void)
{
	int memory[4] = { 0 };
	MPI_Comm half, backwards;
	MPI_Win win;

	MPI_Comm_split(MPI_COMM_WORLD, layer_rank % 2, 0, &half);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -layer_rank, &backwards);
	MPI_Win_create(memory, sizeof(memory), 4, MPI_INFO_NULL, half, &win);
	ring(win, half, memory);
	MPI_Win_free(&win);
	MPI_Win_create(memory, sizeof(memory), 4, MPI_INFO_NULL, backwards, &win);
	ring(win, backwards, memory);
	MPI_Win_free(&win);
	MPI_Win_create(memory, sizeof(memory), 4, MPI_INFO_NULL, MPI_COMM_SELF, &win);
	ring(win, MPI_COMM_SELF, memory);
	MPI_Win_free(&win);
	MPI_Comm_free(&half);
	MPI_Comm_free(&backwards);
}

/* Two windows each on two duplicates, made in another order by some ranks than by others. */
static void E4_duplicates(void)
{
	int memory[2][4] = { { 0 } };
	MPI_Comm comms[2];
	MPI_Win wins[2];

	for (int i = 0; i < 2; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < 2; i++)
		MPI_Win_create(memory[i], sizeof(memory[i]), 4, MPI_INFO_NULL, comms[i], &wins[i]);
	ring(wins[1], comms[1], memory[1]);
	EXPECT(memory[0][1] == 0);
	for (int i = 0; i < 2; i++) {
		MPI_Win_free(&wins[i]);
		MPI_Comm_free(&comms[i]);
	}
}

static void W3_units_differ(void)
{
	char memory[64] = { 0 };
	int number = 5;
	MPI_Win win;

	MPI_Win_create(memory, sizeof(memory), layer_rank + 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	MPI_Put(&number, 1, MPI_INT, layer_right(), 4, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	EXPECT(memory[4 * (layer_rank + 1)] == 5);
	MPI_Win_free(&win);
}

static void I3_group(void)
{
	MPI_Group group, world;
	MPI_Win win;
	void *memory;
	int result;

	MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_get_group(win, &group);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_compare(group, world, &result);
	EXPECT(result == MPI_IDENT);
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
}

/* Of a window on some ranks, in another order. */
static void I3_group_of_some(void)
{
	MPI_Comm half;
	MPI_Group group, same;
	MPI_Win win;
	void *memory;
	int result;

	MPI_Comm_split(MPI_COMM_WORLD, layer_rank % 2, -layer_rank, &half);
	MPI_Win_allocate(8, 1, MPI_INFO_NULL, half, &memory, &win);
	MPI_Win_get_group(win, &group);
	MPI_Comm_group(half, &same);
	MPI_Group_compare(group, same, &result);
	EXPECT(result == MPI_IDENT);
	MPI_Group_free(&group);
	MPI_Group_free(&same);
	MPI_Win_free(&win);
	MPI_Comm_free(&half);
}

/* Groups of an epoch are of the window's ranks, which are not those of MPI_COMM_WORLD. */
static void P1_groups_backwards(void)
{
	int memory = -1, number = 80 + layer_rank, here, to, from;
	MPI_Group all, target, origin;
	MPI_Comm backwards;
	MPI_Win win;

	MPI_Comm_split(MPI_COMM_WORLD, 0, -layer_rank, &backwards);
	MPI_Comm_rank(backwards, &here);
	to = (here + 1) % layer_size;
	from = (here + layer_size - 1) % layer_size;
	MPI_Comm_group(backwards, &all);
	MPI_Group_incl(all, 1, &to, &target);
	MPI_Group_incl(all, 1, &from, &origin);
	MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, backwards, &win);
	MPI_Win_post(origin, 0, win);
	MPI_Win_start(target, 0, win);
	MPI_Put(&number, 1, MPI_INT, to, 0, 1, MPI_INT, win);
	MPI_Win_complete(win);
	MPI_Win_wait(win);
	EXPECT(memory == 80 + layer_size - 1 - from);
	MPI_Win_free(&win);
	MPI_Group_free(&origin);
	MPI_Group_free(&target);
	MPI_Group_free(&all);
	MPI_Comm_free(&backwards);
}

static int deleted;

static int count_deleted(MPI_Win win, int keyval, void *value, void *extra)
{
	(void)win, (void)keyval, (void)extra;
	deleted += *(int *)value;
	return MPI_SUCCESS;
}

/* The text of a put outside of epochs. */
static const char *refused_text(MPI_Win win)
{
	static char text[MPI_MAX_ERROR_STRING];
	int byte = 0, length = 0;

	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Error_string(MPI_Put(&byte, 1, MPI_BYTE, 0, 0, 1, MPI_BYTE, win), text, &length);
	return text;
}

static void I3_names_and_attributes(void)
{
	char name[MPI_MAX_OBJECT_NAME];
	int keyval, found, length, mine = 3, *value;
	MPI_Win win, again;
	void *memory;

	MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_set_name(win, "halo");
	MPI_Win_get_name(win, name, &length);
	EXPECT(strcmp(name, "halo") == 0 && length == 4);
	EXPECT(strstr(refused_text(win), " (halo): ") != NULL);
	MPI_Win_set_name(win, "two\nlines");
	EXPECT(strstr(refused_text(win), " (two?lines): ") != NULL);
	MPI_Win_set_name(win, "halo");
	again = MPI_Win_f2c(MPI_Win_c2f(win));
	EXPECT(again == win);
	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deleted, &keyval, NULL);
	MPI_Win_set_attr(win, keyval, &mine);
	MPI_Win_get_attr(win, keyval, &value, &found);
	EXPECT(found && *value == 3);
	deleted = 0;
	MPI_Win_free(&win);
	EXPECT(deleted == 3);
	MPI_Win_free_keyval(&keyval);
}

/* A new window has no name, nor one that the MPI gives its own; of so many some are new altogether. */
static void I3_no_name(void)
{
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Win wins[20];
	int length;

	for (int i = 0; i < 20; i++) {
		MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &wins[i]);
		length = -1;
		MPI_Win_get_name(wins[i], name, &length);
		EXPECT(length == 0 && name[0] == '\0');
	}
	for (int i = 0; i < 20; i++)
		MPI_Win_free(&wins[i]);
}

/*
 * A new window does not inherit the name, the error handler or the attributes of a freed one. The
 * windows are freed in any order.
 */
static void I3_new_after_freed(void)
{
	int keyval, value = 1, length = -1, found;
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Errhandler handler;
	MPI_Win wins[3];
	void *set;

	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL);
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < 3; i++) {
			MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &wins[i]);
			MPI_Win_get_name(wins[i], name, &length);
			MPI_Win_get_errhandler(wins[i], &handler);
			EXPECT(length == 0 && name[0] == '\0');
			EXPECT(handler == MPI_ERRORS_ARE_FATAL);
			MPI_Win_get_attr(wins[i], keyval, &set, &found);
			EXPECT(!found);
			MPI_Win_set_name(wins[i], "freed");
			MPI_Win_set_errhandler(wins[i], MPI_ERRORS_RETURN);
			if (i == 1)
				MPI_Win_set_attr(wins[i], keyval, &value);
		}
		for (int i = 0; i < 3; i++) {
			MPI_Win_free(&wins[i]);
			EXPECT(wins[i] == MPI_WIN_NULL);
		}
	}
	MPI_Win_free_keyval(&keyval);
}

/* What a delete callback finds: the window as it was, and the attributes in reverse order. */
static MPI_Win whole;
static int *whole_memory, whole_deleted[4], whole_count, whole_refusals;

static int use_whole(MPI_Win win, int keyval, void *value, void *extra)
{
	int number = 40 + whole_count, *base, found;

	(void)keyval, (void)extra;
	EXPECT(win == whole);
	MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &found);
	EXPECT(found && base == whole_memory);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, layer_rank, 0, win);
	MPI_Put(&number, 1, MPI_INT, layer_rank, 1, 1, MPI_INT, win);
	MPI_Win_unlock(layer_rank, win);
	EXPECT(whole_memory[1] == number);
	whole_memory[2] = 1;
	if (whole_refusals > 0 && whole_refusals--)
		return MPI_ERR_OTHER;
	whole_deleted[whole_count++] = *(int *)value;
	return MPI_SUCCESS;
}

/*
 * Three attributes; the keyval of the third is freed while it is there, and the first is set again,
 * and so the latest.
 */
static void make_whole(int keyvals[3], int values[3])
{
	MPI_Win_allocate(16, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &whole_memory, &whole);
	for (int i = 0; i < 3; i++) {
		values[i] = i + 1;
		MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, use_whole, &keyvals[i], NULL);
		MPI_Win_set_attr(whole, keyvals[i], &values[i]);
	}
	MPI_Win_free_keyval(&keyvals[2]);
	whole_count = 0;
	MPI_Win_delete_attr(whole, keyvals[0]);
	EXPECT(whole_count == 1 && whole_deleted[0] == 1);
	MPI_Win_set_attr(whole, keyvals[0], &values[0]);
	whole_count = 0;
}

static void I3_deleted_while_whole(void)
{
	int keyvals[3], values[3];

	make_whole(keyvals, values);
	MPI_Win_free(&whole);
	EXPECT(whole_count == 3 && whole_deleted[0] == 1 && whole_deleted[1] == 3 && whole_deleted[2] == 2);
	MPI_Win_free_keyval(&keyvals[0]);
	MPI_Win_free_keyval(&keyvals[1]);
}

static void I3_deletion_refused(void)
{
	int keyvals[3], values[3];

	make_whole(keyvals, values);
	MPI_Win_set_errhandler(whole, MPI_ERRORS_RETURN);
	whole_refusals = 1;
	EXPECT(MPI_Win_free(&whole) != MPI_SUCCESS);
	EXPECT(whole != MPI_WIN_NULL && whole_count == 0);
	ring(whole, MPI_COMM_WORLD, whole_memory);
	EXPECT(MPI_Win_free(&whole) == MPI_SUCCESS);
	EXPECT(whole == MPI_WIN_NULL && whole_count == 3 && whole_deleted[0] == 1);
	MPI_Win_free_keyval(&keyvals[0]);
	MPI_Win_free_keyval(&keyvals[1]);
}

/* A delete callback deletes another attribute of the window that is being freed. */
static int other_keyval, others_deleted;

static int delete_other(MPI_Win win, int keyval, void *value, void *extra)
{
	(void)value, (void)extra;
	others_deleted++;
	return keyval == other_keyval ? MPI_SUCCESS : MPI_Win_delete_attr(win, other_keyval);
}

static void I3_deletion_of_another(void)
{
	int keyval, value = 1, *memory;
	MPI_Win win;

	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_other, &other_keyval, NULL);
	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_other, &keyval, NULL);
	MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_set_attr(win, other_keyval, &value);
	MPI_Win_set_attr(win, keyval, &value);
	MPI_Win_free(&win);
	EXPECT(others_deleted == 2);
	MPI_Win_free_keyval(&keyval);
	MPI_Win_free_keyval(&other_keyval);
}

/* Of an attribute that is gone nothing is asked: its keyval may have been freed since. */
static void I3_deleted_and_keyval_freed(void)
{
	int keyval, value = 5, *memory;
	MPI_Win win;

	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deleted, &keyval, NULL);
	MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	deleted = 0;
	MPI_Win_set_attr(win, keyval, &value);
	MPI_Win_delete_attr(win, keyval);
	MPI_Win_free_keyval(&keyval);
	MPI_Win_free(&win);
	EXPECT(win == MPI_WIN_NULL && deleted == 5);
}

static void I1_info(void)
{
	char value[64] = "";
	MPI_Info info, used;
	MPI_Win win;
	void *memory;
	int found;

	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "true");
	MPI_Info_set(info, "accumulate_ordering", "what is this");
	MPI_Info_set(info, "some_other_key", "1");
	MPI_Win_allocate(8, 1, info, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_get_info(win, &used);
	MPI_Info_get(used, "no_locks", 63, value, &found);
	EXPECT(found && strcmp(value, "true") == 0);
	MPI_Info_free(&used);
	MPI_Win_set_info(win, info);
	MPI_Info_free(&info);
	MPI_Win_free(&win);
}

static int info_is(MPI_Win win, const char *key, const char *expected)
{
	char value[64] = "";
	MPI_Info used;
	int found;

	MPI_Win_get_info(win, &used);
	MPI_Info_get(used, key, 63, value, &found);
	MPI_Info_free(&used);
	return found && strcmp(value, expected) == 0;
}

/*
 * Memory of the program moves if that is requested and possible, stays as it was, and is reported.
 */
static void W10_memory_moves(void)
{
	const size_t bytes = 16 * 4096;
	void *memory = NULL;
	int *words, told;
	MPI_Info info;
	MPI_Win win;

	EXPECT(posix_memalign(&memory, 4096, bytes) == 0);
	words = memory;
	for (size_t i = 0; i < bytes / sizeof(int); i++)
		words[i] = (int)i;
	MPI_Info_create(&info);
	MPI_Info_set(info, "share", "true");
	MPI_Win_create(words, (MPI_Aint)bytes, sizeof(int), info, MPI_COMM_WORLD, &win);
	told = info_is(win, "share", "true") || info_is(win, "share", "false");
	EXPECT(told && words[1000] == 1000);
	MPI_Win_fence(0, win);
	MPI_Put(&layer_rank, 1, MPI_INT, (layer_rank + 1) % layer_size, 7, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	EXPECT(words[7] == (layer_rank + layer_size - 1) % layer_size && words[8] == 8);
	MPI_Info_free(&info);
	MPI_Win_free(&win);
	EXPECT(words[7] == (layer_rank + layer_size - 1) % layer_size && words[16000] == 16000);
	free(words);
}

/* The info in force is returned, and can be changed. */
static void I2_info_changed(void)
{
	MPI_Info info;
	MPI_Win win;
	void *memory;

	MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	EXPECT(info_is(win, "accumulate_ops", "same_op_no_op"));
	EXPECT(info_is(win, "accumulate_ordering", "rar,raw,war,waw"));
	MPI_Info_create(&info);
	MPI_Info_set(info, "accumulate_ordering", "none");
	MPI_Info_set(info, "accumulate_ops", "same_op");
	MPI_Win_set_info(win, info);
	MPI_Info_free(&info);
	EXPECT(info_is(win, "accumulate_ops", "same_op"));
	EXPECT(info_is(win, "accumulate_ordering", "none"));
	MPI_Win_free(&win);
}

/* Info that a program sets later is returned from then on. */
static void I2_info_told_as_said_last(void)
{
	static const char *const keys[] = { "no_locks", "same_size", "same_disp_unit" };
	MPI_Info info;
	MPI_Win win;
	int *memory;

	MPI_Info_create(&info);
	MPI_Win_allocate(16, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	for (int i = 0; i < 3; i++) {
		EXPECT(info_is(win, keys[i], "false"));
		MPI_Info_set(info, keys[i], "true");
	}
	MPI_Win_set_info(win, info);
	for (int i = 0; i < 3; i++) {
		EXPECT(info_is(win, keys[i], "true"));
		MPI_Info_delete(info, keys[i]);
	}
	MPI_Win_set_info(win, info);
	for (int i = 0; i < 3; i++) {
		EXPECT(info_is(win, keys[i], "true"));
		MPI_Info_set(info, keys[i], "false");
	}
	MPI_Win_set_info(win, info);
	for (int i = 0; i < 3; i++)
		EXPECT(info_is(win, keys[i], "false"));
	MPI_Info_free(&info);
	MPI_Win_free(&win);
}

/* A program that has said it would not, and does, is served. */
static void I1_no_locks_and_a_lock(void)
{
	int number = 9;
	MPI_Info info;
	MPI_Win win;
	int *memory;

	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "true");
	MPI_Win_allocate(16, sizeof(int), info, MPI_COMM_WORLD, &memory, &win);
	EXPECT(info_is(win, "no_locks", "true"));
	MPI_Win_lock(MPI_LOCK_SHARED, layer_right(), 0, win);
	MPI_Put(&number, 1, MPI_INT, layer_right(), 1, 1, MPI_INT, win);
	MPI_Win_unlock(layer_right(), win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	EXPECT(memory[1] == 9);
	MPI_Win_unlock_all(win);
	MPI_Info_free(&info);
	MPI_Win_free(&win);
}

/* Hints that are to be the same on all members are ignored where they are not. */
static void A19_hints_differ(void)
{
	int created[4] = { 0 }, *memory, *theirs, unit;
	MPI_Aint bytes;
	MPI_Info info;
	MPI_Win win;

	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_accumulate_granularity", layer_rank ? "8" : "65536");
	MPI_Info_set(info, "alloc_shared_noncontig", layer_rank ? "false" : "true");
	MPI_Info_set(info, "accumulate_ordering", layer_rank ? "none" : "war");
	MPI_Info_set(info, "no_locks", layer_rank ? "true" : "false");
	MPI_Win_create(created, sizeof(created), sizeof(int), info, MPI_COMM_WORLD, &win);
	ring(win, MPI_COMM_WORLD, created);
	EXPECT(info_is(win, "accumulate_ordering", layer_rank ? "none" : "war"));
	MPI_Win_set_info(win, info);
	MPI_Win_free(&win);
	MPI_Win_allocate(16, sizeof(int), info, MPI_COMM_WORLD, &memory, &win);
	ring(win, MPI_COMM_WORLD, memory);
	MPI_Win_free(&win);
	MPI_Win_allocate_shared(16, sizeof(int), info, MPI_COMM_WORLD, &memory, &win);
	ring(win, MPI_COMM_WORLD, memory);
	MPI_Win_shared_query(win, layer_right(), &bytes, &unit, &theirs);
	EXPECT(bytes == 16 && theirs[1] == 100 + layer_rank);
	MPI_Win_free(&win);
	for (int i = 0; i < 2; i++) { /* the second time the members know each other */
		MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
		MPI_Win_fence(0, win);
		MPI_Win_free(&win);
	}
	MPI_Info_free(&info);
}

/* Only some of them give the hint. */
static void A19_hint_of_one(void)
{
	MPI_Info info = MPI_INFO_NULL;
	MPI_Win win;
	int *memory;

	if (layer_rank == layer_size - 1) {
		MPI_Info_create(&info);
		MPI_Info_set(info, "mpi_accumulate_granularity", "8");
	}
	MPI_Win_allocate(16, sizeof(int), info, MPI_COMM_WORLD, &memory, &win);
	ring(win, MPI_COMM_WORLD, memory);
	MPI_Win_free(&win);
	if (info != MPI_INFO_NULL)
		MPI_Info_free(&info);
}

/* What cannot be a value of the key is ignored, however long it is. */
static void I1_long_value(void)
{
	char value[MPI_MAX_INFO_VAL / 2];
	MPI_Info info;
	MPI_Win win;

	memset(value, 'r', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	MPI_Info_create(&info);
	MPI_Info_set(info, "accumulate_ordering", value);
	MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
	EXPECT(info_is(win, "accumulate_ordering", "rar,raw,war,waw"));
	MPI_Info_free(&info);
	MPI_Win_free(&win);
}

static void W4_alloc_mem(void)
{
	int *memory;
	MPI_Win win;

	MPI_Alloc_mem(16, MPI_INFO_NULL, &memory);
	memset(memory, 0, 16);
	MPI_Win_create(memory, 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	ring(win, MPI_COMM_WORLD, memory);
	MPI_Win_free(&win);
	MPI_Free_mem(memory);
}

#if MPI_VERSION >= 4
/* The calls for large counts. */
static void W4_large_counts(void)
{
	int created[4] = { 0 }, *memory, *theirs;
	MPI_Aint bytes, unit;
	MPI_Win win;

	MPI_Win_create_c(created, sizeof(created), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	ring(win, MPI_COMM_WORLD, created);
	MPI_Win_free(&win);
	MPI_Win_allocate_c(16, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	ring(win, MPI_COMM_WORLD, memory);
	MPI_Win_free(&win);
	MPI_Win_allocate_shared_c(16, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	ring(win, MPI_COMM_WORLD, memory);
	MPI_Win_shared_query_c(win, layer_right(), &bytes, &unit, &theirs);
	EXPECT(bytes == 16 && unit == sizeof(int) && theirs[1] == 100 + layer_rank);
	MPI_Win_free(&win);
}
#endif

static void W1_without_memory(void)
{
	MPI_Win win;
	void *memory;

	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_free(&win);
	MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_free(&win);
}

static const struct layer_case cases[] = {
	{ "I3_created", I3_created },
	{ "I3_allocated", I3_allocated },
	{ "MM1_unified", MM1_unified },
	{ "SW3_shared", SW3_shared },
	{ "SW3_parts_differ", SW3_parts_differ },
	{ "SW3_part_of_nothing", SW3_part_of_nothing },
	{ "DW1_dynamic", DW1_dynamic },
	{ "W6_communicators", W6_communicators },
	{ "E4_duplicates", E4_duplicates },
	{ "W3_units_differ", W3_units_differ },
	{ "I3_group", I3_group },
	{ "I3_group_of_some", I3_group_of_some },
	{ "P1_groups_backwards", P1_groups_backwards },
	{ "I3_names_and_attributes", I3_names_and_attributes },
	{ "I3_no_name", I3_no_name },
	{ "I3_new_after_freed", I3_new_after_freed },
	{ "I3_deleted_while_whole", I3_deleted_while_whole },
	{ "I3_deletion_refused", I3_deletion_refused },
	{ "I3_deletion_of_another", I3_deletion_of_another },
	{ "I3_deleted_and_keyval_freed", I3_deleted_and_keyval_freed },
	{ "I1_info", I1_info },
	{ "I2_info_changed", I2_info_changed },
	{ "I2_info_told_as_said_last", I2_info_told_as_said_last },
	{ "I1_no_locks_and_a_lock", I1_no_locks_and_a_lock },
	{ "A19_hints_differ", A19_hints_differ },
	{ "A19_hint_of_one", A19_hint_of_one },
	{ "I1_long_value", I1_long_value },
	{ "W10_memory_moves", W10_memory_moves },
	{ "W4_alloc_mem", W4_alloc_mem },
#if MPI_VERSION >= 4
	{ "W4_large_counts", W4_large_counts },
#endif
	{ "W1_without_memory", W1_without_memory },
};

LAYER_MAIN(cases)
