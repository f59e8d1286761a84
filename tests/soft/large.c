// SPDX-License-Identifier: BSD-2-Clause
/*
 * large.c - large posted writes and reads to a peer that polls
 *
 * They go by ring or by system call, or to memory that is mapped. All bytes are right, whatever the
 * owner of the memory does meanwhile: it polls, stops and goes on, or dies.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "lab.h"
#include "two.h"

enum {
	BYTES = 2 << 20,
	ODD = 3, /* where transfers begin in the memory */
	ROUNDS = 200,
	STOPS = 60,
};

static const size_t sizes[] = { 131072, 131073, 200000, 1 << 19, 1 << 20 };

enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

static uint8_t *memory; /* of this side */

static struct ibv_mr *memory_with_key(struct two *two, bool file)
{
	memory = make_memory(BYTES, file);
	return make_key(two, memory, BYTES);
}

static int owner(struct two *two, int file)
{
	struct ibv_mr *mr;
	struct ibv_wc wc;

	lab_setup(&two->lab, NULL);
	mr = memory_with_key(two, file);
	if (!mr || !meet(two, mr) || !tell(two))
		return 1;
	while (ibv_poll_cq(two->lab.a.send_cq, 1, &wc) == 0)
		;
	return 1;
}

/* The other's memory is a file, which can be mapped, or private. */
static enum lab_verdict start(struct two *two, bool file, struct ibv_mr **mr)
{
	CHECK(start_two(two, owner, file) == LAB_PASSED);
	*mr = memory_with_key(two, false);
	CHECK(*mr && hear(two));
	return LAB_PASSED;
}

/* From `at` bytes into our memory to ODD bytes into the other's, or back. */
static enum ibv_wc_status transfer(const struct two *two, const struct ibv_mr *mr, enum ibv_wr_opcode op, size_t at,
                                   size_t size)
{
	struct ibv_sge sge = { (uintptr_t)memory + at, (uint32_t)size, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = op, .send_flags = IBV_SEND_SIGNALED };

	wr.wr.rdma.remote_addr = two->theirs.addr + ODD;
	wr.wr.rdma.rkey = two->theirs.rkey;
	return lab_post(two->lab.a.qp, &wr) ? IBV_WC_GENERAL_ERR : lab_wait(two->lab.a.send_cq).status;
}

/* Written, then read back to the other half of our memory: it is the same, and what is behind it stays. */
static enum lab_verdict there_and_back(const struct two *two, const struct ibv_mr *mr, size_t size)
{
	static uint64_t number;
	uint8_t *sent = memory, *got = memory + BYTES / 2;

	size = size > BYTES / 2 - sizeof(number) ? BYTES / 2 - sizeof(number) : size;
	for (size_t i = 0; i + sizeof(number) <= size; i += sizeof(number), number++)
		memcpy(sent + i, &number, sizeof(number));
	memset(got, 0, size);
	got[size] = 0x55;
	CHECK(transfer(two, mr, IBV_WR_RDMA_WRITE, 0, size) == IBV_WC_SUCCESS);
	CHECK(transfer(two, mr, IBV_WR_RDMA_READ, BYTES / 2, size) == IBV_WC_SUCCESS);
	CHECK(memcmp(sent, got, size) == 0 && got[size] == 0x55);
	return LAB_PASSED;
}

static enum lab_verdict rounds(bool file)
{
	struct ibv_mr *mr;
	struct two two;

	CHECK(start(&two, file, &mr) == LAB_PASSED);
	for (int i = 0; i < ROUNDS; i++)
		CHECK(there_and_back(&two, mr, sizes[i % SIZES]) == LAB_PASSED);
	return LAB_PASSED;
}

static enum lab_verdict large__private_memory(void)
{
	return rounds(false);
}

static enum lab_verdict large__mapped_memory(void)
{
	return rounds(true);
}

/* From the middle on no system call reaches the other's memory: all goes by ring, in parts. */
static enum lab_verdict large__calls_are_refused(void)
{
	struct ibv_mr *mr;
	struct two two;

	CHECK(start(&two, false, &mr) == LAB_PASSED);
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(i != ROUNDS / 2 || forbid_calls());
		CHECK(there_and_back(&two, mr, sizes[i % SIZES]) == LAB_PASSED);
	}
	return LAB_PASSED;
}

/* It stops and goes on at any time. */
static enum lab_verdict large__owner_stops(void)
{
	struct ibv_mr *mr;
	struct two two;
	pid_t stopper;
	int status;

	CHECK(start(&two, false, &mr) == LAB_PASSED);
	stopper = stop_and_continue(&two, STOPS);
	CHECK(stopper > 0);
	for (int i = 0; waitpid(stopper, &status, WNOHANG) == 0; i++)
		CHECK(there_and_back(&two, mr, sizes[i % SIZES]) == LAB_PASSED);
	return LAB_PASSED;
}

static enum lab_verdict owner_dies(bool refused)
{
	const struct timespec moment = { 0, 2000000 };
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	struct ibv_mr *mr;
	struct two two;
	pid_t killer;

	CHECK(start(&two, false, &mr) == LAB_PASSED);
	CHECK(!refused || forbid_calls());
	killer = fork();
	if (killer == 0) {
		nanosleep(&moment, NULL);
		_exit(kill(two.child, SIGKILL));
	}
	CHECK(killer > 0);
	while (status == IBV_WC_SUCCESS)
		status = transfer(&two, mr, IBV_WR_RDMA_WRITE, 0, 1 << 20);
	CHECK(status == IBV_WC_RETRY_EXC_ERR);
	return LAB_PASSED;
}

static enum lab_verdict large__owner_dies(void)
{
	return owner_dies(false);
}

static enum lab_verdict large__owner_dies_in_parts(void)
{
	return owner_dies(true);
}

static const struct lab_case cases[] = {
	{ "large: private memory", large__private_memory, "ibv_post_send(3)" },
	{ "large: mapped memory", large__mapped_memory, "ibv_post_send(3)" },
	{ "large: owner stops", large__owner_stops, "ibv_post_send(3)" },
	{ "large: owner dies", large__owner_dies, "ibv_post_send(3)" },
	{ "large: owner dies in parts", large__owner_dies_in_parts, "ibv_post_send(3)" },
	{ "large: calls are refused", large__calls_are_refused, "ibv_post_send(3)" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
