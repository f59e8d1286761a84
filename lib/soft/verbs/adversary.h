// SPDX-License-Identifier: BSD-2-Clause
/*
 * The adversary: everything that the specification allows, or a device does, and that a friendly one never does.
 * SOFTVERBS_ADVERSARY=seed[,delay=P][,reorder=P][,late=P][,disorder=P][,twice=P][,fail=N][,cut=N]
 * [,lose=P][,within=MS][,apart=1], P in percent, 30 where none is given, but for disorder, twice and lose: 0; 20 ms.
 */
#ifndef SOFT_ADVERSARY_H
#define SOFT_ADVERSARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/verbs/export.h"

struct soft_adversary {
	bool on;
	uint64_t seed;
	uint32_t delay, reorder, late, disorder, twice, lose; /* percent */
	uint32_t fail, cut;                                   /* the n-th one; 0: none */
	uint32_t within_ms;                                   /* how long the connection that is cut may live */
	uint32_t apart;                                       /* atomics are said to be atomic among themselves only */
	_Atomic uint64_t drawn;                               /* random numbers so far */
	_Atomic uint32_t calls, connections;
};

extern struct soft_adversary soft_adversary SOFT_HIDDEN;

/* Read the environment, the first time. */
void soft_adversary_init(void);

/* For how long a request has to wait before it is carried out, in ns; 0: not at all. */
uint64_t soft_adversary_delay(void);
/* This request shall be carried out before an earlier one. */
bool soft_adversary_overtakes(void);
/* This poll shall find nothing although there is something. */
bool soft_adversary_late(void);
/* Place bytes in any order. false: this time they shall be placed as usual. */
bool soft_adversary_place(void *to, const void *from, size_t length);
/* This datagram shall not arrive. */
bool soft_adversary_loses(void);
/* What has been placed shall be placed again; a pause is over. */
bool soft_adversary_twice(void);
/* After how long this connection is cut, in ns; 0: never. */
uint64_t soft_adversary_cut(void);
/* It is now. */
void soft_adversary_tell_cut(void);
/* Is this the call that fails? Exported for librdmacm, whose calls count too. */
SOFT_EXPORT bool softverbs_adversary_fails(const char *call);

/* What an entry point asks; false without an adversary, for the price of one look. */
static inline bool soft_call_fails(const char *call)
{
	return soft_adversary.on && softverbs_adversary_fails(call);
}

#endif
