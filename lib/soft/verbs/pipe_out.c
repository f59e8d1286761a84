// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pipes that go out: made when a queue pair is connected, shared by all queue pairs to one process,
 * gone when that process dies.
 *
 * DESIGN NOTES The requester connects to the socket of the slot that the peer's queue pair
 * number names, and sends a hello with four descriptors: its segment, its bell, its eventfd and the
 * pipe's memory. The responder's engine maps them and answers with its own first three. Pipes are
 * one-way (requests), so two processes that turn to each other at the same moment simply make two.
 * The socket stays open: its end of file, or the process descriptor, tells of a death.
 *
 * A living process may take any time to answer: it is stopped, or its engine gets no processor among
 * so many threads. No length of time tells that from a death, and none has to, since the kernel tells
 * of deaths. So whoever connects waits for a moment only, which nearly always does, and lets him hear
 * at once what either side is short of; then it goes on with a pipe that is not answered. Queue pairs
 * await it (qp->awaited), their gates closed and their requests in the send queue, until this process's
 * engine has the answer, or the socket's end, which is that of the peer's.
 *
 *   not answered   core->out[] has it, so that it is asked for once; out->peer is unknown
 *   answered       everything is known; queue pairs that awaited it go on (peer_events.c)
 *   dead           as after a death; also where the answer is none
 *
 * A queue pair that begins to await a pipe just when it is answered, or dies, misses neither: the
 * engine sets `answered` or `dead` and then looks at the queue pair, which looks at those, both under
 * qp->lock.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "soft/meet/names.h"
#include "soft/meet/user.h"
#include "soft/verbs/copy.h"
#include "soft/verbs/core.h"
#include "soft/verbs/limits.h"
#include "soft/verbs/list.h"
#include "soft/verbs/lock.h"
#include "soft/verbs/loop.h"
#include "soft/verbs/memory.h"
#include "soft/verbs/peer.h"
#include "soft/verbs/peer_events.h"
#include "soft/verbs/pipe.h"
#include "soft/verbs/pipe_out.h"
#include "soft/verbs/progress.h"
#include "soft/verbs/reach.h"
#include "soft/verbs/reserve_fd.h"
#include "soft/verbs/shm.h"

enum {
	CONNECT_S = 10,
};

static pthread_mutex_t connect_lock = PTHREAD_MUTEX_INITIALIZER;

/* A stranger who has the name may let everybody wait. */
static void limit_connecting(int sock)
{
	const struct timeval limit = { .tv_sec = CONNECT_S };

	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

/* 0 or an errno value; ECONNREFUSED or ESTALE if no process of this user owns the slot. */
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

/* 0 or an errno value. */
static int say_hello(struct soft_core *core, const struct soft_out *out, int pipe_fd)
{
	int own[SOFT_HELLO_FDS] = { core->seg_fd, core->bell_fd, core->wakeup_fd, pipe_fd };
	struct soft_hello hello = soft_hello();
	int err = soft_hello_send(out->sock, &hello, own, SOFT_HELLO_FDS);

	/* It may have refused before this side said anything: why is there to be read. */
	return err == EPIPE || err == ECONNRESET ? 0 : err;
}

/* On success the pipe's memory is there, and the peer is told of it. 0 or an errno value. */
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

/* The answer has come, or the socket's end; on success the peer's memory is mapped. 0 or an errno value. */
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

/* Wait for the answer, but not long. 0, also if it has not come yet, or an errno value. */
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

/* Nobody finds it any more; core->progress is held. */
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
	/* What it answered before it died counts. */
	soft_progress_now(core);
	soft_lock(&core->progress);
	out_remove(core, out);
	soft_out_died(core, out);
	soft_unlock(&core->progress);
	soft_out_put(out);
}

/* Without these a death is still noticed by requests that are not answered. */
static void watch_for_death(struct soft_out *out)
{
	softverbs_watch(out->sock, on_out_death, out);
	if (out->peer.pidfd >= 0)
		softverbs_watch(out->peer.pidfd, on_out_death, out);
}

/* Later than it was waited for. */
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

/* Everybody may use it. 0 or ENOMEM. */
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

/* What is to come of its socket. 0 or an errno value. */
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

/* 0 or an errno value. */
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

/* The process that owns this number is at its other end. */
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
	/* Nobody there, or nobody who answers: as on a network, only requests will find out. */
	return soft_is_shortage(err) || soft_is_remote_shortage(err) ? err : 0;
}

void soft_out_forked(void)
{
	pthread_mutex_init(&connect_lock, NULL);
}
