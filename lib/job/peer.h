// SPDX-License-Identifier: BSD-2-Clause
/*
 * peer.h - the ranks that this one communicates with
 *
 * A peer is made when either side first needs it, and lives until the job ends. Its state changes
 * in one direction:
 *
 *   PEER_NEW         no connection has been requested
 *   PEER_CONNECTING  the service thread is connecting (conn.c)
 *   PEER_UP          the wire can be used
 *   PEER_DEAD        dead, unreachable, or has left: ORIEL_ERR_PEER or ORIEL_ERR_ROUTE
 *
 * In oriel_finalize a peer whose attempt to connect is given up returns to PEER_NEW.
 */
#ifndef ORIEL_PEER_H
#define ORIEL_PEER_H

#include <pthread.h>
#include <stdint.h>

#include "base/order.h"
#include "verbs/layout.h"
#include "verbs/direct_access.h"
#include "verbs/wire.h"

struct oriel_job;
struct conn;
struct lookup;
struct am_receiver;
struct am_sender;
struct updates;
struct page_lock_table;

#define PEERS_MAX (1u << 20)

enum peer_state { PEER_NEW, PEER_CONNECTING, PEER_UP, PEER_DEAD };

struct peer {
	int rank;
	uint32_t state; /* enum peer_state; written by the service thread, PEER_DEAD by any; state_load */
	struct oriel_job *job;
	struct peer *atomics_peer; /* second connection (atomics_peer.h), or NULL; set under job->lock */
	bool is_atomics_peer;
	const struct device *device; /* settled before PEER_UP, by the service thread */
	struct wire wire;
	struct direct_access direct;
	struct area *area; /* in our memory */
	struct piece area_piece;
	void *flags
		[TABLE_SEGMENTS]; /* struct flag_pair: the peer's flag words at our side, by segment; grown under job->lock */
	uint32_t neighbour;   /* its index among our neighbours */
	uint32_t remote_neighbour; /* our index among its; set with remote_flags */
	struct remote remote_area; /* its area for us; set before PEER_UP, as is remote_directory */
	struct remote remote_directory;
	/* Cached from its memory; the service thread changes both under `lock`. */
	struct table_root remote_flags; /* our flag words */
	struct table_root remote_dir_root;
	pthread_mutex_t lock;            /* guards lookups, and the change of a link to described */
	struct lookup *lookups;          /* of windows at this peer */
	uint64_t shortage_ns;            /* when connecting last found a lasting shortage; counter_load */
	int shortage;                    /* errno value, negative if of the other side; set before shortage_ns */
	uint64_t goodbye_number;         /* our goodbye's work request, or 0; written by the service thread, counter_load */
	struct am_sender *am_sender;     /* made at the first active message to the peer; atomic */
	struct am_receiver *am_receiver; /* for its active messages; atomic */
	struct remote remote_page_locks; /* see page_lock.h; set with remote_flags */
	struct page_lock_table *page_locks; /* their mapping, or NULL; atomic */
	struct updates *updates;            /* our place in them (atomic_mode.h), or NULL; atomic */
	uint64_t ping_ns;                   /* a waiting thread's last ping; written by any thread, counter_load */
	/* Service thread only. */
	struct conn *conn; /* while connecting */
	struct rdma_cm_id *id;
	struct wire_pair pair;
	uint64_t up_ns;     /* by process_clock_ns, when its process lived; 0: not connected yet */
	bool device_chosen; /* `device` is final */
	bool busy;          /* in the service queue's list, or in the round */
	struct peer *next_busy;
	bool disconnected;
	/* Guarded by am->wakeups. */
	bool am_waits;              /* it has requested a ring */
	bool am_bare;               /* its next wakeup would find no receive */
	uint64_t am_wakes;          /* wakeups it has sent */
	uint64_t am_rested;         /* wakeups answered; changed under am->lock too */
	struct segment_ref am_ring; /* its ring; the check word is not set */
	/* Requests to the service thread (service_queue.h), guarded by job->lock. */
	bool requested;
	struct peer *next_request;
	/* Control messages (ctrl_msg.c). */
	pthread_mutex_t ctrl_msg_lock; /* guards the rest */
	uint64_t ctrl_msg_sent;
	uint64_t ctrl_msg_acked; /* how many of ctrl_msg_sent it has taken, as far as seen */
	uint64_t ctrl_msg_taken;
	uint64_t ctrl_msg_ack_sent; /* how many of ctrl_msg_taken are acknowledged */
};

static inline bool peer_is_up(const struct peer *peer)
{
	return state_load(&peer->state) == PEER_UP; /* pairs with peer_set_state and rank_lost */
}

static inline struct page_lock_table *peer_page_locks(const struct peer *peer)
{
	return __atomic_load_n(&peer->page_locks, __ATOMIC_ACQUIRE); /* pairs with page_locks_map */
}

static inline struct updates *peer_updates_there(const struct peer *peer)
{
	return __atomic_load_n(&peer->updates, __ATOMIC_ACQUIRE); /* pairs with page_locks_map */
}

/* Guarded by job->lock. */
struct peers {
	struct peer **table; /* open addressing by rank; NULL: free */
	uint32_t count;
	uint32_t capacity; /* a power of 2 */
	struct peer **atomics_peers;
	uint32_t atomics_peer_count;
	uint32_t atomics_peer_capacity;
	struct peer *moving; /* whose device needs our polls (direct_has_copy_sync), or NULL; atomic */
};

/* Makes peer->atomics_peer. The caller holds job->lock. ERRORS: ORIEL_ERR_MEMORY. */
int peer_make_atomics_peer(struct peer *peer, const struct device *device);

/* Finds or makes the peer. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int peer_get(struct oriel_job *job, int rank, struct peer **peer);

/* Changes the device. Service thread; nothing is in flight. */
void peer_set_device(struct peer *peer, const struct device *device);

/* Returns the time limit for reaching it; 0: none. */
int peer_connect_limit_ms(const struct peer *peer);

static inline struct piece_keys peer_area_keys(const struct peer *peer)
{
	return peer->area_piece.keys[peer->device->index];
}

/* Returns the peer, or NULL. */
struct peer *peer_find(struct oriel_job *job, int rank);

/* Sets the state, unless the peer is dead. */
void peer_set_state(struct peer *peer, enum peer_state state);

/*
 * Returns the error of a connection to a living rank that a shortage here or there prevents.
 * ERRORS: ORIEL_ERR_LIMIT, ORIEL_ERR_MEMORY.
 */
int peer_shortage(const struct peer *peer);

/*
 * Returns the peers in no order, atomics peers last, then NULL. *at begins as 0. May leave out new
 * peers.
 */
struct peer *peer_next(struct oriel_job *job, uint32_t *at);

/* Waits until no work request is outstanding. The device's retries bound the wait. */
void peers_drain(struct oriel_job *job);

/*
 * Waits for zero-copy requests only, so that the program's memory can be deregistered. Others would
 * delay freeing a window (E6).
 */
void peers_drain_zero_copy(struct oriel_job *job);

/* Releases all peers, after the service thread and the connections. */
void peers_close(struct oriel_job *job);

/* Makes flag words for a slot at every peer, present and future. The caller holds job->lock. */
int peers_cover_slot(struct oriel_job *job, uint32_t slot);

/* Returns the peer's flag words at our side, for a covered slot. */
static inline struct flag_pair *peer_flags(const struct peer *peer, uint32_t slot)
{
	uint32_t offset, segment = table_segment(slot, &offset);

	return (struct flag_pair *)peer->flags[segment] + offset;
}

/* Marks a rank dead, once (death.h), and informs waiting loops. text is the reason. */
void rank_died(struct oriel_job *job, int rank, const char *text);

/* Marks a rank dead for the launcher, whose text replaces an earlier one. */
void rank_ended(struct oriel_job *job, int rank, const char *text);

/* Marks a rank that has never been reached, and informs waiting loops as of a death. */
void rank_unreachable(struct oriel_job *job, int rank, const char *text);

/* Marks a peer that has left the job in order as unreachable. */
void peer_left(struct peer *peer);

/* The connection has ended: reports a death, unless the peer has said goodbye. */
void peer_lost(struct peer *peer, const char *text);

/* Returns whether the peer has left the job, and all its messages have arrived. */
bool peer_said_goodbye(const struct peer *peer);

#endif
