// SPDX-License-Identifier: BSD-2-Clause
/*
 * A peer is killed at a random moment, again and again, while both sides write, send and add. The
 * survivor has to learn of it within a second, if it gets a processor, from the connection manager
 * and from its queue pair, has to be able to take everything down, and nothing may be left in
 * /dev/shm. Usage: kill [times [seed]]
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	MEMORY = 1 << 20,
	DEPTH = 64,
	LIFE_US = 20000, /* the victim lives this long at most */
	NOTICE_MS = 1000,
	HANG_MS = 30000,
};

struct memory {
	uint64_t addr;
	uint32_t rkey;
} __attribute__((packed));

struct end {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *buffer;
	struct memory theirs;
	uint32_t next;
};

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/*
 * Makes a /dev/shm of its own, in which no other process leaves anything. False: only root may have
 * one.
 */
static bool have_own_dev_shm(void)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL) == 0;
}

static int files_in_dev_shm(void)
{
	DIR *dir = opendir("/dev/shm");
	int n = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* . and .. */
}

/* The next event; -1: none. */
static int next_event(struct end *end, struct rdma_cm_id **id, void *data, size_t size)
{
	struct pollfd ready = { .fd = end->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	int type;

	if (poll(&ready, 1, HANG_MS) != 1)
		return -1;
	must(rdma_get_cm_event(end->channel, &event) == 0, "rdma_get_cm_event");
	type = (int)event->event;
	if (id)
		*id = event->id;
	if (data && event->param.conn.private_data_len >= size)
		memcpy(data, event->param.conn.private_data, size);
	rdma_ack_cm_event(event);
	return type;
}

static void post_recv(struct end *end)
{
	struct ibv_sge sge = { (uintptr_t)end->buffer, 4096, end->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	ibv_post_recv(end->id->qp, &wr, &bad);
}

static void prepare(struct end *end, bool shared)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1
	};
	int fd = shared ? memfd_create("victim", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;

	must(!shared || (ftruncate(fd, MEMORY) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0), "memfd");
	end->buffer = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	must(end->buffer != MAP_FAILED, "mmap");
	end->pd = ibv_alloc_pd(end->id->verbs);
	end->cq = ibv_create_cq(end->id->verbs, 4 * DEPTH, NULL, NULL, 0);
	end->mr = ibv_reg_mr(end->pd, end->buffer, MEMORY,
	                     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
	                         IBV_ACCESS_REMOTE_ATOMIC);
	must(end->pd && end->cq && end->mr, "objects");
	if (fd >= 0)
		close(fd);
	init.send_cq = init.recv_cq = end->cq;
	must(rdma_create_qp(end->id, end->pd, &init) == 0, "rdma_create_qp");
	for (int i = 0; i < DEPTH; i++)
		post_recv(end);
}

/* One operation of each kind in turn; what fails, fails. */
static void act(struct end *end)
{
	static const enum ibv_wr_opcode ops[] = { IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_ATOMIC_FETCH_AND_ADD,
		                                      IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE_WITH_IMM };
	uint32_t n = end->next++;
	enum ibv_wr_opcode op = ops[n % 5];
	struct ibv_sge sge = { (uintptr_t)end->buffer + 8192, 8, end->mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = op };
	struct ibv_wc wc[16];
	int got;

	if (op != IBV_WR_ATOMIC_FETCH_AND_ADD)
		sge.length = n % 3 ? 64 : op == IBV_WR_SEND ? 4096 : 200000;
	wr.wr.atomic.remote_addr = end->theirs.addr + 16384;
	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr.wr.atomic.rkey = end->theirs.rkey;
	else
		wr.wr.rdma.rkey = end->theirs.rkey;
	ibv_post_send(end->id->qp, &wr, &bad);
	got = ibv_poll_cq(end->cq, 16, wc);
	for (int i = 0; i < got; i++)
		if (wc[i].status == IBV_WC_SUCCESS && wc[i].opcode & IBV_WC_RECV)
			post_recv(end);
}

static void victim(__be16 port, bool shared)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct end end = { .channel = rdma_create_event_channel() };
	struct rdma_conn_param param = { .responder_resources = 4,
		                             .initiator_depth = 4,
		                             .rnr_retry_count = 7,
		                             .retry_count = 7,
		                             .private_data_len = sizeof(struct memory) };
	struct memory mine;

	must(rdma_create_id(end.channel, &end.id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	must(rdma_resolve_addr(end.id, NULL, (struct sockaddr *)&addr, HANG_MS) == 0 &&
	         next_event(&end, NULL, NULL, 0) == RDMA_CM_EVENT_ADDR_RESOLVED,
	     "address");
	must(rdma_resolve_route(end.id, HANG_MS) == 0 && next_event(&end, NULL, NULL, 0) == RDMA_CM_EVENT_ROUTE_RESOLVED,
	     "route");
	prepare(&end, shared);
	mine = (struct memory){ (uintptr_t)end.buffer, end.mr->rkey };
	param.private_data = &mine;
	must(rdma_connect(end.id, &param) == 0, "rdma_connect");
	if (next_event(&end, NULL, &end.theirs, sizeof(end.theirs)) != RDMA_CM_EVENT_ESTABLISHED)
		exit(1);
	for (;;)
		act(&end);
}

static void take_down(struct end *end)
{
	rdma_destroy_qp(end->id);
	must(rdma_destroy_id(end->id) == 0, "rdma_destroy_id");
	must(ibv_destroy_cq(end->cq) == 0, "ibv_destroy_cq");
	must(ibv_dereg_mr(end->mr) == 0, "ibv_dereg_mr");
	must(ibv_dealloc_pd(end->pd) == 0, "ibv_dealloc_pd");
	munmap(end->buffer, MEMORY);
}

static bool accept_one(struct end *end, bool shared)
{
	struct rdma_conn_param param = {
		.responder_resources = 4, .initiator_depth = 4, .rnr_retry_count = 7, .private_data_len = sizeof(struct memory)
	};
	struct memory mine;
	int type = next_event(end, &end->id, &end->theirs, sizeof(end->theirs));

	if (type != RDMA_CM_EVENT_CONNECT_REQUEST) {
		fprintf(stderr, "in place of a request: %s\n",
		        type < 0 ? "nothing" : rdma_event_str((enum rdma_cm_event_type)type));
		exit(1);
	}
	prepare(end, shared);
	mine = (struct memory){ (uintptr_t)end->buffer, end->mr->rkey };
	param.private_data = &mine;
	return rdma_accept(end->id, &param) == 0;
}

/* The victim is dead: how long until we know? */
static int64_t notice(struct end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { 0 };
	int64_t start = now_ms();
	int type;

	do {
		type = next_event(end, NULL, NULL, 0);
	} while (type == RDMA_CM_EVENT_ESTABLISHED);
	if (type != RDMA_CM_EVENT_DISCONNECTED && type != RDMA_CM_EVENT_UNREACHABLE) {
		fprintf(stderr, "no word from the connection manager: %d\n", type);
		exit(1);
	}
	while (attr.qp_state != IBV_QPS_ERR && now_ms() < start + HANG_MS)
		ibv_query_qp(end->id->qp, &attr, IBV_QP_STATE, &init);
	must(attr.qp_state == IBV_QPS_ERR, "queue pair is not in error");
	return now_ms() - start;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 100, connected = 0, late = 0;
	bool alone = have_own_dev_shm();
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_cm_id *listener = NULL;
	struct end end = { 0 };
	int64_t worst = 0;
	__be16 port;

	srand(argc > 2 ? (unsigned int)atoi(argv[2]) : 1);
	/* Children are made before the device is used by this thread of life: each opens it for itself. */
	end.channel = rdma_create_event_channel();
	must(end.channel && rdma_create_id(end.channel, &listener, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	must(rdma_bind_addr(listener, (struct sockaddr *)&addr) == 0 && rdma_listen(listener, 0) == 0, "rdma_listen");
	port = rdma_get_src_port(listener);
	for (int i = 0; i < times; i++) {
		char number[16], how[2] = { (char)('0' + i % 2), 0 };
		int64_t took, until;
		pid_t child = fork();

		if (child == 0) {
			snprintf(number, sizeof(number), "%u", port);
			execl("/proc/self/exe", "kill", "victim", number, how, (char *)NULL);
			_exit(127);
		}
		must(child > 0 && accept_one(&end, i % 4 < 2), "accept");
		until = rand() % LIFE_US;
		for (int64_t start = now_ms(); (now_ms() - start) * 1000 < until;)
			act(&end);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		took = notice(&end);
		connected++;
		late += took > NOTICE_MS;
		if (took > worst)
			worst = took;
		take_down(&end);
	}
	/*
	 * One that gets the error a second later, without a defect, has got no processor, which is
	 * rare.
	 */
	must(late <= 2 + times / 100, "the survivor was told after more than a second, again and again");
	must(!alone || files_in_dev_shm() == 0, "something was left in /dev/shm");
	printf("%d killed, noticed after %lld ms at worst%s\n", connected, (long long)worst,
	       alone ? "" : "; no /dev/shm of its own, and so none looked at");
	return 0;
}

/* The victim is this program again, so that it has a device of its own. */
__attribute__((constructor)) static void maybe_victim(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "victim") == 0)
		victim((__be16)atoi(argv[2]), argv[3][0] == '1');
}
