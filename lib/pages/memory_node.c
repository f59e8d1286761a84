// SPDX-License-Identifier: BSD-2-Clause
/* See memory_file.h. */
#include "pages/memory_file.h"

#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

#define NODES_MAX 1024 /* the kernel's maximum; a smaller mask is an error */
#define WORD_BITS (8 * sizeof(unsigned long))

struct policy {
	int mode; /* with its flags */
	unsigned long nodes[NODES_MAX / WORD_BITS];
};

static struct {
	pthread_once_t once;
	bool several; /* for this process */
} machine = { .once = PTHREAD_ONCE_INIT };

static int count_nodes(const struct policy *policy)
{
	int count = 0;

	for (size_t i = 0; i < sizeof(policy->nodes) / sizeof(policy->nodes[0]); i++)
		count += __builtin_popcountl(policy->nodes[i]);
	return count;
}

static bool read_policy(struct policy *policy, unsigned long flags)
{
	return syscall(SYS_get_mempolicy, &policy->mode, policy->nodes, (unsigned long)NODES_MAX, NULL, flags) == 0;
}

static void count_allowed(void)
{
	struct policy allowed = { 0 };

	machine.several = read_policy(&allowed, MPOL_F_MEMS_ALLOWED) && count_nodes(&allowed) > 1;
}

/* Prefers the node of the thread's processor. */
static bool prefer_this_node(struct policy *policy)
{
	unsigned cpu, node;

	if (syscall(SYS_getcpu, &cpu, &node, NULL) || node >= NODES_MAX)
		return false;
	*policy = (struct policy){ .mode = MPOL_PREFERRED };
	policy->nodes[node / WORD_BITS] |= 1UL << node % WORD_BITS;
	return true;
}

/* Reads the thread's own policy. One without nodes would place a page by the touching thread. */
static bool choose_policy(struct policy *policy)
{
	if (!read_policy(policy, 0))
		return false;
	return count_nodes(policy) > 0 || prefer_this_node(policy);
}

void memory_node_bind(void *base, size_t size_bytes)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)base;
	const uintptr_t first = round_up(at, page), end = round_up(at + size_bytes, page);
	struct policy policy = { 0 };

	pthread_once(&machine.once, count_allowed);
	if (machine.several && end > first && choose_policy(&policy))
		syscall(SYS_mbind, first, end - first, policy.mode, policy.nodes, (unsigned long)NODES_MAX, 0);
}
