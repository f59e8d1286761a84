/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * next.h - the functions behind this library, of the calls that a file takes
 *
 * A file defines CALLS(X), which calls X for each, and includes this: next.Put is MPI_Put then. One
 * whose calls have other names also defines NEXT_TYPE and NEXT_TEXT.
 */

#include <dlfcn.h>
#include <string.h>

#include "see/front/behind.h"

#ifndef NEXT_TYPE
#define NEXT_TYPE(name) __typeof__(MPI_##name)
#define NEXT_TEXT(name) "PMPI_" #name
#endif

static struct {
#define X(name) NEXT_TYPE(name) *name;
	CALLS(X)
#undef X
} next;

__attribute__((constructor)) static void find_all(void)
{
#define X(name) find_behind(NEXT_TEXT(name), &next.name);
	CALLS(X)
#undef X
}
