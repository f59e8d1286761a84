// SPDX-License-Identifier: BSD-2-Clause
/* A peer: a process as seen from here. See peer.c. */
#ifndef SOFT_PEER_H
#define SOFT_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "soft/verbs/shm.h"

enum {
	SOFT_HELLO_FDS = 4,
	SOFT_WELCOME_FDS = 3,
	SOFT_SPIN_TICKS = 4000, /* a peer that polled in vain so lately still does */
};

/* First message of a requester, and the answer to it. */
struct soft_hello {
	uint64_t magic;
	uint32_t abi;
	uint32_t can_vm; /* in the answer: the responder reaches the requester's memory */
	uint64_t probe;  /* address of the sender's segment->magic, to try process_vm_readv on */
	int32_t error;   /* in an answer without descriptors: errno value, what the responder has too little of */
	uint32_t reserved;
};

struct soft_peer {
	pid_t pid;
	int pidfd;     /* readable when it has ended; -1 where the kernel has none */
	int wakeup_fd; /* its engine's eventfd */
	const struct shm_segment *seg;
	struct shm_bell *bell;
	bool full_fence; /* see shm_busy_enter and shm_bell_ring */
};

struct soft_hello soft_hello(void);
/* 0 or an errno value. */
int soft_hello_send(int sock, const struct soft_hello *hello, const int *fds, size_t nfds);
/* Answer that there is no pipe, because this process is short of something. */
void soft_hello_refuse(int sock, int err);
/*
 * Receive a hello with exactly nfds descriptors. 0 or an errno value: EMFILE if there was no room
 * for them here, EREMOTEIO or EREMCHG if the other side answers that it is short, EPROTO for all
 * else.
 */
int soft_hello_recv(int sock, struct soft_hello *hello, int *fds, size_t nfds);
void soft_close_all(const int *fds, size_t n);

/*
 * Can this process read the other one's memory? If so it can write it: the kernel asks for the same
 * right.
 */
bool soft_peer_probe_vm(pid_t pid, uint64_t addr);
/* Map what a peer sent: segment, bell, eventfd. Takes over the descriptors. 0 or an errno value. */
int soft_peer_map(struct soft_peer *peer, pid_t pid, const int *fds);
void soft_peer_unmap(struct soft_peer *peer);
/* Wake its engine; once until that hears it. */
void soft_peer_wake(const struct soft_peer *peer);
/* Tell whoever is on the other side that there is something in a pipe. */
void soft_peer_notify(const struct soft_peer *peer);
/* In a child: ring with other numbers than the parent does. */
void soft_peer_forked(void);

/*
 * Does a thread of the peer sit in ibv_poll_cq? It then carries a request out sooner than a system
 * call would. A thread that waits for the data itself does not look into the pipes. Who polled
 * once, before it does something else, does not sit there: only after many polls is SHM_POLLED
 * said.
 */
static inline bool soft_peer_spins(const struct soft_peer *peer)
{
	return shm_attention_get(peer->seg) == SHM_POLLED &&
	       (int64_t)(shm_ticks() - shm_spin_load(peer->seg)) < SOFT_SPIN_TICKS;
}

#endif
