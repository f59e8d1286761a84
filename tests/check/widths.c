// SPDX-License-Identifier: BSD-2-Clause
/*
 * widths.c racy|free - loads and stores of any width and place, which race with all of their bytes
 *
 * For two ranks. Each access has a window. Rank 1 puts to all bytes of rank 0's part in the racy
 * form, in the other one to all but those that rank 0 then accesses. Rank 0 prints the bytes of
 * each that are in the window. It also computes with a window's memory, while it has values in
 * registers.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oriel.h"

#define PAGE 4096
#define BYTES (3 * PAGE)
#define NUMBERS (BYTES / sizeof(double))
#define SUMS 14

typedef uint16_t __attribute__((aligned(1), may_alias)) any2;
typedef uint32_t __attribute__((aligned(1), may_alias)) any4;
typedef uint64_t __attribute__((aligned(1), may_alias)) any8;
typedef long double __attribute__((aligned(1), may_alias)) any10;
typedef uint8_t vector16 __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint8_t vector32 __attribute__((vector_size(32), aligned(1), may_alias));
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

static oriel_job *job;
static oriel_group *world;
static int rank;
static bool racy;
static uint8_t buffer[BYTES];
static uint8_t __attribute__((aligned(PAGE))) memory[PAGE + BYTES + PAGE]; /* the window is in its middle */
static uint8_t *const base = memory + PAGE;
static uint64_t seen;

static void must(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, oriel_last_error());
	exit(1);
}

static void load1(uint8_t *at)
{
	seen += *at;
}
static void load2(uint8_t *at)
{
	seen += *(any2 *)at;
}
static void load4(uint8_t *at)
{
	seen += *(any4 *)at;
}
static void load8(uint8_t *at)
{
	seen += *(any8 *)at;
}
static void load10(uint8_t *at)
{
	seen += *(any10 *)at > 0;
}
static void load16(uint8_t *at)
{
	vector16 value = *(vector16 *)at;
	memcpy(buffer, &value, sizeof(value));
}
static void load32(uint8_t *at)
{
	vector32 value = *(vector32 *)at;
	memcpy(buffer, &value, sizeof(value));
}
static void load_pair(uint8_t *at)
{
	pair value = *(pair *)at;
	memcpy(buffer, &value, sizeof(value));
}
static void store1(uint8_t *at)
{
	*at = 1;
}
static void store2(uint8_t *at)
{
	*(any2 *)at = 2;
}
static void store4(uint8_t *at)
{
	*(any4 *)at = 4;
}
static void store8(uint8_t *at)
{
	*(any8 *)at = 8;
}
static void store10(uint8_t *at)
{
	*(any10 *)at = 10;
}
static void store16(uint8_t *at)
{
	*(vector16 *)at = (vector16){ 16 };
}
static void store32(uint8_t *at)
{
	*(vector32 *)at = (vector32){ 32 };
}
static void store_pair(uint8_t *at)
{
	*(pair *)at = (pair){ 1, 2 };
}

static const struct access {
	const char *name;
	void (*run)(uint8_t *at);
	uint32_t bytes, align;
} accesses[] = {
	{ "load1", load1, 1, 1 },        { "load2", load2, 2, 1 },      { "load4", load4, 4, 1 },
	{ "load8", load8, 8, 1 },        { "load10", load10, 10, 1 },   { "load16", load16, 16, 1 },
	{ "load32", load32, 32, 1 },     { "pair", load_pair, 16, 8 },  { "store1", store1, 1, 1 },
	{ "store2", store2, 2, 1 },      { "store4", store4, 4, 1 },    { "store8", store8, 8, 1 },
	{ "store10", store10, 10, 1 },   { "store16", store16, 16, 1 }, { "store32", store32, 32, 1 },
	{ "stores", store_pair, 16, 8 },
};

static oriel_win *window_of(const char *name)
{
	const struct oriel_hint hints[] = { { "name", name }, { NULL, NULL } };
	oriel_win *win;

	must(oriel_win_create(base, BYTES, 1, hints, world, &win));
	must(oriel_win_lock_all(win, 0));
	return win;
}

static void put(oriel_win *win, int first, int end)
{
	if (first < end)
		must(oriel_put(win, buffer, (uint64_t)(end - first), 0, (uint64_t)first));
}

/* The access may begin before the window, or end behind it. */
static void try(const struct access *access, int first)
{
	const int end = first + (int)access->bytes, low = first > 0 ? first : 0;
	const int high = end < low ? low : end < BYTES ? end : BYTES;
	char name[64];
	oriel_win *win;

	snprintf(name, sizeof(name), "%s at %d", access->name, first);
	win = window_of(name);
	if (rank == 1) {
		put(win, 0, racy ? BYTES : low);
		put(win, racy ? BYTES : high, BYTES);
	}
	must(oriel_barrier(job));
	if (rank == 0) {
		access->run(base + first);
		if (racy && low < high)
			printf("%s: %d %d\n", name, low, high - low);
	}
	must(oriel_win_unlock_all(win));
	must(oriel_win_free(&win));
}

/* Returns a number that all numbers and their order decide. The step is 1 or -1. */
static __attribute__((noinline)) double mix(const double *of, int step)
{
	double sums[SUMS], all = 0;
	uint64_t bits = 1, steps = 0;

	for (size_t k = 0; k < SUMS; k++)
		sums[k] = (double)k;
	for (size_t i = 0; i + SUMS <= NUMBERS; i += SUMS, steps += i ^ bits) {
		for (size_t k = 0; k < SUMS; k++, of += step)
			sums[k] = sums[k] * 0.5 + *of;
		bits = bits * 6364136223846793005ULL + steps;
	}
	for (size_t k = 0; k < SUMS; k++)
		all = all * 3 + sums[k];
	return all + (double)(bits >> 40);
}

/* Fails if the numbers in the window give another result than those in memory that is not watched. */
static void mix_both(const double *numbers, const double *own, int step)
{
	double found, expected;

	must(oriel_barrier(job)); /* so that a segment begins, with first accesses */
	found = mix(numbers, step);
	expected = mix(own, step);
	if (found == expected)
		return;
	fprintf(stderr, "%f is computed in steps of %d, not %f\n", found, step, expected);
	exit(1);
}

/* Upwards the accesses are few runs. Downwards each is one, so that the checker's buffer gets full. */
static void compute(void)
{
	static double own[NUMBERS];
	double *numbers = (double *)(void *)base;
	oriel_win *win;

	for (size_t i = 0; i < NUMBERS; i++)
		numbers[i] = own[i] = 1.0 / (double)(i + 3);
	win = window_of("numbers");
	mix_both(numbers, own, 1);
	mix_both(numbers + NUMBERS - 1, own + NUMBERS - 1, -1);
	must(oriel_win_unlock_all(win));
	must(oriel_win_free(&win));
}

static __attribute__((noinline)) int sum_of_evens(const int *of)
{
	int sum = 0;

	for (size_t i = 0; i < BYTES / sizeof(*of) / 2; i++)
		sum += of[2 * i];
	return sum;
}

/* No vector has the numbers between them. */
static void skip_odds(void)
{
	oriel_win *win = window_of("odds");

	for (int i = 1; rank == 1 && i < 64; i += 2)
		put(win, 4 * i, 4 * i + 4);
	must(oriel_barrier(job));
	if (rank == 0)
		seen += (uint64_t)sum_of_evens((const int *)(const void *)base);
	must(oriel_win_unlock_all(win));
	must(oriel_win_free(&win));
}

int main(int argc, char **argv)
{
	static const int places[] = { -31,  -8,   -5,   -1,   0,         3,         4064,     4081,
		                          4088, 4095, 4096, 8185, BYTES - 8, BYTES - 5, BYTES - 1 };

	must(oriel_init(NULL, &job));
	racy = argc > 1 && strcmp(argv[1], "racy") == 0;
	rank = oriel_rank(job);
	must(oriel_group_world(job, &world));
	compute();
	skip_odds();
	for (size_t i = 0; i < sizeof(accesses) / sizeof(*accesses); i++)
		for (size_t k = 0; k < sizeof(places) / sizeof(*places); k++)
			if ((places[k] + PAGE) % (int)accesses[i].align == 0)
				try(&accesses[i], places[k]);
	must(oriel_group_free(&world));
	must(oriel_finalize(&job));
	return seen == 1; /* it is in use */
}
