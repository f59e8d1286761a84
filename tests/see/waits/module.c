// SPDX-License-Identifier: BSD-2-Clause
/* module.c - a module that a program loads, calls, and closes before its end (counts.c) */
#include "oriel.h"

int put_from_module(oriel_win *win, const void *origin, size_t size_bytes, int target_rank)
{
	int rc = oriel_put(win, origin, size_bytes, target_rank, 0);

	return rc ? -1 : 0; /* a function that only returned rc would be left before the call */
}
