// SPDX-License-Identifier: BSD-2-Clause
/* table.h - prints the ranks of a job, and what each waits for */
#ifndef ORIEL_TOP_TABLE_H
#define ORIEL_TOP_TABLE_H

#include <stdio.h>

#include "see/top/rows.h"

/* Takes the sorted rows of a job. */
void table_print(FILE *out, const struct row *rows, size_t count);

#endif
