// SPDX-License-Identifier: BSD-2-Clause
/* See conn.h. */
#include "conn/conn.h"

#include <stdbool.h>
#include <stdio.h>

static const char *who(bool own, bool other)
{
	if (own)
		return other ? "both" : "this rank";
	return "it";
}

/* If ranks could share memory, a setting forbids it. */
static void explain(const struct endpoint *own, const struct endpoint *other, const char *apart,
                    char why[ROUTE_WHY_BYTES])
{
	const char *no_card = who(!*own->card, !*other->card);

	if (apart)
		snprintf(why, ROUTE_WHY_BYTES,
		         "%s, so memory cannot be shared, and %s had no RDMA device to use (ORIEL_DEVICE, oriel-info)", apart,
		         no_card);
	else
		snprintf(why, ROUTE_WHY_BYTES,
		         "%s may not share memory, and %s had no RDMA device to use: set ORIEL_DEVICE alike for all ranks",
		         who(!*own->soft, !*other->soft), no_card);
}

static void explain_atomics(const struct endpoint *own, const struct endpoint *other, char why[ROUTE_WHY_BYTES])
{
	static const char *const setting[] = {
		[ATOMICS_AS_TOLD] = "not set", [ATOMICS_BY_CPU] = "\"cpu\"", [ATOMICS_BY_DEVICE] = "\"device\""
	};

	snprintf(why, ROUTE_WHY_BYTES, "its ORIEL_ATOMICS is %s, that of this rank %s; set it alike for all ranks",
	         setting[other->atomics], setting[own->atomics]);
}

static enum route common_device(const struct endpoint *own, const struct endpoint *other, const char *apart)
{
	if (!apart && *own->soft && *other->soft)
		return ROUTE_SOFT;
	return *own->card && *other->card ? ROUTE_CARD : ROUTE_NONE;
}

enum route route_choose(const struct endpoint *own, const struct endpoint *other, char why[ROUTE_WHY_BYTES])
{
	const char *apart = place_apart(&own->place, &other->place);
	enum route route = common_device(own, other, apart);

	if (route == ROUTE_NONE) {
		explain(own, other, apart, why);
		return ROUTE_NONE;
	}
	if (own->atomics == other->atomics)
		return route;
	explain_atomics(own, other, why);
	return ROUTE_NONE;
}
