// SPDX-License-Identifier: BSD-2-Clause
/*
 * Registered memory that is a file: what its owner does to the file must not harm the peer. A file
 * that may shrink is not mapped there; one that is sealed against it is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab.h"
#include "two.h"

enum {
	FILE_BYTES = 65536,
};

/* Shares a file, shrinks it on request, and says whether it could. */
static int owner(struct two *two, int seals)
{
	int fd = memfd_create("files", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct ibv_mr *mr;
	void *memory;
	bool shrunk;

	if (fd < 0 || ftruncate(fd, FILE_BYTES) != 0 || (seals && fcntl(fd, F_ADD_SEALS, seals) != 0))
		return 1;
	memory = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	lab_setup(&two->lab, NULL);
	mr = make_key(two, memory, FILE_BYTES);
	if (!mr || !meet(two, mr) || !hear(two))
		return 1;
	shrunk = ftruncate(fd, 0) == 0;
	if (shrunk != !seals || !tell(two) || !hear(two))
		return 1;
	return 0;
}

static enum lab_verdict start(struct two *two, int seals)
{
	return start_two(two, owner, seals);
}

static enum ibv_wc_status transfer(struct two *two, enum ibv_wr_opcode op)
{
	return post(two, op, 4096) == 0 ? lab_wait(two->lab.a.send_cq).status : (enum ibv_wc_status) - 1;
}

/* 0: mapped and unmapped; an errno value; -1: the device maps nothing. */
static int map_other(const struct two *two)
{
	softverbs_unmap_fn *back;
	softverbs_map_fn *ask;
	struct softverbs_mapping mapping;
	int err;

	if (!find_function("softverbs_map", &ask) || !find_function("softverbs_unmap", &back))
		return -1;
	err = ask(two->lab.a.qp, two->theirs.rkey, IBV_ACCESS_REMOTE_WRITE, &mapping);
	if (!err)
		back(&mapping);
	return err;
}

/* A transfer before, so that what will be kept of the region is kept; then one after. */
static enum lab_verdict file_that_shrinks(enum ibv_wr_opcode op)
{
	struct two two;
	enum lab_verdict verdict = start(&two, 0);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(transfer(&two, op) == IBV_WC_SUCCESS);
	CHECK(tell(&two) && hear(&two));
	CHECK(transfer(&two, op) == IBV_WC_REM_OP_ERR);
	return finish(&two);
}

static enum lab_verdict files__write_to_a_file_that_shrank_fails(void)
{
	return file_that_shrinks(IBV_WR_RDMA_WRITE);
}

static enum lab_verdict files__read_of_a_file_that_shrank_fails(void)
{
	return file_that_shrinks(IBV_WR_RDMA_READ);
}

static enum lab_verdict files__unsealed_file_is_not_mapped(void)
{
	struct two two;
	enum lab_verdict verdict = start(&two, 0);

	if (verdict != LAB_PASSED)
		return verdict;
	if (map_other(&two) < 0)
		return LAB_UNSUPPORTED;
	CHECK(map_other(&two) == EOPNOTSUPP);
	CHECK(tell(&two) && hear(&two));
	return finish(&two);
}

static enum lab_verdict files__sealed_file_is_mapped(void)
{
	struct two two;
	enum lab_verdict verdict = start(&two, F_SEAL_SHRINK);

	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(transfer(&two, IBV_WR_RDMA_WRITE) == IBV_WC_SUCCESS);
	if (map_other(&two) < 0)
		return LAB_UNSUPPORTED;
	CHECK(map_other(&two) == 0);
	/* Its owner cannot shrink it; the peer goes on. */
	CHECK(tell(&two) && hear(&two));
	CHECK(transfer(&two, IBV_WR_RDMA_WRITE) == IBV_WC_SUCCESS);
	return finish(&two);
}

static enum lab_verdict there_and_back(const struct two *two, softverbs_move_fn *move, size_t size_bytes)
{
	static uint8_t sent[FILE_BYTES], got[FILE_BYTES];

	memset(sent, (int)(size_bytes / 4096), size_bytes);
	CHECK(move(two->lab.a.qp, two->theirs.rkey, two->theirs.addr, sent, size_bytes, true) == 0);
	CHECK(move(two->lab.a.qp, two->theirs.rkey, two->theirs.addr, got, size_bytes, false) == 0);
	CHECK(memcmp(sent, got, size_bytes) == 0);
	return LAB_PASSED;
}

static enum lab_verdict files__moved_at_once(void)
{
	softverbs_move_fn *move = find_move();
	uint8_t byte = 1;
	struct two two;
	enum lab_verdict verdict;

	if (!move)
		return LAB_UNSUPPORTED;
	verdict = start(&two, 0);
	if (verdict != LAB_PASSED)
		return verdict;
	CHECK(there_and_back(&two, move, 4096) == LAB_PASSED);
	CHECK(there_and_back(&two, move, FILE_BYTES) == LAB_PASSED);
	CHECK(move(two.lab.a.qp, two.theirs.rkey + 1, two.theirs.addr, &byte, 1, true) != 0);
	CHECK(move(two.lab.a.qp, two.theirs.rkey, two.theirs.addr + FILE_BYTES, &byte, 1, false) != 0);
	CHECK(transfer(&two, IBV_WR_RDMA_WRITE) == IBV_WC_SUCCESS); /* the queue pair has not suffered */
	CHECK(tell(&two) && hear(&two));
	CHECK(move(two.lab.a.qp, two.theirs.rkey, two.theirs.addr, &byte, 1, true) != 0);
	return finish(&two);
}

/* Does this descriptor of ours hold memory of the device's? */
static bool is_shared(const char *fd_path)
{
	char target[64] = "";

	return readlink(fd_path, target, sizeof(target) - 1) > 0 && strncmp(target, "/memfd:softverbs-", 17) == 0;
}

/*
 * What processes share cannot shrink, and its first page is there. The pipe's descriptor is closed
 * by now.
 */
static enum lab_verdict files__device_memory_is_sealed(void)
{
	int found = 0;
	struct lab lab;

	lab_setup(&lab, NULL);
	for (int fd = 0; fd < 100; fd++) {
		struct stat st;
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (!is_shared(path))
			continue;
		CHECK(fcntl(fd, F_GET_SEALS) >= 0 && fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK);
		CHECK(fstat(fd, &st) == 0 && st.st_blocks > 0);
		CHECK(ftruncate(fd, 0) != 0);
		found++;
	}
	return found ? LAB_PASSED : LAB_UNSUPPORTED;
}

static const struct lab_case cases[] = {
	{ "files: write to a file that shrank fails", files__write_to_a_file_that_shrank_fails, "lib/soft/rma/rmap.c" },
	{ "files: read of a file that shrank fails", files__read_of_a_file_that_shrank_fails, "lib/soft/rma/rmap.c" },
	{ "files: unsealed file is not mapped", files__unsealed_file_is_not_mapped, "lib/soft/rma/rmap.c" },
	{ "files: sealed file is mapped", files__sealed_file_is_mapped, "lib/soft/rma/rmap.c" },
	{ "files: moved at once", files__moved_at_once, "lib/soft/post/move.c" },
	{ "files: device memory is sealed", files__device_memory_is_sealed, "lib/soft/base/memory.c" },
};

int main(int argc, char **argv)
{
	return lab_main(argc, argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
