// SPDX-License-Identifier: BSD-2-Clause
/*
 * How fast is softverbs, as ratios to what plain shared memory and system calls give in the same
 * run? Two processes on two cores; the first one measures. Prints one line per figure; status 1 if
 * a bound is missed.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 200000,
	WINDOW = 64u << 20, /* bytes of shared memory each */
	PRIVATE = 16 << 20,
	DEPTH = 256,
	WR_BATCH = 64,
};

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *shared_mr, *private_mr;
	uint8_t *shared, *private;
	int sock;
};

struct info {
	uint32_t qpn, shared_key, private_key;
	uint64_t shared, private;
	pid_t pid;
};

static struct info peer;
static bool missed;

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void verdict(const char *what, double value, const char *unit, double bound, bool at_most)
{
	bool ok = at_most ? value <= bound : value >= bound;

	printf("%-44s %9.2f %-6s (%s %.2f) %s\n", what, value, unit, at_most ? "at most" : "at least", bound,
	       ok ? "ok" : "MISSED");
	missed |= !ok;
}

static void pin(int core)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)core, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void open_side(struct side *s, int fd)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	unsigned int all =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 64 },
		.qp_type = IBV_QPT_RC,
	};

	must(list && list[0], "no device");
	s->ctx = ibv_open_device(list[0]);
	must(s->ctx != NULL, "open");
	ibv_free_device_list(list);
	s->pd = ibv_alloc_pd(s->ctx);
	s->cq = ibv_create_cq(s->ctx, DEPTH, NULL, NULL, 0);
	must(s->pd && s->cq, "pd, cq");
	s->shared = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(s->shared != MAP_FAILED, "mmap");
	s->private = aligned_alloc(4096, PRIVATE);
	memset(s->private, 1, PRIVATE);
	memset(s->shared, 0, WINDOW);
	s->shared_mr = ibv_reg_mr(s->pd, s->shared, WINDOW, all);
	s->private_mr = ibv_reg_mr(s->pd, s->private, PRIVATE, all);
	must(s->shared_mr && s->private_mr, "reg_mr");
	init.send_cq = init.recv_cq = s->cq;
	s->qp = ibv_create_qp(s->pd, &init);
	must(s->qp != NULL, "create_qp");
}

static void barrier(struct side *s)
{
	char c = 0;

	must(write(s->sock, &c, 1) == 1 && read(s->sock, &c, 1) == 1, "barrier");
}

static void connect_side(struct side *s)
{
	struct info mine = { .qpn = s->qp->qp_num,
		                 .shared_key = s->shared_mr->rkey,
		                 .private_key = s->private_mr->rkey,
		                 .shared = (uintptr_t)s->shared,
		                 .private = (uintptr_t)s->private,
		                 .pid = getpid() };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
		                        .port_num = 1,
		                        .qp_access_flags =
		                            IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };

	must(write(s->sock, &mine, sizeof(mine)) == sizeof(mine), "send info");
	must(read(s->sock, &peer, sizeof(peer)) == sizeof(peer), "receive info");
	must(ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
	     "init");
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = peer.qpn;
	attr.max_dest_rd_atomic = 16;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.dlid = 1;
	must(ibv_modify_qp(s->qp, &attr,
	                   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	                       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
	     "rtr");
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = attr.rnr_retry = 7;
	attr.max_rd_atomic = 16;
	must(ibv_modify_qp(s->qp, &attr,
	                   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	                       IBV_QP_MAX_QP_RD_ATOMIC) == 0,
	     "rts");
	barrier(s);
}

static void drain(struct side *s, int n)
{
	struct ibv_wc wc[16];

	while (n > 0) {
		int got = ibv_poll_cq(s->cq, 16, wc);

		must(got >= 0, "poll");
		for (int i = 0; i < got; i++)
			must(wc[i].status == IBV_WC_SUCCESS, ibv_wc_status_str(wc[i].status));
		n -= got;
	}
}

static void post(struct side *s, enum ibv_wr_opcode op, void *local, uint32_t lkey, uint32_t length, uint64_t raddr,
                 uint32_t rkey, unsigned int flags)
{
	struct ibv_sge sge = { .addr = (uintptr_t)local, .length = length, .lkey = lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = op, .send_flags = flags };

	wr.wr.rdma.remote_addr = raddr;
	wr.wr.rdma.rkey = rkey;
	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = raddr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
	}
	must((errno = ibv_post_send(s->qp, &wr, &bad)) == 0, "post");
}

/* ---- ping-pong ---- */

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static double plain_pingpong(struct side *s, bool first, _Atomic uint64_t *mine, _Atomic uint64_t *theirs)
{
	double start;

	barrier(s);
	start = now_ns();
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		if (first)
			atomic_store_explicit(theirs, i, memory_order_release);
		while (atomic_load_explicit(mine, memory_order_acquire) != i)
			relax();
		if (!first)
			atomic_store_explicit(theirs, i, memory_order_release);
	}
	return (now_ns() - start) / (double)ROUNDS / 2;
}

static double write_pingpong(struct side *s, bool first, uint64_t at_mine, uint64_t at_theirs)
{
	_Atomic uint64_t *mine = (_Atomic uint64_t *)(void *)(s->shared + at_mine);
	uint64_t raddr = peer.shared + at_theirs;
	double start;

	barrier(s);
	start = now_ns();
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		unsigned int flags = IBV_SEND_INLINE | (i % WR_BATCH == 0 ? IBV_SEND_SIGNALED : 0);

		if (first)
			post(s, IBV_WR_RDMA_WRITE, &i, 0, 8, raddr, peer.shared_key, flags);
		while (atomic_load_explicit(mine, memory_order_acquire) != i)
			relax();
		if (!first)
			post(s, IBV_WR_RDMA_WRITE, &i, 0, 8, raddr, peer.shared_key, flags);
		if (i % WR_BATCH == 0)
			drain(s, 1);
	}
	return (now_ns() - start) / (double)ROUNDS / 2;
}

/* ---- the first process alone ---- */

static double post_cost(struct side *s, int per_completion)
{
	uint64_t value = 7;
	double start = now_ns();

	for (int i = 1; i <= ROUNDS; i++) {
		bool signalled = i % per_completion == 0;

		post(s, IBV_WR_RDMA_WRITE, &value, 0, 8, peer.shared + 8192, peer.shared_key,
		     IBV_SEND_INLINE | (signalled ? IBV_SEND_SIGNALED : 0));
		if (signalled)
			drain(s, 1);
	}
	return (now_ns() - start) / (double)ROUNDS;
}

static double bandwidth(struct side *s, enum ibv_wr_opcode op, uint8_t *local, uint32_t lkey, uint64_t raddr,
                        uint32_t rkey, uint32_t length, int n)
{
	double start = now_ns();

	for (int i = 0; i < n; i++) {
		post(s, op, local, lkey, length, raddr, rkey, IBV_SEND_SIGNALED);
		drain(s, 1);
	}
	return (double)length * n / (now_ns() - start);
}

static double memcpy_bandwidth(uint8_t *to, const uint8_t *from, size_t length, int n)
{
	double start = now_ns();

	for (int i = 0; i < n; i++) {
		memcpy(to, from, length);
		__asm__ volatile("" ::: "memory");
	}
	return (double)length * n / (now_ns() - start);
}

static double vm_cost(pid_t pid, void *local, uint64_t raddr, size_t length, int n)
{
	struct iovec here = { local, length }, there = { (void *)(uintptr_t)raddr, length };
	double start = now_ns();

	for (int i = 0; i < n; i++)
		must(process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)length, "process_vm_writev");
	return (now_ns() - start) / n;
}

static void measure_copies(struct side *s, uint8_t *peer_memory)
{
	const uint32_t big = 4 << 20;
	double copy, vm;

	memcpy_bandwidth(peer_memory, s->shared, big, 20);
	bandwidth(s, IBV_WR_RDMA_WRITE, s->shared, s->shared_mr->lkey, peer.shared, peer.shared_key, big, 20);
	copy = memcpy_bandwidth(peer_memory, s->shared, big, 200);
	verdict("4 MiB write, shared, to memcpy",
	        bandwidth(s, IBV_WR_RDMA_WRITE, s->shared, s->shared_mr->lkey, peer.shared, peer.shared_key, big, 200) /
	            copy,
	        "x", 0.9, false);
	copy = memcpy_bandwidth(s->shared, peer_memory, big, 200);
	verdict("4 MiB read, shared, to memcpy",
	        bandwidth(s, IBV_WR_RDMA_READ, s->shared, s->shared_mr->lkey, peer.shared, peer.shared_key, big, 200) /
	            copy,
	        "x", 0.9, false);
	vm = big / vm_cost(peer.pid, s->private, peer.private, big, 100);
	verdict("4 MiB write, private, to process_vm_writev",
	        bandwidth(s, IBV_WR_RDMA_WRITE, s->private, s->private_mr->lkey, peer.private, peer.private_key, big, 100) /
	            vm,
	        "x", 0.9, false);
}

static void measure_atomics(struct side *s, uint8_t *peer_memory, double post_ns)
{
	uint64_t *word = (uint64_t *)(void *)(peer_memory + 16384);
	double start = now_ns(), bare, ours;

	for (int i = 0; i < ROUNDS; i++)
		__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
	bare = (now_ns() - start) / (double)ROUNDS;
	start = now_ns();
	for (int i = 0; i < ROUNDS; i++) {
		post(s, IBV_WR_ATOMIC_FETCH_AND_ADD, s->shared + 4096, s->shared_mr->lkey, 8, peer.shared + 16384,
		     peer.shared_key, IBV_SEND_SIGNALED);
		drain(s, 1);
	}
	ours = (now_ns() - start) / (double)ROUNDS;
	printf("%-44s %9.2f ns\n", "bare atomic", bare);
	verdict("fetch-and-add", ours, "ns", 2 * bare + post_ns, true);
}

/* A write that only the target's ibv_poll_cq or a system call can place. */
static void measure_small_private(struct side *s)
{
	double vm = vm_cost(peer.pid, s->private, peer.private + 4096, 64, 20000), start, ours;

	barrier(s);
	start = now_ns();
	for (int i = 0; i < 20000; i++) {
		post(s, IBV_WR_RDMA_WRITE, s->private, s->private_mr->lkey, 64, peer.private + 4096, peer.private_key,
		     IBV_SEND_SIGNALED);
		drain(s, 1);
	}
	ours = (now_ns() - start) / 20000;
	printf("%-44s %9.2f ns\n", "process_vm_writev of 64 bytes", vm);
	verdict("64-byte write, private, target polls", ours / vm, "x", 1.0, true);
	post(s, IBV_WR_RDMA_WRITE, s->shared, s->shared_mr->lkey, 8, peer.shared + 32768, peer.shared_key,
	     IBV_SEND_SIGNALED);
	drain(s, 1);
}

static void poll_until_told(struct side *s)
{
	_Atomic uint64_t *stop = (_Atomic uint64_t *)(void *)(s->shared + 32768);
	struct ibv_wc wc;

	barrier(s);
	while (atomic_load_explicit(stop, memory_order_acquire) == 0)
		must(ibv_poll_cq(s->cq, 1, &wc) == 0, "poll");
}

static void run(struct side *s, bool first, uint8_t *peer_memory)
{
	_Atomic uint64_t *mine = (_Atomic uint64_t *)(void *)(s->shared + (first ? 0 : 256));
	_Atomic uint64_t *theirs = (_Atomic uint64_t *)(void *)(peer_memory + (first ? 256 : 0));
	double plain = plain_pingpong(s, first, mine, theirs), ours, cost;

	ours = write_pingpong(s, first, first ? 1024 : 2048, first ? 2048 : 1024);
	if (!first) {
		poll_until_told(s);
		barrier(s);
		return;
	}
	printf("%-44s %9.2f ns\n", "flag ping-pong, one way", plain);
	verdict("8-byte write ping-pong, to flag ping-pong", ours / plain, "x", 1.6, true);
	cost = post_cost(s, 1);
	verdict("inline write and its completion", cost, "ns", 60, true);
	verdict("8-byte writes, one completion per 64", 1e3 / post_cost(s, WR_BATCH), "M/s", 15, false);
	measure_copies(s, peer_memory);
	measure_atomics(s, peer_memory, cost);
	*(uint64_t *)(void *)s->shared = 1;
	measure_small_private(s);
	barrier(s);
}

int main(void)
{
	int fds[2] = { memfd_create("first", MFD_ALLOW_SEALING), memfd_create("second", MFD_ALLOW_SEALING) }, pair[2],
		status = 0;
	bool first;
	struct side side;
	uint8_t *peer_memory;
	pid_t child;

	must(ftruncate(fds[0], WINDOW) == 0 && ftruncate(fds[1], WINDOW) == 0, "memfd");
	must(fcntl(fds[0], F_ADD_SEALS, F_SEAL_SHRINK) == 0 && fcntl(fds[1], F_ADD_SEALS, F_SEAL_SHRINK) == 0, "seals");
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
	child = fork();
	first = child != 0;
	pin(first ? 0 : 1);
	side.sock = pair[first];
	close(pair[!first]);
	open_side(&side, fds[!first]);
	peer_memory = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, fds[first], 0);
	must(peer_memory != MAP_FAILED, "mmap");
	connect_side(&side);
	run(&side, first, peer_memory);
	if (!first)
		return 0;
	waitpid(child, &status, 0);
	return missed || status ? 1 : 0;
}
