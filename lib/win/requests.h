// SPDX-License-Identifier: BSD-2-Clause
/*
 * requests.h - what a window keeps for requests: op/flush_all.h, op/request.c
 *
 * Flushes of ORIEL_RANK_ALL are numbered from 1, and run one at a time. win->lock guards all of it.
 */
#ifndef ORIEL_REQUESTS_H
#define ORIEL_REQUESTS_H

#include <stdint.h>

struct link;

/*
 * The operations issued to a member up to some moment that are not known complete; op/watermark.h.
 */
struct watermark {
	uint64_t number;    /* last work request; 0: none; WATERMARK_DEFERRED: some are deferred */
	uint64_t am_number; /* last active message, 0: none; with WATERMARK_DEFERRED: watermark_epochs at that moment */
};

#define WATERMARK_DEFERRED UINT64_MAX

/* The part of a flush of all at one member. */
struct flush_all_part {
	struct link *link;
	struct watermark upto;
};

struct requests {
	uint64_t closed;              /* epochs of lock_all so far */
	uint64_t begun;               /* flushes of all */
	uint64_t ended;               /* of them: all, or all but the last */
	struct flush_all_part *parts; /* of the flush of all in progress */
	uint32_t part_count;          /* those that are not complete */
	uint32_t part_capacity;
	uint64_t lost_from; /* the first and the last flush of all that found a member lost; 0: none */
	uint64_t lost_to;
	uint64_t probe_ns; /* oriel_request_test: when awaited peers were last probed */
	int lost_rank;     /* the member that the last one found lost, in the window's group */
};

#endif
