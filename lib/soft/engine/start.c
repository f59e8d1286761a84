// SPDX-License-Identifier: BSD-2-Clause
/*
 * Creation of the process's state: segment, bell, and blocks of queue pair numbers.
 *
 * DESIGN NOTES
 *
 * A queue pair number has to lead a peer to its process without a daemon. So processes own blocks
 * of 4096 numbers ("slots"), and the owner of a slot listens on the abstract socket named by its
 * number: the kernel assigns the name once and releases it when the process dies. If all of these
 * names are taken, the socket is a file in a directory of the user, for which a few slots are
 * reserved.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "soft/base/base.h"
#include "soft/base/memory.h"
#include "soft/engine/engine.h"
#include "soft/extension.h"
#include "soft/meet/meet.h"
#include "soft/mem/mr.h"
#include "soft/peer/peer.h"
#include "soft/queue/cq.h"
#include "soft/queue/srq.h"
#include "soft/request/datagram.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

enum {
	TABLE_DESCRIPTORS = 4096, /* 32 KiB of kernel memory */
};

static pthread_mutex_t core_lock = PTHREAD_MUTEX_INITIALIZER;
static bool core_is_the_parents; /* under core_lock */

typedef int bind_fn(int sock, struct softverbs_name name);

/* Binds the first free slot of a range, from a random one on. */
static int slot_bind(int sock, bind_fn *bind_name, uint32_t from, uint32_t until, uint32_t *slot)
{
	uint32_t first = soft_random() % (until - from);
	int err = EADDRINUSE;

	for (uint32_t i = 0; i < until - from && err == EADDRINUSE; i++) {
		*slot = from + (first + i) % (until - from);
		err = bind_name(sock, (struct softverbs_name){ "qp", *slot, "" });
	}
	return err;
}

/* Slot 0 has the reserved numbers 0 and 1. Returns a socket, or -1 with errno. */
static int slot_listen(uint32_t *slot)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	if (sock < 0)
		return -1;
	err = slot_bind(sock, softverbs_bind, SOFT_FILE_SLOTS, SHM_SLOT_NUMBERS, slot);
	if (err == EADDRINUSE)
		err = slot_bind(sock, softverbs_bind_file, 1, SOFT_FILE_SLOTS, slot);
	if (!err && listen(sock, SOMAXCONN) != 0)
		err = errno;
	if (!err)
		return sock;
	close(sock);
	errno = err == ENOENT ? EADDRINUSE : err;
	return -1;
}

int soft_slot_take(struct soft_core *core)
{
	uint32_t n = atomic_load(&core->seg->slots);
	int sock, err;

	if (n == SHM_SLOTS)
		return ENOMEM;
	sock = slot_listen(&core->seg->slot[n]);
	if (sock < 0)
		return errno;
	err = softverbs_watch(sock, soft_pipe_accept, (void *)(intptr_t)sock);
	if (err) {
		close(sock);
		return err;
	}
	core->slot_sock[n] = sock;
	shm_slots_store(core->seg, n + 1);
	return 0;
}

static void drop_slots(struct soft_core *core)
{
	for (uint32_t i = 0; i < atomic_load(&core->seg->slots); i++) {
		softverbs_unwatch(core->slot_sock[i]);
		close(core->slot_sock[i]);
	}
}

/* For Yama's restricted mode: any process of this user may be a peer. */
static void allow_peers(void)
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

static void segment_init(struct soft_core *core)
{
	core->no_membarrier = !soft_barrier_register();
	core->seg->key_mask = soft_random() & (SHM_MRS - 1);
	core->seg->no_membarrier = core->no_membarrier;
	core->seg->abi = SHM_ABI;
	core->seg->attention = SHM_WAKEUP;
	core->seg->magic = SHM_MAGIC;
}

/*
 * Enlarges the table of descriptors, by a descriptor with a high number. In a process with threads
 * the kernel waits for an RCU grace period before it doubles a full table: milliseconds, or half a
 * minute on an oversubscribed machine. So the table grows when the library is loaded, and in a
 * child.
 */
static void grow_descriptor_table(int any_fd)
{
	struct rlimit limit;
	int last = TABLE_DESCRIPTORS - 1, fd;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < TABLE_DESCRIPTORS)
		last = (int)limit.rlim_cur - 1;
	fd = fcntl(any_fd, F_DUPFD_CLOEXEC, last);
	if (fd >= 0)
		close(fd);
}

__attribute__((constructor)) static void grow_early(void)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	if (fd < 0)
		return;
	grow_descriptor_table(fd);
	close(fd);
}

/* The step that failed; under core_lock. */
static const char *failed_step;

SOFT_EXPORT const char *softverbs_failed_step(void)
{
	return failed_step;
}

/* Returns err; stores the step if it is an error. */
static int in_step(const char *step, int err)
{
	if (err)
		failed_step = step;
	return err;
}

static struct soft_core *core_new(void)
{
	struct soft_core *core = calloc(1, sizeof(*core));

	failed_step = "its tables";
	if (!core)
		return NULL;
	pthread_mutex_init(&core->table_lock, NULL);
	soft_list_init(&core->timers);
	core->mr_free = mmap(NULL, SHM_MRS * sizeof(*core->mr_free), PROT_READ | PROT_WRITE,
	                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (core->mr_free == MAP_FAILED)
		goto err_free;
	failed_step = "an event descriptor (eventfd)";
	core->wakeup_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (core->wakeup_fd < 0)
		goto err_unmap_free;
	failed_step = "shared memory (memfd_create)";
	core->seg = soft_memory_new("softverbs-segment", sizeof(*core->seg), offsetof(struct shm_segment, qp),
	                            SOFT_MEMORY_OWNER_WRITES, &core->seg_fd);
	if (!core->seg)
		goto err_wakeup;
	core->bell = soft_memory_new("softverbs-bell", sizeof(*core->bell), sizeof(*core->bell), SOFT_MEMORY_PEERS_WRITE,
	                             &core->bell_fd);
	if (!core->bell)
		goto err_segment;
	grow_descriptor_table(core->wakeup_fd);
	segment_init(core);
	allow_peers();
	return core;

err_segment:
	munmap(core->seg, sizeof(*core->seg));
	close(core->seg_fd);
err_wakeup:
	close(core->wakeup_fd);
err_unmap_free:
	munmap(core->mr_free, SHM_MRS * sizeof(*core->mr_free));
err_free:
	free(core);
	return NULL;
}

static void core_free(struct soft_core *core)
{
	munmap(core->bell, sizeof(*core->bell));
	close(core->bell_fd);
	munmap(core->seg, sizeof(*core->seg));
	close(core->seg_fd);
	close(core->wakeup_fd);
	munmap(core->mr_free, SHM_MRS * sizeof(*core->mr_free));
	pthread_mutex_destroy(&core->table_lock);
	free(core);
}

/* Starts the engine last, since its work cannot be undone. */
static int core_start(struct soft_core *core)
{
	int err = in_step("an event loop (epoll)", soft_loop_open());

	if (err)
		return err;
	err = in_step("an event descriptor (eventfd)", soft_reserve_fd_open());
	if (err)
		goto err_loop;
	err = in_step("the name of a Unix socket", soft_slot_take(core));
	if (err)
		goto err_reserve_fd;
	err = in_step(SOFTVERBS_THREAD, soft_engine_start(core));
	if (!err)
		return 0;
	drop_slots(core);
err_reserve_fd:
	soft_reserve_fd_close();
err_loop:
	soft_loop_close();
	return err;
}

/* Returns NULL with errno on failure. Under core_lock. */
static struct soft_core *core_make(void)
{
	struct soft_core *core = core_new();
	int err;

	if (!core)
		return NULL;
	/* The engine finds the core by its global name. */
	soft_core = core;
	err = core_start(core);
	if (!err) {
		failed_step = NULL;
		return core;
	}
	soft_core = NULL;
	core_free(core);
	errno = err;
	return NULL;
}

struct soft_core *soft_core_get(void)
{
	struct soft_core *core;

	pthread_mutex_lock(&core_lock);
	core = core_is_the_parents ? NULL : soft_core;
	if (!core) {
		core_is_the_parents = false;
		core = core_make();
	}
	pthread_mutex_unlock(&core_lock);
	return core;
}

void soft_core_hold(void)
{
	pthread_mutex_lock(&core_lock);
}

void soft_core_let_go(void)
{
	pthread_mutex_unlock(&core_lock);
}

/* Makes shared memory the child's own at the same address, or unmaps it if there is no memory. */
static void part_from(void *shared, size_t size, int fd)
{
	if (mmap(shared, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) == MAP_FAILED)
		munmap(shared, size);
	close(fd);
}

static const struct soft_lock free_lock;

/* Destroying a queue pair then waits for no peer. No thread holds a lock. */
static void forget_peers(struct soft_core *core)
{
	for (uint32_t i = 0; i < core->qp_top; i++) {
		struct soft_qp *qp = core->qp[i];

		if (!qp)
			continue;
		qp->lock = free_lock;
		soft_cq(qp->ex.qp_base.send_cq)->lock = soft_cq(qp->ex.qp_base.recv_cq)->lock = free_lock;
		if (qp->ex.qp_base.srq)
			soft_srq(qp->ex.qp_base.srq)->lock = free_lock;
		qp->out = qp->awaited = NULL;
		qp->peer = NULL;
		if (qp->routes)
			soft_datagram_forked(qp);
		soft_list_init(&qp->waiting);
		soft_list_init(&qp->timer);
	}
	soft_list_init(&core->timers);
}

/* The state stays, for children that destroy inherited objects. */
void soft_core_forked(void)
{
	struct soft_core *core = soft_core;

	if (!core || core_is_the_parents)
		return;
	core_is_the_parents = true;
	part_from(core->seg, sizeof(*core->seg), core->seg_fd);
	part_from(core->bell, sizeof(*core->bell), core->bell_fd);
	core->wakeup_fd = -1;
	core->progress = core->timer_lock = free_lock;
	pthread_mutex_init(&core->table_lock, NULL);
	forget_peers(core);
}

/*
 * A child made by fork starts anew.
 *
 * DESIGN NOTES
 *
 * A child has no engine thread, and the shared memory belongs to the parent. It closes the sockets,
 * whose end reports the parent's death to peers; its first ibv_open_device makes a new state. Data
 * and locks that other threads were changing may be inconsistent in the child. fork holds the locks
 * of the two tables that the child uses; the child makes all others anew.
 *
 * Objects made before the fork are the parent's. A child may destroy them, as libraries do at exit,
 * but not use them.
 */

/* In this order: soft_core_get watches descriptors. The child's thread holds both, too. */
static void before(void)
{
	soft_core_hold();
	soft_loop_hold();
}

static void let_go(void)
{
	soft_loop_let_go();
	soft_core_let_go();
}

static void in_child(void)
{
	soft_loop_forked();
	soft_core_forked();
	let_go();
	soft_reserve_fd_forked();
	soft_out_forked();
	soft_peer_forked();
	soft_backing_forked();
	soft_procmap_forked();
	soft_random_forked();
}

/* At load time, before any fork. Without memory, a child's calls fail. */
__attribute__((constructor)) static void register_handlers(void)
{
	pthread_atfork(before, let_go, in_child);
}
