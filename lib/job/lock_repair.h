// SPDX-License-Identifier: BSD-2-Clause
/* lock_repair.h - the locks of our own windows after a neighbour's death; service thread only */
#ifndef ORIEL_LOCK_REPAIR_H
#define ORIEL_LOCK_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "job/service_queue.h"

struct oriel_job;
struct peer;

struct lock_repairs {
	struct peer **list; /* the dead whose words are not in order yet */
	uint32_t count;
	uint32_t capacity;
	struct task task;
	uint64_t pause_ns; /* before the task's next look */
	bool handed;       /* the task is in the service queue */
};

/* A peer is dead, and its connection has been broken: no request of it is carried out any more. */
void lock_repair_begin(struct peer *peer);

/* Now and then: holders of locks that others wait for are pinged, since nobody else may talk to them. */
void lock_repair_ping(struct oriel_job *job);

void lock_repairs_free(struct oriel_job *job);

#endif
