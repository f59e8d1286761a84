// SPDX-License-Identifier: BSD-2-Clause
/*
 * shm_limit.h - the parts of shm_limit: tests (shm_limit.c), options and output
 * (shm_limit_report.c)
 */
#ifndef ORIEL_PERF_SHM_H
#define ORIEL_PERF_SHM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define SHM_BATCH 64    /* copies a turn; one alone would be lost in the clock's resolution */
#define SHM_STORES 4096 /* consecutive stores a turn in store_bw */
#define SHM_SIZE_MAX_BYTES ((size_t)1 << 20)
#define SHM_SIZES_MAX 32
#define SHM_ITERATIONS_MAX 10000000

struct shm_side;

/* A test: one side's work in a turn, and how the turn's time becomes a result. */
struct shm_test {
	const char *name;
	void (*turn)(struct shm_side *s, size_t size_bytes);
	double latency_share; /* the latency's share of the turn's time; 0 for bandwidths */
	int messages;         /* a turn, for bandwidths */
	int one_size;         /* 8 bytes, whatever --sizes says */
	int one_core;         /* both processes on the first core */
};

struct shm_options {
	const struct shm_test *test;
	const char *json; /* file name, or NULL */
	long iterations;
	int cores[2];
	int size_count;
	size_t sizes[SHM_SIZES_MAX];
};

/* Words of one process that the other writes. */
struct shm_words {
	_Alignas(64) uint64_t flag;
	_Alignas(64) uint64_t barrier;
};

/* State of one process. */
struct shm_side {
	int rank;
	pid_t other;
	struct shm_words *here, *there; /* own words; the other's words */
	uint8_t *shared_there;          /* the other's memory that both map */
	uint8_t *private_there;         /* the other's private memory: its address there */
	uint8_t *source;
	uint64_t turns, barriers;
	uint64_t *ticks; /* one sample a turn */
};

/* Fills *o from the command line. Returns 0, or 2 after printing the error. */
int shm_parse(struct shm_options *o, const struct shm_test *tests, int argc, char **argv);

/* Prints the results of one size from the turns' microseconds, and to json unless that is NULL. */
void shm_report(const struct shm_options *o, size_t size_bytes, double *us, FILE *json, int first);

#endif
