// SPDX-License-Identifier: BSD-2-Clause
/*
 * batch.c - writes to private memory that are posted together: one system call, and each as if it came alone
 *
 * In the first case the peer stands still, and the system calls that move one write, which is two
 * ranges, are forbidden: only writes that go together are complete. In the others one of them is
 * wrong.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "lab.h"
#include "two.h"

enum {
	PAGE = 4096,
	WRITES = 8, /* each to a page of its own, or behind the one before */
	GONE = 5,   /* the page that the owner has unmapped after it was registered */
#if defined(__x86_64__)
	BATCHES = true,
#else
	BATCHES = false, /* a system call's stores have no order there: each write takes one of its own */
#endif
	MEMORY = WRITES * PAGE,
};

static uint8_t *memory_with_key(struct two *two, struct ibv_mr **mr)
{
	uint8_t *memory = make_memory(MEMORY, false);

	lab_setup(&two->lab, NULL);
	*mr = make_key(two, memory, MEMORY);
	return memory;
}

/*
 * Owns the memory, and says at the end whether pages up to `written` begin with their number, and
 * the rest with zero. In the case of GONE that is the page's which is gone, and the first one is
 * not written to at its beginning.
 */
static int owner(struct two *two, int written)
{
	struct ibv_mr *mr;
	uint8_t *memory = memory_with_key(two, &mr);

	if (!mr || !meet(two, mr))
		return 1;
	if (written == GONE && munmap(memory + GONE * PAGE, PAGE) != 0)
		return 1;
	if (!tell(two) || !hear(two))
		return 1;
	for (int page = 0; page < WRITES; page++)
		if (!(written == GONE && page % GONE == 0) && memory[page * PAGE] != (page < written ? page + 1 : 0))
			return 1;
	return 0;
}

/* Of the calls that reach another process's memory only those that do more than one write are left. */
static bool allow_batches_only(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};

	return filter_calls(filter, sizeof(filter) / sizeof(*filter));
}

/* Writes in one list, all signalled. 0 or an errno value. */
struct list {
	uint32_t length; /* bytes of each, all of which are the number of the page that it ends in, from 1 on */
	uint64_t first;  /* where they begin there */
	uint64_t step;
	int wrong; /* this one has another key */
};

static int post_batch(struct two *two, struct list list)
{
	struct ibv_sge sge[WRITES];
	struct ibv_send_wr wr[WRITES] = { { .wr_id = 0 } };

	for (int i = 0; i < WRITES; i++) {
		uint8_t *from = two->lab.a.buffer + i * 64;

		memset(from, i + 1 + (list.first > 0), list.length);
		sge[i] = (struct ibv_sge){ (uintptr_t)from, list.length, two->lab.a.mr->lkey };
		wr[i] = (struct ibv_send_wr){ .wr_id = (uint64_t)i,
			                          .next = i + 1 < WRITES ? &wr[i + 1] : NULL,
			                          .sg_list = &sge[i],
			                          .num_sge = 1,
			                          .opcode = IBV_WR_RDMA_WRITE,
			                          .send_flags = IBV_SEND_SIGNALED };
		wr[i].wr.rdma.remote_addr = two->theirs.addr + list.first + (uint64_t)i * list.step;
		wr[i].wr.rdma.rkey = i == list.wrong ? two->theirs.rkey ^ 1 : two->theirs.rkey;
	}
	return lab_post(two->lab.a.qp, wr);
}

/* Completions in order: successes up to `wrong`, that one with `status`, the rest flushed. */
static enum lab_verdict ends(struct two *two, int wrong, enum ibv_wc_status status)
{
	for (int i = 0; i < WRITES; i++) {
		struct ibv_wc wc = lab_wait(two->lab.a.send_cq);

		CHECK(wc.wr_id == (uint64_t)i);
		CHECK(wc.status == (i < wrong ? IBV_WC_SUCCESS : i == wrong ? status : IBV_WC_WR_FLUSH_ERR));
	}
	return LAB_PASSED;
}

static enum lab_verdict start(struct two *two, int written)
{
	CHECK(start_two(two, owner, written) == LAB_PASSED);
	CHECK(hear(two));
	return LAB_PASSED;
}

static enum lab_verdict batch__is_one_call(void)
{
	struct two two;
	int status;

	if (!BATCHES || !find_move())
		return LAB_UNSUPPORTED;
	CHECK(start(&two, WRITES) == LAB_PASSED);
	CHECK(kill(two.child, SIGSTOP) == 0 && waitpid(two.child, &status, WUNTRACED) == two.child && WIFSTOPPED(status));
	CHECK(allow_batches_only());
	CHECK(post_batch(&two, (struct list){ 1, 0, PAGE, -1 }) == 0);
	CHECK(ends(&two, WRITES, IBV_WC_SUCCESS) == LAB_PASSED);
	CHECK(kill(two.child, SIGCONT) == 0);
	return finish(&two);
}

/* Behind each other there, they are still so many requests. */
static enum lab_verdict batch__continues(void)
{
	struct two two;

	CHECK(start(&two, 1) == LAB_PASSED); /* all are in the first page, whose first byte is 1 */
	CHECK(post_batch(&two, (struct list){ 1, 0, 1, -1 }) == 0);
	CHECK(ends(&two, WRITES, IBV_WC_SUCCESS) == LAB_PASSED);
	CHECK(post(&two, IBV_WR_RDMA_READ, WRITES) == 0 && lab_wait(two.lab.a.send_cq).status == IBV_WC_SUCCESS);
	for (int i = 0; i < WRITES; i++)
		CHECK(two.lab.a.buffer[i] == i + 1);
	return finish(&two);
}

static enum lab_verdict batch__stops_at_a_wrong_key(void)
{
	const int wrong = 3;
	struct two two;

	CHECK(start(&two, wrong) == LAB_PASSED);
	CHECK(post_batch(&two, (struct list){ 1, 0, PAGE, wrong }) == 0);
	CHECK(ends(&two, wrong, IBV_WC_REM_ACCESS_ERR) == LAB_PASSED);
	return finish(&two);
}

static enum lab_verdict batch__stops_where_the_memory_is_gone(void)
{
	struct two two;

	if (!find_move()) /* another device holds on to the page */
		return LAB_UNSUPPORTED;
	CHECK(start(&two, GONE) == LAB_PASSED);
	/*
	 * Each from one page into the next; of the one that reaches the page that is gone a part can be
	 * written.
	 */
	CHECK(post_batch(&two, (struct list){ 64, PAGE - 32, PAGE, -1 }) == 0);
	CHECK(ends(&two, GONE - 1, IBV_WC_REM_OP_ERR) == LAB_PASSED);
	return finish(&two);
}

static const struct lab_case cases[] = {
	{ "batch: is one call", batch__is_one_call, "lib/soft/rma/batch.c" },
	{ "batch: continues", batch__continues, "lib/soft/rma/batch.c" },
	{ "batch: stops at a wrong key", batch__stops_at_a_wrong_key, "ibv_post_send(3)" },
	{ "batch: stops where the memory is gone", batch__stops_where_the_memory_is_gone, "lib/soft/rma/batch.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
