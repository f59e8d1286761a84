// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process that has the device open forks: the child starts from nothing and can open the device
 * itself, the parent goes on, and a child that lives on does not hide the parent's end.
 *
 * SOFT_CHILDREN is how many children a process that communicates has in turn (300).
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "datagrams.h"
#include "lab.h"

enum {
	KEYS = 8,
	CHILDREN = 300,
	SAID = 100, /* bytes of a datagram */
	NOTICE_MS = 20000,
};

static _Atomic bool stopped;

static bool transfer_works(struct lab *lab)
{
	return lab_rdma(lab, IBV_WR_RDMA_WRITE, 0, 0, 4096, IBV_SEND_SIGNALED) == 0 &&
	       lab_wait(lab->a.send_cq).status == IBV_WC_SUCCESS;
}

static struct rdma_cm_id *endpoint(int flags, const char *port)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP }, *found;
	struct ibv_qp_init_attr attr = { .cap = { 1, 1, 1, 1, 0 } };
	struct rdma_cm_id *id = NULL;

	if (rdma_getaddrinfo("127.0.0.1", port, &hints, &found) == 0 && rdma_create_ep(&id, found, NULL, &attr) != 0)
		return NULL;
	return id;
}

/* The engine finds out that no process listens. */
static bool engine_runs(void)
{
	struct rdma_cm_id *id = endpoint(0, "1");

	return id && rdma_connect(id, NULL) != 0 && errno == ECONNREFUSED;
}

/* A device of one's own, and a transfer over it. */
static bool starts_anew(void)
{
	struct lab lab;

	lab_setup(&lab, NULL);
	return transfer_works(&lab) && engine_runs();
}

static bool child_succeeds(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static enum lab_verdict child_starts_anew_and_parent_goes_on(void)
{
	struct lab lab;
	pid_t child;

	lab_setup(&lab, NULL);
	CHECK(transfer_works(&lab) && engine_runs());
	child = fork();
	if (child == 0)
		_exit(!starts_anew());
	CHECK(child > 0);
	CHECK(transfer_works(&lab));
	CHECK(child_succeeds(child));
	CHECK(transfer_works(&lab));
	return LAB_PASSED;
}

/* The parent is gone when the child begins, so that nothing of it can be of help. */
static void outlive_parent(const int pipes[2], int answer)
{
	char c;
	bool ok;

	close(pipes[1]);
	if (read(pipes[0], &c, 1) != 0)
		_exit(1);
	ok = starts_anew();
	_exit(write(answer, &ok, sizeof(ok)) != sizeof(ok));
}

static enum lab_verdict child_outlives_the_parent_and_starts_anew(void)
{
	int end[2], answer[2];
	struct lab lab;
	bool ok;
	pid_t parent;

	CHECK(pipe(answer) == 0);
	parent = fork();
	if (parent == 0) {
		lab_setup(&lab, NULL);
		if (!transfer_works(&lab) || pipe(end) != 0)
			_exit(1);
		if (fork() == 0)
			outlive_parent(end, answer[1]);
		_exit(0);
	}
	close(answer[1]);
	CHECK(child_succeeds(parent));
	CHECK(read(answer[0], &ok, sizeof(ok)) == sizeof(ok) && ok);
	return LAB_PASSED;
}

/* As a child does that ends by exit, whose libraries tidy up. */
static bool destroys(struct lab *lab)
{
	return ibv_destroy_qp(lab->a.qp) == 0 && ibv_destroy_qp(lab->b.qp) == 0 && ibv_dereg_mr(lab->a.mr) == 0 &&
	       ibv_dereg_mr(lab->b.mr) == 0 && ibv_dealloc_pd(lab->a.pd) == 0;
}

static enum lab_verdict parents_objects_outlive_the_child(void)
{
	struct lab lab;
	pid_t child;

	lab_setup(&lab, NULL);
	CHECK(transfer_works(&lab));
	child = fork();
	if (child == 0)
		_exit(!destroys(&lab));
	CHECK(child_succeeds(child));
	CHECK(transfer_works(&lab));
	return LAB_PASSED;
}

static enum lab_verdict childs_own_objects_outlive_the_inherited(void)
{
	struct lab lab, own;
	pid_t child;

	lab_setup(&lab, NULL);
	CHECK(transfer_works(&lab));
	child = fork();
	if (child == 0) {
		lab_setup(&own, NULL);
		_exit(!transfer_works(&own) || !destroys(&lab) || !transfer_works(&own) || !destroys(&own));
	}
	CHECK(child_succeeds(child));
	CHECK(transfer_works(&lab));
	return LAB_PASSED;
}

/* What goes on while children come and go, and what each of them does. */
struct traffic {
	bool (*works)(void *bench);
	bool (*destroys)(void *bench); /* in a child, what it has inherited */
	bool (*starts_anew)(void);
	void *bench;
};

/* Goes on until it is asked to stop. Returns NULL if something failed. */
static void *go_on(void *arg)
{
	const struct traffic *traffic = arg;

	while (!atomic_load(&stopped))
		if (!traffic->works(traffic->bench))
			return NULL;
	return arg;
}

/* Most children end at once; some tidy up, some begin anew. */
static void child_of_many(const struct traffic *traffic, int i)
{
	if (i % 10 == 1)
		_exit(!traffic->destroys(traffic->bench));
	if (i % 50 != 2)
		_exit(0);
	_exit(!traffic->starts_anew());
}

static enum lab_verdict many_children_beside(struct traffic *traffic)
{
	const char *given = getenv("SOFT_CHILDREN");
	const int children = given ? atoi(given) : CHILDREN;
	void *failed_if_null = NULL;
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, go_on, traffic) == 0);
	for (int i = 0; i < children; i++) {
		pid_t child = fork();

		if (child == 0)
			child_of_many(traffic, i);
		CHECK(child_succeeds(child));
	}
	atomic_store(&stopped, true);
	CHECK(pthread_join(thread, &failed_if_null) == 0 && failed_if_null);
	return LAB_PASSED;
}

static bool lab_works(void *lab)
{
	return transfer_works(lab);
}

static bool lab_is_destroyed(void *lab)
{
	return destroys(lab);
}

static bool transfers_anew(void)
{
	struct lab own;

	lab_setup(&own, NULL);
	return transfer_works(&own);
}

static enum lab_verdict many_children_beside_traffic(void)
{
	struct lab lab;
	struct traffic traffic = { lab_works, lab_is_destroyed, transfers_anew, &lab };

	lab_setup(&lab, NULL);
	return many_children_beside(&traffic);
}

/* ---- datagrams ---- */

/* From a to b, in one process. */
static bool datagram_works(struct bench *bench)
{
	struct ibv_wc wc;

	if (lab_recv(&bench->lab.b, 1, 0, 4096) != 0 || send_b(bench, 8192, SAID) != 0 || !sent(bench))
		return false;
	wc = lab_wait(bench->lab.b.recv_cq);
	return arrived(&wc, 1, SAID);
}

/* All but what the bench's connected queue pairs use too. */
static bool destroys_datagrams(struct bench *bench)
{
	return ibv_destroy_ah(bench->ah) == 0 && ibv_destroy_qp(bench->lab.a.qp) == 0 &&
	       ibv_destroy_qp(bench->lab.b.qp) == 0 && ibv_dereg_mr(bench->lab.a.mr) == 0 &&
	       ibv_dereg_mr(bench->lab.b.mr) == 0;
}

/* Datagrams of one's own; and one to the parent, which answers. */
static bool speaks_with_parent(uint32_t parent)
{
	struct bench own;
	struct ibv_wc wc;

	if (set_up(&own) != LAB_PASSED || !datagram_works(&own) || lab_recv(&own.lab.a, 2, 0, 4096) != 0 ||
	    send_to(&own, parent, QKEY, 8192, SAID, IBV_SEND_SIGNALED) != 0 || !sent(&own))
		return false;
	wc = lab_wait(own.lab.a.recv_cq);
	return arrived(&wc, 2, SAID) && wc.src_qp != own.lab.a.qp->qp_num && datagram_works(&own);
}

static bool answers(struct bench *bench)
{
	struct ibv_wc wc = lab_wait(bench->lab.b.recv_cq);

	return arrived(&wc, 3, SAID) && send_to(bench, wc.src_qp, QKEY, 8192, SAID, IBV_SEND_SIGNALED) == 0 && sent(bench);
}

static enum lab_verdict child_speaks_with_the_parent_by_datagrams(void)
{
	struct bench bench;
	pid_t child;

	CHECK(set_up(&bench) == LAB_PASSED && datagram_works(&bench));
	CHECK(lab_recv(&bench.lab.b, 3, 0, 4096) == 0);
	child = fork();
	if (child == 0)
		_exit(!speaks_with_parent(bench.lab.b.qp->qp_num));
	CHECK(child > 0 && answers(&bench));
	CHECK(child_succeeds(child));
	CHECK(datagram_works(&bench));
	return LAB_PASSED;
}

static bool bench_works(void *bench)
{
	return datagram_works(bench);
}

static bool bench_is_destroyed(void *bench)
{
	return destroys_datagrams(bench);
}

static bool datagrams_anew(void)
{
	struct bench own;

	return set_up(&own) == LAB_PASSED && datagram_works(&own) && destroys_datagrams(&own);
}

static enum lab_verdict many_children_beside_datagrams(void)
{
	struct bench bench;
	struct traffic traffic = { bench_works, bench_is_destroyed, datagrams_anew, &bench };

	CHECK(set_up(&bench) == LAB_PASSED);
	return many_children_beside(&traffic);
}

/* ---- keys, and the parent's end ---- */

static bool make_keys(uint32_t keys[KEYS])
{
	struct ibv_pd *pd = ibv_alloc_pd(lab_open());
	static char memory[4096];

	for (int i = 0; pd && i < KEYS; i++) {
		struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);

		if (!mr)
			return false;
		keys[i] = mr->rkey;
	}
	return pd;
}

static enum lab_verdict child_draws_keys_of_its_own(void)
{
	uint32_t mine[KEYS], theirs[KEYS];
	int pipes[2], same = 0;
	pid_t child;

	CHECK(make_keys(mine) && pipe(pipes) == 0);
	child = fork();
	if (child == 0)
		_exit(!make_keys(theirs) || write(pipes[1], theirs, sizeof(theirs)) != sizeof(theirs));
	CHECK(read(pipes[0], theirs, sizeof(theirs)) == sizeof(theirs) && child_succeeds(child));
	CHECK(make_keys(mine));
	for (int i = 0; i < KEYS; i++)
		same += (mine[i] & 0xffff) == (theirs[i] & 0xffff);
	CHECK(same < KEYS);
	return LAB_PASSED;
}

/* Connects, has a child that outlives it, sends the child's number, and ends. */
static void connect_and_end(const char *port, int tell)
{
	struct rdma_cm_id *id = endpoint(0, port);
	pid_t child;

	if (!id || rdma_connect(id, NULL) != 0)
		_exit(1);
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	if (write(tell, &child, sizeof(child)) != sizeof(child))
		_exit(1);
	kill(getpid(), SIGKILL);
}

static enum lab_verdict await_disconnect(struct rdma_cm_id *id)
{
	struct pollfd wait = { .fd = id->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	do {
		CHECK(poll(&wait, 1, NOTICE_MS) == 1);
		CHECK(rdma_get_cm_event(id->channel, &event) == 0);
		rdma_ack_cm_event(event);
	} while (event->event == RDMA_CM_EVENT_ESTABLISHED);
	CHECK(event->event == RDMA_CM_EVENT_DISCONNECTED);
	return LAB_PASSED;
}

static enum lab_verdict child_does_not_hide_the_parents_end(void)
{
	struct rdma_cm_id *listener = endpoint(RAI_PASSIVE, "0"), *id;
	enum lab_verdict verdict;
	char port[8];
	int pipes[2];
	pid_t child;

	CHECK(listener && rdma_listen(listener, 1) == 0 && pipe(pipes) == 0);
	snprintf(port, sizeof(port), "%d", ntohs(rdma_get_src_port(listener)));
	if (fork() == 0)
		connect_and_end(port, pipes[1]);
	CHECK(rdma_get_request(listener, &id) == 0 && rdma_accept(id, NULL) == 0);
	CHECK(read(pipes[0], &child, sizeof(child)) == sizeof(child));
	verdict = await_disconnect(id);
	kill(child, SIGKILL);
	return verdict;
}

#define CASE(name, source)  \
	{                       \
#name, name, source \
	}

int main(int argc, char **argv)
{
	static const struct lab_case cases[] = {
		CASE(child_starts_anew_and_parent_goes_on, "lib/soft/engine/start.c"),
		CASE(child_outlives_the_parent_and_starts_anew, "lib/soft/engine/start.c"),
		CASE(parents_objects_outlive_the_child, "lib/soft/engine/start.c"),
		CASE(childs_own_objects_outlive_the_inherited, "lib/soft/engine/start.c"),
		CASE(many_children_beside_traffic, "lib/soft/engine/start.c"),
		CASE(child_speaks_with_the_parent_by_datagrams, "lib/soft/post/datagram_post.c"),
		CASE(many_children_beside_datagrams, "lib/soft/engine/start.c"),
		CASE(child_draws_keys_of_its_own, "lib/soft/engine/start.c"),
		CASE(child_does_not_hide_the_parents_end, "lib/soft/engine/start.c"),
	};

	return lab_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
