// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process without memory: what a device does on its own account is lost, but no thread waits for
 * it.
 */
#include <stdlib.h>

#include "lab.h"

extern void *__libc_calloc(size_t n, size_t size);

static _Atomic bool starved;

/* In place of the C library's, for the device's libraries too. */
void *calloc(size_t n, size_t size)
{
	return starved ? NULL : __libc_calloc(n, size);
}

/*
 * A queue pair whose event was lost for want of memory has no event to wait for when it is
 * destroyed.
 */
static enum lab_verdict starved__lost_event_is_not_waited_for(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
	};
	struct lab lab;

	lab_setup(&lab, NULL);
	sge = (struct ibv_sge){ (uintptr_t)lab.a.buffer, 8, lab.a.mr->lkey };
	wr.wr.rdma.remote_addr = (uintptr_t)lab.b.buffer;
	wr.wr.rdma.rkey = lab.b.mr->rkey + 1;
	starved = true;
	CHECK(lab_post(lab.a.qp, &wr) == 0);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_REM_ACCESS_ERR);
	CHECK(lab_state(lab.b.qp) == IBV_QPS_ERR);
	starved = false;
	CHECK(ibv_destroy_qp(lab.b.qp) == 0);
	CHECK(ibv_destroy_qp(lab.a.qp) == 0);
	return LAB_PASSED;
}

static const struct lab_case cases[] = {
	{ "starved: lost event is not waited for", starved__lost_event_is_not_waited_for, "lib/soft/state/async.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
