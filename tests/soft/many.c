// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many of everything: connections per second by rdma_cm, thousands of queue pairs in one process,
 * and what an idle one costs. Usage: many [connections [queue pairs [address]]], the address being
 * one of the device's.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static struct rdma_cm_id *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	must(rdma_get_cm_event(channel, &event) == 0, "rdma_get_cm_event");
	if (event->event != type) {
		fprintf(stderr, "%s instead of %s\n", rdma_event_str(event->event), rdma_event_str(type));
		exit(1);
	}
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

static void make_qp(struct rdma_cm_id *id, struct ibv_cq *cq, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC
	};

	must(rdma_create_qp(id, pd, &init) == 0, "rdma_create_qp");
}

static void serve(struct in_addr where, int port_pipe, int n)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = where };
	struct rdma_cm_id *listener = NULL, *id = NULL;
	struct ibv_pd *pd = NULL;
	struct ibv_cq *cq = NULL;
	__be16 port;

	must(channel && rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
	must(rdma_bind_addr(listener, (struct sockaddr *)&addr) == 0 && rdma_listen(listener, 0) == 0, "rdma_listen");
	port = rdma_get_src_port(listener);
	must(write(port_pipe, &port, sizeof(port)) == sizeof(port), "port");
	for (int i = 0; i < n; i++) {
		id = expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
		if (!pd) {
			pd = ibv_alloc_pd(id->verbs);
			cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
		}
		make_qp(id, cq, pd);
		must(rdma_accept(id, NULL) == 0, "rdma_accept");
		expect(channel, RDMA_CM_EVENT_ESTABLISHED);
		expect(channel, RDMA_CM_EVENT_DISCONNECTED);
		rdma_destroy_qp(id);
		rdma_destroy_id(id);
	}
	exit(0);
}

static void connect_many(struct in_addr where, __be16 port, int n)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = port, .sin_addr = where };
	struct ibv_pd *pd = NULL;
	struct ibv_cq *cq = NULL;
	double start = now_s();

	for (int i = 0; i < n; i++) {
		struct rdma_cm_id *id;

		must(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
		must(rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, 1000) == 0, "rdma_resolve_addr");
		expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
		must(rdma_resolve_route(id, 1000) == 0, "rdma_resolve_route");
		expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
		if (!pd) {
			pd = ibv_alloc_pd(id->verbs);
			cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
		}
		make_qp(id, cq, pd);
		must(rdma_connect(id, NULL) == 0, "rdma_connect");
		expect(channel, RDMA_CM_EVENT_ESTABLISHED);
		must(rdma_disconnect(id) == 0, "rdma_disconnect");
		expect(channel, RDMA_CM_EVENT_DISCONNECTED);
		rdma_destroy_qp(id);
		must(rdma_destroy_id(id) == 0, "rdma_destroy_id");
	}
	printf("%d connections, made and ended: %.0f per second\n", n, n / (now_s() - start));
}

static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long size, resident = 0;

	must(file && fscanf(file, "%ld %ld", &size, &resident) == 2, "statm");
	fclose(file);
	return resident * sysconf(_SC_PAGESIZE) / 1024;
}

static void queue_pairs(int n)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	struct ibv_cq *cq = ctx ? ibv_create_cq(ctx, 16, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC
	};
	long before = resident_kib();
	double start = now_s();

	must(pd && cq, "device");
	for (int i = 0; i < n; i++)
		must(ibv_create_qp(pd, &init) != NULL, "ibv_create_qp");
	printf("%d queue pairs: %.2f KiB each, %.0f per second\n", n, (double)(resident_kib() - before) / n,
	       n / (now_s() - start));
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2000, qps = argc > 2 ? atoi(argv[2]) : 4000, pipes[2], status;
	struct in_addr where;
	pid_t server;
	__be16 port;

	must(inet_pton(AF_INET, argc > 3 ? argv[3] : "127.0.0.1", &where) == 1, "address");
	must(pipe(pipes) == 0, "pipe");
	server = fork();
	if (server == 0)
		serve(where, pipes[1], n);
	must(read(pipes[0], &port, sizeof(port)) == sizeof(port), "port");
	connect_many(where, port, n);
	must(waitpid(server, &status, 0) == server && status == 0, "server");
	queue_pairs(qps);
	return 0;
}
