// SPDX-License-Identifier: BSD-2-Clause
/* test_memory_file.c - memory_file.c and memory_room.c: sealed memory, and how much there is */
#include "pages/memory_file.h"

#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oriel.h"
#include "suites.h"

#define MIB ((size_t)1 << 20)

static void map_memory_file__cannot_shrink(void)
{
	int fd = -1;
	void *base;

	CU_ASSERT_EQUAL_FATAL(map_memory_file("test", 10000, &base, &fd), 0);
	CU_ASSERT(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK);
	CU_ASSERT_NOT_EQUAL(ftruncate(fd, 0), 0);
	((uint8_t *)base)[9999] = 1;
	unmap_memory_file(base, 10000, fd);
}

static size_t allocated_bytes(int fd)
{
	struct stat status = { .st_blocks = 0 };

	CU_ASSERT_EQUAL(fstat(fd, &status), 0);
	return (size_t)status.st_blocks * 512;
}

/* Only if the system promises more memory than it has; otherwise this file is filled. */
static void map_memory_file__takes_no_page(void)
{
	size_t bytes = 9 * MIB + 4096;
	int fd = -1;
	uint8_t *at;
	void *base;

	CU_ASSERT_EQUAL_FATAL(map_memory_file("test", bytes, &base, &fd), 0);
	at = base;
	CU_ASSERT_EQUAL(allocated_bytes(fd), memory_is_strict("") ? bytes : 0);
	CU_ASSERT_EQUAL(at[0], 0);
	CU_ASSERT_EQUAL(at[bytes - 1], 0);
	CU_ASSERT(memory_is_strict("") || allocated_bytes(fd) == 2 * 4096);
	unmap_memory_file(base, bytes, fd);
}

/* Touched pages are zeroed, and no other page is touched for it. */
static void zero_memory_file__touches_nothing_new(void)
{
	size_t bytes = 2 * MIB;
	size_t before;
	int fd = -1;
	uint8_t *at;
	void *base;

	CU_ASSERT_EQUAL_FATAL(map_memory_file("test", bytes, &base, &fd), 0);
	zero_memory_file(base, bytes, fd);
	at = base;
	at[5000] = at[9000] = at[MIB] = at[bytes - 1] = 7;
	before = allocated_bytes(fd);
	zero_memory_file(base, bytes, fd);
	CU_ASSERT_EQUAL(allocated_bytes(fd), before);
	CU_ASSERT(memory_is_strict("") || before == 4 * 4096);
	CU_ASSERT(at[5000] == 0 && at[9000] == 0 && at[MIB] == 0 && at[bytes - 1] == 0);
	unmap_memory_file(base, bytes, fd);
}

/* Also while another process has the file, as a peer may. */
static void unmap_memory_file__gives_the_pages_back(void)
{
	size_t bytes = 10000; /* no whole pages */
	int fd = -1, other;
	void *base;

	CU_ASSERT_EQUAL_FATAL(map_memory_file("test", bytes, &base, &fd), 0);
	other = dup(fd);
	memset(base, 1, bytes);
	CU_ASSERT_EQUAL(allocated_bytes(other), 3 * 4096);
	unmap_memory_file(base, bytes, fd);
	CU_ASSERT_EQUAL(allocated_bytes(other), 0);
	close(other);
}

static void memory_fill__allocates_all(void)
{
	size_t bytes = 9 * MIB + 4096; /* more than a piece, and no multiple of one */
	int fd = -1;
	void *base;

	CU_ASSERT_EQUAL_FATAL(map_memory_file("test", bytes, &base, &fd), 0);
	CU_ASSERT_EQUAL(memory_fill("test", fd, bytes), 0);
	CU_ASSERT(allocated_bytes(fd) >= bytes);
	CU_ASSERT_EQUAL(*(uint8_t *)base, 0);
	CU_ASSERT_EQUAL(((uint8_t *)base)[bytes - 1], 0);
	unmap_memory_file(base, bytes, fd);
}

/* With a limit of the process: an error, without the signal that ftruncate would send. */
static void map_memory_file__limited(unsigned resource, size_t limit_bytes, const char *text)
{
	struct rlimit before, few;
	int fd = -1;
	void *base;

	CU_ASSERT_EQUAL_FATAL(getrlimit(resource, &before), 0);
	few = before;
	few.rlim_cur = limit_bytes;
	CU_ASSERT_EQUAL(setrlimit(resource, &few), 0);
	CU_ASSERT_EQUAL(map_memory_file("test", limit_bytes + MIB, &base, &fd), ORIEL_ERR_MEMORY);
	CU_ASSERT_PTR_NULL(base);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), text));
	CU_ASSERT_EQUAL(setrlimit(resource, &before), 0);
	CU_ASSERT_EQUAL_FATAL(map_memory_file("test", MIB, &base, &fd), 0);
	unmap_memory_file(base, MIB, fd);
}

static void map_memory_file__keeps_to_limits(void)
{
	map_memory_file__limited(RLIMIT_FSIZE, MIB, "ulimit -f");
	map_memory_file__limited(RLIMIT_AS, 512 * MIB, "mmap");
}

/*
 * More than there can be: the error has the size, the limit and what to do, and nothing is left
 * open.
 */
static void map_memory_file__too_much(void)
{
	static const size_t sizes[] = { (size_t)1 << 46, SIZE_MAX / 2, SIZE_MAX - 4096 };
	int before = dup(STDIN_FILENO), after, fd;
	char text[32];
	void *base;

	close(before);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(text, sizeof(text), "%zu bytes", sizes[i]);
		CU_ASSERT_EQUAL(map_memory_file("test", sizes[i], &base, &fd), ORIEL_ERR_MEMORY);
		CU_ASSERT_PTR_NULL(base);
		CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), text));
	}
	CU_ASSERT_EQUAL(map_memory_file("test", (size_t)1 << 46, &base, &fd), ORIEL_ERR_MEMORY);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "raise that limit"));
	after = dup(STDIN_FILENO);
	CU_ASSERT_EQUAL(after, before);
	close(after);
}

/* A made-up machine below a folder. */

static char root[] = "/tmp/oriel-room-XXXXXX";

static void put(const char *path, const char *text)
{
	char full[512], *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

static void check_room(enum memory_part part, uint64_t bytes, uint64_t limit_bytes, const char *limit)
{
	struct memory_room room;

	memory_room(root, part, &room);
	CU_ASSERT_EQUAL(room.bytes, bytes);
	CU_ASSERT_EQUAL(room.limit_bytes, limit_bytes);
	CU_ASSERT_PTR_NOT_NULL(strstr(room.limit, limit));
}

static void check_left(uint64_t bytes, uint64_t limit_bytes, const char *limit)
{
	check_room(MEMORY_LEFT, bytes, limit_bytes, limit);
}

static void check_in_all(uint64_t bytes, const char *limit)
{
	check_room(MEMORY_IN_ALL, bytes, bytes, limit);
}

static void memory_room__takes_the_least(void)
{
	char command[64];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
	check_left(UINT64_MAX, UINT64_MAX, "nothing known");
	check_in_all(UINT64_MAX, "nothing known");
	put("/proc/meminfo",
	    "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:    600 kB\nSwapTotal: 30 kB\nSwapFree:   20 kB\n");
	check_left(620 * 1024, 1030 * 1024, "the machine");
	check_in_all(1030 * 1024, "the machine");
	put("/proc/self/cgroup", "9:cpu,cpuset:/x\n4:memory:/jobs/seven\n0::/jobs/seven\n");
	check_left(620 * 1024, 1030 * 1024, "the machine");
	put("/sys/fs/cgroup/jobs/seven/memory.max", "max\n");
	put("/sys/fs/cgroup/jobs/memory.max", "500000\n");
	put("/sys/fs/cgroup/jobs/memory.stat", "anon 100000\nfile 300000\nshmem 150000\n");
	check_left(250000, 500000, "memory.max of control group /jobs");
	check_in_all(500000, "memory.max of control group /jobs");
	put("/sys/fs/cgroup/memory/jobs/seven/memory.limit_in_bytes", "200000\n");
	put("/sys/fs/cgroup/memory/jobs/seven/memory.stat", "cache 9\ntotal_rss 1000\ntotal_shmem 2000\n");
	check_left(197000, 200000, "memory.limit_in_bytes of control group /jobs/seven");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "90000\n");
	put("/sys/fs/cgroup/memory/memory.stat", "total_rss 100000\n");
	check_left(0, 90000, "control group /");
	check_in_all(90000, "control group /");
	CU_ASSERT_FALSE(memory_is_strict(root));
	put("/proc/sys/vm/overcommit_memory", "2\n");
	CU_ASSERT(memory_is_strict(root));
	snprintf(command, sizeof(command), "rm -rf %s", root);
	CU_ASSERT_EQUAL(system(command), 0);
}

void suite_memory_file(void)
{
	CU_pSuite suite = CU_add_suite("memory_file", NULL, NULL);

	CU_ADD_TEST(suite, map_memory_file__cannot_shrink);
	CU_ADD_TEST(suite, map_memory_file__takes_no_page);
	CU_ADD_TEST(suite, zero_memory_file__touches_nothing_new);
	CU_ADD_TEST(suite, unmap_memory_file__gives_the_pages_back);
	CU_ADD_TEST(suite, memory_fill__allocates_all);
	CU_ADD_TEST(suite, map_memory_file__keeps_to_limits);
	CU_ADD_TEST(suite, map_memory_file__too_much);
	CU_ADD_TEST(suite, memory_room__takes_the_least);
}
