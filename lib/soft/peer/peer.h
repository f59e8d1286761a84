// SPDX-License-Identifier: BSD-2-Clause
/* A peer: another process, as this one knows it. */
#ifndef SOFT_PEER_H
#define SOFT_PEER_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "soft/base/base.h"
#include "soft/state/shm.h"

struct soft_core;

enum {
	SOFT_HELLO_FDS = 4,
	SOFT_WELCOME_FDS = 3,
	SOFT_SPIN_TICKS = 4000, /* a peer with an empty poll within this time polls */
};

/* A requester's first message, and the answer. */
struct soft_hello {
	uint64_t magic;
	uint32_t abi;
	uint32_t can_vm; /* in the answer: the responder can read the requester's memory */
	uint64_t probe;  /* address of the sender's segment->magic, to try process_vm_readv */
	int32_t error;   /* errno value of the responder's shortage, in an answer without descriptors */
	uint32_t pipes;  /* in the answer: 1 if a pipe back comes with it */
};

struct soft_peer {
	_Atomic uint32_t *pipes; /* that share the rest, and the socket; NULL: one */
	pid_t pid;
	int pidfd;     /* readable when it has ended; -1 if the kernel has none */
	int wakeup_fd; /* its engine's eventfd */
	const struct shm_segment *seg;
	struct shm_bell *bell;
	bool full_fence;       /* see shm_busy_enter and shm_bell_ring */
	_Atomic uint64_t spun; /* seg->spin_ticks as last read */
};

struct soft_hello soft_hello(void);
/* Returns 0 or an errno value. */
int soft_hello_send(int sock, const struct soft_hello *hello, const int *fds, size_t nfds);
/* Answers that this process lacks a resource. */
void soft_hello_refuse(int sock, int err);
/*
 * Receives exactly nfds descriptors, and hello->pipes more. Returns 0 or an errno value: EMFILE if
 * this process has no room for them, EREMOTEIO or EREMCHG if the other side is short, otherwise
 * EPROTO.
 */
int soft_hello_recv(int sock, struct soft_hello *hello, int *fds, size_t nfds);
void soft_close_all(const int *fds, size_t n);

/* Returns whether this process can read, and so write, the other one's memory. */
bool soft_peer_probe_vm(pid_t pid, uint64_t addr);
/* Takes over the descriptors. Returns 0 or an errno value. */
int soft_peer_map(struct soft_peer *peer, pid_t pid, const int *fds);
/* Makes *other the peer of a second pipe. Returns false without memory. */
bool soft_peer_share(struct soft_peer *peer, struct soft_peer *other);
/* Returns whether no other pipe shares the peer; then the caller closes the socket. */
bool soft_peer_unmap(struct soft_peer *peer);
/* Wakes the peer's engine, unless a wakeup is pending. */
void soft_peer_wake(const struct soft_peer *peer);
/* Notifies the peer that a pipe has something for it. */
void soft_peer_notify(const struct soft_peer *peer);
/* In a forked child: rings with other numbers than the parent. */
void soft_peer_forked(void);

/*
 * Returns whether a thread of the peer loops over ibv_poll_cq, and so is faster than a system call.
 */
static inline bool soft_peer_spins(struct soft_peer *peer)
{
	uint64_t now, spun = atomic_load_explicit(&peer->spun, memory_order_relaxed);

	if (shm_attention_get(peer->seg) != SHM_POLLED)
		return false;
	now = shm_ticks();
	if ((int64_t)(now - spun) < SOFT_SPIN_TICKS)
		return true;
	spun = shm_spin_load(peer->seg);
	atomic_store_explicit(&peer->spun, spun, memory_order_relaxed);
	return (int64_t)(now - spun) < SOFT_SPIN_TICKS;
}

/* Wakes the peers that owe an answer for too long; after empty polls. */
void soft_renotify(struct soft_core *core);

/* Answers when the process has no descriptor left: peer.c. */

/* Sends the reason, an errno value. */
typedef void softverbs_refuse_fn(int sock, int err);

/* Returns 0 or an errno value. */
int soft_reserve_fd_open(void);
void soft_reserve_fd_close(void);
/* In a child of fork: closes the parent's reserve. */
void soft_reserve_fd_forked(void);

/*
 * Accepts a connection, on the engine thread; does not block. Returns -1 without one, or if it was
 * refused for lack of a descriptor or memory.
 */
SOFT_EXPORT int softverbs_accept(int listener, softverbs_refuse_fn *refuse);

/*
 * Returns whether the error is a shortage, or a limit on file sizes: a later attempt may succeed.
 */
static inline bool soft_is_shortage(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM || err == ENOBUFS || err == EFBIG;
}

/* Returns whether the other side is short of descriptors (EREMOTEIO) or memory (EREMCHG). */
static inline bool soft_is_remote_shortage(int err)
{
	return err == EREMOTEIO || err == EREMCHG;
}

#endif
