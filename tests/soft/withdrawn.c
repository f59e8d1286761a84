// SPDX-License-Identifier: BSD-2-Clause
/*
 * withdrawn.c - a region that goes while a write to it comes: softverbs has no card that stands
 * between the two (key.c)
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab.h"

/* As many writes as there is time for: where two threads hardly ever run at once each takes long. */
enum { WRITES = 1000, WRITES_SECONDS = 40 };

/* What another thread is given to write to, and how it ends. */
struct writing {
	struct lab *lab;
	_Atomic uint32_t turn; /* of the key and address here; 0: end */
	uint32_t rkey;
	uint64_t addr;
	_Atomic uint32_t posted; /* the turn whose write has been posted */
};

static void *write_at_every_turn(void *arg)
{
	struct writing *writing = arg;
	struct ibv_sge sge = { (uintptr_t)writing->lab->a.buffer, 4096, writing->lab->a.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
	};

	for (uint32_t turn = 1, seen;; turn++) {
		while ((seen = atomic_load(&writing->turn)) != turn)
			if (seen == 0)
				return NULL;
		wr.wr.rdma.remote_addr = writing->addr;
		wr.wr.rdma.rkey = writing->rkey;
		lab_post(writing->lab->a.qp, &wr);
		atomic_store(&writing->posted, turn);
	}
}

static bool connect_again(struct lab *lab)
{
	static const struct lab_options options = { 0 };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp *a = lab->a.qp, *b = lab->b.qp;
	const unsigned int access = IBV_ACCESS_REMOTE_WRITE;

	return ibv_modify_qp(a, &reset, IBV_QP_STATE) == 0 && ibv_modify_qp(b, &reset, IBV_QP_STATE) == 0 &&
	       lab_init(lab, a, access) == 0 && lab_init(lab, b, access) == 0 &&
	       lab_rtr(lab, a, b->qp_num, &options) == 0 && lab_rtr(lab, b, a->qp_num, &options) == 0 &&
	       lab_rts(a, &options) == 0 && lab_rts(b, &options) == 0;
}

/*
 * One write, and a region that goes while it comes: whatever becomes of the write, the memory is
 * ours again.
 */
static bool stays_ours(struct writing *writing, uint32_t turn, uint8_t *memory)
{
	struct ibv_mr *mr = ibv_reg_mr(writing->lab->b.pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	bool ours = true;

	writing->rkey = mr->rkey;
	writing->addr = (uintptr_t)memory;
	atomic_store(&writing->turn, turn);
	for (volatile uint32_t spin = 0; spin < turn * 37 % 2000; spin++)
		;
	ours &= ibv_dereg_mr(mr) == 0;
	memset(memory, 'o', 4096);
	while (atomic_load(&writing->posted) != turn)
		;
	if (lab_wait(writing->lab->a.send_cq).status != IBV_WC_SUCCESS)
		ours &= connect_again(writing->lab);
	for (int i = 0; i < 4096; i++)
		ours &= memory[i] == 'o';
	return ours;
}

static enum lab_verdict mr__nothing_comes_after_it_is_withdrawn(void)
{
	struct lab lab;
	struct writing writing = { .lab = &lab, .turn = UINT32_MAX };
	uint8_t *memory = aligned_alloc(4096, 4096);
	time_t end = time(NULL) + WRITES_SECONDS;
	bool ours = true;
	pthread_t writer;

	lab_setup(&lab, NULL);
	CHECK(memory && pthread_create(&writer, NULL, write_at_every_turn, &writing) == 0);
	for (uint32_t turn = 1; ours && turn <= WRITES && time(NULL) < end; turn++)
		ours = stays_ours(&writing, turn, memory);
	atomic_store(&writing.turn, 0);
	pthread_join(writer, NULL);
	CHECK(ours);
	return LAB_PASSED;
}

int main(int argc, char **argv)
{
	static const struct lab_case cases[] = {
		{ "mr: nothing comes after it is withdrawn", mr__nothing_comes_after_it_is_withdrawn, "ibv_dereg_mr(3)" },
	};

	return lab_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}
