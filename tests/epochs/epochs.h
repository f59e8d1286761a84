// SPDX-License-Identifier: BSD-2-Clause
/* epochs.h - carries a plan out over Oriel and compares with the model */
#ifndef ORIEL_TESTS_EPOCHS_EPOCHS_H
#define ORIEL_TESTS_EPOCHS_EPOCHS_H

#include <stdbool.h>
#include <stdint.h>

#include "oriel.h"
#include "plan.h"

/* Memory that lives as long as the program: the fixed regions. */
struct fixed {
	uint8_t *bytes[3];
};

struct settings {
	uint64_t first; /* seed */
	uint64_t seeds;
	int steps;    /* 0: as the seed says */
	bool verbose; /* print every event */
};

/*
 * The board of results, for the ranks that check them: a window of the whole job, locked from
 * beginning to end.
 */
#define BOARD_SLOT_BYTES (2 * (size_t)ELEMENT_LARGEST) /* a result, and what it was compared with */
#define BOARD_SEEN_BYTES (PLAN_WINDOWS_MAX * PLAN_SLOTS_MAX * BOARD_SLOT_BYTES)
#define BOARD_BYTES (BOARD_SEEN_BYTES + sizeof(uint64_t) * PLAN_WINDOWS_MAX * PLAN_RANKS_MAX) /* and addresses */

struct job {
	oriel_job *handle;
	oriel_group *world;
	int rank;
	int size;
	bool can_share; /* all ranks can share memory */
	struct fixed fixed;
	oriel_win *board;
	uint8_t *board_bytes;
};

/*
 * Run one seed. Gives the number of differences found. A call that fails where it must not ends the
 * program, since the others can only wait for this rank from then on.
 */
int epochs_run(struct job *job, const struct settings *settings, uint64_t seed);

#endif
