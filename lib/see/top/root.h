// SPDX-License-Identifier: BSD-2-Clause
/* root.h - where the waiting of a job begins: chains that end at a rank, and circles */
#ifndef ORIEL_TOP_ROOT_H
#define ORIEL_TOP_ROOT_H

#include <stdio.h>

#include "see/top/rows.h"

#define CHAIN_SHOWN 8 /* ranks of a chain that are printed: its first and last */

/* Prints a line for each root of the job in these sorted rows, or a circle. */
void root_print(FILE *out, const struct row *rows, size_t count);

#endif
