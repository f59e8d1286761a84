// SPDX-License-Identifier: BSD-2-Clause
/*
 * route.h - the device by which two ranks communicate: a pure function of what both publish
 *
 * Both sides compute it from the same two values, before any message between them, and get the same
 * result. Ranks that can share memory use it, the others use their cards. Ranks that disagree on
 * how words are changed (ORIEL_ATOMICS) do not connect: concurrent changes would be lost.
 */
#ifndef ORIEL_ROUTE_H
#define ORIEL_ROUTE_H

#include <stddef.h>

#include "conn/endpoint.h"

enum route {
	ROUTE_SOFT, /* softverbs: the memory of both */
	ROUTE_CARD, /* the cards of both */
	ROUTE_NONE, /* the ranks cannot reach each other */
};

#define ROUTE_WHY_BYTES 256

/* Returns the route. With ROUTE_NONE, why becomes a text about the other rank, and the remedies. */
enum route route_choose(const struct endpoint *own, const struct endpoint *other, char why[ROUTE_WHY_BYTES]);

#endif
