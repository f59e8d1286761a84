// SPDX-License-Identifier: BSD-2-Clause
/*
 * A queue pair that waits for room among the requests to a peer, and then is reset, or is no more.
 * Two peers are stopped, more is posted to each of them than is under way at a time, and so a send
 * behind it waits.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab.h"

enum {
	PEERS = 2,
	DEPTH = 256,
	CROWD = 200, /* sends that are posted to each peer: more than it has room for while it is stopped */
	LENGTH = 64,
	CROWD_ID = 100, /* and the peer */
	WAITER_ID = 200,
	OTHER_ID,
	ALL = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
};

/*
 * Queue pairs of each peer, and of the sender: the crowd is one to each peer, the others are
 * connected to one of them.
 */
enum { CROWDER, WAITER, OTHER, QPS };

struct card {
	uint32_t qpn[QPS];
};

struct peer {
	struct card card;
	pid_t child;
	int in, out;
};

struct bench {
	struct lab lab;
	struct lab_options options;
	struct peer peer[PEERS];
	struct ibv_qp *crowder[PEERS], *waiter, *other;
	struct ibv_ah *ah; /* of both peers, where the waiter is one for datagrams; else NULL */
};

static struct ibv_qp *new_qp(struct lab *lab, const struct lab_options *options)
{
	struct ibv_qp *qp = lab_qp(&lab->a, options);

	return qp && lab_init(lab, qp, ALL) == 0 ? qp : NULL;
}

static bool join(struct lab *lab, const struct lab_options *options, struct ibv_qp *qp, uint32_t to)
{
	return lab_rtr(lab, qp, to, options) == 0 && lab_rts(qp, options) == 0;
}

/* ---- a peer ---- */

static bool post_receives(struct lab *lab, struct ibv_qp *qp, uint64_t id)
{
	struct ibv_sge sge = { (uintptr_t)lab->a.buffer, LENGTH, lab->a.mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };

	for (int i = 0; i < DEPTH; i++)
		if (ibv_post_recv(qp, &wr, &bad) != 0)
			return false;
	return true;
}

/* Each queue pair has received as much as is said here. */
static bool received(struct lab *lab, const uint32_t expected[QPS])
{
	uint32_t all = expected[CROWDER] + expected[WAITER] + expected[OTHER], count[QPS] = { 0 };
	struct ibv_wc wc;

	for (uint32_t i = 0; i < all; i++) {
		wc = lab_wait(lab->a.recv_cq);
		if (wc.status != IBV_WC_SUCCESS)
			return false;
		count[wc.wr_id]++;
	}
	for (int i = 0; i < QPS; i++)
		if (count[i] != expected[i])
			return false;
	return ibv_poll_cq(lab->a.recv_cq, 1, &wc) == 0;
}

/*
 * A peer: is connected to, stops, and says by its exit status whether it has received the right
 * data.
 */
static int be_peer(int in, int out, const struct lab_options *options)
{
	struct card mine, theirs;
	struct ibv_qp *qp[QPS];
	uint32_t expected[QPS];
	struct lab lab;
	char c;

	lab_setup(&lab, options);
	for (int i = 0; i < QPS; i++) {
		qp[i] = new_qp(&lab, options);
		if (!qp[i] || !post_receives(&lab, qp[i], (uint64_t)i))
			return 1;
		mine.qpn[i] = qp[i]->qp_num;
	}
	if (write(out, &mine, sizeof(mine)) != sizeof(mine) || read(in, &theirs, sizeof(theirs)) != sizeof(theirs))
		return 1;
	for (int i = 0; i < QPS; i++)
		if (!join(&lab, options, qp[i], theirs.qpn[i]))
			return 1;
	if (write(out, "c", 1) != 1 || read(in, &c, 1) != 1)
		return 1;
	raise(SIGSTOP);
	return read(in, expected, sizeof(expected)) == sizeof(expected) && received(&lab, expected) ? 0 : 1;
}

static bool start_peer(struct peer *peer, const struct lab_options *options)
{
	int to[2], from[2];

	if (pipe(to) != 0 || pipe(from) != 0)
		return false;
	peer->child = fork();
	if (peer->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(be_peer(to[0], from[1], options));
	}
	peer->in = from[0];
	peer->out = to[1];
	return peer->child > 0;
}

/* ---- the sender ---- */

/*
 * The peers' queue pairs take requests of the ones that are theirs: for each peer its crowder, for
 * both the rest.
 */
static bool meet(struct bench *b, int i)
{
	struct card mine = { { b->crowder[i]->qp_num, b->waiter->qp_num, b->other->qp_num } };
	struct peer *peer = &b->peer[i];
	char c;

	return read(peer->in, &peer->card, sizeof(peer->card)) == sizeof(peer->card) &&
	       write(peer->out, &mine, sizeof(mine)) == sizeof(mine) && read(peer->in, &c, 1) == 1 &&
	       join(&b->lab, &b->options, b->crowder[i], peer->card.qpn[CROWDER]);
}

static int send_one(struct bench *b, struct ibv_qp *qp, uint64_t id, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)b->lab.a.buffer, LENGTH, b->lab.a.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = flags };

	return lab_post(qp, &wr);
}

/* ---- the waiting side: connected, or one for datagrams ---- */

/* As it has been made, or reset. */
static bool ready_for_datagrams(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) != 0)
		return false;
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE) != 0)
		return false;
	attr.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0;
}

static struct ibv_qp *new_for_datagrams(struct bench *b)
{
	struct ibv_qp_init_attr init = { .send_cq = b->lab.a.send_cq,
		                             .recv_cq = b->lab.a.recv_cq,
		                             .cap = { .max_send_wr = 1, .max_send_sge = 1 },
		                             .qp_type = IBV_QPT_UD };
	struct ibv_ah_attr to = { .dlid = b->lab.lid, .port_num = 1, .is_global = b->lab.gid_index >= 0 };
	struct ibv_qp *qp = ibv_create_qp(b->lab.a.pd, &init);

	if (to.is_global)
		to.grh = (struct ibv_global_route){ .dgid = b->lab.gid, .sgid_index = (uint8_t)b->lab.gid_index };
	b->ah = ibv_create_ah(b->lab.a.pd, &to);
	return qp && b->ah && ready_for_datagrams(qp) ? qp : NULL;
}

/* To the peer's queue pair for it, which takes no datagrams: they get lost there. */
static int send_from_waiter(struct bench *b, int i)
{
	struct ibv_sge sge = { (uintptr_t)b->lab.a.buffer, LENGTH, b->lab.a.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = WAITER_ID,
		                      .sg_list = &sge,
		                      .num_sge = 1,
		                      .opcode = IBV_WR_SEND,
		                      .send_flags = IBV_SEND_SIGNALED,
		                      .wr.ud = { .ah = b->ah, .remote_qpn = b->peer[i].card.qpn[WAITER] } };

	if (!b->ah && !join(&b->lab, &b->options, b->waiter, b->peer[i].card.qpn[WAITER]))
		return -1;
	return lab_post(b->waiter, &wr);
}

static bool reset_waiter(struct bench *b)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	if (ibv_modify_qp(b->waiter, &reset, IBV_QP_STATE) != 0)
		return false;
	return b->ah ? ready_for_datagrams(b->waiter) : lab_init(&b->lab, b->waiter, ALL) == 0;
}

/* ---- setting up ---- */

/* The peer stops, and then there is no room for any more to it. */
static bool stop_and_crowd(struct bench *b, int i)
{
	int status;

	if (write(b->peer[i].out, "s", 1) != 1 || waitpid(b->peer[i].child, &status, WUNTRACED) != b->peer[i].child ||
	    !WIFSTOPPED(status))
		return false;
	for (int n = 1; n <= CROWD; n++)
		if (send_one(b, b->crowder[i], CROWD_ID + (uint64_t)i, n == CROWD ? IBV_SEND_SIGNALED : 0) != 0)
			return false;
	return true;
}

/* Both peers are stopped; the waiter has posted to the first one, and waits. */
static enum lab_verdict set_up(struct bench *b, enum ibv_qp_type type)
{
	b->ah = NULL;
	b->options = (struct lab_options){ .type = type == IBV_QPT_UD ? IBV_QPT_RC : type, .depth = DEPTH };
	for (int i = 0; i < PEERS; i++)
		CHECK(start_peer(&b->peer[i], &b->options));
	lab_setup(&b->lab, NULL);
	b->waiter = type == IBV_QPT_UD ? new_for_datagrams(b) : new_qp(&b->lab, &b->options);
	b->other = new_qp(&b->lab, &b->options);
	CHECK(b->waiter && b->other);
	for (int i = 0; i < PEERS; i++) {
		b->crowder[i] = new_qp(&b->lab, &b->options);
		CHECK(b->crowder[i] && meet(b, i) && stop_and_crowd(b, i));
	}
	CHECK(send_from_waiter(b, 0) == 0);
	return LAB_PASSED;
}

static bool goes_on(struct bench *b, int i)
{
	return kill(b->peer[i].child, SIGCONT) == 0;
}

/* Both of these are done, in any order, and nothing else is. */
static bool done(struct bench *b, uint64_t one, uint64_t other)
{
	struct ibv_wc first = lab_wait(b->lab.a.send_cq), second = lab_wait(b->lab.a.send_cq), wc;

	return first.status == IBV_WC_SUCCESS && second.status == IBV_WC_SUCCESS &&
	       ((first.wr_id == one && second.wr_id == other) || (first.wr_id == other && second.wr_id == one)) &&
	       ibv_poll_cq(b->lab.a.send_cq, 1, &wc) == 0;
}

static bool done_one(struct bench *b, uint64_t one)
{
	struct ibv_wc first = lab_wait(b->lab.a.send_cq), wc;

	return first.status == IBV_WC_SUCCESS && first.wr_id == one && ibv_poll_cq(b->lab.a.send_cq, 1, &wc) == 0;
}

static bool has_received(struct bench *b, int i, uint32_t waiter, uint32_t other)
{
	const uint32_t expected[QPS] = { CROWD, waiter, other };
	int status;

	return write(b->peer[i].out, expected, sizeof(expected)) == sizeof(expected) &&
	       waitpid(b->peer[i].child, &status, 0) == b->peer[i].child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- cases ---- */

/* The waiter waits for the second peer now. */
static enum lab_verdict turn_to_second(struct bench *b, enum ibv_qp_type type)
{
	CHECK(set_up(b, type) == LAB_PASSED);
	CHECK(reset_waiter(b) && send_from_waiter(b, 1) == 0);
	return LAB_PASSED;
}

/* Nothing but the second peer is needed for what goes there. */
static enum lab_verdict second_goes_on_first(enum ibv_qp_type type)
{
	struct bench b;

	CHECK(turn_to_second(&b, type) == LAB_PASSED);
	CHECK(goes_on(&b, 1) && done(&b, CROWD_ID + 1, WAITER_ID));
	CHECK(goes_on(&b, 0) && done_one(&b, CROWD_ID));
	CHECK(has_received(&b, 0, 0, 0) && has_received(&b, 1, !b.ah, 0));
	return LAB_PASSED;
}

static enum lab_verdict room__reset_and_connected_elsewhere(void)
{
	return second_goes_on_first(IBV_QPT_RC);
}

static enum lab_verdict room__reset_and_connected_elsewhere_uc(void)
{
	return second_goes_on_first(IBV_QPT_UC);
}

/* A datagram waits for a second, and is then lost, and done all the same. */
static enum lab_verdict room__reset_and_sent_elsewhere_ud(void)
{
	return second_goes_on_first(IBV_QPT_UD);
}

/* That there is room at the first peer again is nothing to the waiter any more. */
static enum lab_verdict room__first_peer_is_forgotten(void)
{
	struct bench b;

	CHECK(turn_to_second(&b, IBV_QPT_RC) == LAB_PASSED);
	CHECK(goes_on(&b, 0) && done_one(&b, CROWD_ID));
	CHECK(goes_on(&b, 1) && done(&b, CROWD_ID + 1, WAITER_ID));
	CHECK(has_received(&b, 0, 0, 0) && has_received(&b, 1, 1, 0));
	return LAB_PASSED;
}

/*
 * A request that waits behind a destroyed one gets its turn; what is made then, maybe in its place,
 * waits for nothing.
 */
static enum lab_verdict destroyed_among_others(enum ibv_qp_type type)
{
	struct ibv_qp *made;
	struct bench b;

	CHECK(set_up(&b, type) == LAB_PASSED);
	CHECK(join(&b.lab, &b.options, b.other, b.peer[0].card.qpn[OTHER]));
	CHECK(send_one(&b, b.other, OTHER_ID, IBV_SEND_SIGNALED) == 0);
	CHECK(ibv_destroy_qp(b.waiter) == 0);
	made = new_qp(&b.lab, &b.options);
	CHECK(made && goes_on(&b, 0) && done(&b, CROWD_ID, OTHER_ID));
	CHECK(goes_on(&b, 1) && done_one(&b, CROWD_ID + 1));
	CHECK(has_received(&b, 0, 0, 1) && has_received(&b, 1, 0, 0));
	return LAB_PASSED;
}

static enum lab_verdict room__destroyed_among_others(void)
{
	return destroyed_among_others(IBV_QPT_RC);
}

static enum lab_verdict room__destroyed_among_others_uc(void)
{
	return destroyed_among_others(IBV_QPT_UC);
}

static enum lab_verdict room__destroyed_among_others_ud(void)
{
	return destroyed_among_others(IBV_QPT_UD);
}

static const struct lab_case cases[] = {
	{ "room: reset, and connected elsewhere", room__reset_and_connected_elsewhere, "lib/soft/verbs/qp.c" },
	{ "room: uc, reset, and connected elsewhere", room__reset_and_connected_elsewhere_uc, "lib/soft/verbs/qp.c" },
	{ "room: ud, reset, and sent elsewhere", room__reset_and_sent_elsewhere_ud, "lib/soft/request/datagram.c" },
	{ "room: first peer is forgotten", room__first_peer_is_forgotten, "lib/soft/verbs/qp.c" },
	{ "room: destroyed among others", room__destroyed_among_others, "lib/soft/verbs/qp.c" },
	{ "room: uc, destroyed among others", room__destroyed_among_others_uc, "lib/soft/verbs/qp.c" },
	{ "room: ud, destroyed among others", room__destroyed_among_others_ud, "lib/soft/request/datagram.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
