// SPDX-License-Identifier: BSD-2-Clause
/*
 * scale.h - shared by the programs of this folder: times, medians, rows of results as text and JSON
 *
 * A program makes rows. A row is a list of named numbers, printed under a head of names and written
 * to the file of --out_json. A bar is a bound on a number of a row or of the whole run; its line
 * ends with `holds` or `misses`.
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

/*
 * Answers --help and --version, and ends the program then. usage begins with the program's name;
 * `what` is what the program measures.
 */
void scale_about(int argc, char **argv, const char *usage, const char *what);

/* Takes --out_json FILE from argv. `names` ends with NULL. The first row prints the head. */
void scale_begin(struct scale *scale, const char *program, const char *const *names, bool prints);

/* Adds a row of as many numbers as there are names. */
void scale_row(struct scale *scale, const double numbers[]);

/* Adds a bar: value must not exceed limit. */
void scale_bar(struct scale *scale, const char *what, double value, double limit);

/* Writes the file. Returns main's result: 1 if the write fails. A missed bar is no failure. */
int scale_end(struct scale *scale);

double scale_now_us(void);
double scale_median(double values[], int count);

/* This process's private memory, and its share of all, in KiB, by /proc/self/smaps_rollup. */
struct scale_memory {
	long private_kib;
	long pss_kib;
};

struct scale_memory scale_memory(void);

/* Returns a number of the command line; ends the program if it is invalid or out of range. */
long scale_number(const char *text, const char *what, long least, long most);

/* Ends the program with the library's last error if rc is not 0. */
void scale_must(int rc, const char *call);

/*
 * Returns zeroed memory that all ranks of a job share, independently of the library: a file in
 * /dev/shm named after the launcher. Rank 0 unlinks it (scale_shared_unlink) once all have it.
 */
void *scale_shared(size_t size_bytes);
void scale_shared_unlink(void);

#endif
