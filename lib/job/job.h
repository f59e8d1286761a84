// SPDX-License-Identifier: BSD-2-Clause
/* job.h - all state of one job of this process */
#ifndef ORIEL_JOB_H
#define ORIEL_JOB_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "am/am_recv.h"
#include "base/handle.h"
#include "boot.h"
#include "conn/ctrl_msg.h"
#include "conn/directory.h"
#include "conn/endpoint.h"
#include "conn/goodbye.h"
#include "job/death.h"
#include "job/group.h"
#include "job/peer.h"
#include "job/service_queue.h"
#include "mem/alloc.h"
#include "mem/mem.h"
#include "mem/region_table.h"
#include "oriel.h"
#include "see/board.h"
#include "sync/lock_repair.h"
#include "sync/page_lock.h"
#include "sync/question.h"
#include "sync/wait.h"
#include "verbs/devices.h"
#include "verbs/layout.h"
#include "verbs/slab.h"

#define TIMEOUT_SCALE_RANKS 8 /* so many ranks on a processor answer slowly */

struct service;

/* Counts the collective calls on one list of members. */
struct group_count {
	uint8_t key[GROUP_KEY_BYTES];
	uint64_t count;
	enum places places;
};

struct group_counts {
	struct group_count *list;
	uint32_t count;
	uint32_t capacity;
};

/* Time limits, by program or environment; 0: none. */
struct limits {
	int timeout_ms;
	int watchdog_ms;
	int connect_timeout_ms;
	int connect_timeout_soft_ms; /* via softverbs: the kernel reports deaths there */
};

/* Objects of the program: oriel_usage reports them, oriel_finalize refuses them. */
struct holdings {
	uint32_t windows;
	uint32_t links;
	uint32_t mems; /* with memory of oriel_alloc */
	size_t window_bytes;
	size_t link_bytes;
};

#define NOT_UNKIND UINT64_MAX

struct oriel_job {
	struct handle handle;
	int rank;
	int size;
	uint32_t ranks_per_processor; /* of this machine, rounded up */
	bool needs_progress;          /* a device needs it for private memory: device_maps_memory */
	bool one_place;               /* all ranks can share memory; set before the first window; atomic */
	bool share;                   /* ORIEL_SHARE, the default of a window's hint */
	uint64_t unkind;              /* the seed of ORIEL_UNKIND, or NOT_UNKIND */
	uint64_t attached_private;    /* regions of dynamic windows not moved; atomic */
	uint64_t private_windows;     /* of memory that the device cannot map, as far as known; atomic */
	struct limits limits;
	struct idle_work idle; /* set by oriel_init, as the next */
	struct caller_turn caller;
	struct boot *boot; /* the service thread's while it runs */
	struct devices devices;
	struct endpoint endpoint;                 /* what this rank publishes; set by oriel_init */
	struct board board;                       /* its slots belong to waiting threads */
	const struct tool *tool;                  /* see/tool.h; NULL: none */
	struct question questions[QUESTIONS_MAX]; /* of waits that last */
	struct slabs slabs;                       /* locks itself, as the next two */
	struct mem_table mems;
	struct unexpected_msgs unexpected;
	struct am_service am;
	struct page_locks page_locks; /* set by oriel_init */
	struct service *service;
	struct goodbye goodbye;
	struct lock_repairs lock_repairs; /* used by the service thread; changed under job->lock */
	struct oriel_group *world;

	pthread_mutex_t elements_lock; /* for elements without processor atomics: op/acc_route.h */
	pthread_mutex_t lock;          /* guards all below; never held while waiting */
	struct groups groups;
	struct group_counts group_counts;
	struct peers peers;
	struct deaths deaths;
	struct service_queue service_queue;
	struct directory directory;
	struct allocations allocations;
	struct region_table *region_tables; /* of freed dynamic windows */
	struct window_cache window_cache;
	struct holdings holdings;
	uint64_t window_numbers; /* the highest proposed or agreed on */
};

/* Returns whether ranks exceed processors on this machine. */
static inline bool job_oversubscribed(const struct oriel_job *job)
{
	return job->ranks_per_processor > 1;
}

/* Returns the factor that stretches time limits: peers wait for a processor too. */
static inline uint32_t job_timeout_scale(const struct oriel_job *job)
{
	return 1 + job->ranks_per_processor / TIMEOUT_SCALE_RANKS;
}

/* Checks a handle; the error names `call`. */
int job_check(const struct oriel_job *job, const char *call);

/*
 * Reserves counts for all living groups: once others have begun a collective call, no member may
 * lack one. Returns false if memory is short. The caller holds job->lock.
 */
bool job_reserve_counts(struct oriel_job *job);

/*
 * Counts a collective call on this list of members; the number identifies the call. ERRORS:
 * ORIEL_ERR_SYNC: this rank has said goodbye.
 */
int job_count_collective(struct oriel_job *job, const struct oriel_group *group, uint64_t *number);

/* Return or store the places of a group, which job_count_collective has counted. */
enum places job_places(struct oriel_job *job, const struct oriel_group *group);
void job_keep_places(struct oriel_job *job, const struct oriel_group *group, enum places places);

/*
 * Records that all ranks are in one place, unless this rank has a window: a window's creation
 * decides whether a card or the processors change its words.
 */
void job_found_in_one_place(struct oriel_job *job);

static inline bool job_in_one_place(const struct oriel_job *job)
{
	return __atomic_load_n(&job->one_place, __ATOMIC_RELAXED); /* stored by job_found_in_one_place */
}

#endif
