// SPDX-License-Identifier: BSD-2-Clause
/* shm_limit.h - the parts of shm_limit: tests (shm_limit.c), options and figures (shm_limit_report.c) */
#ifndef ORIEL_PERF_SHM_H
#define ORIEL_PERF_SHM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define SHM_BATCH 64    /* copies a turn, where one alone would be lost in the clock's own time */
#define SHM_STORES 4096 /* stores a turn in store_bw, to places one behind the other */
#define SHM_SIZE_MAX_BYTES ((size_t)1 << 20)
#define SHM_SIZES_MAX 32
#define SHM_ITERATIONS_MAX 10000000

struct shm_side;

/* A test: what one side does in one turn, and how the turn's time becomes a figure. */
struct shm_test {
	const char *name;
	void (*turn)(struct shm_side *s, size_t size_bytes);
	double latency_share; /* of the turn's time that is the latency; 0 where the figure is a bandwidth */
	int messages;         /* a turn, for bandwidths */
	int one_size;         /* 8 bytes, whatever --sizes says */
	int one_core;         /* both processes on the first core */
};

struct shm_options {
	const struct shm_test *test;
	const char *json; /* a file's name, or null */
	long iterations;
	int cores[2];
	int size_count;
	size_t sizes[SHM_SIZES_MAX];
};

/* Words of one process that the other one writes. */
struct shm_words {
	_Alignas(64) uint64_t flag;
	_Alignas(64) uint64_t barrier;
};

/* What one of the two processes knows. */
struct shm_side {
	int rank;
	pid_t other;
	struct shm_words *here, *there; /* own words; the other's */
	uint8_t *shared_there;          /* the other's memory that both map */
	uint8_t *private_there;         /* the other's private memory: an address over there */
	uint8_t *source;
	uint64_t turns, barriers;
	uint64_t *ticks; /* one sample a turn */
};

/* Fill *o from the command line; 0, or 2 after saying what is wrong. */
int shm_parse(struct shm_options *o, const struct shm_test *tests, int argc, char **argv);

/* Print one size's figures of the turns' microseconds, and write them to json where that is not null. */
void shm_report(const struct shm_options *o, size_t size_bytes, double *us, FILE *json, int first);

#endif
