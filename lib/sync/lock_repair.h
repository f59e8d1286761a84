// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_repair.h - repairs the locks of our own windows after a neighbour's death; service thread
 * only
 */
#ifndef ORIEL_LOCK_REPAIR_H
#define ORIEL_LOCK_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "job/service_queue.h"

struct oriel_job;
struct peer;

struct lock_repairs {
	struct peer **list; /* dead peers whose words still need repair */
	uint32_t count;
	uint32_t capacity;
	struct task task;
	uint64_t pause_ns; /* before the task's next check */
	bool handed;       /* the task is in the service queue */
};

/*
 * Repairs the words of a dead peer. Its connection has been broken: no request of it is carried out
 * any more.
 */
void lock_repair_begin(struct peer *peer);

/*
 * Called now and then: pings the holders of contended locks, since no other rank may communicate
 * with them.
 */
void lock_repair_ping(struct oriel_job *job);

void lock_repairs_free(struct oriel_job *job);

#endif
