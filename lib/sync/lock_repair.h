// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_repair.h - repairs the locks of this rank's windows after a neighbour's death
 *
 * Runs in the service thread only.
 */
#ifndef ORIEL_LOCK_REPAIR_H
#define ORIEL_LOCK_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "job/service_queue.h"

struct oriel_job;
struct peer;

struct lock_repairs {
	struct peer **list; /* dead peers whose words need repair */
	uint32_t count;
	uint32_t capacity;
	struct task task;
	uint64_t pause_ns; /* before the task's next check */
	bool handed;       /* the task is in the service queue */
};

/* Repairs the words of a dead peer, whose connection has been broken. */
void lock_repair_begin(struct peer *peer);

/* Pings the holders of contended locks, since no other rank may communicate with them. */
void lock_repair_ping(struct oriel_job *job);

void lock_repairs_free(struct oriel_job *job);

#endif
