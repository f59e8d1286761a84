// SPDX-License-Identifier: BSD-2-Clause
/*
 * requests.h - what a window keeps for requests (op/flush_all.h, op/request.c)
 *
 * Flushes of ORIEL_RANK_ALL are numbered from 1, and run one at a time. win->lock guards all of it.
 */
#ifndef ORIEL_REQUESTS_H
#define ORIEL_REQUESTS_H

#include <stdint.h>

struct link;

/* Operations issued to a member up to some moment, and not known complete (op/watermark.h). */
struct watermark {
	uint64_t number;    /* last work request; 0: none; WATERMARK_DEFERRED: some are deferred */
	uint64_t am_number; /* last active message, 0: none; with WATERMARK_DEFERRED: watermark_epochs then */
};

#define WATERMARK_DEFERRED UINT64_MAX

struct flush_all_part {
	struct link *link;
	struct watermark upto;
};

struct requests {
	uint64_t closed;              /* epochs of lock_all */
	uint64_t begun;               /* flushes of all */
	uint64_t ended;               /* all that have begun, or all but the last */
	struct flush_all_part *parts; /* of the flush of all in progress */
	uint32_t part_count;          /* those not complete */
	uint32_t part_capacity;
	uint64_t lost_from; /* first and last flush of all that found a member lost; 0: none */
	uint64_t lost_to;
	uint64_t probe_ns; /* oriel_request_test: when peers were last probed */
	int lost_rank;     /* the member that the last one found lost */
};

#endif
