// SPDX-License-Identifier: BSD-2-Clause
/*
 * A peer's end, as a process sees it. A network device does not report it: what had arrived stays,
 * posted receives stay posted, and a send fails when no answer comes. Softverbs adds that the queue
 * pair is in error within a second.
 */
#include "lab.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	QUIET_MS = 450, /* for so long nothing may happen to the receives of the process that is left */
	ERROR_MS = 1000,
	AT_ONCE_MS = 250,
	LARGE = 30000, /* bytes: such a send is fetched from the sender's memory */
};

/* The peer: sends this many messages of this length and ends, or is killed without having sent. */
struct deed {
	int messages;
	uint32_t length;
	bool killed;
};

struct survivor {
	struct lab lab;
	struct ibv_qp *qp;
	int64_t told_ms; /* the peer was asked to die */
	int64_t died_ms;
};

static const struct lab_options defaults;

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* What one side tells the other over a pipe. */
struct card {
	uint32_t qpn, rkey;
	uint64_t addr;
};

static bool connect_to(struct lab *lab, struct ibv_qp *qp, int in, int out, struct card *theirs)
{
	struct card mine = { qp->qp_num, lab->a.mr->rkey, (uintptr_t)lab->a.buffer };
	char ready;

	return write(out, &mine, sizeof(mine)) == sizeof(mine) && read(in, theirs, sizeof(*theirs)) == sizeof(*theirs) &&
	       lab_init(lab, qp, IBV_ACCESS_REMOTE_WRITE) == 0 && lab_rtr(lab, qp, theirs->qpn, &defaults) == 0 &&
	       lab_rts(qp, &defaults) == 0 && write(out, "r", 1) == 1 && read(in, &ready, 1) == 1;
}

static int peer(const struct deed *deed, int in, int out)
{
	struct card theirs;
	struct lab lab;
	char go;

	lab_setup(&lab, NULL);
	lab.a.qp = lab_qp(&lab.a, &defaults);
	if (!lab.a.qp || !connect_to(&lab, lab.a.qp, in, out, &theirs) || read(in, &go, 1) != 1)
		return 1;
	for (int i = 0; i < deed->messages; i++)
		if (lab_rdma(&lab, IBV_WR_SEND, 0, 0, deed->length, IBV_SEND_SIGNALED) != 0 ||
		    lab_wait(lab.a.send_cq).status != IBV_WC_SUCCESS)
			return 1;
	if (deed->killed)
		raise(SIGKILL);
	return 0;
}

/* With `receives` posted, connect to a new process, and wait until it has ended. */
static enum lab_verdict survive(struct survivor *s, struct card *theirs, const struct deed *deed, int receives)
{
	int to[2], from[2], status;
	pid_t child;

	CHECK(pipe(to) == 0 && pipe(from) == 0);
	child = fork();
	if (child == 0)
		_exit(peer(deed, to[0], from[1]));
	CHECK(child > 0);
	lab_setup(&s->lab, NULL);
	s->lab.a.qp = s->qp = lab_qp(&s->lab.a, &defaults);
	CHECK(s->qp && connect_to(&s->lab, s->qp, from[0], to[1], theirs));
	for (int i = 0; i < receives; i++)
		CHECK(lab_recv(&s->lab.a, (uint64_t)i, 0, LARGE) == 0);
	s->told_ms = now_ms();
	CHECK(write(to[1], "g", 1) == 1);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(deed->killed ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
	s->died_ms = now_ms();
	return LAB_PASSED;
}

static enum lab_verdict what_arrived_stays(const struct deed *deed)
{
	struct survivor s;
	struct card theirs;
	struct ibv_wc wc;
	enum lab_verdict verdict = survive(&s, &theirs, deed, deed->messages + 2);

	if (verdict != LAB_PASSED)
		return verdict;
	for (int i = 0; i < deed->messages; i++) {
		wc = lab_wait(s.lab.a.recv_cq);
		CHECK(wc.status == IBV_WC_SUCCESS && wc.byte_len == deed->length);
	}
	/* Only later the two receives that will never be used. */
	CHECK(lab_wait(s.lab.a.recv_cq).status == IBV_WC_WR_FLUSH_ERR);
	CHECK(now_ms() - s.told_ms >= QUIET_MS && lab_state(s.qp) == IBV_QPS_ERR);
	return now_ms() - s.died_ms <= ERROR_MS ? LAB_PASSED : LAB_LATE;
}

static enum lab_verdict death__what_arrived_stays(void)
{
	return what_arrived_stays(&(struct deed){ .messages = 5, .length = 64 });
}

static enum lab_verdict death__what_was_fetched_stays(void)
{
	return what_arrived_stays(&(struct deed){ .messages = 3, .length = LARGE });
}

static enum lab_verdict death__killed_peer_is_in_error_within_a_second(void)
{
	return what_arrived_stays(&(struct deed){ .killed = true });
}

/*
 * A request that is posted after the death: no answer comes, and nothing is placed in what is left
 * of the peer.
 */
static enum lab_verdict new_request(enum ibv_wr_opcode op, unsigned int flags)
{
	struct survivor s;
	struct card theirs;
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .wr_id = 3, .sg_list = &sge, .num_sge = 1, .opcode = op, .send_flags = flags };
	struct ibv_wc wc;
	int64_t answered_ms;
	enum lab_verdict verdict = survive(&s, &theirs, &(struct deed){ .killed = true }, 1);

	if (verdict != LAB_PASSED)
		return verdict;
	sge = (struct ibv_sge){ (uintptr_t)s.lab.a.buffer, 8, s.lab.a.mr->lkey };
	wr.wr.rdma.remote_addr = theirs.addr;
	wr.wr.rdma.rkey = theirs.rkey;
	CHECK(lab_post(s.qp, &wr) == 0);
	wc = lab_wait(s.lab.a.send_cq);
	CHECK(wc.status == IBV_WC_RETRY_EXC_ERR && wc.wr_id == 3);
	CHECK(lab_state(s.qp) == IBV_QPS_ERR);
	answered_ms = now_ms();
	CHECK(lab_wait(s.lab.a.recv_cq).status == IBV_WC_WR_FLUSH_ERR);
	return answered_ms - s.died_ms <= AT_ONCE_MS ? LAB_PASSED : LAB_LATE;
}

static enum lab_verdict death__new_send_fails(void)
{
	return new_request(IBV_WR_SEND, IBV_SEND_SIGNALED);
}

static enum lab_verdict death__new_write_fails(void)
{
	return new_request(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
}

static const struct lab_case cases[] = {
	{ "death: what arrived stays", death__what_arrived_stays, "IBA vol. 1 10.3.1" },
	{ "death: what was fetched stays", death__what_was_fetched_stays, "IBA vol. 1 10.3.1" },
	{ "death: in error within a second", death__killed_peer_is_in_error_within_a_second,
	  "lib/soft/engine/peer_events.c" },
	{ "death: new send fails", death__new_send_fails, "ibv_poll_cq(3)" },
	{ "death: new write fails", death__new_write_fails, "ibv_poll_cq(3)" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
