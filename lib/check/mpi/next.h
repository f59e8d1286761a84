/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * next.h - the functions behind this library, of the calls that a file takes
 *
 * A file defines CALLS(X), which calls X for each, and includes this: next.Put is MPI_Put then.
 */

#include <dlfcn.h>
#include <string.h>

#include "see/front/behind.h"

static struct {
#define X(name) __typeof__(MPI_##name) *name;
	CALLS(X)
#undef X
} next;

__attribute__((constructor)) static void find_all(void)
{
#define X(name) find_behind("PMPI_" #name, &next.name);
	CALLS(X)
#undef X
}
