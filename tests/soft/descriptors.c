// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process without free descriptors: a side that cannot connect gets an error, or learns that the
 * other side cannot. Each case is a sweep: with 0, 1, 2 ... free descriptors, until a connection is
 * made.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab.h"

enum {
	LIMIT = 160,      /* descriptors that a process may have */
	FREE_MAX = 40,    /* so many free ones are enough for a connection */
	EVENT_MS = 30000, /* what takes longer is silence */
	AGAIN = 30,       /* attempts, none of which may leave a descriptor */
	NO_RESOURCES = 3, /* reason of a reject, as InfiniBand has it */
	RESOLVE_MS = 30000,
	MANY = 1024, /* what the connections of a hundred ranks take */
};

/* All descriptors but some, taken. */
static int hogs[LIMIT], hog_count;

static void release(void)
{
	while (hog_count > 0)
		close(hogs[--hog_count]);
}

static void hog_all_but(int free_count)
{
	struct rlimit limit = { LIMIT, LIMIT };
	int fd;

	release();
	setrlimit(RLIMIT_NOFILE, &limit);
	while (hog_count < LIMIT && (fd = dup(0)) >= 0)
		hogs[hog_count++] = fd;
	for (int i = 0; i < free_count && hog_count > 0; i++)
		close(hogs[--hog_count]);
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* So many the kernel's table of this process has room for; -1: it does not say. */
static int table_size(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	int size = -1;

	while (status && size < 0 && fgets(line, sizeof(line), status))
		sscanf(line, "FDSize: %d", &size);
	if (status)
		fclose(status);
	return size;
}

/* What every side has before it is short of anything. */
struct side {
	struct rdma_event_channel *channel;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct rdma_cm_id *id; /* the connection, or the attempt */
};

static bool open_side(struct side *side)
{
	struct rdma_cm_id *id;
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	side->channel = rdma_create_event_channel();
	if (!side->channel || rdma_create_id(side->channel, &id, NULL, RDMA_PS_TCP) != 0 ||
	    rdma_bind_addr(id, (struct sockaddr *)&addr) != 0 || !id->verbs)
		return false;
	side->ctx = id->verbs;
	rdma_destroy_id(id);
	side->pd = ibv_alloc_pd(side->ctx);
	side->cq = ibv_create_cq(side->ctx, 16, NULL, NULL, 0);
	side->id = NULL;
	return side->pd && side->cq;
}

static int make_qp(struct side *side)
{
	struct ibv_qp_init_attr init = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC
	};

	return rdma_create_qp(side->id, side->pd, &init) == 0 ? 0 : errno;
}

static void drop(struct side *side)
{
	if (!side->id)
		return;
	rdma_destroy_qp(side->id);
	rdma_destroy_id(side->id);
	side->id = NULL;
}

/* How an attempt ended: a call's errno, or an event and its status; -1: nothing came. */
struct outcome {
	int call_errno;
	int event;
	int status;
};

static struct outcome next_event(struct side *side)
{
	struct pollfd ready = { .fd = side->channel->fd, .events = POLLIN };
	struct outcome outcome = { .event = -1 };
	struct rdma_cm_event *event;

	if (poll(&ready, 1, EVENT_MS) != 1)
		return outcome;
	if (rdma_get_cm_event(side->channel, &event) != 0) {
		outcome.call_errno = errno;
		return outcome;
	}
	outcome.event = (int)event->event;
	outcome.status = event->status;
	rdma_ack_cm_event(event);
	return outcome;
}

static struct outcome call(int rc, int err, struct side *side)
{
	return rc ? (struct outcome){ .call_errno = err } : next_event(side);
}

static struct outcome attempt(struct side *side, uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_conn_param param = { .retry_count = 3, .rnr_retry_count = 3 };
	struct outcome outcome;
	int rc;

	if (rdma_create_id(side->channel, &side->id, NULL, RDMA_PS_TCP) != 0) {
		side->id = NULL;
		return (struct outcome){ .call_errno = errno };
	}
	rc = rdma_resolve_addr(side->id, NULL, (struct sockaddr *)&to, RESOLVE_MS);
	outcome = call(rc, errno, side);
	if (outcome.call_errno || outcome.event != RDMA_CM_EVENT_ADDR_RESOLVED)
		return outcome;
	rc = rdma_resolve_route(side->id, RESOLVE_MS);
	outcome = call(rc, errno, side);
	if (outcome.call_errno || outcome.event != RDMA_CM_EVENT_ROUTE_RESOLVED)
		return outcome;
	rc = make_qp(side);
	if (rc)
		return (struct outcome){ .call_errno = rc };
	rc = rdma_connect(side->id, &param);
	return call(rc, errno, side);
}

/* ---- the listener, a process of its own ---- */

/*
 * What it says after each connection attempt that it has heard of: 0, or the errno of the call that
 * failed.
 */
static void serve_event(struct side *side)
{
	struct rdma_conn_param param = { .retry_count = 3, .rnr_retry_count = 3 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	enum rdma_cm_event_type type;

	if (rdma_get_cm_event(side->channel, &event) != 0)
		return;
	id = event->id;
	type = event->event;
	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		drop(side);
		side->id = id;
		if (make_qp(side) != 0 || rdma_accept(id, &param) != 0)
			drop(side);
	} else if (type != RDMA_CM_EVENT_ESTABLISHED && id == side->id) {
		drop(side);
	}
}

/* A command is how many descriptors may be free, or -1: the end. It is answered when it is done. */
static bool serve_command(int sock)
{
	int command;

	if (read(sock, &command, sizeof(command)) != sizeof(command) || command < 0)
		return false;
	hog_all_but(command);
	return write(sock, &command, sizeof(command)) == sizeof(command);
}

static int listener(int sock)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_cm_id *id;
	struct side side;
	uint16_t port;

	if (!open_side(&side) || rdma_create_id(side.channel, &id, NULL, RDMA_PS_TCP) != 0 ||
	    rdma_bind_addr(id, (struct sockaddr *)&addr) != 0 || rdma_listen(id, 8) != 0)
		return 1;
	port = rdma_get_src_port(id);
	if (write(sock, &port, sizeof(port)) != sizeof(port))
		return 1;
	for (;;) {
		struct pollfd ready[2] = { { .fd = sock, .events = POLLIN }, { .fd = side.channel->fd, .events = POLLIN } };

		if (poll(ready, 2, -1) < 0)
			return 1;
		if (ready[1].revents)
			serve_event(&side);
		if (ready[0].revents && !serve_command(sock))
			return 0;
	}
}

struct bench {
	struct side side;
	int sock;
	uint16_t port;
	pid_t child;
};

static enum lab_verdict start(struct bench *bench)
{
	int pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	bench->child = fork();
	if (bench->child == 0) {
		close(pair[0]);
		_exit(listener(pair[1]));
	}
	close(pair[1]);
	bench->sock = pair[0];
	CHECK(bench->child > 0 && read(bench->sock, &bench->port, sizeof(bench->port)) == sizeof(bench->port));
	CHECK(open_side(&bench->side));
	return LAB_PASSED;
}

static bool tell(const struct bench *bench, int free_count)
{
	int answer;

	return write(bench->sock, &free_count, sizeof(free_count)) == sizeof(free_count) &&
	       read(bench->sock, &answer, sizeof(answer)) == sizeof(answer);
}

static enum lab_verdict finish(struct bench *bench)
{
	int end = -1, status;

	CHECK(write(bench->sock, &end, sizeof(end)) == sizeof(end));
	CHECK(waitpid(bench->child, &status, 0) == bench->child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return LAB_PASSED;
}

static bool says_own_shortage(struct outcome outcome)
{
	return outcome.call_errno == EMFILE || (outcome.event == RDMA_CM_EVENT_CONNECT_ERROR && outcome.status == -EMFILE);
}

static bool says_peers_shortage(struct outcome outcome)
{
	return !outcome.call_errno && outcome.event == RDMA_CM_EVENT_REJECTED && outcome.status == NO_RESOURCES;
}

/* ---- cases ---- */

static enum lab_verdict descriptors__short_process_is_told(void)
{
	struct bench bench;
	int free_count = 0;

	CHECK(start(&bench) == LAB_PASSED);
	for (; free_count < FREE_MAX; free_count++) {
		struct outcome outcome;

		hog_all_but(free_count);
		outcome = attempt(&bench.side, bench.port);
		if (outcome.event == RDMA_CM_EVENT_ESTABLISHED)
			break;
		drop(&bench.side);
		release();
		CHECK(says_own_shortage(outcome));
	}
	CHECK(free_count > 0 && free_count < FREE_MAX);
	return finish(&bench);
}

static enum lab_verdict descriptors__short_peer_says_so(void)
{
	struct bench bench;
	int free_count = 0;

	CHECK(start(&bench) == LAB_PASSED);
	for (; free_count < FREE_MAX; free_count++) {
		struct outcome outcome;

		CHECK(tell(&bench, free_count));
		outcome = attempt(&bench.side, bench.port);
		if (outcome.event == RDMA_CM_EVENT_ESTABLISHED)
			break;
		drop(&bench.side);
		CHECK(says_peers_shortage(outcome));
	}
	CHECK(free_count > 0 && free_count < FREE_MAX);
	return finish(&bench);
}

/* Many attempts in vain, on either side's account; then one that succeeds. */
static enum lab_verdict descriptors__nothing_is_left_of_attempts(void)
{
	struct bench bench;
	int before;

	CHECK(start(&bench) == LAB_PASSED);
	before = count_descriptors();
	for (int i = 0; i < AGAIN; i++) {
		bool own = i % 2;

		if (own)
			hog_all_but(i % 5);
		CHECK(tell(&bench, own ? FREE_MAX : i % 5));
		CHECK(attempt(&bench.side, bench.port).event != RDMA_CM_EVENT_ESTABLISHED);
		drop(&bench.side);
		release();
	}
	CHECK(tell(&bench, FREE_MAX));
	/* Pipes between the two may have been made; nothing grows with the attempts. */
	CHECK(count_descriptors() < before + AGAIN / 3);
	CHECK(attempt(&bench.side, bench.port).event == RDMA_CM_EVENT_ESTABLISHED);
	drop(&bench.side);
	return finish(&bench);
}

/* NULL, and then for want of a descriptor, or the device. */
static struct ibv_context *open_with(struct ibv_device *device, int free_count)
{
	struct ibv_context *ctx;

	hog_all_but(free_count);
	ctx = ibv_open_device(device);
	release();
	return ctx;
}

/* What the process has once, it keeps; a second attempt that fails adds nothing. */
static enum lab_verdict descriptors__device_is_not_opened(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int free_count = 0;

	if (!list || !list[0])
		return LAB_UNSUPPORTED;
	for (; free_count < FREE_MAX; free_count++) {
		int after;

		ctx = open_with(list[0], free_count);
		if (ctx)
			break;
		CHECK(errno == EMFILE);
		after = count_descriptors();
		ctx = open_with(list[0], free_count);
		if (ctx)
			break;
		CHECK(errno == EMFILE && count_descriptors() == after);
	}
	CHECK(ctx && free_count > 1);
	return LAB_PASSED;
}

/* Where the table grows while there are threads, the kernel lets all of them wait: see start.c. */
static enum lab_verdict descriptors__table_does_not_grow_any_more(void)
{
	struct rlimit limit;
	struct side side;
	int before, size, fd;

	before = table_size();
	CHECK(before > 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
	if (limit.rlim_cur < (rlim_t)before * 2)
		return LAB_UNSUPPORTED;
	CHECK(open_side(&side));
	size = table_size();
	fd = fcntl(0, F_DUPFD, limit.rlim_cur < MANY ? (int)limit.rlim_cur - 1 : MANY - 1);
	CHECK(fd >= before && close(fd) == 0);
	CHECK(table_size() == size);
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "descriptors: a short process is told", descriptors__short_process_is_told, "lib/soft/cm/event.c" },
	{ "descriptors: a short peer says so", descriptors__short_peer_says_so, "lib/soft/peer/peer.c" },
	{ "descriptors: nothing is left of attempts", descriptors__nothing_is_left_of_attempts,
	  "lib/soft/engine/pipes.c" },
	{ "descriptors: device is not opened", descriptors__device_is_not_opened, "lib/soft/engine/start.c" },
	{ "descriptors: table does not grow any more", descriptors__table_does_not_grow_any_more,
	  "lib/soft/engine/start.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
