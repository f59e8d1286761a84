// SPDX-License-Identifier: BSD-2-Clause
/* Two processes, connected: a case's own, and its child, which owns the memory. */
#ifndef SOFT_TWO_H
#define SOFT_TWO_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/soft/extension.h"
#include "lab.h"

/* What one side tells the other over a pipe. */
struct card {
	uint32_t qpn, rkey;
	uint64_t addr;
};

struct two {
	struct lab lab;
	struct card theirs;
	int in, out; /* to the other process */
	pid_t child;
};

static const struct lab_options defaults;

static inline bool tell(const struct two *two)
{
	return write(two->out, "t", 1) == 1;
}

static inline bool hear(const struct two *two)
{
	char c;

	return read(two->in, &c, 1) == 1;
}

static inline bool meet(struct two *two, struct ibv_mr *mr)
{
	struct ibv_qp *qp = two->lab.a.qp = lab_qp(&two->lab.a, &defaults);
	struct card mine = { qp ? qp->qp_num : 0, mr->rkey, (uintptr_t)mr->addr };

	return qp && write(two->out, &mine, sizeof(mine)) == sizeof(mine) &&
	       read(two->in, &two->theirs, sizeof(two->theirs)) == sizeof(two->theirs) &&
	       lab_init(&two->lab, qp, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ) == 0 &&
	       lab_rtr(&two->lab, qp, two->theirs.qpn, &defaults) == 0 && lab_rts(qp, &defaults) == 0 && tell(two) &&
	       hear(two);
}

/* The child is `owner`, which is given the argument and ends with an exit status. */
static inline enum lab_verdict start_two(struct two *two, int (*owner)(struct two *two, int argument), int argument)
{
	int to[2], from[2];

	CHECK(pipe(to) == 0 && pipe(from) == 0);
	two->child = fork();
	if (two->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* whom a failing case leaves behind would hold its output open */
		two->in = to[0];
		two->out = from[1];
		_exit(owner(two, argument));
	}
	two->in = from[0];
	two->out = to[1];
	CHECK(two->child > 0);
	lab_setup(&two->lab, NULL);
	CHECK(meet(two, two->lab.a.mr));
	return LAB_PASSED;
}

static inline enum lab_verdict finish(const struct two *two)
{
	int status;

	CHECK(tell(two) && waitpid(two->child, &status, 0) == two->child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return LAB_PASSED;
}

/* From now on the filter judges this process's system calls. */
static inline bool filter_calls(struct sock_filter *filter, unsigned short count)
{
	struct sock_fprog program = { count, filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Calls that reach another process's memory fail from now on. */
static inline bool forbid_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};

	return filter_calls(filter, sizeof(filter) / sizeof(*filter));
}

/* A function of extension.h by name, to a pointer to it; false: the device has none. */
static inline bool find_function(const char *name, void *pointer)
{
	void *function = dlsym(RTLD_DEFAULT, name);

	memcpy(pointer, &function, sizeof(function));
	return function;
}

/* NULL: the device has none. */
static inline softverbs_move_fn *find_move(void)
{
	softverbs_move_fn *move;

	return find_function("softverbs_move", &move) ? move : NULL;
}

/* Private, or of a file that peers can map; NULL: there is none. */
static inline void *make_memory(size_t size, bool file)
{
	int fd = file ? memfd_create("two", MFD_ALLOW_SEALING) : -1;
	void *memory;

	if (file && (fd < 0 || ftruncate(fd, (off_t)size) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0))
		return NULL;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

/* A key to it with all rights but atomics'; NULL: none is given. */
static inline struct ibv_mr *make_key(const struct two *two, void *memory, size_t size)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	return memory ? ibv_reg_mr(two->lab.a.pd, memory, size, access) : NULL;
}

/* So many bytes between this side's buffer and the other's memory. 0 or an errno value. */
static inline int post(const struct two *two, enum ibv_wr_opcode op, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)two->lab.a.buffer, length, two->lab.a.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = op, .send_flags = IBV_SEND_SIGNALED };

	wr.wr.rdma.remote_addr = two->theirs.addr;
	wr.wr.rdma.rkey = two->theirs.rkey;
	return lab_post(two->lab.a.qp, &wr);
}

/* Starts a process that stops the other one and lets it go on, so often. Returns its number. */
static inline pid_t stop_and_continue(const struct two *two, int times)
{
	const struct timespec moment = { 0, 300000 };
	pid_t stopper = fork();

	if (stopper != 0)
		return stopper;
	for (int i = 0; i < times; i++) {
		kill(two->child, SIGSTOP);
		nanosleep(&moment, NULL);
		kill(two->child, SIGCONT);
		nanosleep(&moment, NULL);
	}
	_exit(0);
}

#endif
