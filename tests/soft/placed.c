// SPDX-License-Identifier: BSD-2-Clause
/*
 * placed.c - a write is placed once, its last byte last: a process that sees that byte has the
 * message, and may overwrite it
 *
 * A process posts writes to memory that its parent shares. The parent makes it take single steps:
 * after each it looks, answers as soon as the last byte is there, and lets the process run to the
 * end.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab.h"

enum { OLD = 'o', NEW = 'n', ANSWER = 'a', SIZE = 8192, STEPS_MAX = 1000000 };

static const uint32_t lengths[] = { 1,  2,  3,  4,  5,  7,  8,  12, 15, 16,  17,  24,  31, 32,
	                                33, 40, 48, 63, 64, 65, 72, 73, 96, 128, 129, 256, 257 };
static const uint32_t offsets[] = { 0, 3, 4092 };

enum { LENGTHS = sizeof(lengths) / sizeof(*lengths), OFFSETS = sizeof(offsets) / sizeof(*offsets) };

/* The writing process: it stops before each write and behind it. */
static void write_all(uint8_t *memory)
{
	struct lab lab;
	struct ibv_mr *mr;

	lab_setup(&lab, NULL);
	mr = ibv_reg_mr(lab.b.pd, memory, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	memset(lab.a.buffer, NEW, LAB_BUFFER);
	for (int i = 0; i < LENGTHS * OFFSETS; i++) {
		struct ibv_sge sge = { (uintptr_t)lab.a.buffer, lengths[i / OFFSETS], lab.a.mr->lkey };
		struct ibv_send_wr wr = {
			.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED
		};

		wr.wr.rdma.remote_addr = (uintptr_t)memory + offsets[i % OFFSETS];
		wr.wr.rdma.rkey = mr->rkey;
		raise(SIGSTOP);
		if (lab_post(lab.a.qp, &wr) || lab_wait(lab.a.send_cq).status != IBV_WC_SUCCESS)
			_exit(1);
		raise(SIGSTOP);
	}
	_exit(0);
}

/*
 * Lets the writer go on by that request until it stops by itself, with SIGSTOP, or behind a single
 * step, with SIGTRAP. Returns which of them; 0: it does neither, or may not be looked at. Other
 * signals are passed on, as if no one looked.
 */
static int go_on(pid_t writer, enum __ptrace_request request)
{
	int status, signal = 0;

	do {
		if (ptrace(request, writer, NULL, (void *)(intptr_t)signal) || waitpid(writer, &status, 0) != writer ||
		    !WIFSTOPPED(status))
			return 0;
		signal = WSTOPSIG(status);
	} while (signal != SIGSTOP && signal != SIGTRAP);
	return signal;
}

static bool all_are(const volatile uint8_t *at, uint32_t length, uint8_t byte)
{
	for (uint32_t i = 0; i < length; i++)
		if (at[i] != byte)
			return false;
	return true;
}

/* One write, in single steps up to the answer; its memory is what was answered then. */
static enum lab_verdict one_write(pid_t writer, volatile uint8_t *at, uint32_t length)
{
	CHECK(go_on(writer, PTRACE_CONT) == SIGSTOP);
	for (int i = 0; i < STEPS_MAX && at[length - 1] != NEW; i++)
		CHECK(go_on(writer, PTRACE_SINGLESTEP) == SIGTRAP);
	CHECK(all_are(at, length, NEW));
	memset((uint8_t *)(uintptr_t)at, ANSWER, length);
	CHECK(go_on(writer, PTRACE_CONT) == SIGSTOP);
	CHECK(all_are(at, length, ANSWER));
	return LAB_PASSED;
}

/*
 * Whether it has stopped, and makes single steps: not everybody may look at another process, and
 * emulators may know no steps.
 */
static bool can_watch(pid_t writer)
{
	int status;

	return waitpid(writer, &status, 0) == writer && WIFSTOPPED(status) &&
	       ptrace(PTRACE_SETOPTIONS, writer, NULL, (void *)PTRACE_O_EXITKILL) == 0 &&
	       go_on(writer, PTRACE_SINGLESTEP) == SIGTRAP;
}

static enum lab_verdict watch(pid_t writer, uint8_t *memory)
{
	if (!can_watch(writer))
		return LAB_UNSUPPORTED;
	for (int i = 0; i < LENGTHS * OFFSETS; i++) {
		enum lab_verdict verdict;

		memset(memory, OLD, SIZE);
		verdict = one_write(writer, memory + offsets[i % OFFSETS], lengths[i / OFFSETS]);
		if (verdict != LAB_PASSED)
			return verdict;
	}
	return LAB_PASSED;
}

static enum lab_verdict write__is_placed_once_and_its_end_last(void)
{
	uint8_t *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	enum lab_verdict verdict;
	pid_t writer = fork();

	CHECK(memory != MAP_FAILED && writer >= 0);
	if (writer == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		raise(SIGSTOP);
		write_all(memory);
	}
	verdict = watch(writer, memory);
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	return verdict;
}

int main(int argc, char **argv)
{
	static const struct lab_case cases[] = {
		{ "write: is placed once, and its end last", write__is_placed_once_and_its_end_last,
		  "what programs that poll memory take for granted" },
	};

	return lab_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}
