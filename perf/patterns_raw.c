/*
 * patterns_raw.c - the same messages as Oriel's, on bare verbs in the least code: the floor it is measured against
 *
 * One RC queue pair made with rdma_cm's synchronous calls; rank 0 listens at ORIEL_ADDR (oriel-run --addr). No checks, no errors told but
 * that something failed, no other rank, no thread.
 */
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "patterns.h"

#define PORT "18555"
#define DEPTH 256
#define INLINE_MAX 220
#define CONNECT_TRIES 500

/* Behind the data: words that the other side writes. */
struct words {
	uint64_t posted;
	uint64_t completed;
	uint64_t fence[2];
};

struct side {
	uint64_t addr;
	uint32_t rkey;
};

static struct rdma_cm_id *id;
static struct ibv_mr *mr;
static uint8_t *base;
static struct words *words;
static struct side peer;
static uint64_t unsignalled, posts, completes, fences, awaited_posts, awaited_completes;

const char implementation[] = "raw";

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static void wait_word(const uint64_t *word, uint64_t value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
		__builtin_ia32_pause();
}

static int poll_one(void)
{
	struct ibv_wc wc;
	int count;

	do {
		count = ibv_poll_cq(id->send_cq, 1, &wc);
	} while (count == 0);
	return count < 0 || wc.status != IBV_WC_SUCCESS ? fail("completion") : 0;
}

static struct ibv_send_wr request(enum ibv_wr_opcode opcode, struct ibv_sge *sge, const void *from, size_t size_bytes,
                                  uint64_t to)
{
	*sge = (struct ibv_sge){ (uint64_t)(uintptr_t)from, (uint32_t)size_bytes, mr->lkey };
	return (struct ibv_send_wr){
		.sg_list = sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = opcode == IBV_WR_RDMA_WRITE && size_bytes <= INLINE_MAX ? IBV_SEND_INLINE : 0,
		.wr.rdma = { to, peer.rkey },
	};
}

/* Post a list; its last request is signalled, and waited for, when `wait` is set or a quarter of the queue is unsignalled. */
static int post(struct ibv_send_wr *first, struct ibv_send_wr *last, int wait)
{
	struct ibv_send_wr *bad;

	unsignalled += first == last ? 1 : 2;
	wait |= unsignalled >= DEPTH / 4;
	if (wait)
		last->send_flags |= IBV_SEND_SIGNALED;
	if (ibv_post_send(id->qp, first, &bad))
		return fail("ibv_post_send");
	if (!wait)
		return 0;
	unsignalled = 0;
	return poll_one();
}

static uint64_t word_at(size_t offset)
{
	return peer.addr + SIZE_MAX_BYTES + offset;
}

static int write_word(size_t offset, uint64_t value)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &value, sizeof(value), word_at(offset));

	return post(&wr, &wr, 0);
}

static int epoch_origin(size_t size_bytes)
{
	uint64_t value = ++completes;
	struct ibv_sge sge[2];
	struct ibv_send_wr data = request(IBV_WR_RDMA_WRITE, &sge[0], base, size_bytes, peer.addr);
	struct ibv_send_wr flag = request(IBV_WR_RDMA_WRITE, &sge[1], &value, sizeof(value),
	                                  word_at(offsetof(struct words, completed)));

	data.next = &flag;
	wait_word(&words->posted, ++awaited_posts);
	return post(&data, &flag, size_bytes > INLINE_MAX);
}

static int epoch_target(void)
{
	if (write_word(offsetof(struct words, posted), ++posts))
		return 1;
	wait_word(&words->completed, ++awaited_completes);
	return 0;
}

static int pscw(int rank, size_t size_bytes)
{
	if (rank == 0)
		return epoch_origin(size_bytes) || epoch_target();
	return epoch_target() || epoch_origin(size_bytes);
}

static int put_wait(size_t size_bytes)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, base, size_bytes, peer.addr);

	return post(&wr, &wr, 1);
}

static int barrier(void)
{
	uint64_t set = ++fences % 2;

	if (write_word(offsetof(struct words, fence) + set * sizeof(uint64_t), fences))
		return 1;
	wait_word(&words->fence[set], fences);
	return 0;
}

static int fence(int rank, size_t size_bytes)
{
	return (rank == 0 && put_wait(size_bytes)) || barrier();
}

static int put(int rank, size_t size_bytes)
{
	return rank == 0 && put_wait(size_bytes);
}

static int get(int rank, size_t size_bytes)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_READ, &sge, base, size_bytes, peer.addr);

	return rank == 0 && post(&wr, &wr, 1);
}

const struct pattern patterns[] = {
	{ "pscw", "put in an epoch there and an epoch back", pscw },
	{ "fence", "put and fence", fence },
	{ "put", "put and flush", put },
	{ "get", "get and flush", get },
	{ NULL, NULL, NULL },
};

int patterns_barrier(int rank)
{
	(void)rank;
	return barrier();
}

static int make_id(int rank, struct rdma_cm_id **made)
{
	struct rdma_addrinfo hints = { .ai_flags = rank == 0 ? RAI_PASSIVE : 0, .ai_port_space = RDMA_PS_TCP };
	struct ibv_qp_init_attr attr = {
		.cap = { DEPTH, 1, 1, 1, INLINE_MAX },
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_addrinfo *info;
	int rc;

	if (rdma_getaddrinfo(getenv("ORIEL_ADDR"), PORT, &hints, &info))
		return fail("rdma_getaddrinfo: set ORIEL_ADDR");
	rc = rdma_create_ep(made, info, NULL, &attr);
	rdma_freeaddrinfo(info);
	return rc;
}

static int make_memory(void)
{
	base = mmap(NULL, SIZE_MAX_BYTES + sizeof(struct words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return fail("mmap");
	words = (struct words *)(void *)(base + SIZE_MAX_BYTES);
	mr = ibv_reg_mr(id->pd, base, SIZE_MAX_BYTES + sizeof(struct words),
	                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	return mr ? 0 : fail("ibv_reg_mr");
}

static int connect_sides(int rank)
{
	struct side mine = { (uint64_t)(uintptr_t)base, mr->rkey };
	struct rdma_conn_param param = {
		.private_data = &mine,
		.private_data_len = sizeof(mine),
		.responder_resources = 16,
		.initiator_depth = 16,
		.retry_count = 6,
	};

	if (rank == 0)
		memcpy(&peer, id->event->param.conn.private_data, sizeof(peer));
	if (rank == 0 ? rdma_accept(id, &param) : rdma_connect(id, &param))
		return fail("rdma_connect");
	if (rank == 1)
		memcpy(&peer, id->event->param.conn.private_data, sizeof(peer));
	return 0;
}

static int listen_once(void)
{
	struct rdma_cm_id *listener;

	if (make_id(0, &listener) || rdma_listen(listener, 1) || rdma_get_request(listener, &id))
		return fail("listen");
	return make_memory() || connect_sides(0);
}

/* The listener may come up later than we do. */
static int connect_patiently(void)
{
	const struct timespec pause = { 0, 10 * 1000 * 1000 };

	for (int i = 0; i < CONNECT_TRIES; i++) {
		if (make_id(1, &id) == 0) {
			if (make_memory())
				return 1;
			if (connect_sides(1) == 0)
				return 0;
			rdma_destroy_ep(id);
		}
		nanosleep(&pause, NULL);
	}
	return fail("connect");
}

int patterns_open(int *rank)
{
	const char *text = getenv("ORIEL_RANK");

	*rank = text ? atoi(text) : 0;
	return *rank == 0 ? listen_once() : connect_patiently();
}

int patterns_close(void)
{
	return barrier();
}
