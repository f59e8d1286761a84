// SPDX-License-Identifier: BSD-2-Clause
/* test_memory_file.c - memory_file.c and memory_room.c: sealed, allocated memory, and how much there is. */
#include "base/memory_file.h"

#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory_room.h"
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
	munmap(base, 10000);
	close(fd);
}

static void map_memory_file__is_allocated(void)
{
	struct stat status = { .st_blocks = 0 };
	size_t bytes = 9 * MIB + 4096; /* more than a piece, and no multiple of one */
	int fd = -1;
	void *base;

	CU_ASSERT_EQUAL_FATAL(map_memory_file("test", bytes, &base, &fd), 0);
	CU_ASSERT_EQUAL(fstat(fd, &status), 0);
	CU_ASSERT((size_t)status.st_blocks * 512 >= bytes);
	CU_ASSERT_EQUAL(*(uint8_t *)base, 0);
	CU_ASSERT_EQUAL(((uint8_t *)base)[bytes - 1], 0);
	munmap(base, bytes);
	close(fd);
}

/* More than there can be: told with the size, the limit and what to do, and nothing is left open. */
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

static void check_room(uint64_t bytes, uint64_t limit_bytes, const char *limit)
{
	struct memory_room room;

	memory_room(root, &room);
	CU_ASSERT_EQUAL(room.bytes, bytes);
	CU_ASSERT_EQUAL(room.limit_bytes, limit_bytes);
	CU_ASSERT_PTR_NOT_NULL(strstr(room.limit, limit));
}

static void memory_room__takes_the_least(void)
{
	char command[64];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
	check_room(UINT64_MAX, UINT64_MAX, "nothing known");
	put("/proc/meminfo",
	    "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:    600 kB\nSwapTotal: 30 kB\nSwapFree:   20 kB\n");
	check_room(620 * 1024, 1030 * 1024, "the machine");
	put("/proc/self/cgroup", "9:cpu,cpuset:/x\n4:memory:/jobs/seven\n0::/jobs/seven\n");
	check_room(620 * 1024, 1030 * 1024, "the machine");
	put("/sys/fs/cgroup/jobs/seven/memory.max", "max\n");
	put("/sys/fs/cgroup/jobs/memory.max", "500000\n");
	put("/sys/fs/cgroup/jobs/memory.stat", "anon 100000\nfile 300000\nshmem 150000\n");
	check_room(250000, 500000, "memory.max of control group /jobs");
	put("/sys/fs/cgroup/memory/jobs/seven/memory.limit_in_bytes", "200000\n");
	put("/sys/fs/cgroup/memory/jobs/seven/memory.stat", "cache 9\ntotal_rss 1000\ntotal_shmem 2000\n");
	check_room(197000, 200000, "memory.limit_in_bytes of control group /jobs/seven");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "90000\n");
	put("/sys/fs/cgroup/memory/memory.stat", "total_rss 100000\n");
	check_room(0, 90000, "control group /");
	snprintf(command, sizeof(command), "rm -rf %s", root);
	CU_ASSERT_EQUAL(system(command), 0);
}

void suite_memory_file(void)
{
	CU_pSuite suite = CU_add_suite("memory_file", NULL, NULL);

	CU_ADD_TEST(suite, map_memory_file__cannot_shrink);
	CU_ADD_TEST(suite, map_memory_file__is_allocated);
	CU_ADD_TEST(suite, map_memory_file__too_much);
	CU_ADD_TEST(suite, memory_room__takes_the_least);
}
