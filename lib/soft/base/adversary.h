// SPDX-License-Identifier: BSD-2-Clause
/*
 * The adversary: behaviour that the specification allows, or a device has, and that programs rarely
 * meet. SOFTVERBS_ADVERSARY=seed[,delay=P][,reorder=P][,late=P][,disorder=P][,twice=P][,fail=N]
 * [,cut=N][,lose=P][,within=MS][,apart=1]. P is in percent, by default 30, but 0 for disorder,
 * twice and lose; MS is 20 by default.
 */
#ifndef SOFT_ADVERSARY_H
#define SOFT_ADVERSARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/base/base.h"

struct soft_adversary {
	bool on;
	uint64_t seed;
	uint32_t delay, reorder, late, disorder, twice, lose; /* percent */
	uint32_t fail, cut;                                   /* the n-th one; 0: none */
	uint32_t within_ms;                                   /* longest life of a cut connection */
	uint32_t apart;                                       /* claims atomicity among atomics only */
	_Atomic uint64_t drawn;                               /* random numbers so far */
	_Atomic uint32_t calls, connections;
};

extern struct soft_adversary soft_adversary SOFT_HIDDEN;

/* Reads the environment at the first call. */
void soft_adversary_init(void);

/* Returns a request's delay in ns, or 0. */
uint64_t soft_adversary_delay(void);
/* Returns whether this request overtakes an earlier one. */
bool soft_adversary_overtakes(void);
/* Returns whether this poll finds nothing although there is an entry. */
bool soft_adversary_late(void);
/* Places bytes in any order, or returns false. */
bool soft_adversary_place(void *to, const void *from, size_t length);
bool soft_adversary_loses(void);
/* Pauses, and returns true, if placed data is placed again. */
bool soft_adversary_twice(void);
/* Returns the time in ns after which this connection is cut, or 0. */
uint64_t soft_adversary_cut(void);
void soft_adversary_tell_cut(void);
/* Exported for librdmacm, whose calls count, too. */
SOFT_EXPORT bool softverbs_adversary_fails(const char *call);

/* For entry points. */
static inline bool soft_call_fails(const char *call)
{
	return soft_adversary.on && softverbs_adversary_fails(call);
}

#endif
