// SPDX-License-Identifier: BSD-2-Clause
/*
 * functions.c - the table of softverbs, for the library that contains it
 *
 * DESIGN NOTES
 *
 * soft.mk joins the objects of softverbs and this one into one object that exports only the table.
 * So softverbs calls itself by the names of libibverbs and librdmacm, does not clash with those
 * libraries in one process, and is invisible to programs that look for them.
 */
#include "verbs/functions.h"

const struct verbs_functions verbs_softverbs = {
	.name = "softverbs",
	VERBS_FUNCTIONS,
	.map = softverbs_map,
	.unmap = softverbs_unmap,
	.move = softverbs_move,
	.read_list = softverbs_read_list,
	.write_list = softverbs_write_list,
	.pull = softverbs_pull,
	.polls = softverbs_polls,
	.served = softverbs_served,
	.atomics_mix = softverbs_atomics_mix,
	.failed_step = softverbs_failed_step,
};
