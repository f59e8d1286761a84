// SPDX-License-Identifier: BSD-2-Clause
/*
 * parts.c - large transfers to and from a peer that looks into its pipes, by ring: in many parts
 *
 * The system calls that move bytes are forbidden to the process that moves. What has happened all
 * the same, the peer has done, part by part; and it goes away, or takes the key back, in the middle
 * of that.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lab.h"
#include "two.h"

enum {
	BYTES = 4 << 20,
	WANTED = 10,     /* times each size there and back, */
	PATIENCE_S = 20, /* or as often as it goes in this time, once at least: there may be no processor for it */
	STOPPED = 100,   /* times */
	BESIDE = 1000,   /* times each of two threads, */
	BESIDE_S = 5,    /* or as often as it goes in this time */
	PAGE = 4096,
	MIDDLE = BYTES / 2,
};

static const size_t sizes[] = { 16385, 65536, 100001, 131072, 131075, 1 << 20, (3 << 20) + 1 };

enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

enum ending {
	POLLS_ON, /* until it is killed */
	STOPS,    /* stops, and polls on when it may */
	STOPS_IN_READ,
	DIES,
	WITHDRAWS, /* takes the key back, and sees that nothing comes any more */
};

static uint8_t *owned;

static bool poll_once(const struct two *two)
{
	struct ibv_wc wc;

	return ibv_poll_cq(two->lab.a.send_cq, 1, &wc) == 0;
}

/* Has the other side said something? */
static bool heard(const struct two *two)
{
	struct pollfd ready = { .fd = two->in, .events = POLLIN };
	char c;

	return poll(&ready, 1, 0) == 1 && read(two->in, &c, 1) == 1;
}

static int withdraw(const struct two *two, struct ibv_mr *mr)
{
	uint8_t *before = malloc(BYTES);

	if (!before || ibv_dereg_mr(mr) != 0)
		return 1;
	memcpy(before, owned, BYTES);
	if (!tell(two))
		return 1;
	while (!heard(two))
		poll_once(two);
	return memcmp(before, owned, BYTES) == 0 ? 0 : 1;
}

/* Stops before a process reads there. */
static void stop(int number)
{
	(void)number;
	mprotect(owned + MIDDLE, PAGE, PROT_READ | PROT_WRITE);
	raise(SIGSTOP);
}

static int stop_in_read(const struct two *two)
{
	memset(owned, 1, BYTES);
	if (signal(SIGSEGV, stop) == SIG_ERR || mprotect(owned + MIDDLE, PAGE, PROT_NONE) != 0 || !tell(two))
		return 1;
	for (;;)
		poll_once(two);
}

/* Owns the memory. What it does in the end, it does as soon as the first byte of it has changed. */
static int owner(struct two *two, int ending)
{
	struct ibv_mr *mr;

	owned = make_memory(BYTES, false);
	lab_setup(&two->lab, NULL);
	mr = make_key(two, owned, BYTES);
	if (!mr || !meet(two, mr))
		return 1;
	if (ending == STOPS_IN_READ)
		return stop_in_read(two);
	while (ending == POLLS_ON || *(volatile uint8_t *)owned == 0)
		poll_once(two);
	if (ending == WITHDRAWS)
		return withdraw(two, mr);
	raise(ending == STOPS ? SIGSTOP : SIGKILL);
	for (;;)
		poll_once(two);
}

static softverbs_move_fn *moves;

static enum lab_verdict start(struct two *two, enum ending ending)
{
	moves = find_move();
	if (!moves)
		return LAB_UNSUPPORTED;
	CHECK(start_two(two, owner, (int)ending) == LAB_PASSED);
	CHECK(forbid_calls());
	return LAB_PASSED;
}

static bool move(const struct two *two, void *here, size_t size, bool write)
{
	return moves(two->lab.a.qp, two->theirs.rkey, two->theirs.addr, here, size, write) == 0;
}

/* Another odd number in each word than ever before. */
static void fill(uint8_t *bytes, size_t size)
{
	static uint64_t number = 1;

	for (size_t i = 0; i < size; i += sizeof(number), number += 2)
		memcpy(bytes + i, &number, size - i < sizeof(number) ? size - i : sizeof(number));
}

/* Until it is done; false: the time is over. */
static bool move_before(const struct two *two, void *here, size_t size, bool write, time_t end)
{
	while (!move(two, here, size, write))
		if (time(NULL) >= end)
			return false;
	return true;
}

/* Write, read back: what has been written last must be there. */
static enum lab_verdict there_and_back(const struct two *two, size_t size, time_t end)
{
	static uint8_t sent[BYTES], got[BYTES + 1];

	fill(sent, size);
	got[size] = 0x55;
	if (!move_before(two, sent, size, true, end) || !move_before(two, got, size, false, end))
		return LAB_LATE;
	CHECK(memcmp(sent, got, size) == 0 && got[size] == 0x55);
	return LAB_PASSED;
}

static enum lab_verdict parts__bytes(void)
{
	time_t end = time(NULL) + PATIENCE_S;
	enum lab_verdict verdict;
	struct two two;

	verdict = start(&two, POLLS_ON);
	for (int i = 0; verdict == LAB_PASSED && i < WANTED * SIZES; i++) {
		verdict = there_and_back(&two, sizes[i % SIZES], end);
		if (verdict == LAB_LATE && i >= SIZES)
			return LAB_PASSED;
	}
	return verdict;
}

/* One of two threads that move on one queue pair, each its own part of the memory. */
struct mover {
	const struct two *two;
	size_t offset, size;
	time_t end;
	enum lab_verdict verdict;
};

static bool move_at(const struct mover *m, void *here, bool write)
{
	const struct two *two = m->two;

	while (moves(two->lab.a.qp, two->theirs.rkey, two->theirs.addr + m->offset, here, m->size, write) != 0)
		if (time(NULL) >= m->end)
			return false;
	return true;
}

static void *move_often(void *arg)
{
	struct mover *m = arg;
	uint8_t *sent = malloc(m->size), *got = malloc(m->size);

	for (int i = 1; sent && got && m->verdict == LAB_PASSED && i <= BESIDE; i++) {
		memset(sent, i + (m->offset > 0 ? 128 : 0), m->size);
		memset(got, 0, m->size);
		if (!move_at(m, sent, true) || !move_at(m, got, false))
			break;
		if (memcmp(sent, got, m->size) != 0)
			m->verdict = LAB_FAILED;
	}
	free(sent);
	free(got);
	return NULL;
}

/* What one thread asks for in parts is not another's. */
static enum lab_verdict parts__two_threads(void)
{
	struct two two;
	enum lab_verdict verdict = start(&two, POLLS_ON);
	time_t end = time(NULL) + BESIDE_S;
	struct mover first = { &two, 0, 256 << 10, end, LAB_PASSED };
	struct mover second = { &two, MIDDLE, (512 << 10) + 8, end, LAB_PASSED };
	pthread_t thread;

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(pthread_create(&thread, NULL, move_often, &second) == 0);
	move_often(&first);
	CHECK(pthread_join(thread, NULL) == 0);
	return first.verdict != LAB_PASSED ? first.verdict : second.verdict;
}

/* The owner is stopped and goes on at any time: a transfer is done, or is over. */
static enum lab_verdict parts__stopped_at_any_time(void)
{
	time_t end = time(NULL) + PATIENCE_S;
	int status;
	enum lab_verdict verdict;
	struct two two;
	pid_t stopper;

	verdict = start(&two, POLLS_ON);
	if (verdict != LAB_PASSED)
		return verdict;
	stopper = stop_and_continue(&two, STOPPED);
	CHECK(stopper > 0);
	for (int i = 0; verdict == LAB_PASSED && waitpid(stopper, &status, WNOHANG) == 0; i++)
		verdict = there_and_back(&two, sizes[i % SIZES], end);
	return verdict;
}

/* A transfer of all the memory that the owner ends in the middle. It is not done. */
static enum lab_verdict broken(struct two *two, uint8_t *here, bool write)
{
	pid_t ended = 0;
	int status;

	for (time_t end = time(NULL) + PATIENCE_S; ended == 0 && time(NULL) < end;) {
		CHECK(!move(two, here, BYTES, write));
		ended = waitpid(two->child, &status, WUNTRACED | WNOHANG);
	}
	return ended ? LAB_PASSED : LAB_LATE;
}

static enum lab_verdict broken_write(struct two *two)
{
	static uint8_t sent[BYTES];

	fill(sent, sizeof(sent));
	return broken(two, sent, true);
}

/* What is posted then comes behind the parts of the synchronous request. */
static enum lab_verdict parts__owner_stops(void)
{
	const uint64_t last = UINT64_MAX;
	enum lab_verdict verdict;
	struct two two;

	verdict = start(&two, STOPS);
	if (verdict == LAB_PASSED)
		verdict = broken_write(&two);
	if (verdict != LAB_PASSED)
		return verdict;
	memcpy(two.lab.a.buffer, &last, sizeof(last));
	CHECK(post(&two, IBV_WR_RDMA_WRITE, sizeof(last)) == 0);
	CHECK(poll_once(&two));
	CHECK(kill(two.child, SIGCONT) == 0);
	CHECK(lab_wait(two.lab.a.send_cq).status == IBV_WC_SUCCESS);
	memset(two.lab.a.buffer, 0, sizeof(last));
	CHECK(post(&two, IBV_WR_RDMA_READ, sizeof(last)) == 0);
	CHECK(lab_wait(two.lab.a.send_cq).status == IBV_WC_SUCCESS);
	CHECK(memcmp(two.lab.a.buffer, &last, sizeof(last)) == 0);
	return LAB_PASSED;
}

/* Of a read that was given up nothing comes any more. */
static enum lab_verdict parts__owner_stops_in_read(void)
{
	static uint8_t got[BYTES];
	enum lab_verdict verdict;
	struct two two;

	verdict = start(&two, STOPS_IN_READ);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(hear(&two));
	verdict = broken(&two, got, false);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(got[0] == 1 && got[MIDDLE] == 0);
	memset(got, 0, BYTES);
	CHECK(post(&two, IBV_WR_RDMA_READ, sizeof(uint64_t)) == 0 && kill(two.child, SIGCONT) == 0);
	CHECK(lab_wait(two.lab.a.send_cq).status == IBV_WC_SUCCESS);
	for (size_t i = 0; i < BYTES; i++)
		CHECK(got[i] == 0);
	return LAB_PASSED;
}

static enum lab_verdict parts__owner_dies(void)
{
	enum lab_verdict verdict;
	struct two two;

	verdict = start(&two, DIES);
	if (verdict == LAB_PASSED)
		verdict = broken_write(&two);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(post(&two, IBV_WR_RDMA_WRITE, sizeof(uint64_t)) == 0);
	CHECK(lab_wait(two.lab.a.send_cq).status != IBV_WC_SUCCESS);
	return LAB_PASSED;
}

static enum lab_verdict parts__key_is_withdrawn(void)
{
	static uint8_t sent[BYTES];
	time_t end = time(NULL) + PATIENCE_S;
	enum lab_verdict verdict;
	bool withdrawn = false;
	struct two two;

	verdict = start(&two, WITHDRAWS);
	if (verdict != LAB_PASSED)
		return verdict;
	fill(sent, sizeof(sent));
	while (!withdrawn && time(NULL) < end) {
		CHECK(!move(&two, sent, sizeof(sent), true));
		withdrawn = heard(&two);
	}
	if (!withdrawn)
		return LAB_LATE;
	CHECK(post(&two, IBV_WR_RDMA_WRITE, sizeof(uint64_t)) == 0);
	/* As if all of it had been one request. */
	CHECK(lab_wait(two.lab.a.send_cq).status == IBV_WC_REM_ACCESS_ERR);
	return finish(&two);
}

static const struct lab_case cases[] = {
	{ "parts: all bytes", parts__bytes, "lib/soft/post/move.c" },
	{ "parts: two threads", parts__two_threads, "lib/soft/post/move.c" },
	{ "parts: stopped at any time", parts__stopped_at_any_time, "lib/soft/post/move.c" },
	{ "parts: owner stops", parts__owner_stops, "lib/soft/post/move.c" },
	{ "parts: owner stops in a read", parts__owner_stops_in_read, "lib/soft/post/move.c" },
	{ "parts: owner dies", parts__owner_dies, "lib/soft/post/move.c" },
	{ "parts: key is withdrawn", parts__key_is_withdrawn, "lib/soft/post/move.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
