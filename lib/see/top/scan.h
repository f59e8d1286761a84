// SPDX-License-Identifier: BSD-2-Clause
/*
 * scan.h - finds the boards of this user's processes, and reads them
 *
 * Processes of other users are not looked at, also by root.
 */
#ifndef ORIEL_TOP_SCAN_H
#define ORIEL_TOP_SCAN_H

#include <sys/types.h>

#include "see/top/rows.h"

/* Reads all boards, or those of the jobs that these processes belong to. */
void scan(struct rows *rows, const pid_t *pids, int pid_count);

#endif
