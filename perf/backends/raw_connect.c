// SPDX-License-Identifier: BSD-2-Clause
/*
 * raw_connect.c - bare verbs: rank, memory, and a queue pair with every other rank
 *
 * Rank r listens at its port + r, connects to lower ranks and accepts higher ones. oriel-run sets
 * rank and number of ranks; --addr is its address.
 */
#include <rdma/rdma_verbs.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "backends/raw.h"
#include "bench/requests.h"

#define PORT 18515 /* lowest port; other jobs of this machine must take others */
#define PORT_STEP 4
#define PORT_JOBS 8192
#define CONNECT_TRIES 500
#define ACK_TIMEOUT \
	17 /* half a second, as in Oriel; rdma_cm's is several, and SoftRoCE may lose a message */

struct raw raw;

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* Returns memory of an unnamed file, sealed against shrinking, which a device may map. */
static void *make_shared(size_t bytes)
{
	int fd = memfd_create("raw", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *base = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
		base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return base == MAP_FAILED ? NULL : base; /* file stays open: devices find it by descriptor */
}

static struct ibv_mr *reg(struct ibv_pd *pd, void *base, size_t bytes)
{
	return ibv_reg_mr(pd, base, bytes,
	                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
	                      IBV_ACCESS_REMOTE_ATOMIC);
}

static int make_memory(struct perf_place *place, size_t shared_bytes, size_t stage_bytes)
{
	if (raw.shared)
		return 0;
	if (!place->window)
		place->window = make_shared(place->window_bytes);
	raw.shared = make_shared(shared_bytes);
	raw.stages = calloc(1, stage_bytes);
	return place->window && raw.shared && raw.stages ? 0 : fail("memory");
}

/* Registers memory once, when there is a protection domain. */
static int register_memory(struct ibv_pd *pd, struct perf_place *place)
{
	size_t shared_bytes = sizeof(*raw.shared) + (size_t)raw.size * sizeof(raw.shared->of[0]);
	size_t stage_bytes = (size_t)raw.size * RAW_DEPTH * RAW_STAGE_MAX;

	if (raw.window_mr)
		return 0;
	if (make_memory(place, shared_bytes, stage_bytes))
		return 1;
	raw.window_mr = reg(pd, place->window, place->window_bytes);
	raw.origin_mr = reg(pd, place->origin, place->origin_bytes);
	raw.shared_mr = reg(pd, raw.shared, shared_bytes);
	raw.stage_mr = reg(pd, raw.stages, stage_bytes);
	return raw.window_mr && raw.origin_mr && raw.shared_mr && raw.stage_mr ? 0 : fail("ibv_reg_mr");
}

/* Deregisters memory before librdmacm frees its domain with the last connection. */
static void forget_memory(void)
{
	ibv_dereg_mr(raw.window_mr);
	ibv_dereg_mr(raw.origin_mr);
	ibv_dereg_mr(raw.shared_mr);
	ibv_dereg_mr(raw.stage_mr);
	raw.window_mr = NULL;
}

/* Returns the job's first port, derived from the launcher, the parent of all ranks. */
static int first_port(const struct perf_options *options)
{
	return options->port > 0 ? options->port : PORT + getppid() % PORT_JOBS * PORT_STEP;
}

static int make_id(const struct perf_options *options, int at_rank, bool passive, struct rdma_cm_id **id)
{
	struct rdma_addrinfo hints = { .ai_flags = passive ? RAI_PASSIVE : 0, .ai_port_space = RDMA_PS_TCP };
	struct ibv_qp_init_attr attr = {
		.cap = { RAW_DEPTH, 1, 1, 1, options->inline_bytes >= 0 ? (uint32_t)options->inline_bytes : RAW_INLINE },
		.qp_type = IBV_QPT_RC,
	};
	const char *addr = getenv("ORIEL_ADDR");
	struct rdma_addrinfo *info;
	char port[16];
	int rc;

	snprintf(port, sizeof(port), "%d", first_port(options) + at_rank);
	if (rdma_getaddrinfo(addr, port, &hints, &info))
		return fail("rdma_getaddrinfo: give oriel-run --addr the address of a device");
	rc = rdma_create_ep(id, info, NULL, &attr);
	rdma_freeaddrinfo(info);
	if (rc == 0 && !passive)
		raw.inline_max = attr.cap.max_inline_data;
	return rc;
}

/* Reads the inline size of a queue pair made by rdma_get_request. */
static void ask_inline(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_CAP, &init) == 0)
		raw.inline_max = init.cap.max_inline_data;
}

static int take_hello(struct rdma_cm_id *id, struct raw_hello *there)
{
	if (!id->event || id->event->param.conn.private_data_len < sizeof(*there))
		return fprintf(stderr, "raw: the other side sent no address\n"), 1;
	memcpy(there, id->event->param.conn.private_data, sizeof(*there));
	return 0;
}

static int keep_peer(struct rdma_cm_id *id, const struct raw_hello *there)
{
	if (there->rank < 0 || there->rank >= raw.size || raw.peers[there->rank].id)
		return fprintf(stderr, "raw: a stranger connected\n"), 1;
	requests_watch(id->verbs);
	raw.peers[there->rank].id = id;
	raw.peers[there->rank].there = *there;
	raw.peers[there->rank].stage = raw.stages + (size_t)there->rank * RAW_DEPTH * RAW_STAGE_MAX;
	raw.peers[there->rank].out = raw.shared->of[there->rank].out;
	return 0;
}

static int shake_hands(struct rdma_cm_id *id, bool passive, const struct perf_place *place)
{
	struct raw_hello here = { (uint64_t)(uintptr_t)place->window, (uint64_t)(uintptr_t)raw.shared, raw.window_mr->rkey,
		                      raw.shared_mr->rkey, raw.rank };
	struct rdma_conn_param param = {
		.private_data = &here,
		.private_data_len = sizeof(here),
		.responder_resources = 16,
		.initiator_depth = 16,
		.retry_count = 6,
	};
	uint8_t ack_timeout = ACK_TIMEOUT;
	struct raw_hello there;

	rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &ack_timeout, sizeof(ack_timeout));
	if (passive)
		return take_hello(id, &there) || rdma_accept(id, &param) || keep_peer(id, &there);
	return rdma_connect(id, &param) || take_hello(id, &there) || keep_peer(id, &there);
}

/* Connects to a rank, repeatedly while it does not listen yet. */
static int connect_to(int rank, const struct perf_options *options, struct perf_place *place)
{
	const struct timespec pause = { 0, 10 * 1000 * 1000 };
	struct rdma_cm_id *id;

	for (int i = 0; i < CONNECT_TRIES; i++) {
		if (make_id(options, rank, false, &id) == 0) {
			if (register_memory(id->pd, place))
				return 1;
			if (shake_hands(id, false, place) == 0)
				return 0;
			if (rank == 0)
				forget_memory();
			rdma_destroy_ep(id);
		}
		nanosleep(&pause, NULL);
	}
	return fail("connect");
}

static int accept_one(struct rdma_cm_id *listener, struct perf_place *place)
{
	struct rdma_cm_id *id;

	if (rdma_get_request(listener, &id))
		return fail("rdma_get_request");
	ask_inline(id->qp);
	return register_memory(id->pd, place) || shake_hands(id, true, place) ? fail("accept") : 0;
}

static int variable(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? atoi(text) : otherwise;
}

static void tell_device(struct perf_place *place)
{
	for (int rank = 0; rank < raw.size; rank++) {
		if (raw.peers[rank].id)
			snprintf(place->device, sizeof(place->device), "%s",
			         ibv_get_device_name(raw.peers[rank].id->verbs->device));
	}
}

static int check_device(const struct perf_options *options, const struct perf_place *place)
{
	if (!options->device || strcmp(options->device, place->device) == 0)
		return 0;
	fprintf(stderr, "raw: the address of --addr belongs to device %s, not %s\n", place->device, options->device);
	return 2;
}

int raw_connect(const struct perf_options *options, struct perf_place *place)
{
	struct rdma_cm_id *listener;

	raw.rank = place->rank = variable("ORIEL_RANK", 0);
	raw.size = place->size = variable("ORIEL_SIZE", 1);
	if (raw.size < 2 || raw.size > 1 << RAW_ROUNDS_MAX)
		return fprintf(stderr, "raw: needs 2 to %d ranks: oriel-run -n 2 --addr ADDRESS ...\n", 1 << RAW_ROUNDS_MAX), 2;
	if (!getenv("ORIEL_ADDR"))
		return fprintf(stderr, "raw: needs an address of a device: oriel-run --addr ADDRESS ...\n"), 2;
	raw.peers = calloc((size_t)raw.size, sizeof(raw.peers[0]));
	if (!raw.peers)
		return fail("calloc");
	if (raw.rank < raw.size - 1 && (make_id(options, raw.rank, true, &listener) || rdma_listen(listener, raw.size)))
		return fail("listen");
	for (int rank = 0; rank < raw.rank; rank++) {
		if (connect_to(rank, options, place))
			return 1;
	}
	for (int rank = raw.rank + 1; rank < raw.size; rank++) {
		if (accept_one(listener, place))
			return 1;
	}
	tell_device(place);
	return check_device(options, place);
}
