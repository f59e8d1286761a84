// SPDX-License-Identifier: BSD-2-Clause
/*
 * scale.h - what the programs of this folder share: times, medians, one row of figures at a time,
 * as text and as JSON
 *
 * A program makes rows. Each row is a list of named numbers, printed under a head of names, and
 * goes with all others into the file of --out_json. A bar is a bound on a number of the row, or on
 * a number of the whole run: its line ends with `holds` or `misses`.
 */
#ifndef ORIEL_PERF_SCALE_H
#define ORIEL_PERF_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCALE_COLUMNS_MAX 16
#define SCALE_REPEATS_MAX 101

struct scale {
	const char *program;
	bool prints;              /* rank 0 */
	const char *const *names; /* of the columns; ends with NULL */
	const char *out_json;
	char *json; /* rows so far */
	size_t json_bytes;
	int rows;
	int bars;
	int missed;
};

/* Takes --out_json FILE out of argv; names ends with NULL. The first row prints the head. */
void scale_begin(struct scale *scale, const char *program, const char *const *names, bool prints);

/* One row; as many numbers as there are names. */
void scale_row(struct scale *scale, const double numbers[]);

/* A bar: value must not be above limit. */
void scale_bar(struct scale *scale, const char *what, double value, double limit);

/*
 * Write the file. Returns what main returns: 1 if it cannot be written. A bar that is missed is no
 * failure.
 */
int scale_end(struct scale *scale);

double scale_now_us(void);
double scale_median(double values[], int count);

/* Memory of this process that nobody else has, and its share of all, in KiB, by /proc/self/smaps_rollup. */
struct scale_memory {
	long private_kib;
	long pss_kib;
};

struct scale_memory scale_memory(void);

/* A number of the command line; ends the program where it is none, or not in range. */
long scale_number(const char *text, const char *what, long least, long most);

/* Ends the program with the library's last error if rc is one. */
void scale_must(int rc, const char *call);

/*
 * Memory that all ranks of a job share, zeroed, whatever the library does: a file in /dev/shm named
 * after the launcher. Rank 0 unlinks it (scale_shared_unlink) once all have it.
 */
void *scale_shared(size_t size_bytes);
void scale_shared_unlink(void);

#endif
