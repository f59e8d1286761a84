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
 * A *strand* is a thread (strand.h). Some cells say what the strand has accessed that came first in
 * the segment, and those of each other one are in a table.
 *
 * Accesses of one place in the program at even distances become one run (run.c). `take` returns the
 * runs, and begins the next segment.
 */
#ifndef ORIEL_CHECK_COMPILED_H
#define ORIEL_CHECK_COMPILED_H

#include <stdbool.h>
#include <stdint.h>

#define COMPILED_VERSION 4
#define COMPILED_SYMBOL "oriel_compiled"
#define PAGES_SYMBOL "oriel_pages" /* of the library for code that was not recompiled (pages/pages.h) */
#define OBJECTS_PAGES UINT32_MAX   /* what its `objects` returns */
#define RUN_PIECES_MAX 1024
#define ORDER_BLOCK_BYTES 256
#define ORDER_SYNC UINT64_MAX

/* How memory is accessed. */
enum compiled_kind {
	KIND_LOAD,
	KIND_STORE,
	KIND_ATOMIC_LOAD,
	KIND_ATOMIC_STORE,
	KINDS_COMPILED,
	KIND_TOUCH_LOAD = KINDS_COMPILED, /* of some of these bytes, atomic or not */
	KIND_TOUCH_STORE,
	KINDS
};

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
	uint32_t strand;
};

/*
 * How threads order each other. `number` is that of a thing, such as a mutex, or of a strand. For
 * ORDER_OUTSIDE, by which processes may, it is that of a block with atomics that are not relaxed;
 * ORDER_SYNC stands for MPI_Win_sync, and 0 for locks and fences.
 */
enum compiled_order { ORDER_RELEASE, ORDER_ACQUIRE, ORDER_JOIN, ORDER_SPREAD, ORDER_MERGE, ORDER_OUTSIDE };

/* The front's functions. */
struct compiled_front {
	/* Takes runs soon. */
	void (*full)(void);
	/* Records runs, and the order, if `order` returns true. */
	void (*order)(enum compiled_order order, uint64_t number);
	/* Returns whether this thread is inside of a call, by general registers. NULL: not known. */
	bool (*is_in_call)(void);
	/* Memory is about to be freed by another function than the C library's. */
	void (*freed)(const void *memory);
};

/* Threads, and what orders them. */
struct compiled_threads {
	/* Whether the program has several threads. */
	const bool *is_several;
	/* This thread is about to record an event. */
	void (*enter)(void);
	/* Returns the strand of this thread. `is_event`: it records one, no order. */
	uint32_t (*strand)(bool is_event);
	/* Returns whether the order says more than those before it. */
	bool (*order)(enum compiled_order order, uint64_t number);
	/* Returns a name of this moment of this thread, and whether all threads know of one. */
	uint64_t (*moment)(void);
	bool (*all_know)(uint64_t moment);
	/* Returns the call or library for which threads have become one strand, or "". */
	const char *(*merged)(void);
	/* Returns whether the segment has stored. */
	bool (*has_stores)(void);
	/* Returns whether memory of these pages has been watched, by any thread. */
	bool (*was_watched)(uint64_t first, uint64_t bytes);
	/* From here on these pages have not been. */
	void (*forget)(uint64_t first, uint64_t bytes);
};

/* The front calls these. */
struct compiled {
	uint32_t version;
	/* Begins recording, with so many bytes of cells at most. */
	void (*begin)(uint64_t cell_bytes, const struct compiled_front *front);
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
	/* NULL: all threads are one strand, and buffers of operations are not watched. */
	const struct compiled_threads *threads;
};

#endif
