// SPDX-License-Identifier: BSD-2-Clause
/* lines.h - rows as lines of JSON, to be merged with those of other machines */
#ifndef ORIEL_TOP_LINES_H
#define ORIEL_TOP_LINES_H

#include <stdio.h>

#include "see/top/rows.h"

void lines_write(FILE *out, const struct row *row);

/* Reads a line. Returns false, and leaves *row undefined, if it is no row. */
bool lines_parse(const char *line, struct row *row);

/* Reads all lines of a file. Ends the program at a line that is no row. */
void lines_read(FILE *in, struct rows *rows);

#endif
