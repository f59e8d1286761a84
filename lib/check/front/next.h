/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * next.h - the functions behind this library, of the calls of oriel.h that a file takes
 *
 * A file defines CALLS(X), which calls X for each, and includes this: next.put is oriel_put then.
 */

#include "see/front/behind.h"

static struct {
#define X(name) __typeof__(oriel_##name) *name;
	CALLS(X)
#undef X
} next;

__attribute__((constructor)) static void find_next(void)
{
#define X(name) find_behind("oriel_" #name, &next.name);
	CALLS(X)
#undef X
}
