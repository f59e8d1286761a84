// SPDX-License-Identifier: BSD-2-Clause
/*
 * forked.c - a program that forks between its epochs, and goes on
 *
 * While a child lives the parent's pages are the child's too, until one of the two writes them:
 * what peers put must come to the parent, and what the parent stores must be what they get.
 * Children live until the parent has done so.
 */
#include "layer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NUMBERS 3000 /* more than a page */
#define TURNS 4

static int own_memory[NUMBERS];

struct child {
	pid_t id;
	int hold; /* it ends when this is closed */
};

/*
 * It computes, and calls no function of MPI. What it writes is its own, the window's memory left out,
 * which may be shared.
 */
static void compute(int until)
{
	static int numbers[NUMBERS];
	char none;
	int sum = 0;

	for (int i = 0; i < NUMBERS; i++)
		sum += numbers[i] = i;
	_exit(read(until, &none, 1) != 0 || sum != NUMBERS / 2 * (NUMBERS - 1));
}

static struct child begin_child(void)
{
	int ends[2] = { -1, -1 };
	struct child child;

	EXPECT(pipe(ends) == 0);
	child.hold = ends[1];
	child.id = fork();
	if (child.id == 0) {
		close(ends[1]);
		compute(ends[0]);
	}
	EXPECT(child.id > 0);
	close(ends[0]);
	return child;
}

static void end_child(struct child child)
{
	int status = -1;

	close(child.hold);
	EXPECT(waitpid(child.id, &status, 0) == child.id && status == 0);
}

static void run_another_program(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		execlp("true", "true", (char *)NULL);
		_exit(1);
	}
	EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static int number_of(int rank, int turn, int i)
{
	return 100000 * rank + 10000 * turn + i;
}

static int same_everywhere(const int *numbers, int rank, int turn)
{
	for (int i = 0; i < NUMBERS / 3; i++)
		if (numbers[i] != number_of(rank, turn, i))
			return 0;
	return 1;
}

static void fill(int *numbers, int turn)
{
	for (int i = 0; i < NUMBERS / 3; i++)
		numbers[i] = number_of(layer_rank, turn, i);
}

/* A third of the memory is put to, a third is got from, and a third is added to. */
static void transfer(MPI_Win win, int *memory, int turn)
{
	static int sent[NUMBERS / 3], got[NUMBERS / 3];
	const int third = NUMBERS / 3, one = 1;

	fill(sent, turn);
	fill(memory + third, turn);
	memset(got, 0, sizeof(got));
	MPI_Win_fence(0, win);
	MPI_Put(sent, third, MPI_INT, layer_right(), 0, third, MPI_INT, win);
	MPI_Get(got, third, MPI_INT, layer_right(), third, third, MPI_INT, win);
	MPI_Accumulate(&one, 1, MPI_INT, layer_right(), 2 * third, 1, MPI_INT, MPI_SUM, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	EXPECT(same_everywhere(memory, layer_left(), turn));
	EXPECT(same_everywhere(got, layer_right(), turn));
	MPI_Win_lock(MPI_LOCK_SHARED, layer_right(), 0, win);
	MPI_Get(got, third, MPI_INT, layer_right(), 0, third, MPI_INT, win);
	MPI_Win_unlock(layer_right(), win);
	EXPECT(same_everywhere(got, layer_rank, turn));
	MPI_Barrier(MPI_COMM_WORLD);
}

/*
 * With a child beside, with one that has ended, and behind another program; the first window has
 * had operations before or not.
 */
static void fork_between(MPI_Win win, int *memory, int first)
{
	memset(memory, 0, NUMBERS * sizeof(int));
	for (int turn = 0; turn < TURNS; turn++) {
		struct child child;

		if (turn > 0 || first)
			transfer(win, memory, 2 * turn);
		child = begin_child();
		transfer(win, memory, 2 * turn + 1);
		run_another_program();
		transfer(win, memory, 2 * turn);
		end_child(child);
	}
	transfer(win, memory, 9);
	EXPECT(memory[2 * (NUMBERS / 3)] == 3 * TURNS + 1 - !first);
}

static void W4_forked_beside_own_memory(void)
{
	MPI_Win win;

	for (int first = 0; first < 2; first++) {
		MPI_Win_create(own_memory, sizeof(own_memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		fork_between(win, own_memory, first);
		MPI_Win_free(&win);
	}
}

static void W4_forked_beside_allocated_memory(void)
{
	MPI_Win win;
	int *memory;

	for (int first = 0; first < 2; first++) {
		MPI_Win_allocate(NUMBERS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
		fork_between(win, memory, first);
		MPI_Win_free(&win);
	}
}

/* A child that is there when a window is made, and when it is freed. */
static void W7_forked_around_windows(void)
{
	struct child child = begin_child();
	MPI_Win win;
	int *memory = calloc(NUMBERS, sizeof(int));

	MPI_Win_create(memory, NUMBERS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	transfer(win, memory, 1);
	end_child(child);
	child = begin_child();
	transfer(win, memory, 2);
	MPI_Win_free(&win);
	end_child(child);
	free(memory);
}

static const struct layer_case cases[] = {
	{ "W4_forked_beside_own_memory", W4_forked_beside_own_memory },
	{ "W4_forked_beside_allocated_memory", W4_forked_beside_allocated_memory },
	{ "W7_forked_around_windows", W7_forked_around_windows },
};

LAYER_MAIN(cases)
