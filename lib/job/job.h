// SPDX-License-Identifier: BSD-2-Clause
/*
 * job.h - everything that belongs to one job of this process; there is no other state
 */
#ifndef ORIEL_JOB_H
#define ORIEL_JOB_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "boot.h"
#include "verbs/device.h"
#include "job/group.h"
#include "base/handle.h"
#include "verbs/layout.h"
#include "job/mem.h"
#include "oriel.h"
#include "job/peer.h"
#include "verbs/slab.h"

#define PATIENCE_RANKS 8 /* so many ranks on a processor and more make one slow to answer */

struct service;
struct kept_mail;

/* How many collective calls have been made on one list of members. */
struct group_count {
	uint8_t key[GROUP_KEY_BYTES];
	uint64_t count;
};

struct oriel_job {
	struct handle handle;
	int rank;
	int size;
	uint32_t ranks_per_processor; /* of this machine, rounded up */
	bool needs_progress;          /* the device, for private memory: lend_offered() */
	uint64_t private_windows;     /* of memory that the device cannot lend, as far as we know; changed atomically */
	bool closing;                 /* in finalize: disconnects are no deaths; state of the service thread */
	int timeout_ms;               /* 0: none */
	int watchdog_ms;              /* 0: none */
	int connect_timeout_ms;
	uint64_t deaths;   /* ranks known dead; counter_load */
	struct boot *boot; /* the service thread's while it runs */
	struct device device;
	struct slabs slabs;
	struct mem_table mems;
	struct service *service;
	struct oriel_group *world;

	pthread_mutex_t lock;       /* guards all below; never held while waiting */
	struct oriel_group *groups; /* alive: those the program has not freed go with the job */
	struct peer **peers;        /* open addressing by rank; NULL: free */
	uint32_t peer_count;
	uint32_t peer_capacity; /* a power of 2 */
	struct peer *requests;  /* peers the service thread shall look at */
	struct death *dead;
	uint32_t dead_count;
	uint32_t dead_capacity;
	struct group_count *group_counts;
	uint32_t group_count_count;
	uint32_t group_count_capacity;
	/* Windows: the directory, see directory.c; slot i is in use when slots[i] is set. */
	struct table_root *directory;
	struct piece directory_piece;
	void *dir_segments[TABLE_SEGMENTS]; /* struct dir_entry */
	struct oriel_win **slots;
	uint32_t slot_count; /* slots ever used */
	uint32_t slot_capacity;
	struct piece *fence_words; /* by slot: registered words of fence.c; kept for the slot's next window */
	uint32_t fence_capacity;
	uint32_t window_count;
	uint32_t link_count;
	size_t link_bytes;

	pthread_mutex_t mail_lock;    /* guards the kept mails */
	struct kept_mail *kept_mails; /* mails taken from the rings that nobody has asked for yet */
	uint32_t kept_mail_count;
	uint32_t mem_count; /* guarded by lock: oriel_mem handles alive */
};

/* More ranks than processors on this machine: whoever is awaited may need this very one. */
static inline bool job_oversubscribed(const struct oriel_job *job)
{
	return job->ranks_per_processor > 1;
}

/* By how much limits of time are stretched, since peers wait for a processor too. */
static inline uint32_t job_patience(const struct oriel_job *job)
{
	return 1 + job->ranks_per_processor / PATIENCE_RANKS;
}

/* The one check of a job handle; names the call. */
int job_check(const struct oriel_job *job, const char *call);

/*
 * What oriel_init does once the process knows its bootstrap. job is fresh from handle_new; it takes
 * boot over, and both are released on failure.
 */
int job_open(struct oriel_job *job, struct boot *boot, const struct oriel_options *options);

/* What boot must have been opened with; the argument is the struct oriel_job. */
extern const struct boot_events job_boot_events;

/*
 * Count one more collective call on this list of members; the number tells it from those before.
 * ERRORS: ORIEL_ERR_MEMORY.
 */
int job_count_collective(struct oriel_job *job, const struct oriel_group *group, uint64_t *number);

/* Any member of the group that is dead, as world rank; or ORIEL_RANK_NONE. */
int job_dead_member(struct oriel_job *job, const struct oriel_group *group);

#endif
