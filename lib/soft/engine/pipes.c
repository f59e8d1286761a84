// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pipes, both ends. All queue pairs to one process share a pipe, from the first connection to that
 * process's death.
 *
 * DESIGN NOTES
 *
 * The requester connects to the socket of the slot in the peer's queue pair number, and sends a
 * hello with four descriptors: its segment, its bell, its eventfd and the pipe's memory. The
 * responder's engine maps them and answers with its own. A pipe carries requests one way, and queue
 * pairs need both: the answer brings the memory of a pipe back, unless the responder has one, or is
 * making it. The two share socket and peer. The socket's end of file, or the process descriptor,
 * reports a death.
 *
 * A silent process may be stopped, so no time limit reveals a death. So a connecting thread waits
 * briefly, which makes a shortage on either side an immediate error, and continues without an
 * answer. Queue pairs await it (qp->awaited), with closed gates and their requests in the send
 * queue.
 *
 *   not answered   in core->out[], so that there is one request for it; out->peer is unknown
 *   answered       queue pairs that awaited it continue (peer_events.c)
 *   dead           also if the answer is invalid
 *
 * A queue pair that begins to await a pipe while it is answered or dies misses neither: the engine
 * sets `answered` or `dead` and then reads the queue pair, and the queue pair reads those, both
 * under qp->lock.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "soft/base/base.h"
#include "soft/base/memory.h"
#include "soft/engine/engine.h"
#include "soft/meet/meet.h"
#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"
#include "soft/rma/copy.h"
#include "soft/rma/rmap.h"
#include "soft/state/core.h"
#include "soft/state/shm.h"

enum {
	CONNECT_S = 10,
};

static pthread_mutex_t connect_lock = PTHREAD_MUTEX_INITIALIZER;

/* A foreign process that has taken the name must not block the caller for ever. */
static void limit_connecting(int sock)
{
	const struct timeval limit = { .tv_sec = CONNECT_S };

	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

/* Returns ECONNREFUSED or ESTALE if no process of this user owns the slot. */
static int slot_connect(uint32_t slot, int *sock)
{
	struct softverbs_name name = { "qp", slot, "" };
	int err;

	*sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (*sock < 0)
		return errno;
	limit_connecting(*sock);
	err = slot < SOFT_FILE_SLOTS ? softverbs_connect_file(*sock, name) : softverbs_connect(*sock, name);
	if (err)
		close(*sock);
	return err;
}

static int pipe_memory(struct soft_out *out)
{
	int fd;

	out->shm = soft_memory_new("softverbs-pipe", sizeof(*out->shm), offsetof(struct shm_pipe, req_chunk),
	                           SOFT_MEMORY_PEERS_WRITE, &fd);
	return out->shm ? fd : -1;
}

static struct soft_out *out_alloc(uint32_t slot)
{
	struct soft_out *out = calloc(1, sizeof(*out));

	if (!out)
		return NULL;
	out->slot = slot;
	out->peer.pidfd = -1;
	out->rmap = mmap(NULL, SHM_MRS * sizeof(*out->rmap), PROT_READ | PROT_WRITE,
	                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (out->rmap == MAP_FAILED) {
		free(out);
		return NULL;
	}
	pthread_mutex_init(&out->map_lock, NULL);
	soft_list_init(&out->waiting);
	/* core->out[] and the caller */
	atomic_store(&out->refs, 2);
	return out;
}

static void out_free_alloc(struct soft_out *out)
{
	pthread_mutex_destroy(&out->map_lock);
	munmap(out->rmap, SHM_MRS * sizeof(*out->rmap));
	free(out);
}

static int say_hello(struct soft_core *core, const struct soft_out *out, int pipe_fd)
{
	int own[SOFT_HELLO_FDS] = { core->seg_fd, core->bell_fd, core->wakeup_fd, pipe_fd };
	struct soft_hello hello = soft_hello();
	int err = soft_hello_send(out->sock, &hello, own, SOFT_HELLO_FDS);

	/* The peer may have refused before it got the hello: its reason can be read. */
	return err == EPIPE || err == ECONNRESET ? 0 : err;
}

/* Allocates the pipe's memory and sends the hello. */
static int out_hello(struct soft_core *core, struct soft_out *out)
{
	int pipe_fd, err;

	if (!softverbs_same_user(out->sock, &out->peer.pid))
		return EPROTO;
	pipe_fd = pipe_memory(out);
	if (pipe_fd < 0)
		return errno;
	err = say_hello(core, out, pipe_fd);
	close(pipe_fd);
	if (err)
		munmap(out->shm, sizeof(*out->shm));
	return err;
}

/* Takes over the descriptor. Returns 0 or an errno value. */
static int map_pipe(struct soft_in *in, int fd)
{
	void *map = MAP_FAILED;
	int err = EPROTO;

	if (soft_memory_safe(fd, sizeof(*in->shm))) {
		map = mmap(NULL, sizeof(*in->shm), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		err = errno;
	}
	close(fd);
	if (map == MAP_FAILED)
		return err;
	in->shm = map;
	return 0;
}

static int in_insert(struct soft_core *core, struct soft_in *in)
{
	int err;

	soft_lock(&core->progress);
	err = core->nin == SOFT_MAX_PIPES ? ENOMEM : 0;
	if (!err)
		core->in[core->nin++] = in;
	soft_unlock(&core->progress);
	return err;
}

static void in_take_out(struct soft_core *core, const struct soft_in *in)
{
	soft_lock(&core->progress);
	for (uint32_t i = 0; i < core->nin; i++) {
		if (core->in[i] == in) {
			core->in[i] = core->in[--core->nin];
			break;
		}
	}
	soft_unlock(&core->progress);
}

/* Also of one that is not set up. */
static void in_free(struct soft_in *in)
{
	if (!in->peer.seg || soft_peer_unmap(&in->peer))
		close(in->sock);
	if (in->shm)
		munmap(in->shm, sizeof(*in->shm));
	free(in);
}

/* Takes over the descriptor of the pipe that came with the answer. */
static int back_in(struct soft_core *core, struct soft_out *out, int fd)
{
	struct soft_in *in = calloc(1, sizeof(*in));
	int err;

	if (!in) {
		close(fd);
		return ENOMEM;
	}
	err = map_pipe(in, fd);
	if (err)
		goto err_free;
	in->sock = out->sock;
	in->can_vm = out->can_vm;
	err = soft_peer_share(&out->peer, &in->peer) ? 0 : ENOMEM;
	if (err)
		goto err_unmap;
	err = in_insert(core, in);
	if (err)
		goto err_share;
	out->back = in;
	/* A thread that took the ring of an earlier request has not seen the pipe. */
	if (shm_req_is_there(&in->shm->req[0], 1))
		soft_engine_wake();
	return 0;

err_share:
	soft_peer_unmap(&in->peer);
err_unmap:
	munmap(in->shm, sizeof(*in->shm));
err_free:
	free(in);
	return err;
}

static int map_answer(struct soft_core *core, struct soft_out *out, const struct soft_hello *welcome, const int *fds)
{
	int err = soft_peer_map(&out->peer, out->peer.pid, fds);

	if (err) {
		soft_close_all(fds + SOFT_WELCOME_FDS, welcome->pipes);
		return err;
	}
	out->self = out->peer.pid == getpid();
	out->peer_can_vm = welcome->can_vm;
	out->has_proc = soft_proc_is_own();
	out->can_vm = soft_peer_probe_vm(out->peer.pid, welcome->probe);
	atomic_store(&out->answered, true);
	return welcome->pipes ? back_in(core, out, fds[SOFT_WELCOME_FDS]) : 0;
}

/* Reads the answer, or the end of file. */
static int out_answer(struct soft_core *core, struct soft_out *out)
{
	int fds[SOFT_HELLO_FDS], err;
	struct soft_hello welcome;

	err = soft_hello_recv(out->sock, &welcome, fds, SOFT_WELCOME_FDS);
	return err ? err : map_answer(core, out, &welcome, fds);
}

/* Returns 0 also if the answer has not come yet. */
static int out_await(struct soft_core *core, struct soft_out *out, int limit_ms)
{
	struct pollfd wait = { .fd = out->sock, .events = POLLIN };

	return poll(&wait, 1, limit_ms) == 1 ? out_answer(core, out) : 0;
}

void soft_out_put(struct soft_out *out)
{
	if (atomic_fetch_sub(&out->refs, 1) != 1)
		return;
	soft_rmap_forget(out);
	if (!out->answered || soft_peer_unmap(&out->peer))
		close(out->sock);
	munmap(out->shm, sizeof(*out->shm));
	out_free_alloc(out);
}

/* Under core->progress. */
static void out_remove(struct soft_core *core, const struct soft_out *out)
{
	for (uint32_t i = 0; i < core->nout; i++) {
		if (core->out[i] == out) {
			core->out[i] = core->out[--core->nout];
			break;
		}
	}
}

/* The process has died. Drops core->out's reference. */
static void out_end(struct soft_core *core, struct soft_out *out)
{
	atomic_store(&out->dead, true);
	soft_lock(&core->progress);
	out_remove(core, out);
	soft_out_died(core, out);
	soft_unlock(&core->progress);
	soft_out_put(out);
}

static void in_end(struct soft_core *core, struct soft_in *in)
{
	in_take_out(core, in);
	in_free(in);
}

/* Takes what came before the death, also after a wakeup that was claimed and not sent. */
static void take_last(struct soft_core *core)
{
	shm_wakeup_reset(core->bell);
	soft_progress_now(core);
}

static void unwatch(int sock, const struct soft_peer *peer)
{
	softverbs_unwatch(sock);
	if (peer->pidfd >= 0)
		softverbs_unwatch(peer->pidfd);
}

static void on_out_death(void *arg)
{
	struct soft_out *out = arg;

	unwatch(out->sock, &out->peer);
	if (atomic_load(&out->dead))
		return;
	take_last(soft_core);
	if (out->back)
		in_end(soft_core, out->back);
	out_end(soft_core, out);
}

/* If a watch fails, requests without an answer still reveal a death. */
static void watch_for_death(struct soft_out *out)
{
	softverbs_watch(out->sock, on_out_death, out);
	if (out->peer.pidfd >= 0)
		softverbs_watch(out->peer.pidfd, on_out_death, out);
}

static void on_late_answer(void *arg)
{
	struct soft_out *out = arg;

	if (out_answer(soft_core, out) != 0) {
		on_out_death(out);
		return;
	}
	softverbs_unwatch(out->sock);
	watch_for_death(out);
	soft_lock(&soft_core->progress);
	soft_out_answered(soft_core, out);
	soft_unlock(&soft_core->progress);
}

static int out_insert(struct soft_core *core, struct soft_out *out)
{
	int err;

	soft_lock(&core->progress);
	err = core->nout == SOFT_MAX_PIPES ? ENOMEM : 0;
	if (!err)
		core->out[core->nout++] = out;
	soft_unlock(&core->progress);
	return err;
}

/* Watches the socket for the answer or a death. */
static int out_watch(struct soft_core *core, struct soft_out *out)
{
	int err;

	if (out->answered) {
		watch_for_death(out);
		return 0;
	}
	err = softverbs_watch(out->sock, on_late_answer, out);
	if (err) {
		soft_lock(&core->progress);
		out_remove(core, out);
		soft_unlock(&core->progress);
	}
	return err;
}

static void out_forget(struct soft_core *core, struct soft_out *out)
{
	if (out->back)
		in_end(core, out->back);
	if (!out->answered || soft_peer_unmap(&out->peer))
		close(out->sock);
	munmap(out->shm, sizeof(*out->shm));
}

static int out_make(struct soft_core *core, struct soft_out *out, int limit_ms)
{
	int err = slot_connect(out->slot, &out->sock);

	if (err)
		return err;
	err = out_hello(core, out);
	if (err) {
		close(out->sock);
		return err;
	}
	err = out_await(core, out, limit_ms);
	if (!err)
		err = out_insert(core, out);
	if (!err)
		err = out_watch(core, out);
	if (err)
		out_forget(core, out);
	return err;
}

static int out_new(struct soft_core *core, uint32_t slot, int limit_ms, struct soft_out **made)
{
	struct soft_out *out = out_alloc(slot);
	int err;

	if (!out)
		return ENOMEM;
	atomic_store(&core->connecting, slot);
	err = out_make(core, out, limit_ms);
	atomic_store(&core->connecting, 0);
	if (err)
		out_free_alloc(out);
	else
		*made = out;
	return err;
}

/* Returns whether the pipe's process owns this number. */
static bool leads_to(const struct soft_out *out, uint32_t qpn)
{
	return out->answered ? shm_qpn_index(out->peer.seg, qpn) >= 0 : out->slot == qpn >> SHM_SLOT_BITS;
}

static struct soft_out *out_find(struct soft_core *core, uint32_t qpn)
{
	struct soft_out *found = NULL;

	soft_lock(&core->progress);
	for (uint32_t i = 0; i < core->nout && !found; i++)
		if (leads_to(core->out[i], qpn))
			found = core->out[i];
	if (found)
		atomic_fetch_add(&found->refs, 1);
	soft_unlock(&core->progress);
	return found;
}

int soft_out_get(struct soft_core *core, uint32_t qpn, int limit_ms, struct soft_out **out)
{
	int err = 0;

	pthread_mutex_lock(&connect_lock);
	*out = out_find(core, qpn);
	if (!*out)
		err = out_new(core, qpn >> SHM_SLOT_BITS, limit_ms, out);
	pthread_mutex_unlock(&connect_lock);
	/* Without a process, or an answer: requests find that out, as on a network. */
	return soft_is_shortage(err) || soft_is_remote_shortage(err) ? err : 0;
}

void soft_out_forked(void)
{
	pthread_mutex_init(&connect_lock, NULL);
}

/* Incoming pipes: requesters send a hello to the socket of one of this process's slots. */

static void on_in_death(void *arg)
{
	struct soft_in *in = arg;
	struct soft_out *back = in->back;

	unwatch(in->sock, &in->peer);
	take_last(soft_core);
	in_end(soft_core, in);
	if (back)
		out_end(soft_core, back);
}

/* Takes over the descriptors. */
static int in_map(struct soft_in *in, const int *fds)
{
	int err = map_pipe(in, fds[SOFT_WELCOME_FDS]);

	if (err) {
		soft_close_all(fds, SOFT_WELCOME_FDS);
		return err;
	}
	return soft_peer_map(&in->peer, in->peer.pid, fds);
}

static int in_watch(struct soft_in *in)
{
	int err = in->peer.pidfd < 0 ? 0 : softverbs_watch(in->peer.pidfd, on_in_death, in);

	if (!err)
		softverbs_watch_on(in->sock, on_in_death, in);
	return err;
}

static bool owns_slot(const struct soft_peer *peer, uint32_t slot)
{
	return shm_qpn_index(peer->seg, slot << SHM_SLOT_BITS) >= 0;
}

/* Returns whether there is, or is being made, a pipe to the peer. Two do no harm. */
static bool has_out(struct soft_core *core, const struct soft_peer *peer)
{
	bool has = peer->pid == getpid() || owns_slot(peer, atomic_load(&core->connecting));

	soft_lock(&core->progress);
	for (uint32_t i = 0; i < core->nout && !has; i++)
		has = owns_slot(peer, core->out[i]->slot);
	soft_unlock(&core->progress);
	return has;
}

/* Makes the pipe back, before the peer knows it. Returns NULL if there is one, or on a shortage. */
static struct soft_out *back_out(struct soft_core *core, struct soft_in *in, int *pipe_fd)
{
	struct soft_out *out = has_out(core, &in->peer) ? NULL : out_alloc(in->peer.seg->slot[0]);

	if (!out)
		return NULL;
	*pipe_fd = pipe_memory(out);
	if (*pipe_fd < 0)
		goto err_free;
	if (!soft_peer_share(&in->peer, &out->peer))
		goto err_unmap;
	out->sock = in->sock;
	out->can_vm = in->can_vm;
	out->peer_can_vm = in->can_vm; /* until a request is refused for it */
	out->has_proc = soft_proc_is_own();
	out->answered = true;
	atomic_store(&out->refs, 1); /* core->out[] */
	if (out_insert(core, out) == 0)
		return out;
	soft_peer_unmap(&out->peer);

err_unmap:
	munmap(out->shm, sizeof(*out->shm));
	close(*pipe_fd);
err_free:
	out_free_alloc(out);
	return NULL;
}

static int in_welcome(struct soft_core *core, struct soft_in *in)
{
	int own[SOFT_HELLO_FDS] = { core->seg_fd, core->bell_fd, core->wakeup_fd, -1 }, err;
	struct soft_out *back = back_out(core, in, &own[SOFT_WELCOME_FDS]);
	struct soft_hello welcome = soft_hello();

	welcome.can_vm = in->can_vm;
	welcome.pipes = back != NULL;
	err = soft_hello_send(in->sock, &welcome, own, SOFT_WELCOME_FDS + welcome.pipes);
	if (!back)
		return err;
	close(own[SOFT_WELCOME_FDS]);
	if (err)
		out_end(core, back);
	else
		in->back = back;
	return err;
}

static int in_setup(struct soft_core *core, struct soft_in *in, const int *fds, const struct soft_hello *hello)
{
	int err = in_map(in, fds);

	if (err)
		return err;
	in->can_vm = soft_peer_probe_vm(in->peer.pid, hello->probe);
	err = in_watch(in);
	if (err)
		return err;
	err = in_insert(core, in);
	if (err)
		goto err_unwatch;
	err = in_welcome(core, in);
	if (!err)
		return 0;
	in_take_out(core, in);
err_unwatch:
	if (in->peer.pidfd >= 0)
		softverbs_unwatch(in->peer.pidfd);
	return err;
}

static void on_hello(void *arg)
{
	struct soft_in *in = arg;
	struct soft_hello hello;
	int fds[SOFT_HELLO_FDS], err;

	err = soft_hello_recv(in->sock, &hello, fds, SOFT_HELLO_FDS);
	if (!err)
		err = in_setup(soft_core, in, fds, &hello);
	if (!err)
		return;
	softverbs_unwatch(in->sock);
	if (soft_is_shortage(err))
		soft_hello_refuse(in->sock, err);
	in_free(in);
}

void soft_pipe_accept(void *arg)
{
	int sock = softverbs_accept((int)(intptr_t)arg, soft_hello_refuse), err;
	struct soft_in *in;

	if (sock < 0)
		return;
	in = calloc(1, sizeof(*in));
	err = in ? 0 : ENOMEM;
	if (err)
		goto err_close;
	in->sock = sock;
	if (!softverbs_same_user(sock, &in->peer.pid))
		goto err_close;
	err = softverbs_watch(sock, on_hello, in);
	if (!err)
		return;

err_close:
	if (soft_is_shortage(err))
		soft_hello_refuse(sock, err);
	free(in);
	close(sock);
}
