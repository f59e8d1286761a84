/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compiled.h - loads and stores of code that was compiled with -fsanitize=thread
 *
 * DESIGN NOTES
 *
 * Such code calls a function of libtsan before each load and store. A library of the checker has
 * libtsan's soname, so that the dynamic linker loads no other one; without the checker the program
 * runs with libtsan as usual. The front of the checker finds `oriel_compiled` in it.
 *
 * Some memory is *watched*. All other accesses end after two loads: a tree by address has cells for
 * pages that are watched, and none for others (watch.c). A cell of 8 bytes for 8 bytes of memory
 * says which of these bytes this *segment* has accessed already, and how. A segment is the time
 * between two recorded events of the process: all accesses in it are ordered alike, so the first of
 * a kind stands for all.
 *
 * Accesses of one place in the program at even distances become one run (run.c). `take` returns the
 * runs, and begins the next segment.
 */
#ifndef ORIEL_CHECK_COMPILED_H
#define ORIEL_CHECK_COMPILED_H

#include <stdbool.h>
#include <stdint.h>

#define COMPILED_VERSION 1
#define COMPILED_SYMBOL "oriel_compiled"
#define RUN_PIECES_MAX 1024

/* How memory is accessed. */
enum compiled_kind { KIND_LOAD, KIND_STORE, KIND_ATOMIC_LOAD, KIND_ATOMIC_STORE, KINDS };

/* Rows of elements at one distance. */
struct compiled_run {
	const void *site; /* behind the call */
	const char *call; /* a literal: "load", "memcpy" */
	uint64_t first;
	uint32_t bytes; /* of an element */
	uint32_t stride;
	uint32_t count; /* of elements in a row */
	uint32_t rows;
	uint64_t pitch; /* from row to row */
	enum compiled_kind kind;
};

/* The front calls these. */
struct compiled {
	uint32_t version;
	/* Begins recording, with so many bytes of cells at most. `full`: take runs soon. */
	void (*begin)(uint64_t cell_bytes, void (*full)(void));
	void (*end)(void);
	/* Watches memory, or its stores only. Returns false without room. */
	bool (*watch)(uint64_t first, uint64_t bytes, bool stores_only);
	void (*unwatch)(uint64_t first, uint64_t bytes, bool stores_only);
	/* Ends the segment. Returns its runs, which are valid until the next call, and their number. */
	uint32_t (*take)(const struct compiled_run **runs);
	/* Returns how many object files of the process have been compiled so. */
	uint32_t (*objects)(void);
	/* Returns how many runs found no room. */
	uint64_t (*lost)(void);
};

#endif
