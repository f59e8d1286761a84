// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pipes that come in: requesters say hello on the socket of one of our slots, and are listened to
 * until they die.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "soft/verbs/core.h"
#include "soft/verbs/limits.h"
#include "soft/verbs/lock.h"
#include "soft/verbs/loop.h"
#include "soft/verbs/memory.h"
#include "soft/verbs/peer.h"
#include "soft/verbs/pipe.h"
#include "soft/verbs/pipe_in.h"
#include "soft/verbs/progress.h"
#include "soft/verbs/shm.h"

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

static int in_setup(struct soft_core *core, struct soft_in *in, const int *fds, const struct soft_hello *hello)
{
	int own[SOFT_WELCOME_FDS] = { core->seg_fd, core->bell_fd, core->kick_fd };
	struct soft_hello welcome = soft_hello();
	void *map = MAP_FAILED;

	if (soft_memory_safe(fds[3], sizeof(*in->shm)))
		map = mmap(NULL, sizeof(*in->shm), PROT_READ | PROT_WRITE, MAP_SHARED, fds[3], 0);
	close(fds[3]);
	if (map == MAP_FAILED) {
		soft_close_all(fds, SOFT_WELCOME_FDS);
		return -1;
	}
	in->shm = map;
	if (soft_peer_map(&in->peer, in->peer.pid, fds) != 0)
		goto err_unmap;
	in->can_vm = soft_peer_probe_vm(in->peer.pid, hello->probe);
	welcome.can_vm = in->can_vm;

	soft_lock(&core->progress);
	if (core->nin == SOFT_MAX_PIPES)
		goto err_full;
	core->in[core->nin++] = in;
	soft_unlock(&core->progress);
	if (soft_hello_send(in->sock, &welcome, own, SOFT_WELCOME_FDS) != 0)
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
	soft_peer_unmap(&in->peer);
err_unmap:
	munmap(in->shm, sizeof(*in->shm));
	return -1;
}

/* First message on an accepted socket. */
static void on_hello(void *arg)
{
	struct soft_in *in = arg;
	struct soft_hello hello;
	int fds[SOFT_HELLO_FDS];

	softverbs_unwatch(in->sock);
	if (soft_hello_recv(in->sock, &hello, fds, SOFT_HELLO_FDS) == 0 && in_setup(soft_core, in, fds, &hello) == 0)
		return;
	close(in->sock);
	free(in);
}

void soft_pipe_accept(void *arg)
{
	int sock = accept4((int)(intptr_t)arg, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct soft_in *in;

	if (sock < 0)
		return;
	in = calloc(1, sizeof(*in));
	if (!in)
		goto err_close;
	in->sock = sock;
	if (soft_peer_pid(sock, &in->peer.pid) != 0 || softverbs_watch(sock, on_hello, in) != 0)
		goto err_free;
	return;

err_free:
	free(in);
err_close:
	close(sock);
}
