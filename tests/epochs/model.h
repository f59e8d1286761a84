// SPDX-License-Identifier: BSD-2-Clause
/*
 * model.h - what the memory of all ranks must hold: every event is carried out at once, in the
 * order of the list
 *
 * Why that is right although the ranks run apart: claims.h.
 */
#ifndef ORIEL_TESTS_EPOCHS_MODEL_H
#define ORIEL_TESTS_EPOCHS_MODEL_H

#include <stdint.h>

#include "plan.h"

struct model {
	uint8_t *bytes[PLAN_RANKS_MAX][PLAN_REGIONS_MAX];
	uint32_t serial[PLAN_RANKS_MAX][PLAN_REGIONS_MAX]; /* of the region that bytes[] stands for */
};

void model_init(struct model *model, const struct plan *plan);
void model_destroy(struct model *model);

/* Carry out an event; after plan_next has given it. */
void model_apply(struct model *model, const struct plan *plan, const struct event *event);

/* The first content of a region, in the model and in the rank's own memory. */
void model_first_content(const struct plan_region *region, uint8_t *to);

/* New bytes for an operation's origin memory, piece after piece; bytes[] are the regions of its origin. */
void model_fill_pieces(const struct plan_op *op, uint64_t seed, uint8_t *const bytes[PLAN_REGIONS_MAX]);

#endif
