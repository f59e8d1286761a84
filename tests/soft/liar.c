// SPDX-License-Identifier: BSD-2-Clause
/*
 * A peer that answers what it was not asked. It is stopped, and this process itself writes the
 * answers into the memory that it has in common with the peer. A request that got a wrong one
 * fails, and the queue pair with it; nothing else is done by it, and nothing waits for ever.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../lib/soft/state/shm.h"
#include "lab.h"
#include "two.h"

enum {
	SENDS = 2,
	LENGTH = 8,
	IN_CHUNK = 1024, /* too long to be beside the request */
};

struct liar {
	struct two two;
	struct shm_pipe *pipe; /* to the peer */
	uint64_t answers;
};

static int owner(struct two *two, int argument)
{
	(void)argument;
	lab_setup(&two->lab, NULL);
	if (!meet(two, two->lab.a.mr))
		return 1;
	raise(SIGSTOP);
	return 1;
}

/* The pipe in whose first place is a request of this queue pair. */
static struct shm_pipe *find_pipe(uint32_t qpn)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct shm_pipe *found = NULL;
	char line[512];

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		struct shm_pipe *pipe = (struct shm_pipe *)strtoull(line, NULL, 16);

		if (strstr(line, "softverbs-pipe") && shm_req_is_there(&pipe->req[0], 1) && pipe->req[0].src_qpn == qpn)
			found = pipe;
	}
	if (maps)
		fclose(maps);
	return found;
}

/* So many requests are under way to a peer that is stopped. */
static enum lab_verdict set_up_with(struct liar *liar, int (*peer)(struct two *two, int argument),
                                    enum ibv_wr_opcode opcode, int count, uint32_t length)
{
	int status;

	CHECK(start_two(&liar->two, peer, 0) == LAB_PASSED);
	CHECK(waitpid(liar->two.child, &status, WUNTRACED) == liar->two.child && WIFSTOPPED(status));
	for (int i = 0; i < count; i++)
		CHECK(post(&liar->two, opcode, length) == 0);
	liar->pipe = find_pipe(liar->two.lab.a.qp->qp_num);
	liar->answers = 0;
	return liar->pipe ? LAB_PASSED : LAB_UNSUPPORTED;
}

static enum lab_verdict set_up(struct liar *liar, int sends)
{
	return set_up_with(liar, owner, IBV_WR_SEND, sends, LENGTH);
}

/* The next answer, as if it were to the request at this place. */
static void answer(struct liar *liar, uint32_t request, enum shm_status status, uint32_t flags, uint32_t length)
{
	const struct shm_req *req = &liar->pipe->req[request];
	struct shm_resp *resp = &liar->pipe->resp[liar->answers];

	resp->status = status;
	resp->qp_index = req->qp_index;
	resp->wqe = req->wqe;
	resp->rnr_timer = 1;
	resp->length = length;
	resp->flags = flags;
	resp->epoch = req->epoch;
	shm_resp_publish(resp, ++liar->answers);
}

/* The first request fails, the other ones are flushed, and that is all. */
static enum lab_verdict is_caught(struct liar *liar, int sends)
{
	struct ibv_cq *cq = liar->two.lab.a.send_cq;
	struct ibv_wc wc;

	CHECK(lab_wait(cq).status == IBV_WC_BAD_RESP_ERR);
	for (int i = 1; i < sends; i++)
		CHECK(lab_wait(cq).status == IBV_WC_WR_FLUSH_ERR);
	CHECK(ibv_poll_cq(cq, 1, &wc) == 0 && lab_state(liar->two.lab.a.qp) == IBV_QPS_ERR);
	CHECK(ibv_destroy_qp(liar->two.lab.a.qp) == 0);
	CHECK(kill(liar->two.child, SIGKILL) == 0);
	return LAB_PASSED;
}

static enum lab_verdict one_lie(enum shm_status status, uint32_t flags, uint32_t length, int sends)
{
	struct liar liar;
	enum lab_verdict verdict = set_up(&liar, sends);

	if (verdict != LAB_PASSED)
		return verdict;
	answer(&liar, 0, status, flags, length);
	return is_caught(&liar, sends);
}

static enum lab_verdict liar__sends_are_not_coalesced(void)
{
	return one_lie(SHM_ACK, SHM_REQ_FIRST | SHM_REQ_LAST | SHM_REQ_COALESCED, SENDS, SENDS);
}

/* There is none left that could be refused. */
static enum lab_verdict liar__all_done_and_one_refused(void)
{
	return one_lie(SHM_NAK_ACCESS, SHM_REQ_FIRST | SHM_REQ_LAST | SHM_REQ_COALESCED, 1, 1);
}

static enum lab_verdict liar__last_part_is_not_told(void)
{
	return one_lie(SHM_ACK, SHM_REQ_FIRST, 0, 1);
}

static enum lab_verdict liar__no_synchronous_request(void)
{
	return one_lie(SHM_ACK, SHM_REQ_FIRST | SHM_REQ_LAST | SHM_REQ_SYNCHRONOUS, 0, 1);
}

/* The first request was refused, so it is not under way when it is answered once more. */
static enum lab_verdict liar__refused_and_done(void)
{
	struct liar liar;
	enum lab_verdict verdict = set_up(&liar, SENDS);

	if (verdict != LAB_PASSED)
		return verdict;
	answer(&liar, 0, SHM_NOT_READY, SHM_REQ_FIRST | SHM_REQ_LAST, 0);
	answer(&liar, 0, SHM_ACK, SHM_REQ_FIRST | SHM_REQ_LAST, 0);
	return is_caught(&liar, SENDS);
}

/* Both answers are to the first one. */
static enum lab_verdict liar__done_twice(void)
{
	struct ibv_cq *cq;
	struct liar liar;
	enum lab_verdict verdict = set_up(&liar, SENDS);

	if (verdict != LAB_PASSED)
		return verdict;
	cq = liar.two.lab.a.send_cq;
	answer(&liar, 0, SHM_ACK, SHM_REQ_FIRST | SHM_REQ_LAST, 0);
	answer(&liar, 0, SHM_ACK, SHM_REQ_FIRST | SHM_REQ_LAST, 0);
	CHECK(lab_wait(cq).status == IBV_WC_SUCCESS);
	return is_caught(&liar, 1);
}

/* Whatever chunk is named, some chunk of the pipe is taken. */
static enum lab_verdict liar__answers_chunk_is_beyond(void)
{
	struct liar liar;
	enum lab_verdict verdict;

	CHECK(forbid_calls()); /* else no read is the peer's to do */
	verdict = set_up_with(&liar, owner, IBV_WR_RDMA_READ, 1, LENGTH);
	if (verdict != LAB_PASSED)
		return verdict;
	liar.pipe->resp[0].chunk = UINT32_MAX;
	answer(&liar, 0, SHM_ACK, SHM_REQ_FIRST | SHM_REQ_LAST, LENGTH);
	CHECK(lab_wait(liar.two.lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(kill(liar.two.child, SIGKILL) == 0);
	return LAB_PASSED;
}

static int receiver(struct two *two, int argument)
{
	(void)argument;
	lab_setup(&two->lab, NULL);
	if (!meet(two, two->lab.a.mr) || lab_recv(&two->lab.a, 0, 0, IN_CHUNK) != 0)
		return 1;
	raise(SIGSTOP);
	return lab_wait(two->lab.a.recv_cq).status != IBV_WC_SUCCESS || !hear(two);
}

static enum lab_verdict liar__requests_chunk_is_beyond(void)
{
	struct liar liar;
	enum lab_verdict verdict = set_up_with(&liar, receiver, IBV_WR_SEND, 1, IN_CHUNK);

	if (verdict != LAB_PASSED)
		return verdict;
	liar.pipe->req[0].chunk = UINT32_MAX;
	CHECK(kill(liar.two.child, SIGCONT) == 0);
	CHECK(lab_wait(liar.two.lab.a.send_cq).status == IBV_WC_SUCCESS);
	return finish(&liar.two);
}

/*
 * No lie: a peer that was reset and connected anew drops what does not start over. So that is done,
 * as for one that is not connected yet.
 */
static enum lab_verdict liar__dropped_is_sent_again(void)
{
	struct ibv_wc wc;
	struct liar liar;
	enum lab_verdict verdict = set_up(&liar, 1);

	if (verdict != LAB_PASSED)
		return verdict;
	answer(&liar, 0, SHM_DROPPED, SHM_REQ_FIRST | SHM_REQ_LAST, 0);
	while (!shm_req_is_there(&liar.pipe->req[1], 2))
		CHECK(ibv_poll_cq(liar.two.lab.a.send_cq, 1, &wc) == 0);
	CHECK(liar.pipe->req[1].flags & SHM_REQ_RESYNC);
	answer(&liar, 1, SHM_ACK, SHM_REQ_FIRST | SHM_REQ_LAST, 0);
	CHECK(lab_wait(liar.two.lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(kill(liar.two.child, SIGKILL) == 0);
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "liar: sends are not coalesced", liar__sends_are_not_coalesced, "lib/soft/request/answer.c" },
	{ "liar: all done and one refused", liar__all_done_and_one_refused, "lib/soft/request/answer.c" },
	{ "liar: last part is not told", liar__last_part_is_not_told, "lib/soft/request/answer.c" },
	{ "liar: no synchronous request", liar__no_synchronous_request, "lib/soft/request/answer.c" },
	{ "liar: refused and done", liar__refused_and_done, "lib/soft/request/answer.c" },
	{ "liar: done twice", liar__done_twice, "lib/soft/request/answer.c" },
	{ "liar: answer's chunk is beyond", liar__answers_chunk_is_beyond, "lib/soft/request/answer.c" },
	{ "liar: request's chunk is beyond", liar__requests_chunk_is_beyond, "lib/soft/request/responder.c" },
	{ "liar: dropped is sent again", liar__dropped_is_sent_again, "lib/soft/request/answer.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
