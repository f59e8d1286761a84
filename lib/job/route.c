// SPDX-License-Identifier: BSD-2-Clause
/* route.c - see route.h. */
#include "job/route.h"

#include <stdbool.h>
#include <stdio.h>

static const char *who(bool own, bool other)
{
	if (own)
		return other ? "both" : "this rank";
	return "it";
}

/* Why they have no device in common; of those who could share memory, one has been told not to. */
static void explain(const struct endpoint *own, const struct endpoint *other, const char *apart,
                    char why[ROUTE_WHY_BYTES])
{
	const char *no_card = who(!*own->card, !*other->card);

	if (apart)
		snprintf(why, ROUTE_WHY_BYTES,
		         "it is on another %s, so memory cannot be shared, and %s had no RDMA device to use (ORIEL_DEVICE, "
		         "oriel-info)",
		         apart, no_card);
	else
		snprintf(why, ROUTE_WHY_BYTES,
		         "%s may not share memory, and %s had no RDMA device to use: set ORIEL_DEVICE alike for all ranks",
		         who(!*own->soft, !*other->soft), no_card);
}

enum route route_choose(const struct endpoint *own, const struct endpoint *other, char why[ROUTE_WHY_BYTES])
{
	const char *apart = place_apart(&own->place, &other->place);

	if (!apart && *own->soft && *other->soft)
		return ROUTE_SOFT;
	if (*own->card && *other->card)
		return ROUTE_CARD;
	explain(own, other, apart, why);
	return ROUTE_NONE;
}
