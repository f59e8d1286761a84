// SPDX-License-Identifier: BSD-2-Clause
/* Conformance of unreliable datagrams: what arrives, and processes that do not listen. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "datagrams.h"

/* ---- what arrives ---- */

static enum lab_verdict send_once(uint32_t length, unsigned int flags)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(lab_recv(&lab->b, 42, 0, 8192) == 0);
	CHECK(send_to(&bench, lab->b.qp->qp_num, QKEY, 0, length, flags | IBV_SEND_SIGNALED) == 0);
	if (flags & IBV_SEND_INLINE)
		memset(lab->a.buffer, 'x', length);
	wc = lab_wait(lab->a.send_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_SEND && wc.qp_num == lab->a.qp->qp_num);
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, 42, length) && !(wc.wc_flags & IBV_WC_WITH_IMM));
	CHECK(wc.qp_num == lab->b.qp->qp_num && wc.src_qp == lab->a.qp->qp_num && wc.slid == lab->lid);
	CHECK(length == 0 || (lab->b.buffer[GRH] == 'a' && lab->b.buffer[GRH + length - 1] == 'a'));
	CHECK(lab->b.buffer[GRH + length] == 'b');
	return LAB_PASSED;
}

static enum lab_verdict ud__send_nothing(void)
{
	return send_once(0, 0);
}

static enum lab_verdict ud__send_small(void)
{
	return send_once(100, 0);
}

static enum lab_verdict ud__send_medium(void)
{
	return send_once(1000, 0);
}

static enum lab_verdict ud__inline_is_copied_at_once(void)
{
	return send_once(LAB_INLINE, IBV_SEND_INLINE);
}

static enum lab_verdict ud__as_long_as_the_mtu(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(lab_recv(&bench.lab.b, 1, 0, 8192) == 0);
	CHECK(send_b(&bench, 0, bench.mtu) == 0 && sent(&bench));
	wc = lab_wait(bench.lab.b.recv_cq);
	CHECK(arrived(&wc, 1, bench.mtu));
	CHECK(bench.lab.b.buffer[GRH + bench.mtu - 1] == 'a' && bench.lab.b.buffer[GRH + bench.mtu] == 'b');
	return LAB_PASSED;
}

static enum lab_verdict ud__immediate(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_IMM, .send_flags = IBV_SEND_SIGNALED, .imm_data = 0x12345678 };
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	wr.wr.ud.ah = bench.ah;
	wr.wr.ud.remote_qpn = bench.lab.b.qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	CHECK(lab_recv(&bench.lab.b, 1, 0, 256) == 0);
	CHECK(lab_post(bench.lab.a.qp, &wr) == 0 && sent(&bench));
	wc = lab_wait(bench.lab.b.recv_cq);
	CHECK(arrived(&wc, 1, 0) && wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == 0x12345678);
	return LAB_PASSED;
}

static enum lab_verdict ud__gather_and_scatter(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;
	struct ibv_sge from[2], to[3];
	struct ibv_send_wr wr = { .sg_list = from, .num_sge = 2, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_recv_wr *bad, recv = { .sg_list = to, .num_sge = 3 };

	if (verdict != LAB_PASSED)
		return verdict;
	memcpy(lab->a.buffer, "0123456789", 10);
	from[0] = (struct ibv_sge){ (uintptr_t)lab->a.buffer, 3, lab->a.mr->lkey };
	from[1] = (struct ibv_sge){ (uintptr_t)lab->a.buffer + 8, 2, lab->a.mr->lkey };
	/* The header is not in the way of ranges. */
	to[0] = (struct ibv_sge){ (uintptr_t)lab->b.buffer, GRH - 10, lab->b.mr->lkey };
	to[1] = (struct ibv_sge){ (uintptr_t)lab->b.buffer + 100, 10 + 2, lab->b.mr->lkey };
	to[2] = (struct ibv_sge){ (uintptr_t)lab->b.buffer + 200, 10, lab->b.mr->lkey };
	wr.wr.ud.ah = bench.ah;
	wr.wr.ud.remote_qpn = lab->b.qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	CHECK(ibv_post_recv(lab->b.qp, &recv, &bad) == 0);
	CHECK(lab_post(lab->a.qp, &wr) == 0 && sent(&bench));
	CHECK(lab_wait(lab->b.recv_cq).byte_len == GRH + 5);
	CHECK(memcmp(lab->b.buffer + 110, "01b", 3) == 0 && memcmp(lab->b.buffer + 200, "289b", 4) == 0);
	return LAB_PASSED;
}

/* Which of the two forms a global header has: IPv6's, of which IBA's is one, or IPv4's in its last bytes. */
static bool header_is_right(const struct bench *bench, const uint8_t *header)
{
	const struct ibv_grh *grh = (const struct ibv_grh *)(const void *)header;
	const union ibv_gid *gid = &bench->lab.gid;

	if (header[IP_UDP_FIRST] == 0x45 && header[0] >> 4 != 6)
		return memcmp(header + IP_UDP_FIRST + 12, gid->raw + 12, 4) == 0 &&
		       memcmp(header + IP_UDP_FIRST + 16, gid->raw + 12, 4) == 0;
	return header[0] >> 4 == 6 && memcmp(&grh->sgid, gid, sizeof(*gid)) == 0 &&
	       memcmp(&grh->dgid, gid, sizeof(*gid)) == 0;
}

static enum lab_verdict ud__header_in_front(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up_with(&bench, &(struct options){ .global = true });
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(lab_recv(&bench.lab.b, 1, 0, 256) == 0);
	CHECK(send_b(&bench, 0, 8) == 0 && sent(&bench));
	wc = lab_wait(bench.lab.b.recv_cq);
	CHECK(arrived(&wc, 1, 8) && wc.wc_flags & IBV_WC_GRH);
	CHECK(header_is_right(&bench, bench.lab.b.buffer));
	return LAB_PASSED;
}

/* b answers to where the completion says that the datagram came from. */
static enum lab_verdict answer(bool global)
{
	struct bench bench;
	enum lab_verdict verdict = set_up_with(&bench, &(struct options){ .global = global });
	struct lab *lab = &bench.lab;
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(lab_recv(&lab->b, 1, 0, 256) == 0 && lab_recv(&lab->a, 2, 1024, 256) == 0);
	CHECK(send_b(&bench, 0, 8) == 0 && sent(&bench));
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, 1, 8));
	sge = (struct ibv_sge){ (uintptr_t)lab->b.buffer + 2048, 9, lab->b.mr->lkey };
	wr.wr.ud.ah = ibv_create_ah_from_wc(lab->b.pd, &wc, (struct ibv_grh *)(void *)lab->b.buffer, 1);
	CHECK(wr.wr.ud.ah != NULL);
	wr.wr.ud.remote_qpn = wc.src_qp;
	wr.wr.ud.remote_qkey = QKEY;
	CHECK(lab_post(lab->b.qp, &wr) == 0);
	CHECK(lab_wait(lab->b.send_cq).status == IBV_WC_SUCCESS);
	wc = lab_wait(lab->a.recv_cq);
	CHECK(arrived(&wc, 2, 9) && wc.src_qp == lab->b.qp->qp_num);
	CHECK(ibv_destroy_ah(wr.wr.ud.ah) == 0);
	return LAB_PASSED;
}

static enum lab_verdict ud__answer(void)
{
	return answer(false);
}

static enum lab_verdict ud__answer_by_header(void)
{
	return answer(true);
}

static enum lab_verdict ud__completions_in_order(void)
{
	enum { ROUNDS = 40, N = LAB_DEPTH };
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;

	if (verdict != LAB_PASSED)
		return verdict;
	for (int round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < N; i++) {
			memcpy(lab->a.buffer + 64 * i, &i, sizeof(i));
			CHECK(lab_recv(&lab->b, i, 256 * i, 256) == 0);
		}
		for (uint32_t i = 0; i < N; i++)
			CHECK(send_b(&bench, 64 * i, 64) == 0);
		for (uint32_t i = 0; i < N; i++)
			CHECK(lab_wait(lab->a.send_cq).wr_id == 64 * i);
		for (uint32_t i = 0; i < N; i++) {
			struct ibv_wc wc = lab_wait(lab->b.recv_cq);

			CHECK(arrived(&wc, i, 64) && memcmp(lab->b.buffer + 256 * i + GRH, &i, sizeof(i)) == 0);
		}
	}
	return LAB_PASSED;
}

static enum lab_verdict ud__unsignalled_make_no_completion(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	for (int i = 0; i < 5; i++)
		CHECK(send_to(&bench, bench.lab.b.qp->qp_num, QKEY, 0, 8, 0) == 0);
	CHECK(send_b(&bench, 77, 8) == 0);
	CHECK(lab_wait(bench.lab.a.send_cq).wr_id == 77);
	CHECK(ibv_poll_cq(bench.lab.a.send_cq, 1, &wc) == 0);
	return LAB_PASSED;
}

static enum lab_verdict ud__to_itself(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(lab_recv(&lab->a, 1, 4096, 256) == 0);
	CHECK(send_to(&bench, lab->a.qp->qp_num, QKEY, 0, 8, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	wc = lab_wait(lab->a.recv_cq);
	CHECK(arrived(&wc, 1, 8) && wc.src_qp == lab->a.qp->qp_num);
	return LAB_PASSED;
}

static enum lab_verdict ud__many_to_one(void)
{
	enum { SENDERS = 4 };
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;

	if (verdict != LAB_PASSED)
		return verdict;
	for (int i = 0; i < SENDERS; i++) {
		struct ibv_wc wc;

		lab->a.qp = ready_qp(&lab->a, 0);
		CHECK(lab->a.qp && lab_recv(&lab->b, 1, 0, 256) == 0);
		CHECK(send_b(&bench, 0, 8) == 0 && sent(&bench));
		wc = lab_wait(lab->b.recv_cq);
		CHECK(arrived(&wc, 1, 8) && wc.src_qp == lab->a.qp->qp_num);
	}
	return LAB_PASSED;
}

static enum lab_verdict ud__shared_queue(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up_with(&bench, &(struct options){ .srq = true });
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(two_receives(&bench) == 0);
	CHECK(send_b(&bench, 0, 100) == 0 && sent(&bench));
	wc = lab_wait(bench.lab.b.recv_cq);
	CHECK(arrived(&wc, 1, 100) && wc.src_qp == bench.lab.a.qp->qp_num && bench.lab.b.buffer[GRH] == 'a');
	return LAB_PASSED;
}

static enum lab_verdict ud__solicited_only(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);
	struct lab *lab = &bench.lab;
	struct pollfd ready;

	if (verdict != LAB_PASSED)
		return verdict;
	ready = (struct pollfd){ .fd = lab->channel->fd, .events = POLLIN };
	CHECK(two_receives(&bench) == 0 && ibv_req_notify_cq(lab->b.recv_cq, 1) == 0);
	CHECK(send_b(&bench, 0, 8) == 0 && sent(&bench));
	CHECK(poll(&ready, 1, 50) == 0);
	CHECK(send_to(&bench, lab->b.qp->qp_num, QKEY, 0, 8, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED) == 0);
	CHECK(poll(&ready, 1, 10000) == 1);
	return LAB_PASSED;
}

static enum lab_verdict ud__extended_work_requests(void)
{
	struct bench bench;
	enum lab_verdict verdict =
		set_up_with(&bench, &(struct options){ .send_ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM });
	struct lab *lab = &bench.lab;
	struct ibv_qp_ex *ex;
	struct ibv_wc wc;

	if (verdict != LAB_PASSED)
		return verdict;
	ex = ibv_qp_to_qp_ex(lab->a.qp);
	CHECK(ex && two_receives(&bench) == 0);
	ibv_wr_start(ex);
	ex->wr_id = 5;
	ex->wr_flags = 0;
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, bench.ah, lab->b.qp->qp_num, QKEY);
	ibv_wr_set_sge(ex, lab->a.mr->lkey, (uintptr_t)lab->a.buffer, 12);
	ex->wr_id = 6;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_imm(ex, 99);
	ibv_wr_set_ud_addr(ex, bench.ah, lab->b.qp->qp_num, QKEY);
	ibv_wr_set_sge(ex, lab->a.mr->lkey, (uintptr_t)lab->a.buffer, 20);
	CHECK(ibv_wr_complete(ex) == 0);
	wc = lab_wait(lab->a.send_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == 6);
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, 1, 12));
	wc = lab_wait(lab->b.recv_cq);
	CHECK(arrived(&wc, 2, 20) && wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == 99);
	return LAB_PASSED;
}

static enum lab_verdict ud__extended_needs_a_kind_it_has(void)
{
	struct bench bench;
	enum lab_verdict verdict = set_up(&bench);

	if (verdict != LAB_PASSED)
		return verdict;
	errno = 0;
	CHECK(!new_qp(&bench.lab.a, IBV_QP_EX_WITH_RDMA_READ) && errno == EOPNOTSUPP);
	return LAB_PASSED;
}

/* ---- two processes ---- */

/* The other process: a receiver that says its number, and then does what single letters request. */
struct other {
	pid_t pid;
	int in, out;
	uint32_t qpn;
};

/* 'r': wait for a datagram, and say its length; 'e': wait for it in the channel first. */
static void serve(int in, int out)
{
	struct bench bench;
	char order;

	if (set_up(&bench) != LAB_PASSED || ibv_req_notify_cq(bench.lab.b.recv_cq, 0) != 0)
		_exit(1);
	for (uint64_t i = 0; i < LAB_DEPTH; i++)
		if (lab_recv(&bench.lab.b, i, 2048 * i, 2048) != 0)
			_exit(1);
	if (write(out, &bench.lab.b.qp->qp_num, sizeof(uint32_t)) != sizeof(uint32_t))
		_exit(1);
	while (read(in, &order, 1) == 1) {
		struct pollfd ready = { .fd = bench.lab.channel->fd, .events = POLLIN };
		uint32_t length = 0;

		if (order == 'r' || poll(&ready, 1, 20000) == 1)
			length = lab_wait(bench.lab.b.recv_cq).byte_len;
		if (write(out, &length, sizeof(length)) != sizeof(length))
			_exit(1);
	}
	_exit(0);
}

static bool start_other(struct other *other)
{
	int to[2], from[2];

	if (pipe(to) != 0 || pipe(from) != 0)
		return false;
	other->pid = fork();
	if (other->pid == 0) {
		close(to[1]);
		close(from[0]);
		serve(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	other->in = from[0];
	other->out = to[1];
	return other->pid > 0 && read(other->in, &other->qpn, sizeof(other->qpn)) == sizeof(other->qpn);
}

/* The length of what the other one has got; 0: nothing. */
static uint32_t ask(const struct other *other, char order)
{
	uint32_t length = 0;

	return write(other->out, &order, 1) == 1 && read(other->in, &length, sizeof(length)) == sizeof(length) ? length : 0;
}

static bool end_other(const struct other *other)
{
	int status;

	close(other->out);
	return waitpid(other->pid, &status, 0) == other->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static enum lab_verdict ud__between_processes(void)
{
	struct bench bench;
	struct other other;
	enum lab_verdict verdict;

	CHECK(start_other(&other));
	verdict = set_up(&bench);
	if (verdict != LAB_PASSED)
		return verdict;
	for (uint32_t i = 0; i < LAB_DEPTH; i++)
		CHECK(send_to(&bench, other.qpn, QKEY, 0, 100 + i, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	for (uint32_t i = 0; i < LAB_DEPTH; i++)
		CHECK(ask(&other, 'r') == GRH + 100 + i);
	CHECK(end_other(&other));
	return LAB_PASSED;
}

static _Atomic bool begun, enough;

/* Send to its own queue pair, again and again. */
static void *send_to_itself(void *arg)
{
	struct bench *bench = arg;
	bool went;

	do {
		went = send_to(bench, bench->lab.a.qp->qp_num, QKEY, 0, 8, IBV_SEND_SIGNALED) == 0 && sent(bench);
		begun = true;
	} while (went && !enough);
	return went ? bench : NULL;
}

/* The first one to a process takes longer, and another thread sends by the same queue meanwhile. */
static enum lab_verdict ud__first_of_many(void)
{
	enum { ROUNDS = 20 };
	struct other other[ROUNDS];
	struct bench bench;
	enum lab_verdict verdict;
	pthread_t thread;
	void *went_on;

	for (int i = 0; i < ROUNDS; i++)
		CHECK(start_other(&other[i]));
	verdict = set_up(&bench);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(pthread_create(&thread, NULL, send_to_itself, &bench) == 0);
	while (!begun)
		sched_yield();
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(send_to(&bench, other[i].qpn, QKEY, 0, 100, 0) == 0);
		CHECK(ask(&other[i], 'r') == GRH + 100);
	}
	enough = true;
	CHECK(pthread_join(thread, &went_on) == 0 && went_on);
	/* The later ones hold the pipes of the earlier ones too. */
	for (int i = ROUNDS; i > 0; i--)
		CHECK(end_other(&other[i - 1]));
	return LAB_PASSED;
}

static enum lab_verdict ud__without_polls(void)
{
	struct bench bench;
	struct other other;
	enum lab_verdict verdict;

	CHECK(start_other(&other));
	verdict = set_up(&bench);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(send_to(&bench, other.qpn, QKEY, 0, 100, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	CHECK(ask(&other, 'e') == GRH + 100);
	CHECK(end_other(&other));
	return LAB_PASSED;
}

static enum lab_verdict ud__dead_process(void)
{
	enum { DATAGRAMS = 500 };
	struct bench bench;
	struct other other;
	enum lab_verdict verdict;

	CHECK(start_other(&other));
	verdict = set_up(&bench);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(send_to(&bench, other.qpn, QKEY, 0, 100, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	CHECK(kill(other.pid, SIGKILL) == 0);
	for (int i = 0; i < DATAGRAMS; i++) {
		if (i == DATAGRAMS / 2)
			CHECK(waitpid(other.pid, NULL, 0) == other.pid);
		CHECK(send_to(&bench, other.qpn, QKEY, 0, 100, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	}
	CHECK(two_receives(&bench) == 0);
	CHECK(send_to(&bench, other.qpn, QKEY, 0, 100, IBV_SEND_SIGNALED) == 0);
	return only_the_next_arrives(&bench);
}

static bool stop(const struct other *other)
{
	return kill(other->pid, SIGSTOP) == 0 && waitpid(other->pid, NULL, WUNTRACED) == other->pid;
}

/* More than any queue on the way holds. */
static enum lab_verdict ud__stopped_process(void)
{
	enum { DATAGRAMS = 500 };
	struct bench bench;
	struct other other;
	enum lab_verdict verdict;

	CHECK(start_other(&other));
	verdict = set_up(&bench);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(send_to(&bench, other.qpn, QKEY, 0, 99, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	CHECK(ask(&other, 'r') == GRH + 99 && stop(&other));
	for (int i = 0; i < DATAGRAMS; i++)
		CHECK(send_to(&bench, other.qpn, QKEY, 0, 100, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	CHECK(two_receives(&bench) == 0);
	CHECK(send_to(&bench, other.qpn, QKEY, 0, 100, IBV_SEND_SIGNALED) == 0);
	verdict = only_the_next_arrives(&bench);
	CHECK(kill(other.pid, SIGCONT) == 0);
	CHECK(ask(&other, 'r') == GRH + 100);
	CHECK(end_other(&other));
	return verdict;
}

/*
 * Nothing was said between the two before. Whether the first datagrams arrive is not promised;
 * later ones do.
 */
static enum lab_verdict ud__stopped_before_the_first(void)
{
	enum { DATAGRAMS = 50 };
	struct pollfd ready;
	struct bench bench;
	struct other other;
	enum lab_verdict verdict;

	CHECK(start_other(&other) && stop(&other));
	verdict = set_up(&bench);
	if (verdict != LAB_PASSED)
		return verdict;
	for (int i = 0; i < DATAGRAMS; i++)
		CHECK(send_to(&bench, other.qpn, QKEY, 0, 100, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	CHECK(kill(other.pid, SIGCONT) == 0 && write(other.out, "r", 1) == 1);
	ready = (struct pollfd){ .fd = other.in, .events = POLLIN };
	while (poll(&ready, 1, 10) == 0)
		CHECK(send_to(&bench, other.qpn, QKEY, 0, 100, IBV_SEND_SIGNALED) == 0 && sent(&bench));
	CHECK(end_other(&other));
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "ud: send nothing", ud__send_nothing, "ibv_post_send(3)" },
	{ "ud: send small", ud__send_small, "ibv_post_send(3)" },
	{ "ud: send medium", ud__send_medium, "ibv_post_send(3)" },
	{ "ud: inline is copied at once", ud__inline_is_copied_at_once, "ibv_post_send(3)" },
	{ "ud: as long as the MTU", ud__as_long_as_the_mtu, "ibv_post_send(3)" },
	{ "ud: immediate", ud__immediate, "ibv_post_send(3)" },
	{ "ud: gather and scatter", ud__gather_and_scatter, "ibv_post_recv(3)" },
	{ "ud: header in front", ud__header_in_front, "ibv_poll_cq(3)" },
	{ "ud: answer", ud__answer, "ibv_create_ah_from_wc(3)" },
	{ "ud: answer by header", ud__answer_by_header, "ibv_create_ah_from_wc(3)" },
	{ "ud: completions in order", ud__completions_in_order, "ibv_poll_cq(3)" },
	{ "ud: unsignalled make no completion", ud__unsignalled_make_no_completion, "ibv_create_qp(3)" },
	{ "ud: to itself", ud__to_itself, "ibv_post_send(3)" },
	{ "ud: many to one", ud__many_to_one, "ibv_post_send(3)" },
	{ "ud: shared queue", ud__shared_queue, "ibv_create_srq(3)" },
	{ "ud: solicited only", ud__solicited_only, "ibv_req_notify_cq(3)" },
	{ "ud: extended work requests", ud__extended_work_requests, "ibv_wr_post(3)" },
	{ "ud: extended needs a kind it has", ud__extended_needs_a_kind_it_has, "ibv_create_qp_ex(3)" },
	{ "ud: between processes", ud__between_processes, "ibv_post_send(3)" },
	{ "ud: first of many", ud__first_of_many, "ibv_post_send(3)" },
	{ "ud: without polls", ud__without_polls, "ibv_get_cq_event(3)" },
	{ "ud: dead process", ud__dead_process, "ibv_post_send(3)" },
	{ "ud: stopped process", ud__stopped_process, "ibv_post_send(3)" },
	{ "ud: stopped before the first", ud__stopped_before_the_first, "ibv_post_send(3)" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
