// SPDX-License-Identifier: BSD-2-Clause
/*
 * requests.h - what a window keeps for requests, however many there are: op/flush_all.h,
 * op/request.c
 *
 * Flushes of all are those of ORIEL_RANK_ALL, numbered from 1; one at a time. win->lock guards all
 * of it.
 */
#ifndef ORIEL_REQUESTS_H
#define ORIEL_REQUESTS_H

#include <stdint.h>

struct link;

/*
 * What has been issued to a member up to some moment, as far as it is not known complete;
 * op/watermark.h.
 */
struct watermark {
	uint64_t number;    /* of the last work request; 0: nothing; WATERMARK_DEFERRED: some of it is deferred */
	uint64_t am_number; /* of the last active message, 0: none; of what is deferred: watermark_epochs at that moment */
};

#define WATERMARK_DEFERRED UINT64_MAX

/* What a flush of all waits for at one member. */
struct flush_all_part {
	struct link *link;
	struct watermark upto;
};

struct requests {
	uint64_t closed;              /* epochs of lock_all so far */
	uint64_t begun;               /* flushes of all */
	uint64_t ended;               /* of them: all, or all but the last */
	struct flush_all_part *parts; /* of the flush of all that is under way */
	uint32_t part_count;          /* those that are not complete */
	uint32_t part_capacity;
	uint64_t lost_from; /* the first flush of all that has found a member lost, and the last one; 0: none has */
	uint64_t lost_to;
	uint64_t probe_ns; /* oriel_request_test: when those that are waited for were last probed */
	int lost_rank;     /* whom the last one has found, in the window's group */
};

#endif
