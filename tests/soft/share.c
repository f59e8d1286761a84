// SPDX-License-Identifier: BSD-2-Clause
/*
 * share.c - large transfers that the owner of the memory takes part in while it polls
 *
 * That it does is seen where it may not: its own view of memory that is mapped at both sides is taken away from it,
 * or the system calls that it would make. Each time it has tried, and all bytes are right nevertheless.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "lab.h"
#include "two.h"

enum {
	BYTES = 2 << 20,
	ODD = 3,         /* where transfers begin in the memory */
	PATIENCE_S = 20, /* in which the owner must have taken part: there may be no processor for it */
	ROUNDS = 200,
	STOPS = 60,
};

static const size_t sizes[] = { 131072, 131073, 200000, 1 << 19, 1 << 20 };

enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

/* Seen by both processes. */
struct seen {
	volatile int tries; /* of the owner's that were not allowed */
};

static struct seen *seen;
static uint8_t *memory; /* of this side */

static struct ibv_mr *memory_with_key(struct two *two, bool file)
{
	memory = make_memory(BYTES, file);
	return make_key(two, memory, BYTES);
}

static void give_back(int number)
{
	(void)number;
	seen->tries++;
	mprotect(memory, BYTES, PROT_READ | PROT_WRITE);
}

/* The call returns what it is given: nothing has been moved. */
static void refuse_call(int number)
{
	(void)number;
	seen->tries++;
}

/* By which it helps with reads; the one that fetches what comes by ring is left to it. */
static bool trap_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return signal(SIGSYS, refuse_call) != SIG_ERR && filter_calls(filter, sizeof(filter) / sizeof(*filter));
}

/* In the middle of a piece. */
static void become_another(int number)
{
	(void)number;
	execl("/bin/sleep", "sleep", "1000", (char *)NULL);
}

/* What the owner's memory is, what it may not, and what becomes of it. */
enum { FILE_THERE = 1, FILE_HERE = 2, NO_VIEW = 4, NO_CALLS = 8, EXECS = 16, CANCELLED = 32 };

static void *poll_on(void *arg)
{
	const struct two *two = arg;
	struct ibv_wc wc;

	while (ibv_poll_cq(two->lab.a.send_cq, 1, &wc) == 0)
		;
	return NULL;
}

/* The thread that polls is to be cancelled wherever it may be. */
static bool poll_cancelled(struct two *two)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, poll_on, two) == 0 && pthread_cancel(thread) == 0 && tell(two) && pause() == 0;
}

static int owner(struct two *two, int kind)
{
	struct ibv_mr *mr;

	lab_setup(&two->lab, NULL);
	mr = memory_with_key(two, kind & FILE_THERE);
	if (!mr || !meet(two, mr))
		return 1;
	if (kind & NO_CALLS && !trap_calls())
		return 1;
	if (kind & CANCELLED)
		return poll_cancelled(two);
	if (kind & NO_VIEW && (signal(SIGSEGV, kind & EXECS ? become_another : give_back) == SIG_ERR ||
	                       mprotect(memory, BYTES, PROT_NONE) != 0))
		return 1;
	if (!tell(two))
		return 1;
	poll_on(two);
	return 1;
}

static enum lab_verdict start(struct two *two, int kind, struct ibv_mr **mr)
{
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(seen != MAP_FAILED);
	CHECK(start_two(two, owner, kind) == LAB_PASSED);
	*mr = memory_with_key(two, kind & FILE_HERE);
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

static enum lab_verdict rounds(int kind)
{
	struct ibv_mr *mr;
	struct two two;

	CHECK(start(&two, kind, &mr) == LAB_PASSED);
	for (int i = 0; i < ROUNDS; i++)
		CHECK(there_and_back(&two, mr, sizes[i % SIZES]) == LAB_PASSED);
	return LAB_PASSED;
}

static enum lab_verdict share__private_memory(void)
{
	return rounds(0);
}

static enum lab_verdict share__mapped_there(void)
{
	return rounds(FILE_THERE);
}

static enum lab_verdict share__mapped_here(void)
{
	return rounds(FILE_HERE);
}

static enum lab_verdict share__mapped_at_both(void)
{
	return rounds(FILE_THERE | FILE_HERE);
}

/* Until the owner has tried what it may not. */
static enum lab_verdict until_tried(int kind)
{
	time_t end = time(NULL) + PATIENCE_S;
	struct ibv_mr *mr;
	struct two two;

	if (!find_move())
		return LAB_UNSUPPORTED;
	CHECK(start(&two, kind, &mr) == LAB_PASSED);
	for (int i = 0; seen->tries == 0 && time(NULL) < end; i++)
		CHECK(there_and_back(&two, mr, sizes[i % SIZES]) == LAB_PASSED);
	return seen->tries ? LAB_PASSED : LAB_LATE;
}

static enum lab_verdict share__owner_takes_part(void)
{
	return until_tried(FILE_THERE | FILE_HERE | NO_VIEW);
}

/* Written and read back where the other's memory is mapped; what is not shared is copied as it is. */
static enum lab_verdict lent_there_and_back(const struct two *two, const struct ibv_mr *mr,
                                            const struct softverbs_lent *lent, size_t size)
{
	uint8_t *there = (uint8_t *)lent->here + ODD, *got = memory + BYTES / 2;
	softverbs_move_lent_fn *move_lent;
	static uint8_t number;

	CHECK(find_function("softverbs_move_lent", &move_lent));
	memset(memory, ++number, size);
	if (move_lent(two->lab.a.qp, two->theirs.rkey, ODD, there, memory, mr->lkey, size, true) != 0)
		memcpy(there, memory, size);
	CHECK(memcmp(there, memory, size) == 0 && there[size] == 0);
	if (move_lent(two->lab.a.qp, two->theirs.rkey, ODD, there, got, mr->lkey, size, false) != 0)
		memcpy(got, there, size);
	CHECK(memcmp(got, memory, size) == 0 && got[size] == 0);
	CHECK(move_lent(two->lab.a.qp, two->theirs.rkey, BYTES - size + 1, there, memory, 0, size, true) == EOPNOTSUPP);
	return LAB_PASSED;
}

static enum lab_verdict share__lent_memory(void)
{
	time_t end = time(NULL) + PATIENCE_S;
	struct softverbs_lent lent;
	softverbs_lend_fn *lend;
	struct ibv_mr *mr;
	struct two two;

	if (!find_function("softverbs_lend", &lend))
		return LAB_UNSUPPORTED;
	CHECK(start(&two, FILE_THERE | FILE_HERE | NO_VIEW, &mr) == LAB_PASSED);
	CHECK(lend(two.lab.a.qp, two.theirs.rkey, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, &lent) == 0);
	while (seen->tries == 0 && time(NULL) < end)
		CHECK(lent_there_and_back(&two, mr, &lent, 200000) == LAB_PASSED);
	return seen->tries ? LAB_PASSED : LAB_LATE;
}

static enum lab_verdict share__help_that_fails(void)
{
	return until_tried(NO_CALLS);
}

/* It stops and goes on at any time. Who is waited for meanwhile goes on too, or nobody is. */
static enum lab_verdict share__owner_stops(void)
{
	const struct timespec moment = { 0, 300000 };
	struct ibv_mr *mr;
	struct two two;
	pid_t stopper;
	int status;

	CHECK(start(&two, FILE_THERE | FILE_HERE, &mr) == LAB_PASSED);
	stopper = fork();
	if (stopper == 0) {
		for (int i = 0; i < STOPS; i++) {
			kill(two.child, SIGSTOP);
			nanosleep(&moment, NULL);
			kill(two.child, SIGCONT);
			nanosleep(&moment, NULL);
		}
		_exit(0);
	}
	CHECK(stopper > 0);
	for (int i = 0; waitpid(stopper, &status, WNOHANG) == 0; i++)
		CHECK(there_and_back(&two, mr, sizes[i % SIZES]) == LAB_PASSED);
	return LAB_PASSED;
}

/* Whoever is asked carries requests out, and tells that it does. */
static enum lab_verdict served__is_counted(void)
{
	softverbs_served_fn *served;
	struct lab lab;
	uint64_t before;

	if (!find_function("softverbs_served", &served))
		return LAB_UNSUPPORTED;
	CHECK(served() == 0);
	lab_setup(&lab, NULL);
	before = served();
	CHECK(lab_recv(&lab.b, 1, 0, 8) == 0 && served() == before);
	CHECK(lab_rdma(&lab, IBV_WR_SEND, 0, 0, 8, IBV_SEND_SIGNALED) == 0);
	CHECK(lab_wait(lab.b.recv_cq).status == IBV_WC_SUCCESS && served() == before + 1);
	CHECK(lab_wait(lab.a.send_cq).status == IBV_WC_SUCCESS && served() == before + 1);
	return LAB_PASSED;
}

static enum lab_verdict share__owner_dies(void)
{
	const struct timespec moment = { 0, 2000000 };
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	struct ibv_mr *mr;
	struct two two;
	pid_t killer;

	CHECK(start(&two, FILE_THERE | FILE_HERE, &mr) == LAB_PASSED);
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

/* It keeps its number, but nothing else. */
static enum lab_verdict share__owner_becomes_another(void)
{
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	struct ibv_mr *mr;
	struct two two;

	CHECK(start(&two, FILE_THERE | FILE_HERE | NO_VIEW | EXECS, &mr) == LAB_PASSED);
	for (time_t end = time(NULL) + PATIENCE_S; status == IBV_WC_SUCCESS && time(NULL) < end;)
		status = transfer(&two, mr, IBV_WR_RDMA_WRITE, 0, 1 << 20);
	if (status == IBV_WC_SUCCESS)
		return LAB_LATE;
	CHECK(status == IBV_WC_RETRY_EXC_ERR);
	return LAB_PASSED;
}

static enum lab_verdict share__owner_is_cancelled(void)
{
	return rounds(FILE_HERE | CANCELLED);
}

static const struct lab_case cases[] = {
	{ "share: private memory", share__private_memory, "ibv_post_send(3)" },
	{ "share: mapped there", share__mapped_there, "ibv_post_send(3)" },
	{ "share: mapped here", share__mapped_here, "ibv_post_send(3)" },
	{ "share: mapped at both", share__mapped_at_both, "ibv_post_send(3)" },
	{ "share: owner takes part", share__owner_takes_part, "lib/soft/verbs/share.c" },
	{ "share: lent memory", share__lent_memory, "lib/soft/extension.h" },
	{ "share: help that fails", share__help_that_fails, "lib/soft/verbs/share.c" },
	{ "share: owner stops", share__owner_stops, "lib/soft/verbs/share.c" },
	{ "share: owner becomes another", share__owner_becomes_another, "lib/soft/verbs/share.c" },
	{ "share: owner is cancelled", share__owner_is_cancelled, "lib/soft/verbs/share.c" },
	{ "share: owner dies", share__owner_dies, "lib/soft/verbs/share.c" },
	{ "served: is counted", served__is_counted, "lib/soft/extension.h" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
