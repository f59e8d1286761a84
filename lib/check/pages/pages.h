/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.h - loads and stores of code that was not recompiled: the first of each page and segment
 *
 * DESIGN NOTES
 *
 * A library between the program and liboriel.so maps the memory of an allocated window a second
 * time, ALIAS_BYTES lower. The program gets the *alias*; Oriel and its peers use the memory as
 * before. The pages of the alias are closed (PROT_NONE). A load or store faults: a handler of
 * SIGSEGV notes it, and opens the page, for loads only if it was a load. The segment ends with the
 * next recorded event (compiled.h): what is open is closed then.
 *
 * The faulting address says which byte was accessed, but not how many, nor whether the source names
 * it: compilers join loads, load whole vectors for some of their elements, and mask vectors out. So
 * an access is noted as one of some bytes, and races only with what has all of these
 * (KIND_TOUCH_LOAD). Most stores are of exactly that byte.
 *
 * Noted are accesses by the code of the program, and of functions of the C library that it calls,
 * outside of calls of MPI. Others open the page, too.
 *
 * tests/models/pages_model.py has the rules by which pages are opened, closed and noted.
 *
 * The kernel does not fault: it refuses. So functions in front of the C library's system calls give
 * it the memory itself (behind_alias). No thread blocks SIGSEGV, and the program's own handler gets
 * the faults that are not of the alias.
 */
#ifndef ORIEL_CHECK_PAGES_H
#define ORIEL_CHECK_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/compiled/compiled.h"

#define PAGE_BYTES 4096u
#define ALIAS_BYTES ((uint64_t)1 << 45)

/* An access that has faulted. */
struct fault {
	uint64_t address;
	const uint8_t *instruction;
	const uint64_t *stack;
	bool is_store;
};

/* region.c: windows' memory, and which pages of its aliases are open */

/* Maps the window's memory again. Returns the alias, or `base`: that cannot be done. */
void *region_add(const void *win, void *base, size_t bytes);

/* Unmaps the alias of a window that has been freed, if it has one. */
void region_remove(const void *win);

/* Opens the pages for good: others use this memory by its address. */
void region_let_go(const void *base, size_t bytes);

/* Returns where the program has this memory: in an alias, if there is one. */
void *alias_of(void *memory);

/* Returns the memory behind an alias, or the address itself. */
void *behind_alias(const void *memory);

/* Opens the page of a fault, and notes it. Returns false if it is not of an alias. */
bool region_open(const struct fault *fault);

/* fault.c: faults, and what they are */

/* Returns false if the process cannot handle them. */
bool faults_begin(void);

/* Finds the code of the program. */
void code_find(void);

/*
 * Fills in what a fault has accessed. Returns false if it is not the program's. follows: the page
 * before it was open, or may have been.
 */
bool fault_describe(const struct fault *fault, bool follows, struct compiled_run *run);

#endif
