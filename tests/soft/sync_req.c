// SPDX-License-Identifier: BSD-2-Clause
/*
 * sync_req.c - softverbs_move where the peer looks into its pipes: a synchronous request goes to it
 *
 * In the first case the system calls that move bytes are forbidden to the process that moves: what
 * has happened all the same, the peer has done, which polls its completion queue. In the second it
 * stops just when the request is sent.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "lab.h"
#include "two.h"

enum {
	WANTED = 20,       /* operations that the peer is to have done */
	PATIENCE_S = 20,   /* in which it may do so: there may be no processor for it */
	CLASSES = 9,       /* of sizes, in the case where it stops; */
	WARM = 100,        /* reads before it stops; */
	CAUGHT = 16,       /* times that the request is to be sent when it has just stopped */
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

/* Shared by the two. */
static _Atomic enum { POLLS, IS_TO_STOP, POLLS_NO_MORE } * owner;

/* Owns the memory, and polls until it is to stop; when it goes on it polls until it is killed. */
static int stops(struct two *two, int unused)
{
	(void)unused;
	lab_setup(&two->lab, NULL);
	if (!meet(two, two->lab.a.mr))
		return 1;
	while (poll_once(two) && atomic_load(owner) != IS_TO_STOP)
		;
	atomic_store(owner, POLLS_NO_MORE);
	raise(SIGSTOP);
	while (poll_once(two))
		;
	return 1;
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

static enum lab_verdict sync_req__the_peer_carries_it_out(void)
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
 * LAB_LATE: when the request was to be sent the peer was no longer taken for one that polls, and a
 * system call has written; or none was sent since a read before was still under way.
 */
static enum lab_verdict sent_when_it_stops(softverbs_move_fn *move, size_t size)
{
	static uint64_t value[BYTES_MAX / sizeof(uint64_t)];
	const uint64_t last = UINT64_MAX;
	struct two two;
	int status;
	bool done;

	atomic_store(owner, POLLS);
	CHECK(start_two(&two, stops, 0) == LAB_PASSED);
	for (int i = 0; i < WARM; i++)
		move(two.lab.a.qp, two.theirs.rkey, two.theirs.addr, value, sizeof(*value), false);
	atomic_store(owner, IS_TO_STOP);
	while (atomic_load(owner) != POLLS_NO_MORE)
		;
	if (move(two.lab.a.qp, two.theirs.rkey, two.theirs.addr, value, size, true) == 0)
		return LAB_LATE;
	CHECK(waitpid(two.child, &status, WUNTRACED) == two.child && WIFSTOPPED(status));
	memcpy(two.lab.a.buffer, &last, sizeof(last));
	CHECK(post(&two, IBV_WR_RDMA_WRITE, sizeof(last)) == 0);
	done = !poll_once(&two);
	CHECK(last_one_stays(&two, done, last) == LAB_PASSED);
	return done ? LAB_LATE : LAB_PASSED;
}

/*
 * In a process of its own, which takes the owner with it: its first operation of a size is a
 * synchronous request.
 */
static enum lab_verdict try_to_catch(softverbs_move_fn *move, size_t size)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit((int)sent_when_it_stops(move, size));
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	return (enum lab_verdict)WEXITSTATUS(status);
}

/*
 * The peer stops just when the request was sent. The call ends all the same, and what is posted
 * then comes behind the request, not before the peer runs again.
 */
static enum lab_verdict sync_req__the_peer_stops(void)
{
	softverbs_move_fn *move = find_move();
	int caught = 0;

	if (!move)
		return LAB_UNSUPPORTED;
	owner = mmap(NULL, sizeof(*owner), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(owner != MAP_FAILED);
	for (int i = 0; caught < CAUGHT && !times_up(); i++) {
		enum lab_verdict verdict = try_to_catch(move, (size_t)64 << i % CLASSES);

		CHECK(verdict == LAB_PASSED || verdict == LAB_LATE);
		caught += verdict == LAB_PASSED;
	}
	return caught ? LAB_PASSED : LAB_LATE;
}

/* A process that is asked carries requests out, and says so. */
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

static const struct lab_case cases[] = {
	{ "sync_req: the peer carries it out", sync_req__the_peer_carries_it_out, "lib/soft/post/move.c" },
	{ "sync_req: the peer stops", sync_req__the_peer_stops, "lib/soft/post/move.c" },
	{ "served: is counted", served__is_counted, "lib/soft/extension.h" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
