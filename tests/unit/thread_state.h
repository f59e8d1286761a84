// SPDX-License-Identifier: BSD-2-Clause
/* thread_state.h - what the kernel says of a thread of this process */
#ifndef ORIEL_TESTS_THREAD_STATE_H
#define ORIEL_TESTS_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Whether it sleeps; 0 is no thread yet. */
static inline bool thread_sleeps(uint64_t tid)
{
	char path[64], state = 'R';
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	stat = tid ? fopen(path, "re") : NULL;
	if (stat && fscanf(stat, "%*d %*s %c", &state) != 1)
		state = 'R';
	if (stat)
		fclose(stat);
	return state == 'S';
}

#endif
