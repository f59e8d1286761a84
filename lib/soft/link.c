// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links: how two processes find each other, share memory, and notice each other's death.
 *
 * DESIGN NOTES The requester connects to the abstract socket of the slot that the peer's queue pair
 * number names, and sends a hello with four descriptors: its segment, its bell, its eventfd and the
 * link's memory. The responder's engine maps them and answers with its own first three. Links are
 * one-way (requests), so two processes that turn to each other at the same moment simply make two.
 * The socket stays open: its end of file, or the process descriptor, tells of a death.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "names.h"
#include "soft.h"

enum {
	HELLO_FDS = 4,
	WELCOME_FDS = 3,
	GLANCE_LINKS = 4, /* so many each way may cost every poll a look */
	ANSWER_MS = 3000, /* a live engine answers in microseconds; a stopped process never */
};

struct hello {
	uint64_t magic;
	uint32_t abi;
	uint32_t can_vm; /* in the answer: the responder reaches the requester's memory */
	uint64_t probe;  /* address of the sender's segment->magic, to try process_vm_readv on */
};

static pthread_mutex_t connect_lock = PTHREAD_MUTEX_INITIALIZER;

static struct hello make_hello(const struct soft_core *core)
{
	return (struct hello){ .magic = SHM_MAGIC, .abi = SHM_ABI, .probe = (uintptr_t)&core->seg->magic };
}

static int send_hello(int sock, const struct hello *hello, const int *fds, size_t nfds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(HELLO_FDS * sizeof(int))];
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
	return sendmsg(sock, &msg, MSG_NOSIGNAL) == (ssize_t)sizeof(*hello) ? 0 : -1;
}

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

/* Receive a hello with exactly nfds descriptors. Anything else is refused. */
static int recv_hello(int sock, struct hello *hello, int *fds, size_t nfds)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(HELLO_FDS * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = hello, .iov_len = sizeof(*hello) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control)
	};
	ssize_t n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	struct cmsghdr *cmsg = n >= 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	size_t got;

	if (!cmsg || cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
		return -1;
	got = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(cmsg), got * sizeof(int));
	if (got == nfds && n == (ssize_t)sizeof(*hello) && hello->magic == SHM_MAGIC && hello->abi == SHM_ABI)
		return 0;
	close_all(fds, got);
	return -1;
}

/* The other side of a socket, if it is a process of this user. */
static int peer_pid(int sock, pid_t *pid)
{
	struct ucred cred;
	socklen_t length = sizeof(cred);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &length) != 0 || cred.uid != geteuid())
		return -1;
	*pid = cred.pid;
	return 0;
}

/*
 * Can this process read the other one's memory? If so it can write it: the kernel asks for the same
 * right.
 */
static bool probe_vm(pid_t pid, uint64_t addr)
{
	uint64_t magic = 0;
	struct iovec here = { .iov_base = &magic, .iov_len = sizeof(magic) };
	struct iovec there = { .iov_base = (void *)(uintptr_t)addr, .iov_len = sizeof(magic) };

	return pid > 0 && process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof(magic) && magic == SHM_MAGIC;
}

/* A peer may have made its descriptor smaller than we are about to map, which would end in SIGBUS. */
static bool fd_holds(int fd, size_t size)
{
	return lseek(fd, 0, SEEK_END) >= (off_t)size;
}

/* Map what a peer sent: segment, bell, eventfd. Takes over the descriptors. */
static int peer_map(struct soft_peer *peer, pid_t pid, const int *fds)
{
	void *seg, *bell;

	peer->pid = pid;
	peer->kick_fd = fds[2];
	if (!fd_holds(fds[0], sizeof(*peer->seg)) || !fd_holds(fds[1], sizeof(*peer->bell)))
		goto err_close;
	seg = mmap(NULL, sizeof(*peer->seg), PROT_READ, MAP_SHARED, fds[0], 0);
	if (seg == MAP_FAILED)
		goto err_close;
	bell = mmap(NULL, sizeof(*peer->bell), PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
	if (bell == MAP_FAILED)
		goto err_unmap;
	peer->seg = seg;
	peer->bell = bell;
	peer->full_fence = soft_core->no_membarrier || peer->seg->no_membarrier;
	peer->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	close(fds[0]);
	close(fds[1]);
	return 0;

err_unmap:
	munmap(seg, sizeof(*peer->seg));
err_close:
	close_all(fds, WELCOME_FDS);
	return -1;
}

static void peer_unmap(struct soft_peer *peer)
{
	munmap((void *)(uintptr_t)peer->seg, sizeof(*peer->seg));
	munmap(peer->bell, sizeof(*peer->bell));
	close(peer->kick_fd);
	if (peer->pidfd >= 0)
		close(peer->pidfd);
}

/* A number that nobody has rung with: each thread counts on from anywhere. */
static uint64_t ring_number(void)
{
	static __thread uint64_t number __attribute__((tls_model("initial-exec")));

	if (number == 0)
		number = (uint64_t)soft_random() << 32 | soft_random();
	return ++number;
}

void soft_peer_notify(const struct soft_peer *peer)
{
	shm_bell_ring(peer->bell, ring_number(), peer->full_fence);
	if (shm_attention_get(peer->seg) == SHM_KICK && shm_kick_claim(peer->bell))
		soft_kick(peer->kick_fd);
}

/* ---- links that come in ---- */

static void in_free(struct soft_in *in)
{
	peer_unmap(&in->peer);
	munmap(in->shm, sizeof(*in->shm));
	close(in->sock);
	free(in);
}

static void in_remove(struct soft_core *core, struct soft_in *in)
{
	softverbs_unwatch(in->sock);
	if (in->peer.pidfd >= 0)
		softverbs_unwatch(in->peer.pidfd);
	/* It may have claimed the kick that nobody gives now. */
	shm_kick_reset(core->bell);
	soft_progress_now(core);
	soft_lock(&core->progress);
	for (uint32_t i = 0; i < core->nin; i++) {
		if (core->in[i] == in) {
			core->in[i] = core->in[--core->nin];
			break;
		}
	}
	soft_unlock(&core->progress);
	in_free(in);
}

static void on_in_death(void *arg)
{
	in_remove(soft_core, arg);
}

static int in_setup(struct soft_core *core, struct soft_in *in, const int *fds, const struct hello *hello)
{
	int own[WELCOME_FDS] = { core->seg_fd, core->bell_fd, core->kick_fd };
	struct hello welcome = make_hello(core);
	void *map = MAP_FAILED;

	if (fd_holds(fds[3], sizeof(*in->shm)))
		map = mmap(NULL, sizeof(*in->shm), PROT_READ | PROT_WRITE, MAP_SHARED, fds[3], 0);
	close(fds[3]);
	if (map == MAP_FAILED) {
		close_all(fds, WELCOME_FDS);
		return -1;
	}
	in->shm = map;
	if (peer_map(&in->peer, in->peer.pid, fds) != 0)
		goto err_unmap;
	in->can_vm = probe_vm(in->peer.pid, hello->probe);
	welcome.can_vm = in->can_vm;

	soft_lock(&core->progress);
	if (core->nin == SOFT_MAX_LINKS)
		goto err_full;
	core->in[core->nin++] = in;
	soft_unlock(&core->progress);
	if (send_hello(in->sock, &welcome, own, WELCOME_FDS) != 0)
		goto err_remove;
	if (softverbs_watch(in->sock, on_in_death, in) != 0)
		goto err_remove;
	if (in->peer.pidfd >= 0 && softverbs_watch(in->peer.pidfd, on_in_death, in) != 0)
		goto err_unwatch;
	return 0;

err_unwatch:
	softverbs_unwatch(in->sock);
err_remove:
	soft_lock(&core->progress);
	core->nin--;
err_full:
	soft_unlock(&core->progress);
	peer_unmap(&in->peer);
err_unmap:
	munmap(in->shm, sizeof(*in->shm));
	return -1;
}

/* First message on an accepted socket. */
static void on_hello(void *arg)
{
	struct soft_in *in = arg;
	struct hello hello;
	int fds[HELLO_FDS];

	softverbs_unwatch(in->sock);
	if (recv_hello(in->sock, &hello, fds, HELLO_FDS) == 0 && in_setup(soft_core, in, fds, &hello) == 0)
		return;
	close(in->sock);
	free(in);
}

void soft_link_accept(void *arg)
{
	int sock = accept4((int)(intptr_t)arg, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct soft_in *in;

	if (sock < 0)
		return;
	in = calloc(1, sizeof(*in));
	if (!in)
		goto err_close;
	in->sock = sock;
	if (peer_pid(sock, &in->peer.pid) != 0 || softverbs_watch(sock, on_hello, in) != 0)
		goto err_free;
	return;

err_free:
	free(in);
err_close:
	close(sock);
}

/* ---- links that go out ---- */

static int slot_connect(uint32_t slot)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr;
	socklen_t length = softverbs_name(&addr, geteuid(), "qp", slot, "");

	if (sock < 0)
		return -1;
	if (connect(sock, (struct sockaddr *)&addr, length) == 0)
		return sock;
	close(sock);
	return -1;
}

static int link_memory(struct soft_out *out)
{
	int fd = memfd_create("softverbs-link", MFD_CLOEXEC);
	void *map;

	if (fd < 0)
		return -1;
	if (ftruncate(fd, sizeof(*out->shm)) != 0)
		goto err_close;
	map = mmap(NULL, sizeof(*out->shm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (map == MAP_FAILED)
		goto err_close;
	out->shm = map;
	return fd;

err_close:
	close(fd);
	return -1;
}

static struct soft_out *out_alloc(uint32_t slot)
{
	struct soft_out *out = calloc(1, sizeof(*out));

	if (!out)
		return NULL;
	out->slot = slot;
	out->rmap = mmap(NULL, SHM_MRS * sizeof(*out->rmap), PROT_READ | PROT_WRITE,
	                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (out->rmap == MAP_FAILED) {
		free(out);
		return NULL;
	}
	pthread_mutex_init(&out->map_lock, NULL);
	soft_list_init(&out->waiting);
	/* For core->out[], and for the caller. */
	atomic_store(&out->refs, 2);
	return out;
}

static void out_free_alloc(struct soft_out *out)
{
	pthread_mutex_destroy(&out->map_lock);
	munmap(out->rmap, SHM_MRS * sizeof(*out->rmap));
	free(out);
}

/* The handshake; on success the link's memory and the peer's are mapped. */
static int out_handshake(struct soft_core *core, struct soft_out *out)
{
	int own[HELLO_FDS] = { core->seg_fd, core->bell_fd, core->kick_fd, -1 };
	struct hello hello = make_hello(core), welcome;
	struct pollfd wait = { .fd = out->sock, .events = POLLIN };
	int fds[WELCOME_FDS];
	pid_t pid;
	int sent;

	if (peer_pid(out->sock, &pid) != 0)
		return -1;
	own[3] = link_memory(out);
	if (own[3] < 0)
		return -1;
	sent = send_hello(out->sock, &hello, own, HELLO_FDS);
	close(own[3]);
	if (sent != 0 || poll(&wait, 1, ANSWER_MS) != 1 || recv_hello(out->sock, &welcome, fds, WELCOME_FDS) != 0)
		goto err_unmap;
	if (peer_map(&out->peer, pid, fds) != 0)
		goto err_unmap;
	out->self = pid == getpid();
	out->peer_can_vm = welcome.can_vm;
	out->can_vm = probe_vm(pid, welcome.probe);
	return 0;

err_unmap:
	munmap(out->shm, sizeof(*out->shm));
	return -1;
}

/* What was mapped of the peer's memory goes with the link. */
static void unmap_regions(struct soft_out *out)
{
	for (uint32_t i = 0; i < out->rmap_top; i++)
		if (out->rmap[i].reach == SOFT_REACH_MAPPED)
			soft_unmap_peer(out->rmap[i].base, out->rmap[i].length);
}

void soft_out_put(struct soft_out *out)
{
	if (atomic_fetch_sub(&out->refs, 1) != 1)
		return;
	unmap_regions(out);
	peer_unmap(&out->peer);
	munmap(out->shm, sizeof(*out->shm));
	close(out->sock);
	out_free_alloc(out);
}

static void on_out_death(void *arg)
{
	struct soft_out *out = arg;
	struct soft_core *core = soft_core;

	softverbs_unwatch(out->sock);
	if (out->peer.pidfd >= 0)
		softverbs_unwatch(out->peer.pidfd);
	if (atomic_exchange(&out->dead, true))
		return;
	shm_kick_reset(core->bell);
	/* What it answered before it died counts. */
	soft_progress_now(core);
	soft_lock(&core->progress);
	for (uint32_t i = 0; i < core->nout; i++) {
		if (core->out[i] == out) {
			core->out[i] = core->out[--core->nout];
			break;
		}
	}
	soft_out_died(core, out);
	soft_unlock(&core->progress);
	soft_out_put(out);
}

static struct soft_out *out_new(struct soft_core *core, uint32_t slot)
{
	struct soft_out *out = out_alloc(slot);

	if (!out)
		return NULL;
	out->sock = slot_connect(slot);
	if (out->sock < 0)
		goto err_free;
	if (out_handshake(core, out) != 0)
		goto err_close;
	soft_lock(&core->progress);
	if (core->nout == SOFT_MAX_LINKS) {
		soft_unlock(&core->progress);
		goto err_unmap;
	}
	core->out[core->nout++] = out;
	soft_unlock(&core->progress);
	/* Without these a death is still noticed by requests that are not answered. */
	softverbs_watch(out->sock, on_out_death, out);
	if (out->peer.pidfd >= 0)
		softverbs_watch(out->peer.pidfd, on_out_death, out);
	return out;

err_unmap:
	peer_unmap(&out->peer);
	munmap(out->shm, sizeof(*out->shm));
err_close:
	close(out->sock);
err_free:
	out_free_alloc(out);
	return NULL;
}

static struct soft_out *out_find(struct soft_core *core, uint32_t qpn)
{
	struct soft_out *found = NULL;

	soft_lock(&core->progress);
	for (uint32_t i = 0; i < core->nout && !found; i++)
		if (soft_qpn_index(core->out[i]->peer.seg, qpn) >= 0)
			found = core->out[i];
	if (found)
		atomic_fetch_add(&found->refs, 1);
	soft_unlock(&core->progress);
	return found;
}

struct soft_out *soft_out_get(struct soft_core *core, uint32_t qpn)
{
	struct soft_out *out;

	pthread_mutex_lock(&connect_lock);
	out = out_find(core, qpn);
	if (!out)
		out = out_new(core, qpn >> SHM_SLOT_BITS);
	pthread_mutex_unlock(&connect_lock);
	return out;
}

/* ---- looking into the links; core->progress is held ---- */

/* Note which requests are there. No honest peer is more than a ring ahead. */
static bool see_requests(struct soft_in *in)
{
	while (in->req_seen - in->req_tail < SHM_RING &&
	       shm_req_is_there(&in->shm->req[in->req_seen % SHM_RING], in->req_seen + 1))
		in->req_seen++;
	return in->req_seen != in->req_tail;
}

static void drain_in(struct soft_core *core, struct soft_in *in)
{
	bool any = false;

	for (; in->req_tail != in->req_seen; in->req_tail++) {
		soft_respond(core, in, (uint32_t)(in->req_tail % SHM_RING));
		any = true;
	}
	if (any)
		soft_peer_notify(&in->peer);
}

/* The next queue pair that waits, as long as there is room for its next request. */
static struct soft_qp *take_waiting(struct soft_out *out)
{
	struct soft_qp *qp = NULL;

	soft_lock(&out->tx);
	if (!soft_list_empty(&out->waiting) && soft_out_has_room(out)) {
		qp = soft_container(out->waiting.next, struct soft_qp, waiting);
		soft_list_del(&qp->waiting);
	}
	soft_unlock(&out->tx);
	return qp;
}

/*
 * Queue pairs that found the link full go on, in turn, until it is full again: who comes back to
 * the list has seen that, and no response is taken meanwhile, so this ends. core->progress keeps
 * them from being destroyed.
 */
static void pump_waiting(struct soft_out *out)
{
	struct soft_qp *qp;

	while ((qp = take_waiting(out))) {
		soft_lock(&qp->lock);
		if (qp->stall == SOFT_WAIT_ROOM)
			qp->stall = SOFT_GO;
		soft_pump(qp);
		soft_unlock(&qp->lock);
	}
}

static void drain_out(struct soft_core *core, struct soft_out *out)
{
	uint64_t tail = atomic_load_explicit(&out->resp_tail, memory_order_relaxed);
	uint32_t at = (uint32_t)(tail % SHM_RING), taken = 0;

	for (; taken < SHM_RING && shm_resp_is_there(&out->shm->resp[at], tail + 1); at = (uint32_t)(++tail % SHM_RING)) {
		soft_take_response(core, out, &out->shm->resp[at], out->shm->resp_chunk[at]);
		/* From here on the slot may be used again, by any thread under out->tx. */
		atomic_store_explicit(&out->resp_tail, tail + 1, memory_order_release);
		taken++;
	}
	if (taken > 0)
		pump_waiting(out);
}

/*
 * Responses before requests, as they would come over a wire: a peer answers our send before it
 * sends its reply. So first it is noted which requests are there, then the responses are taken,
 * then those requests carried out; a response that was published before one of them is there by
 * then.
 */
static void look(struct soft_core *core)
{
	for (uint32_t i = 0; i < core->nin; i++)
		see_requests(core->in[i]);
	for (uint32_t i = 0; i < core->nout; i++)
		drain_out(core, core->out[i]);
	for (uint32_t i = 0; i < core->nin; i++)
		drain_in(core, core->in[i]);
}

/* Before a look: what is published after this rings again. */
static bool listen_to_bell(struct soft_core *core)
{
	uint64_t last = shm_bell_last(core->bell), heard = atomic_load_explicit(&core->heard, memory_order_relaxed);

	atomic_store_explicit(&core->heard, last, memory_order_relaxed);
	return last != heard;
}

static bool has_response(struct soft_out *out)
{
	uint64_t tail = atomic_load_explicit(&out->resp_tail, memory_order_relaxed);

	return shm_resp_is_there(&out->shm->resp[tail % SHM_RING], tail + 1);
}

/*
 * With few links it is seen in the links themselves that there is something, one cache line before
 * the bell is.
 */
static bool glance(struct soft_core *core)
{
	if (core->nin > GLANCE_LINKS || core->nout > GLANCE_LINKS)
		return false;
	for (uint32_t i = 0; i < core->nin; i++)
		if (see_requests(core->in[i]))
			return true;
	for (uint32_t i = 0; i < core->nout; i++)
		if (has_response(core->out[i]))
			return true;
	return false;
}

void soft_progress(struct soft_core *core)
{
	if (!soft_trylock(&core->progress))
		return;
	if (glance(core) || listen_to_bell(core))
		look(core);
	soft_unlock(&core->progress);
}

void soft_progress_now(struct soft_core *core)
{
	soft_lock(&core->progress);
	listen_to_bell(core);
	look(core);
	soft_unlock(&core->progress);
}
