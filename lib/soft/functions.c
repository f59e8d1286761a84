// SPDX-License-Identifier: BSD-2-Clause
/*
 * functions.c - softverbs as a table, for the library that it is built into
 *
 * DESIGN NOTES The objects of softverbs and this one are joined into one object that shows nothing
 * but the table (soft.mk). So softverbs calls itself by the names of libibverbs and librdmacm, and
 * neither clashes with those libraries in the same process nor is seen by others that look for them.
 * It is the same code as in the libraries that oriel-soft puts in their place.
 */
#include "verbs/functions.h"

const struct verbs_functions verbs_softverbs = {
	.name = "softverbs",
	VERBS_FUNCTIONS,
	.lend = softverbs_lend,
	.give_back = softverbs_give_back,
	.move = softverbs_move,
	.move_lent = softverbs_move_lent,
	.served = softverbs_served,
	.atomics_mix = softverbs_atomics_mix,
};
