// SPDX-License-Identifier: BSD-2-Clause
/*
 * arrived.c - what has arrived before a queue pair ends counts
 *
 * A card takes answers and messages as they arrive, whether or not the program polls. So they
 * precede the end of the queue pair if they arrived before it. Each side polls in vain first: then
 * its engine takes nothing for some milliseconds.
 */
#include "lab.h"
#include "two.h"

#define IBA "IBA vol. 1 "

enum {
	BYTES = 100,
	POLLS = 1000,
};

enum ending { BY_ERROR, BY_RESET, BY_DESTRUCTION };

static bool end(struct two *two, enum ending ending)
{
	struct ibv_qp_attr attr = { .qp_state = ending == BY_ERROR ? IBV_QPS_ERR : IBV_QPS_RESET };

	if (ending == BY_DESTRUCTION)
		return ibv_destroy_qp(two->lab.a.qp) == 0;
	return ibv_modify_qp(two->lab.a.qp, &attr, IBV_QP_STATE) == 0;
}

static void poll_in_vain(const struct two *two)
{
	struct ibv_wc wc;

	for (int i = 0; i < POLLS; i++)
		ibv_poll_cq(two->lab.a.recv_cq, 1, &wc);
}

static bool receives(struct two *two)
{
	struct ibv_wc wc = lab_wait(two->lab.a.recv_cq);

	return wc.status == IBV_WC_SUCCESS && wc.byte_len == BYTES;
}

static bool sent(const struct two *two)
{
	return lab_wait(two->lab.a.send_cq).status == IBV_WC_SUCCESS;
}

static int takes(struct two *two, int unused)
{
	(void)unused;
	lab_setup(&two->lab, NULL);
	return meet(two, two->lab.a.mr) && lab_recv(&two->lab.a, 1, 0, BYTES) == 0 && tell(two) && receives(two) &&
	               tell(two) && hear(two)
	           ? 0
	           : 1;
}

/* The other side has the message, and has answered it. */
static enum lab_verdict arrived__answer(void)
{
	struct two two;

	CHECK(start_two(&two, takes, 0) == LAB_PASSED);
	CHECK(hear(&two));
	poll_in_vain(&two);
	CHECK(post(&two, IBV_WR_SEND, BYTES) == 0);
	CHECK(hear(&two));
	CHECK(end(&two, BY_ERROR));
	CHECK(sent(&two));
	return finish(&two);
}

/* Sends at a sign of the other side, and looks for the answer when the other side has ended. */
static int sends(struct two *two, int unused)
{
	(void)unused;
	lab_setup(&two->lab, NULL);
	return meet(two, two->lab.a.mr) && hear(two) && post(two, IBV_WR_SEND, BYTES) == 0 && tell(two) && hear(two) &&
	               sent(two)
	           ? 0
	           : 1;
}

/* The message has been sent before the receiver ends. */
static enum lab_verdict message(enum ending ending)
{
	struct two two;

	CHECK(start_two(&two, sends, 0) == LAB_PASSED);
	CHECK(lab_recv(&two.lab.a, 1, 0, BYTES) == 0);
	poll_in_vain(&two);
	CHECK(tell(&two) && hear(&two));
	CHECK(end(&two, ending));
	CHECK(ending != BY_ERROR || receives(&two));
	return finish(&two);
}

static enum lab_verdict arrived__message(void)
{
	return message(BY_ERROR);
}

static enum lab_verdict arrived__message_before_reset(void)
{
	return message(BY_RESET);
}

static enum lab_verdict arrived__message_before_destruction(void)
{
	return message(BY_DESTRUCTION);
}

static const struct lab_case cases[] = {
	{ "arrived: answer", arrived__answer, IBA "9.7.5.1" },
	{ "arrived: message", arrived__message, IBA "9.7.5.1" },
	{ "arrived: message before reset", arrived__message_before_reset, IBA "9.7.5.1" },
	{ "arrived: message before destruction", arrived__message_before_destruction, IBA "9.7.5.1" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
