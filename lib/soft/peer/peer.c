// SPDX-License-Identifier: BSD-2-Clause
/*
 * A peer: another process, as this one knows it.
 *
 * DESIGN NOTES
 *
 * A hello carries the descriptors of the sender's segment, bell and eventfd, and of the memory of
 * its pipe, which an answer may lack. They are not trusted: a file that could become smaller than
 * its mapping is refused.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "soft/base/base.h"
#include "soft/base/memory.h"
#include "soft/peer/peer.h"
#include "soft/state/core.h"
#include "soft/state/shm.h"

#ifndef SYS_pidfd_open /* headers before Linux 5.3 */
#define SYS_pidfd_open 434
#endif

struct soft_hello soft_hello(void)
{
	return (struct soft_hello){ .magic = SHM_MAGIC, .abi = SHM_ABI, .probe = (uintptr_t)&soft_core->seg->magic };
}

int soft_hello_send(int sock, const struct soft_hello *hello, const int *fds, size_t nfds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(SOFT_HELLO_FDS * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)hello, .iov_len = sizeof(*hello) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = CMSG_SPACE(nfds * sizeof(int))
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(nfds * sizeof(int));
	memcpy(CMSG_DATA(cmsg), fds, nfds * sizeof(int));
	if (sendmsg(sock, &msg, MSG_NOSIGNAL) == (ssize_t)sizeof(*hello))
		return 0;
	/* More descriptors in flight than one process may have. */
	return errno == ETOOMANYREFS ? EMFILE : errno;
}

void soft_hello_refuse(int sock, int err)
{
	struct soft_hello answer = soft_hello();

	answer.error = err;
	/* If it cannot be sent, the end of the connection reports the refusal. */
	(void)send(sock, &answer, sizeof(answer), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void soft_close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

/* Returns the number of descriptors. */
static size_t take_fds(struct msghdr *msg, int *fds)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);
	size_t n;

	if (!cmsg || cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
		return 0;
	n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(cmsg), n * sizeof(int));
	return n;
}

/* A socket whose peer closed it with unread data reports that before the peer's messages. */
static ssize_t recv_message(int sock, struct msghdr *msg)
{
	ssize_t n = recvmsg(sock, msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	return n < 0 && errno == ECONNRESET ? recvmsg(sock, msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) : n;
}

int soft_hello_recv(int sock, struct soft_hello *hello, int *fds, size_t nfds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(SOFT_HELLO_FDS * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = hello, .iov_len = sizeof(*hello) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control)
	};
	ssize_t n = recv_message(sock, &msg);
	int came[SOFT_HELLO_FDS];
	size_t got = n < 0 ? 0 : take_fds(&msg, came);
	bool valid = n == (ssize_t)sizeof(*hello) && hello->magic == SHM_MAGIC && hello->abi == SHM_ABI;

	if (valid && !hello->error && got >= nfds && got - nfds == hello->pipes) {
		memcpy(fds, came, got * sizeof(int));
		return 0;
	}
	soft_close_all(came, got);
	if (valid && hello->error)
		return hello->error == EMFILE || hello->error == ENFILE ? EREMOTEIO : EREMCHG;
	return valid && msg.msg_flags & MSG_CTRUNC ? EMFILE : EPROTO;
}

bool soft_peer_probe_vm(pid_t pid, uint64_t addr)
{
	uint64_t magic = 0;
	struct iovec here = { .iov_base = &magic, .iov_len = sizeof(magic) };
	struct iovec there = { .iov_base = (void *)(uintptr_t)addr, .iov_len = sizeof(magic) };

	return pid > 0 && process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof(magic) && magic == SHM_MAGIC;
}

/* Sockets report the peer's death, too, so only a shortage is an error. */
static int open_process(struct soft_peer *peer)
{
	peer->pidfd = (int)syscall(SYS_pidfd_open, peer->pid, 0);
	return peer->pidfd < 0 && soft_is_shortage(errno) ? errno : 0;
}

int soft_peer_map(struct soft_peer *peer, pid_t pid, const int *fds)
{
	void *seg, *bell;
	int err = EPROTO;

	peer->pid = pid;
	peer->wakeup_fd = fds[2];
	if (!soft_memory_safe(fds[0], sizeof(*peer->seg)) || !soft_memory_safe(fds[1], sizeof(*peer->bell)))
		goto err_close;
	seg = mmap(NULL, sizeof(*peer->seg), PROT_READ, MAP_SHARED, fds[0], 0);
	err = errno;
	if (seg == MAP_FAILED)
		goto err_close;
	bell = mmap(NULL, sizeof(*peer->bell), PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
	err = errno;
	if (bell == MAP_FAILED)
		goto err_seg;
	err = open_process(peer);
	if (err)
		goto err_bell;
	peer->seg = seg;
	peer->bell = bell;
	peer->full_fence = soft_core->no_membarrier || peer->seg->no_membarrier;
	close(fds[0]);
	close(fds[1]);
	return 0;

err_bell:
	munmap(bell, sizeof(*peer->bell));
err_seg:
	munmap(seg, sizeof(*peer->seg));
err_close:
	soft_close_all(fds, SOFT_WELCOME_FDS);
	return err;
}

bool soft_peer_share(struct soft_peer *peer, struct soft_peer *other)
{
	peer->pipes = malloc(sizeof(*peer->pipes));
	if (!peer->pipes)
		return false;
	atomic_init(peer->pipes, 2);
	*other = *peer;
	return true;
}

bool soft_peer_unmap(struct soft_peer *peer)
{
	if (peer->pipes && atomic_fetch_sub(peer->pipes, 1) != 1)
		return false;
	free(peer->pipes);
	munmap((void *)(uintptr_t)peer->seg, sizeof(*peer->seg));
	munmap(peer->bell, sizeof(*peer->bell));
	close(peer->wakeup_fd);
	if (peer->pidfd >= 0)
		close(peer->pidfd);
	return true;
}

static __thread uint64_t last_ring __attribute__((tls_model("initial-exec")));

/* Returns a unique number: each thread counts from a random one. */
static uint64_t ring_number(void)
{
	if (last_ring == 0)
		last_ring = (uint64_t)soft_random() << 32 | soft_random();
	return ++last_ring;
}

void soft_peer_forked(void)
{
	last_ring = 0;
}

void soft_peer_wake(const struct soft_peer *peer)
{
	if (shm_wakeup_claim(peer->bell))
		soft_wake(peer->wakeup_fd);
}

void soft_peer_notify(const struct soft_peer *peer)
{
	shm_bell_ring(peer->bell, ring_number(), peer->full_fence);
	if (shm_attention_get(peer->seg) == SHM_WAKEUP)
		soft_peer_wake(peer);
}

/*
 * A reserve descriptor.
 *
 * DESIGN NOTES
 *
 * A process without free descriptors cannot accept a peer's connection: the peer would wait for
 * ever. So the engine keeps one. It closes it, accepts the connection in its place, sends the
 * reason, and closes the connection.
 */

static int reserve_fd = -1; /* the engine's */

int soft_reserve_fd_open(void)
{
	reserve_fd = eventfd(0, EFD_CLOEXEC);
	return reserve_fd < 0 ? errno : 0;
}

void soft_reserve_fd_close(void)
{
	close(reserve_fd);
	reserve_fd = -1;
}

void soft_reserve_fd_forked(void)
{
	if (reserve_fd >= 0)
		soft_reserve_fd_close();
}

static int accept_one(int listener)
{
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

SOFT_EXPORT int softverbs_accept(int listener, softverbs_refuse_fn *refuse)
{
	int sock = accept_one(listener), err = errno;

	if (sock >= 0 || !soft_is_shortage(err))
		return sock;
	if (reserve_fd >= 0)
		soft_reserve_fd_close();
	sock = accept_one(listener);
	if (sock >= 0) {
		refuse(sock, err);
		close(sock);
	}
	/* Another thread may take it first; the next refusal then waits for a free one. */
	soft_reserve_fd_open();
	return -1;
}
