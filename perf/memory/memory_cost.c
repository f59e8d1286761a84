// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory_cost.c - what memory and windows cost an MPI program to make and free
 *
 *   mpiexec -n 2 build/bin/mpich_memory_cost
 *   mpiexec -n 2 build/bin/oriel-mpi build/bin/mpich_memory_cost
 *
 * Rank 0 prints the median of ROUNDS rounds in microseconds, beside malloc's, and a rank's maximum
 * memory. "touched" writes a byte to each page.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define ROUNDS 21
#define KIB ((size_t)1024)
#define MIB ((size_t)1 << 20)
#define PAGE_BYTES 4096

static int rank;

static void touch(char *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += PAGE_BYTES)
		((volatile char *)memory)[i] = 1;
}

static void by_malloc(size_t bytes, int touched)
{
	char *volatile memory = malloc(bytes);

	if (touched)
		touch(memory, bytes);
	free(memory);
}

static void by_mpi(size_t bytes, int touched)
{
	char *memory;

	MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory);
	if (touched)
		touch(memory, bytes);
	MPI_Free_mem(memory);
}

static void fence_and_free(MPI_Win win, char *memory, size_t bytes, int touched)
{
	MPI_Win_fence(0, win);
	if (touched)
		touch(memory, bytes);
	MPI_Win_free(&win);
}

static void by_create(size_t bytes, int touched)
{
	static char memory[64 << 10];
	MPI_Win win;

	MPI_Win_create(memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	fence_and_free(win, memory, bytes, touched);
}

static void by_allocate(size_t bytes, int touched)
{
	char *memory;
	MPI_Win win;

	MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	fence_and_free(win, memory, bytes, touched);
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Returns the median; the first three rounds do not count. */
static double median_us(void (*turn)(size_t, int), size_t bytes, int touched, int turns)
{
	double us[ROUNDS];

	for (int round = -3; round < ROUNDS; round++) {
		double begun = MPI_Wtime();

		for (int i = 0; i < turns; i++)
			turn(bytes, touched);
		if (round >= 0)
			us[round] = (MPI_Wtime() - begun) * 1e6 / turns;
	}
	qsort(us, ROUNDS, sizeof(*us), compare);
	return us[ROUNDS / 2];
}

static int turns_for(size_t bytes, int touched)
{
	size_t turns = touched ? 4 * MIB / bytes : 1000;

	return turns < 1 ? 1 : turns > 1000 ? 1000 : (int)turns;
}

static void compare_memory(int touched)
{
	static const size_t sizes[] = { 64, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 16 * MIB, 64 * MIB };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		int turns = turns_for(sizes[i], touched);
		double of_malloc = median_us(by_malloc, sizes[i], touched, turns);
		double of_mpi = median_us(by_mpi, sizes[i], touched, turns);

		if (rank == 0)
			printf("%-24s %9zu bytes %10.2f us, malloc %10.2f\n", touched ? "alloc_mem, touched" : "alloc_mem",
			       sizes[i], of_mpi, of_malloc);
	}
}

static void measure_windows(const char *name, void (*turn)(size_t, int), size_t bytes, int touched)
{
	double us = median_us(turn, bytes, touched, touched ? 20 : 200);

	if (rank == 0)
		printf("%-24s %9zu bytes %10.2f us\n", name, bytes, us);
}

/* Returns on rank 0 the maximum resident KiB of a rank. */
static long most_memory(void)
{
	struct rusage usage;
	long most;

	getrusage(RUSAGE_SELF, &usage);
	MPI_Reduce(&usage.ru_maxrss, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
	return most;
}

int main(int argc, char **argv)
{
	long most_kib;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	measure_windows("win_create, fence", by_create, 64, 0);
	measure_windows("win_allocate, fence", by_allocate, 64, 0);
	measure_windows("win_allocate, fence", by_allocate, 16 * MIB, 0);
	measure_windows("win_allocate, touched", by_allocate, 64 * KIB, 1);
	measure_windows("win_allocate, touched", by_allocate, 16 * MIB, 1);
	compare_memory(0);
	compare_memory(1);
	most_kib = most_memory();
	if (rank == 0)
		printf("%-24s %9ld KiB\n", "resident at most", most_kib);
	MPI_Finalize();
	return 0;
}
