/*
 * patterns.h - the message patterns that are measured, on Oriel and on bare verbs
 *
 * Two ranks. A pattern is prepared once and then run `count` times; both sides run it together. Each of the two programs
 * oriel_lat and raw_lat is perf/lat.c linked with one implementation of these functions.
 */
#ifndef ORIEL_PATTERNS_H
#define ORIEL_PATTERNS_H

#include <stddef.h>

#define SIZE_MAX_BYTES ((size_t)1 << 20)

struct pattern {
	const char *name;
	const char *what;
	/* One turn on this rank; returns 0 or non-zero after printing an error. */
	int (*turn)(int rank, size_t size_bytes);
};

/* Ends with a null name. */
extern const struct pattern patterns[];
extern const char implementation[];

/* Connect the two ranks and open SIZE_MAX_BYTES of memory on both; *rank becomes 0 or 1. */
int patterns_open(int *rank);
int patterns_close(void);

/* Both ranks have come here. */
int patterns_barrier(int rank);

#endif
