// SPDX-License-Identifier: BSD-2-Clause
/* Incoming pipes: requesters send a hello to the socket of one of this process's slots. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "soft/base/limits.h"
#include "soft/base/lock.h"
#include "soft/base/memory.h"
#include "soft/engine/engine.h"
#include "soft/engine/pipes.h"
#include "soft/meet/meet.h"
#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"
#include "soft/peer/reserve_fd.h"
#include "soft/state/core.h"
#include "soft/state/loop.h"
#include "soft/state/shm.h"

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
