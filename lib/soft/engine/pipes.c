// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pipes, both ends. All queue pairs to one process share a pipe, from the first connection to that
 * process's death.
 *
 * DESIGN NOTES
 *
 * The requester connects to the socket of the slot in the peer's queue pair number, and sends a
 * hello with four descriptors: its segment, its bell, its eventfd and the pipe's memory. The
 * responder's engine maps them and answers with its own first three. A pipe carries requests one
 * way, so two processes that connect to each other make two. The socket stays open: its end of
 * file, or the process descriptor, reports a death.
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
#include "soft/rma/reach.h"
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

/* Reads the answer, or the end of file. */
static int out_answer(struct soft_out *out)
{
	int fds[SOFT_WELCOME_FDS], err;
	struct soft_hello welcome;

	err = soft_hello_recv(out->sock, &welcome, fds, SOFT_WELCOME_FDS);
	if (!err)
		err = soft_peer_map(&out->peer, out->peer.pid, fds);
	if (err)
		return err;
	out->self = out->peer.pid == getpid();
	out->peer_can_vm = welcome.can_vm;
	out->has_proc = soft_proc_is_own();
	out->can_vm = soft_peer_probe_vm(out->peer.pid, welcome.probe);
	atomic_store(&out->answered, true);
	return 0;
}

/* Returns 0 also if the answer has not come yet. */
static int out_await(struct soft_out *out, int patience_ms)
{
	struct pollfd wait = { .fd = out->sock, .events = POLLIN };

	return poll(&wait, 1, patience_ms) == 1 ? out_answer(out) : 0;
}

void soft_out_put(struct soft_out *out)
{
	if (atomic_fetch_sub(&out->refs, 1) != 1)
		return;
	soft_reach_forget(out);
	if (out->answered)
		soft_peer_unmap(&out->peer);
	munmap(out->shm, sizeof(*out->shm));
	close(out->sock);
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

static void on_out_death(void *arg)
{
	struct soft_out *out = arg;
	struct soft_core *core = soft_core;

	softverbs_unwatch(out->sock);
	if (out->peer.pidfd >= 0)
		softverbs_unwatch(out->peer.pidfd);
	if (atomic_exchange(&out->dead, true))
		return;
	shm_wakeup_reset(core->bell);
	/* Answers that came before the death count. */
	soft_progress_now(core);
	soft_lock(&core->progress);
	out_remove(core, out);
	soft_out_died(core, out);
	soft_unlock(&core->progress);
	soft_out_put(out);
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

	if (out_answer(out) != 0) {
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

static int out_new(struct soft_core *core, uint32_t slot, int patience_ms, struct soft_out **made)
{
	struct soft_out *out = out_alloc(slot);
	int err;

	if (!out)
		return ENOMEM;
	err = slot_connect(slot, &out->sock);
	if (err)
		goto err_free;
	err = out_hello(core, out);
	if (err)
		goto err_close;
	err = out_await(out, patience_ms);
	if (!err)
		err = out_insert(core, out);
	if (!err)
		err = out_watch(core, out);
	if (err)
		goto err_unmap;
	*made = out;
	return 0;

err_unmap:
	if (out->answered)
		soft_peer_unmap(&out->peer);
	munmap(out->shm, sizeof(*out->shm));
err_close:
	close(out->sock);
err_free:
	out_free_alloc(out);
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

int soft_out_get(struct soft_core *core, uint32_t qpn, int patience_ms, struct soft_out **out)
{
	int err = 0;

	pthread_mutex_lock(&connect_lock);
	*out = out_find(core, qpn);
	if (!*out)
		err = out_new(core, qpn >> SHM_SLOT_BITS, patience_ms, out);
	pthread_mutex_unlock(&connect_lock);
	/* Without a process, or an answer: requests find that out, as on a network. */
	return soft_is_shortage(err) || soft_is_remote_shortage(err) ? err : 0;
}

void soft_out_forked(void)
{
	pthread_mutex_init(&connect_lock, NULL);
}

/* Incoming pipes: requesters send a hello to the socket of one of this process's slots. */

static void in_free(struct soft_in *in)
{
	soft_peer_unmap(&in->peer);
	munmap(in->shm, sizeof(*in->shm));
	close(in->sock);
	free(in);
}

static void in_remove(struct soft_core *core, struct soft_in *in)
{
	softverbs_unwatch(in->sock);
	if (in->peer.pidfd >= 0)
		softverbs_unwatch(in->peer.pidfd);
	/* It may have claimed a wakeup without sending it. */
	shm_wakeup_reset(core->bell);
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

/* Takes over the descriptors. */
static int in_map(struct soft_in *in, const int *fds)
{
	void *map = MAP_FAILED;
	int err = EPROTO;

	if (soft_memory_safe(fds[3], sizeof(*in->shm))) {
		map = mmap(NULL, sizeof(*in->shm), PROT_READ | PROT_WRITE, MAP_SHARED, fds[3], 0);
		err = errno;
	}
	close(fds[3]);
	if (map == MAP_FAILED) {
		soft_close_all(fds, SOFT_WELCOME_FDS);
		return err;
	}
	in->shm = map;
	err = soft_peer_map(&in->peer, in->peer.pid, fds);
	if (err)
		munmap(in->shm, sizeof(*in->shm));
	return err;
}

static int in_watch(struct soft_in *in)
{
	int err = in->peer.pidfd < 0 ? 0 : softverbs_watch(in->peer.pidfd, on_in_death, in);

	if (!err)
		softverbs_watch_on(in->sock, on_in_death, in);
	return err;
}

static int in_welcome(struct soft_core *core, const struct soft_in *in)
{
	int own[SOFT_WELCOME_FDS] = { core->seg_fd, core->bell_fd, core->wakeup_fd };
	struct soft_hello welcome = soft_hello();

	welcome.can_vm = in->can_vm;
	return soft_hello_send(in->sock, &welcome, own, SOFT_WELCOME_FDS);
}

static int in_setup(struct soft_core *core, struct soft_in *in, const int *fds, const struct soft_hello *hello)
{
	int err = in_map(in, fds);

	if (err)
		return err;
	in->can_vm = soft_peer_probe_vm(in->peer.pid, hello->probe);
	err = in_watch(in);
	if (err)
		goto err_unmap;
	soft_lock(&core->progress);
	err = core->nin == SOFT_MAX_PIPES ? ENOMEM : 0;
	if (!err)
		core->in[core->nin++] = in;
	soft_unlock(&core->progress);
	if (err)
		goto err_unwatch;
	err = in_welcome(core, in);
	if (!err)
		return 0;
	/* Only this thread adds and removes pipes. */
	soft_lock(&core->progress);
	core->nin--;
	soft_unlock(&core->progress);
err_unwatch:
	if (in->peer.pidfd >= 0)
		softverbs_unwatch(in->peer.pidfd);
err_unmap:
	soft_peer_unmap(&in->peer);
	munmap(in->shm, sizeof(*in->shm));
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
	close(in->sock);
	free(in);
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
