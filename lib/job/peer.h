// SPDX-License-Identifier: BSD-2-Clause
/*
 * peer.h - the ranks this one talks to, or has been talked to by
 *
 * A peer is made when it is first needed, by whichever side, and lives until the job ends. States
 * go one way:
 *
 *   PEER_NEW         known, nobody has asked for a connection yet
 *   PEER_CONNECTING  the service thread is at it, see conn.c
 *   PEER_UP          the wire can be used
 *   PEER_DEAD        died, has left, or out of reach; every call that needs it gets ORIEL_ERR_PEER
 *
 * In oriel_finalize an attempt to connect that is given up takes a peer back to PEER_NEW.
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
	int rank;       /* in the job */
	uint32_t state; /* enum peer_state; by the service thread, PEER_DEAD by any; state_load */
	struct oriel_job *job;
	struct peer *atomics_peer; /* second connection to the rank, see atomics_peer.h; set under job->lock, once */
	bool is_atomics_peer;
	const struct device *device; /* that it is talked to by; settled before PEER_UP, by the service thread */
	struct wire wire;
	struct direct_access direct;
	struct area *area; /* ours, which the peer reads and writes */
	struct piece area_piece;
	void *flags
		[TABLE_SEGMENTS]; /* struct flag_pair: the peer's flag words at our side, by segment; grown under job->lock */
	uint32_t neighbour;   /* its place among our neighbours */
	uint32_t remote_neighbour; /* ours among its; set with remote_flags */
	struct remote remote_area; /* its area for us; set before PEER_UP, as the next one */
	struct remote remote_directory;
	struct table_root remote_flags;    /* cached: our flag words at its side; by the service thread, see directory.c */
	struct table_root remote_dir_root; /* cached root of its directory; both change under lock */
	pthread_mutex_t lock;              /* guards lookups, and the change of a link to described */
	struct lookup *lookups;            /* links of this peer that wait for their window's description */
	uint64_t shortage_ns; /* when it was last to be told that connecting fails for want of something; counter_load */
	int shortage;         /* what: an errno value, of the other side where negative; set before shortage_ns */
	uint64_t
		goodbye_number; /* of the request that has said goodbye; 0: not said. By the service thread, counter_load */
	struct am_sender *am_sender; /* active messages for the peer to apply, see am_send.h; made at the first, atomic */
	struct am_receiver *am_receiver;    /* its active messages for us; by the service thread, atomic */
	struct remote remote_page_locks;    /* see page_lock.h; set with remote_flags */
	struct page_lock_table *page_locks; /* where they are here, or NULL; atomic */
	struct updates *updates;            /* our place in them (atomic_mode.h), or NULL; atomic */
	uint64_t ping_ns;                   /* when a waiting thread last pinged it; any thread, counter_load */
	/* Service thread only. */
	struct conn *conn;     /* while connecting */
	struct rdma_cm_id *id; /* of the established connection */
	struct wire_pair pair;
	uint64_t up_ns;     /* by process_clock_ns: its process lived then; 0: not connected yet */
	bool device_chosen; /* peer->device is more than a first guess */
	bool busy;          /* in the service queue's list, or in the round being served */
	struct peer *next_busy;
	bool disconnected;
	bool am_waits;              /* it has asked for a ring, see am_recv.h */
	bool am_bare;               /* its next wakeup would find no receive */
	uint64_t am_wakes;          /* wakeups it has sent */
	uint64_t am_rested;         /* and been told of; under am->lock too */
	struct segment_ref am_ring; /* where its ring lies; its check is not set */
	/* Requests to the service thread, see service_queue.h; guarded by job->lock. */
	bool requested;
	struct peer *next_request;
	/* Control messages, see ctrl_msg.c. */
	pthread_mutex_t ctrl_msg_lock; /* guards the rest */
	uint64_t ctrl_msg_sent;
	uint64_t ctrl_msg_acked; /* how many of ctrl_msg_sent the peer has taken, as far as seen */
	uint64_t ctrl_msg_taken;
	uint64_t ctrl_msg_ack_sent; /* how many of ctrl_msg_taken we have acknowledged */
};

/* Whether the wire can be used. */
static inline bool peer_is_up(const struct peer *peer)
{
	return state_load(&peer->state) == PEER_UP; /* pairs with peer_set_state and rank_died */
}

/* Its page locks (page_lock.h); NULL: they are not mapped here, or were not asked for. */
static inline struct page_lock_table *peer_page_locks(const struct peer *peer)
{
	return __atomic_load_n(&peer->page_locks, __ATOMIC_ACQUIRE); /* pairs with page_locks_map */
}

/* Our place in them (atomic_mode.h), which are mapped then; NULL: there is none. */
static inline struct updates *peer_updates_there(const struct peer *peer)
{
	return __atomic_load_n(&peer->updates, __ATOMIC_ACQUIRE); /* pairs with page_locks_map */
}

/* The peers of a job; guarded by job->lock. */
struct peers {
	struct peer **table; /* open addressing by rank; NULL: free */
	uint32_t count;
	uint32_t capacity; /* a power of 2 */
	struct peer **atomics_peers;
	uint32_t atomics_peer_count;
	uint32_t atomics_peer_capacity;
	struct peer *moving; /* one by a device that our polls keep going (direct_has_copy_sync), or NULL; atomic */
};

/*
 * Makes peer->atomics_peer, of that device. The caller holds job->lock. ERRORS: ORIEL_ERR_MEMORY.
 */
int peer_make_atomics_peer(struct peer *peer, const struct device *device);

/* The peer of that rank, made if need be. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int peer_get(struct oriel_job *job, int rank, struct peer **peer);

/* From now on the peer is talked to by this device. Service thread; nothing is under way to the peer. */
void peer_set_device(struct peer *peer, const struct device *device);

/* How long the peer is tried to be reached; 0: no limit. */
int peer_connect_limit_ms(const struct peer *peer);

/* The keys of our area for the peer, of its device. */
static inline struct piece_keys peer_area_keys(const struct peer *peer)
{
	return peer->area_piece.keys[peer->device->index];
}

/* The peer of that rank, or NULL. */
struct peer *peer_find(struct oriel_job *job, int rank);

/* A new state, unless the peer is dead already. */
void peer_set_state(struct peer *peer, enum peer_state state);

/*
 * The error for a connection that cannot be made for want of something, here or there. The rank
 * lives. ERRORS: ORIEL_ERR_LIMIT, ORIEL_ERR_MEMORY.
 */
int peer_shortage(const struct peer *peer);

/*
 * The peers one after the other, in no order, atomics peers last; *at begins as 0. NULL at the end.
 * Peers made meanwhile may be left out.
 */
struct peer *peer_next(struct oriel_job *job, uint32_t *at);

/*
 * Wait until no work request of this rank is under way. Bounded by the device's retries, which
 * break a wire.
 */
void peers_drain(struct oriel_job *job);

/*
 * The same for those requests only that use memory of the program's, which may then be
 * deregistered: what else is under way to a peer out of reach need not be waited for, or whoever
 * frees a window would be told too late (E6).
 */
void peers_drain_zero_copy(struct oriel_job *job);

/* Release all; the service thread has ended, and connections have been released. */
void peers_close(struct oriel_job *job);

/* Flag words for window slot `slot` at every peer, now and to come. The caller holds job->lock. */
int peers_cover_slot(struct oriel_job *job, uint32_t slot);

/* Our side's flag words of peer for a window slot that peers_cover_slot has covered. */
static inline struct flag_pair *peer_flags(const struct peer *peer, uint32_t slot)
{
	uint32_t offset, segment = table_segment(slot, &offset);

	return (struct flag_pair *)peer->flags[segment] + offset;
}

/* Mark a rank dead, once (death.h), and tell every waiting loop. text says what happened. */
void rank_died(struct oriel_job *job, int rank, const char *text);

/* The peer cannot be reached any more, and has left the job in order. */
void peer_left(struct peer *peer);

/* The connection has ended: a death, unless the peer has said goodbye. */
void peer_lost(struct peer *peer, const char *text);

/* Whether the peer has left the job, and all that it ever sent here has come. */
bool peer_said_goodbye(const struct peer *peer);

#endif
