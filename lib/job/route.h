// SPDX-License-Identifier: BSD-2-Clause
/*
 * route.h - which device two ranks talk by, as a pure function of what both have published
 *
 * Both sides compute it, from the same two values, before anything has been said between them: it is
 * the same whichever comes first. Those who can share memory do, the others use their cards. Ranks that
 * do not agree on who changes words (ORIEL_ATOMICS) do not talk: what they did at once would be lost.
 */
#ifndef ORIEL_ROUTE_H
#define ORIEL_ROUTE_H

#include <stddef.h>

#include "job/endpoint.h"

enum route {
	ROUTE_SOFT, /* softverbs: the memory of both */
	ROUTE_CARD, /* the cards of both */
	ROUTE_NONE, /* out of reach of each other */
};

#define ROUTE_WHY_BYTES 192

/* With ROUTE_NONE, why becomes a text about the other rank, and the ways out. */
enum route route_choose(const struct endpoint *own, const struct endpoint *other, char why[ROUTE_WHY_BYTES]);

#endif
