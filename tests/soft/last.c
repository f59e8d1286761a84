// SPDX-License-Identifier: BSD-2-Clause
/*
 * last.c - writes to private memory by system call: a process that sees the last word has the rest
 *
 * The kernel copies a range by one instruction, whose stores other processors may see in any order,
 * but not those of two. So the last word has to be a range of its own; this program has the system
 * call that says so. The last case looks at the memory itself, where that shows once in some
 * thousand writes, on some processors.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "lab.h"
#include "two.h"

enum {
	WORD = sizeof(uint64_t),
	BYTES = 8192,
	SEEN_BYTES = 1024,
	SEEN = 20000, /* writes that are looked at */
#if defined(__x86_64__)
	BY_RANGES = true,
#else
	BY_RANGES = false, /* there the last word takes a call of its own */
#endif
};

static const uint32_t lengths[] = { 1, 7, 8, 9, 12, 16, 63, 64, 65, 161, 1000, 4096, 4097, BYTES };

static uint32_t length; /* of each write under way */
static int calls, wrong;

/* What the device calls. */
ssize_t process_vm_writev(pid_t pid, const struct iovec *here, unsigned long nhere, const struct iovec *there,
                          unsigned long nthere, unsigned long flags)
{
	size_t moved = 0;

	calls++;
	for (unsigned long i = 0; i < nhere; i++) {
		moved += here[i].iov_len;
		wrong += moved % length == 0 && here[i].iov_len > WORD;
	}
	return syscall(SYS_process_vm_writev, pid, here, nhere, there, nthere, flags);
}

/* Owns private memory, at which it does not look. */
static int sleeps(struct two *two, int unused)
{
	void *memory = make_memory(BYTES, false);
	struct ibv_mr *mr;

	(void)unused;
	lab_setup(&two->lab, NULL);
	mr = make_key(two, memory, BYTES);
	return mr && meet(two, mr) && hear(two) ? 0 : 1;
}

static enum lab_verdict last__is_a_range_of_its_own(void)
{
	struct two two;

	if (!BY_RANGES)
		return LAB_UNSUPPORTED;
	CHECK(start_two(&two, sleeps, 0) == LAB_PASSED);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		length = lengths[i];
		CHECK(post(&two, IBV_WR_RDMA_WRITE, length) == 0);
		CHECK(lab_wait(two.lab.a.send_cq).status == IBV_WC_SUCCESS);
	}
	CHECK(calls > 0 && wrong == 0);
	return finish(&two);
}

/* A write of so many bytes from three ranges, of which the last one has none. */
static void of_ranges(const struct two *two, uint32_t first, uint32_t last, struct ibv_sge sge[3],
                      struct ibv_send_wr *wr)
{
	uint64_t at = (uintptr_t)two->lab.a.buffer;

	sge[0] = (struct ibv_sge){ at, first, two->lab.a.mr->lkey };
	sge[1] = (struct ibv_sge){ at, last, two->lab.a.mr->lkey };
	sge[2] = (struct ibv_sge){ at, 0, two->lab.a.mr->lkey };
	*wr = (struct ibv_send_wr){
		.sg_list = sge, .num_sge = 3, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
	};
	wr->wr.rdma.remote_addr = two->theirs.addr;
	wr->wr.rdma.rkey = two->theirs.rkey;
}

static enum lab_verdict last__of_several_ranges(void)
{
	static const uint32_t firsts[] = { 1, 5, 300 }, lasts[] = { 0, 1, 8, 9, 500 };
	struct ibv_send_wr wr;
	struct ibv_sge sge[3];
	struct two two;

	if (!BY_RANGES)
		return LAB_UNSUPPORTED;
	CHECK(start_two(&two, sleeps, 0) == LAB_PASSED);
	for (int i = 0; i < 15; i++) {
		of_ranges(&two, firsts[i % 3], lasts[i / 3], sge, &wr);
		length = firsts[i % 3] + lasts[i / 3];
		CHECK(lab_post(two.lab.a.qp, &wr) == 0 && lab_wait(two.lab.a.send_cq).status == IBV_WC_SUCCESS);
	}
	CHECK(calls > 0 && wrong == 0);
	return finish(&two);
}

/* Two writes that leave together, to places one behind the other. */
static enum lab_verdict last__of_each_in_a_list(void)
{
	struct ibv_send_wr wr[2];
	struct ibv_sge sge[2][3];
	struct two two;

	if (!BY_RANGES)
		return LAB_UNSUPPORTED;
	CHECK(start_two(&two, sleeps, 0) == LAB_PASSED);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		length = lengths[i];
		of_ranges(&two, length, 0, sge[0], &wr[0]);
		of_ranges(&two, length, 0, sge[1], &wr[1]);
		wr[0].num_sge = wr[1].num_sge = 1;
		wr[1].wr.rdma.remote_addr += 2 * length <= BYTES ? length : 0;
		wr[0].next = &wr[1];
		CHECK(lab_post(two.lab.a.qp, wr) == 0);
		for (int k = 0; k < 2; k++)
			CHECK(lab_wait(two.lab.a.send_cq).status == IBV_WC_SUCCESS);
	}
	CHECK(calls > 0 && wrong == 0);
	return finish(&two);
}

/* How many writes the owner has seen, and how many of these not whole. */
static struct {
	_Atomic uint32_t seen, torn;
} * both;

/* Owns private memory, and waits for the last word of each write. */
static int looks(struct two *two, int unused)
{
	enum { WORDS = SEEN_BYTES / sizeof(uint32_t) };
	_Atomic uint32_t *memory = make_memory(BYTES, false);
	struct ibv_mr *mr;

	(void)unused;
	lab_setup(&two->lab, NULL);
	mr = make_key(two, memory, BYTES);
	if (!mr || !meet(two, mr))
		return 1;
	for (uint32_t turn = 1; turn <= SEEN; turn++) {
		uint32_t i = 0;

		while (atomic_load(&memory[WORDS - 1]) != turn)
			;
		while (i < WORDS && atomic_load(&memory[i]) == turn)
			i++;
		atomic_fetch_add(&both->torn, i < WORDS);
		atomic_store(&both->seen, turn);
	}
	return hear(two) ? 0 : 1;
}

static enum lab_verdict last__comes_last(void)
{
	struct two two;

	length = SEEN_BYTES;
	both = mmap(NULL, sizeof(*both), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(both != MAP_FAILED && start_two(&two, looks, 0) == LAB_PASSED);
	for (uint32_t turn = 1; turn <= SEEN; turn++) {
		for (uint32_t i = 0; i < SEEN_BYTES / sizeof(turn); i++)
			memcpy(two.lab.a.buffer + i * sizeof(turn), &turn, sizeof(turn));
		CHECK(post(&two, IBV_WR_RDMA_WRITE, SEEN_BYTES) == 0);
		CHECK(lab_wait(two.lab.a.send_cq).status == IBV_WC_SUCCESS);
		while (atomic_load(&both->seen) != turn)
			;
	}
	if (atomic_load(&both->torn))
		fprintf(stderr, "        %u of %d writes were not whole\n", atomic_load(&both->torn), SEEN);
	CHECK(atomic_load(&both->torn) == 0);
	return finish(&two);
}

static const struct lab_case cases[] = {
	{ "last: is a range of its own", last__is_a_range_of_its_own, "copy.c" },
	{ "last: of several ranges", last__of_several_ranges, "copy.c" },
	{ "last: of each in a list", last__of_each_in_a_list, "batch.c" },
	{ "last: comes last", last__comes_last, "copy.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
