// SPDX-License-Identifier: BSD-2-Clause
/* hints.h - the hints of a window (W9) */
#ifndef ORIEL_HINTS_H
#define ORIEL_HINTS_H

#include "oriel.h"

/* The defaults, and over them the known hints of a list, which may be NULL. */
void hints_take(struct oriel_win_info *info, const struct oriel_hint hints[]);

#endif
