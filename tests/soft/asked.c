// SPDX-License-Identifier: BSD-2-Clause
/*
 * asked.c - softverbs_move where the peer looks into its pipes: it is asked, and does it
 *
 * In the first case the system calls that move bytes are forbidden to the process that moves: what has happened
 * all the same, the peer has done, which polls its completion queue. In the second it stops in the middle of that.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

#include "lab.h"
#include "two.h"

enum {
	WANTED = 20,       /* operations that the peer is to have done */
	PATIENCE_S = 20,   /* in which it may do so: there may be no processor for it */
	POLLS = 20,        /* more, before it stops, in the case where it does */
	BYTES_MAX = 16384, /* of one request */
};

static const size_t sizes[] = { 1, 8, 160, 161, 4096, BYTES_MAX };

enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

static bool poll_once(const struct two *two)
{
	struct ibv_wc wc;

	return ibv_poll_cq(two->lab.a.send_cq, 1, &wc) == 0;
}

/* Owns the memory, and polls until it is killed. */
static int polls(struct two *two, int unused)
{
	(void)unused;
	lab_setup(&two->lab, NULL);
	if (!meet(two, two->lab.a.mr))
		return 1;
	while (poll_once(two))
		;
	return 1;
}

/* Owns the memory, and polls; it stops a few polls after a word of it has begun to change, and when it goes on begins anew. */
static int stops(struct two *two, int rounds)
{
	lab_setup(&two->lab, NULL);
	if (!meet(two, two->lab.a.mr))
		return 1;
	for (int i = 0; i < rounds; i++) {
		const volatile uint64_t *word = (const volatile uint64_t *)(void *)two->lab.a.buffer;
		uint64_t before = *word;

		if (!tell(two))
			return 1;
		while (*word == before && poll_once(two))
			;
		for (int n = 0; n < POLLS; n++)
			poll_once(two);
		raise(SIGSTOP);
		if (!hear(two))
			return 1;
	}
	return 0;
}

/* Calls that reach another process's memory fail from now on. */
static bool forbid_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};

	return filter_calls(filter, sizeof(filter) / sizeof(*filter));
}

static bool times_up(void)
{
	static time_t end;

	if (end == 0)
		end = time(NULL) + PATIENCE_S;
	return time(NULL) >= end;
}

/* Write, read back: what has been written last must be there, whichever of them were done. */
static enum lab_verdict there_and_back(struct two *two, softverbs_move_fn *move, size_t size, int *writes, int *reads)
{
	static uint8_t sent[BYTES_MAX], got[BYTES_MAX], last;

	memset(sent, last + 1, size);
	memset(got, 0, size);
	if (move(two->lab.a.qp, two->theirs.rkey, two->theirs.addr, sent, size, true) != 0)
		return LAB_PASSED;
	last++;
	++*writes;
	if (move(two->lab.a.qp, two->theirs.rkey, two->theirs.addr, got, size, false) != 0)
		return LAB_PASSED;
	++*reads;
	CHECK(memcmp(sent, got, size) == 0);
	return LAB_PASSED;
}

static enum lab_verdict asked__does_what_it_is_asked_for(void)
{
	softverbs_move_fn *move = find_move();
	struct two two;

	if (!move)
		return LAB_UNSUPPORTED;
	CHECK(start_two(&two, polls, 0) == LAB_PASSED);
	CHECK(forbid_calls());
	for (int i = 0; i < SIZES; i++) {
		int writes = 0, reads = 0;

		while ((writes < WANTED || reads < WANTED) && !times_up())
			CHECK(there_and_back(&two, move, sizes[i], &writes, &reads) == LAB_PASSED);
		if (writes < WANTED || reads < WANTED) {
			fprintf(stderr, "%zu bytes: %d writes, %d reads\n", sizes[i], writes, reads);
			return LAB_LATE;
		}
	}
	return LAB_PASSED;
}

/* Writes of this size until one is not done, or the peer has stopped; then one more is posted, of `last`. */
static enum lab_verdict write_until_stopped(struct two *two, softverbs_move_fn *move, size_t size, uint64_t last)
{
	static uint64_t value[BYTES_MAX / sizeof(uint64_t)];
	pid_t stopped = 0;
	int status;

	CHECK(hear(two));
	usleep(1000); /* it polls by now */
	do {
		value[0]++;
		if (move(two->lab.a.qp, two->theirs.rkey, two->theirs.addr, value, size, true) != 0)
			break;
		stopped = waitpid(two->child, &status, WUNTRACED | WNOHANG);
	} while (stopped == 0);
	if (stopped == 0)
		stopped = waitpid(two->child, &status, WUNTRACED);
	CHECK(stopped == two->child && WIFSTOPPED(status));
	memcpy(two->lab.a.buffer, &last, sizeof(last));
	CHECK(post(two, IBV_WR_RDMA_WRITE, sizeof(last)) == 0);
	return LAB_PASSED;
}

/* It goes on. What was posted last is done, and is what stays. */
static enum lab_verdict last_one_stays(struct two *two, bool done, uint64_t last)
{
	CHECK(kill(two->child, SIGCONT) == 0);
	CHECK(done || lab_wait(two->lab.a.send_cq).status == IBV_WC_SUCCESS);
	memset(two->lab.a.buffer, 0, sizeof(last));
	CHECK(post(two, IBV_WR_RDMA_READ, sizeof(last)) == 0);
	CHECK(lab_wait(two->lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(memcmp(two->lab.a.buffer, &last, sizeof(last)) == 0);
	return LAB_PASSED;
}

/*
 * It stops just when it was asked. The call ends all the same, and what is posted then comes behind what it was
 * asked for, not before it runs again. Each size class begins by asking; where the peer stopped between two
 * operations, so that a system call has written, the next one is taken.
 */
static enum lab_verdict asked__stops(void)
{
	const int rounds = 32, classes = 8;
	softverbs_move_fn *move = find_move();
	int waited = 0;
	struct two two;

	if (!move)
		return LAB_UNSUPPORTED;
	CHECK(start_two(&two, stops, rounds) == LAB_PASSED);
	for (int i = 0; i < rounds; i++) {
		uint64_t last = UINT64_MAX - (uint64_t)i;
		bool done;

		CHECK(i == 0 || tell(&two));
		CHECK(write_until_stopped(&two, move, (size_t)64 << i % classes, last) == LAB_PASSED);
		done = !poll_once(&two);
		waited += !done;
		CHECK(last_one_stays(&two, done, last) == LAB_PASSED);
	}
	return waited ? finish(&two) : LAB_LATE;
}

static const struct lab_case cases[] = {
	{ "asked: does what it is asked for", asked__does_what_it_is_asked_for, "lib/soft/verbs/move.c" },
	{ "asked: stops", asked__stops, "lib/soft/verbs/move.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
