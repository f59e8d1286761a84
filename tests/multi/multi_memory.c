// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_memory.c - what windows and peers cost: rules W8 and W11, and the promises of oriel_usage
 *
 * Figures of oriel_usage are checked against the process itself: its heap, its resident pages, its
 * descriptors.
 */
#include "multi.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pages/memory_file.h"
#include "job/job.h"

#define NEIGHBOUR_BYTES 160 /* an extra window costs at most so much per neighbour */
#define WINDOW_BYTES 4096   /* and so much besides */
#define PEER_BYTES 262144   /* a peer, with area, copy ring and flag words of the first windows */
#define JOB_BYTES 262144    /* a job without peers and windows */

static size_t descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/*
 * Pages of our own: what is shared with peers, a device's rings for instance, is touched little by
 * little.
 */
static size_t private_pages(void)
{
	unsigned long size = 0, resident = 0, shared = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file) {
		if (fscanf(file, "%lu %lu %lu", &size, &resident, &shared) != 3)
			resident = shared = 0;
		fclose(file);
	}
	return resident - shared;
}

/* Stretches of address space in use. */
static size_t mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	size_t lines = 0;
	int c;

	while (file && (c = fgetc(file)) != EOF)
		lines += c == '\n';
	if (file)
		fclose(file);
	return lines;
}

/* Before glibc 2.33 the numbers are int. */
static size_t heap_bytes(void)
{
#if __GLIBC_PREREQ(2, 33)
	struct mallinfo2 info = mallinfo2();
#else
	struct mallinfo info = mallinfo();
#endif

	return (size_t)info.uordblks + (size_t)info.hblkhd;
}

static struct oriel_usage usage_of(struct multi *m)
{
	struct oriel_usage usage = { .struct_bytes = sizeof(usage) };

	CHECK_OK(m, oriel_usage(m->job, &usage));
	return usage;
}

static size_t total(const struct oriel_usage *usage)
{
	return usage->base_bytes + usage->peer_bytes + usage->window_bytes + usage->link_bytes + usage->registered_bytes;
}

static size_t total_of(struct multi *m)
{
	struct oriel_usage usage = usage_of(m);

	return total(&usage);
}

/* One fence with a put to everybody: every link of the window is in use. */
static void use(struct multi *m, oriel_win *win)
{
	uint8_t value = (uint8_t)m->rank;

	CHECK_OK(m, oriel_win_fence(win, 0));
	for (int to = 0; to < m->size; to++) {
		if (to != m->rank)
			CHECK_OK(m, oriel_put(win, &value, 1, to, (size_t)m->rank));
	}
	CHECK_OK(m, oriel_win_fence(win, 0));
}

#define EXTRA 192

/* Many windows, all links in use: what one more costs, by the library's figures and by the heap's. */
static void cost_of_an_extra_window(struct multi *m)
{
	const size_t neighbours = (size_t)m->size - 1, most = neighbours * NEIGHBOUR_BYTES + WINDOW_BYTES;
	oriel_win *win[EXTRA];
	struct oriel_usage before, after;
	uint8_t memory[64];
	size_t heap;

	CHECK_OK(m, oriel_win_create(memory, 64, 1, NULL, m->group, &win[0]));
	use(m, win[0]);
	before = usage_of(m);
	heap = heap_bytes();
	for (int i = 1; i < EXTRA; i++) {
		CHECK_OK(m, oriel_win_create(memory, 64, 1, NULL, m->group, &win[i]));
		use(m, win[i]);
	}
	after = usage_of(m);
	heap = heap_bytes() - heap;
	CHECK(m, after.windows - before.windows == EXTRA - 1 && after.links - before.links == (EXTRA - 1) * neighbours);
	/* A link and its flag words: the part that comes once more for every neighbour. */
	CHECK(m, (after.link_bytes - before.link_bytes) / (after.links - before.links) + sizeof(struct flag_pair) <=
	             NEIGHBOUR_BYTES);
	if (!CHECK(m, total(&after) - total(&before) <= (EXTRA - 1) * most))
		fprintf(stderr, "# %zu bytes a window by oriel_usage\n", (total(&after) - total(&before)) / (EXTRA - 1));
	if (!CHECK(m, heap <= (EXTRA - 1) * most))
		fprintf(stderr, "# %zu bytes a window by the heap\n", heap / (EXTRA - 1));
	if (m->rank == 0)
		printf("# an extra window, %zu neighbours: %zu bytes, of them %zu in links and %zu registered; heap %zu\n",
		       neighbours, (total(&after) - total(&before)) / (EXTRA - 1),
		       (after.link_bytes - before.link_bytes) / (EXTRA - 1),
		       (after.registered_bytes - before.registered_bytes) / (EXTRA - 1), heap / (EXTRA - 1));
	for (int i = 0; i < EXTRA; i++)
		CHECK_OK(m, oriel_win_free(&win[i]));
}

/*
 * Pairs of ranks communicate only with each other. Whatever the size of the job, a rank has one
 * peer, and the same bounds hold; the suite runs this with few ranks and with many. Must be the
 * first case: no rank is connected to another yet.
 */
static void grows_with_peers_not_ranks(struct multi *m)
{
	int other = m->rank ^ 1;
	struct oriel_usage usage = usage_of(m);
	oriel_group *pair;
	oriel_win *win;
	uint8_t memory[64];

	multi_raise(m, m->rank, usage.peers + 1);
	multi_sync(m);
	if (multi_word(m, 0) > 1) {
		multi_skip(m, "another case has run before; run it alone");
		return;
	}
	CHECK(m, usage.ranks == (size_t)m->size && usage.peers == 0 && usage.windows == 0 && usage.links == 0);
	CHECK(m, total(&usage) <= JOB_BYTES);
	if (other >= m->size)
		return;
	pair = multi_group(m, 2, (int[]){ m->rank & ~1, m->rank | 1 });
	CHECK_OK(m, oriel_win_create(memory, 64, 1, NULL, pair, &win));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_put(win, &m->rank, sizeof(m->rank), other & 1, 0));
	CHECK_OK(m, oriel_win_fence(win, 0));
	usage = usage_of(m);
	CHECK(m, usage.peers == 1 && usage.windows == 1 && usage.links == 1);
	CHECK(m, total(&usage) <= JOB_BYTES + PEER_BYTES);
	if (m->rank == 0)
		printf("# %d ranks, 1 peer: %zu bytes, of them %zu for the peer, %zu registered\n", m->size, total(&usage),
		       usage.peer_bytes, usage.registered_bytes);
	CHECK_OK(m, oriel_win_free(&win));
	usage = usage_of(m);
	CHECK(m, usage.peers == 1 && usage.windows == 0 && usage.links == 0);
	multi_group_drop(m, pair);
}

#define THOUSANDS 3000

/* W8: thousands of windows at once, each with its own data, the last as good as the first. */
static void thousands_of_windows(struct multi *m)
{
	const int count = multi_over_card() ? THOUSANDS / 5 : THOUSANDS;
	oriel_win **win = multi_alloc((size_t)count * sizeof(*win));
	uint32_t *memory = multi_alloc((size_t)count * sizeof(*memory));
	int other = 1 - m->rank;

	for (int i = 0; i < count; i++) {
		if (!CHECK_OK(m, oriel_win_create(&memory[i], sizeof(*memory), 1, NULL, m->group, &win[i])))
			break;
	}
	CHECK(m, usage_of(m).windows == (uint32_t)count);
	for (int i = 0; i < count && !multi_failed(m); i += 7) {
		uint32_t value = (uint32_t)i * 5 + (uint32_t)m->rank;

		CHECK_OK(m, oriel_win_fence(win[i], 0));
		CHECK_OK(m, oriel_put(win[i], &value, sizeof(value), other, 0));
		CHECK_OK(m, oriel_win_fence(win[i], 0));
		CHECK(m, memory[i] == (uint32_t)i * 5 + (uint32_t)other);
		CHECK(m, i == 0 || memory[i - 1] == 0);
	}
	for (int i = 0; i < count; i++) {
		int at = i * 7 % count; /* in another order; 7 does not divide it */

		if (win[at])
			CHECK_OK(m, oriel_win_free(&win[at]));
	}
	CHECK(m, usage_of(m).windows == 0);
	free(win);
	free(memory);
}

/* All kinds of windows and uses, made and freed again. */
static void one_life(struct multi *m, int round)
{
	uint8_t *large = multi_alloc(20000);
	oriel_group *group = multi_group(m, 2, round % 2 ? (int[]){ 0, 1 } : (int[]){ 1, 0 });
	oriel_win *win, *second;
	oriel_mem *mem;
	void *base;

	CHECK_OK(m, oriel_win_allocate(10000, 1, NULL, group, &base, &win));
	CHECK_OK(m, oriel_win_create(large, 20000, 4, NULL, m->group, &second));
	CHECK_OK(m, oriel_mem_register(m->job, large, 100, &mem));
	use(m, win);
	CHECK_OK(m, oriel_win_start(second, m->group, 0));
	CHECK_OK(m, oriel_put(second, large, 20000, 1 - m->rank, 0)); /* deferred */
	CHECK_OK(m, oriel_win_post(second, m->group, 0));
	CHECK_OK(m, oriel_win_complete(second));
	CHECK_OK(m, oriel_win_wait(second));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_complete(second));
	CHECK_OK(m, oriel_mem_deregister(&mem));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_win_free(&second));
	multi_group_drop(m, group);
	free(large);
}

#define WARM_ROUNDS 60
#define ROUNDS 400
#define ROUNDS_CARD 100

/* W8: nothing grows while windows come and go. */
static void create_and_free_leak_nothing(struct multi *m)
{
	const int rounds = multi_over_card() ? ROUNDS_CARD : ROUNDS;
	struct oriel_usage usage = { .struct_bytes = sizeof(usage) };
	size_t fds, pages, maps, heap;

	for (int round = 0; round < WARM_ROUNDS && !multi_failed(m); round++)
		one_life(m, round);
	usage = usage_of(m);
	fds = descriptors();
	pages = private_pages();
	maps = mappings();
	heap = heap_bytes();
	for (int round = 0; round < rounds && !multi_failed(m); round++)
		one_life(m, round);
	multi_sync(m); /* unexpected messages and copies of the last round are gone on both sides */
	CHECK(m, descriptors() == fds);
	CHECK(m, usage_of(m).windows == usage.windows && usage_of(m).links == usage.links);
	if (!CHECK(m, total_of(m) == total(&usage)))
		fprintf(stderr, "# usage: %zu, was %zu\n", total_of(m), total(&usage));
	/* The heap's own lists move a little: a page in all. */
	if (!CHECK(m, heap_bytes() < heap + 4096))
		fprintf(stderr, "# heap: %zu, was %zu\n", heap_bytes(), heap);
	if (!CHECK(m, private_pages() < pages + 32))
		fprintf(stderr, "# pages: %zu, were %zu\n", private_pages(), pages);
	if (!CHECK(m, mappings() < maps + 8)) /* the heap's own come and go */
		fprintf(stderr, "# mappings: %zu, were %zu\n", mappings(), maps);
}

#define KEPT_BYTES 5000

/* Whether the memory is found as a registered origin of operations. */
static bool is_found(struct multi *m, void *base, size_t size_bytes)
{
	struct mem_seen seen;

	return mem_look(&m->job->mems, &(struct mem_use){ (uintptr_t)base, size_bytes, 0, true }, &seen) != 0;
}

/*
 * W8: what is kept of windows that have been freed is the memory of a few, of which the last freed
 * serves first.
 */
static void few_pieces_are_kept(struct multi *m)
{
	enum { COUNT = CACHED_WINDOWS_MAX + 2 };
	oriel_win *win[COUNT];
	void *base[COUNT], *again;

	for (int i = 0; i < COUNT; i++)
		CHECK_OK(m, oriel_win_allocate(KEPT_BYTES, 1, NULL, m->group, &base[i], &win[i]));
	for (int i = 0; i < COUNT; i++) {
		CHECK(m, is_found(m, base[i], KEPT_BYTES));
		CHECK_OK(m, oriel_win_free(&win[i]));
		CHECK(m, !is_found(m, base[i], 1));
	}
	CHECK(m, m->job->window_cache.count == CACHED_WINDOWS_MAX);
	CHECK_OK(m, oriel_win_allocate(KEPT_BYTES + 1, 1, NULL, m->group, &again, &win[0])); /* of another size */
	CHECK(m, m->job->window_cache.count == CACHED_WINDOWS_MAX);
	CHECK_OK(m, oriel_win_allocate(KEPT_BYTES, 1, NULL, m->group, &again, &win[1]));
	CHECK(m, again == base[COUNT - 1] && is_found(m, again, KEPT_BYTES));
	CHECK(m, m->job->window_cache.count == CACHED_WINDOWS_MAX - 1);
	use(m, win[1]);
	CHECK_OK(m, oriel_win_free(&win[0]));
	CHECK_OK(m, oriel_win_free(&win[1]));
}

/* Returns how many pages of the machine the memory has, whichever rank has touched them. */
static size_t pages_there(const void *base, size_t size_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size_bytes + page - 1) / page, count = 0;
	unsigned char *there = multi_alloc(pages);

	if (mincore((void *)(uintptr_t)base, size_bytes, there))
		count = pages;
	else
		for (size_t i = 0; i < pages; i++)
			count += there[i] & 1;
	free(there);
	return count;
}

/* Whether memory of the library can be looked at, before it is touched. */
static bool is_promised_only(struct multi *m)
{
	if (memory_is_strict("")) {
		multi_skip(m, "vm.overcommit_memory is 2: memory is allocated when it is made");
		return false;
	}
	if (devices_find(&m->job->devices, true))
		return true;
	multi_skip(m, "a card pins memory that is registered");
	return false;
}

#define MUCH_BYTES ((size_t)256 << 20)

/* W11: what the library provides has no page before it is touched, and then those that are. */
static void untouched_memory_costs_nothing(struct multi *m)
{
	size_t own = MUCH_BYTES / (size_t)m->size;
	uint8_t *allocated, value = 7;
	void *base, *shared;
	oriel_win *win, *of_all, *of_alloc;

	if (!is_promised_only(m))
		return;
	allocated = oriel_alloc(m->job, MUCH_BYTES);
	CHECK(m, allocated);
	CHECK_OK(m, oriel_win_allocate(MUCH_BYTES, 1, NULL, m->group, &base, &win));
	CHECK_OK(m, oriel_win_allocate_shared(own, 1, NULL, m->group, &shared, &of_all));
	CHECK_OK(m, oriel_win_create(allocated, MUCH_BYTES, 1, NULL, m->group, &of_alloc));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, pages_there(base, MUCH_BYTES) == 0);
	CHECK(m, pages_there(allocated, MUCH_BYTES) == 0);
	multi_sync(m); /* the other rank's put may come at once */
	CHECK_OK(m, oriel_put(win, &value, 1, 1 - m->rank, MUCH_BYTES / 2));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, pages_there(base, MUCH_BYTES) == 1 && ((uint8_t *)base)[MUCH_BYTES / 2] == value);
	CHECK_OK(m, oriel_win_shared_query(of_all, 0, &shared, &own, &(size_t){ 0 }));
	CHECK(m, pages_there(shared, own) == 0);
	multi_sync(m);
	CHECK_OK(m, oriel_win_free(&of_alloc));
	CHECK_OK(m, oriel_win_free(&of_all));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_free(m->job, allocated));
}

/* A window is freed of which two pages were touched; the next one of its size has so many pages. */
static void use_again(struct multi *m, size_t size_bytes, size_t pages)
{
	uint8_t *base, *again;
	oriel_win *win;
	void *memory;

	CHECK_OK(m, oriel_win_allocate(size_bytes, 1, NULL, m->group, &memory, &win));
	base = memory;
	base[5000] = base[size_bytes - 1] = 7;
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_win_allocate(size_bytes, 1, NULL, m->group, &memory, &win));
	again = memory;
	CHECK(m, again == base && pages_there(base, size_bytes) == pages);
	CHECK(m, base[5000] == 0 && base[size_bytes - 1] == 0);
	CHECK_OK(m, oriel_win_free(&win));
}

/* W11, W8: what a freed window had is zeroed for the next one, which has no page more for it. */
static void used_again_without_touching(struct multi *m)
{
	if (!is_promised_only(m))
		return;
	use_again(m, CACHED_WITH_PAGES_BYTES_MAX, 2);
	use_again(m, CACHED_WITH_PAGES_BYTES_MAX + 1, 0);
	use_again(m, CACHED_BYTES_MAX, 0);
}

static int own_node(void)
{
	unsigned cpu, node;

	return syscall(SYS_getcpu, &cpu, &node, NULL) ? -1 : (int)node;
}

/* The NUMA node of a page that is there. */
static int node_of(const void *at)
{
	int node = -1;

	syscall(SYS_get_mempolicy, &node, NULL, 0UL, at, MPOL_F_NODE | MPOL_F_ADDR);
	return node;
}

/* Runs on a processor of that node from now on, if there is one. */
static bool move_to_node(int node, const cpu_set_t *allowed)
{
	cpu_set_t one;

	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (CPU_ISSET(cpu, allowed) && sched_setaffinity(0, sizeof(one), &one) == 0 && own_node() == node)
			return true;
	}
	return false;
}

/* Whether rank 0 runs on node 0, and rank 1 on node 1. */
static bool each_on_its_node(struct multi *m, const cpu_set_t *allowed)
{
	if (move_to_node(m->rank, allowed))
		multi_raise(m, m->rank, 1);
	multi_sync(m);
	return multi_word(m, 0) && multi_word(m, 1);
}

#define PLACED_BYTES ((size_t)3 << 20)
#define PLACED_AT ((size_t)1 << 20)

/*
 * Returns the node of a page of this rank's memory, at PLACED_AT, that the peer is the first to
 * touch.
 */
static int node_touched_by_peer(struct multi *m, oriel_win *win, const uint8_t *base)
{
	const uint8_t value = 7;

	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_put(win, &value, 1, 1 - m->rank, PLACED_AT));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, base[PLACED_AT] == value);
	return node_of(base + PLACED_AT);
}

/* W11: whichever rank touches it first, memory lies on its owner's node. */
static void memory_lies_on_its_owners_node(struct multi *m)
{
	uint8_t *allocated;
	void *base, *shared;
	oriel_win *of_base, *of_shared, *of_alloc;
	cpu_set_t before;

	if (!is_promised_only(m))
		return;
	CHECK(m, sched_getaffinity(0, sizeof(before), &before) == 0);
	if (!each_on_its_node(m, &before)) {
		sched_setaffinity(0, sizeof(before), &before);
		multi_skip(m, "the machine has no two NUMA nodes with processors for the ranks");
		return;
	}
	allocated = oriel_alloc(m->job, PLACED_BYTES);
	CHECK(m, allocated);
	CHECK_OK(m, oriel_win_allocate(PLACED_BYTES, 1, NULL, m->group, &base, &of_base));
	CHECK_OK(m, oriel_win_allocate_shared(PLACED_BYTES, 1, NULL, m->group, &shared, &of_shared));
	CHECK_OK(m, oriel_win_create(allocated, PLACED_BYTES, 1, NULL, m->group, &of_alloc));
	CHECK(m, node_touched_by_peer(m, of_base, base) == m->rank);
	CHECK(m, node_touched_by_peer(m, of_shared, shared) == m->rank);
	CHECK(m, node_touched_by_peer(m, of_alloc, allocated) == m->rank);
	CHECK_OK(m, oriel_win_free(&of_alloc));
	CHECK_OK(m, oriel_win_free(&of_shared));
	CHECK_OK(m, oriel_win_free(&of_base));
	CHECK_OK(m, oriel_free(m->job, allocated));
	sched_setaffinity(0, sizeof(before), &before);
}

#define DESCRIPTORS 4096

/* Take all descriptors that there are yet; their number. */
static int take_descriptors(int taken[DESCRIPTORS])
{
	int count = 0;

	while (count < DESCRIPTORS && (taken[count] = fcntl(0, F_DUPFD_CLOEXEC, 0)) >= 0)
		count++;
	return count;
}

/* Cached memory is released when a window lacks something: descriptors, here. */
static void what_is_kept_is_given_up(struct multi *m)
{
	static int taken[DESCRIPTORS];
	struct rlimit before, few;
	oriel_win *win;
	void *base;
	int count;

	CHECK_OK(m, oriel_win_allocate(KEPT_BYTES, 1, NULL, m->group, &base, &win));
	use(m, win);
	CHECK_OK(m, oriel_win_free(&win));
	CHECK(m, m->job->window_cache.count > 0);
	getrlimit(RLIMIT_NOFILE, &before);
	few = before;
	few.rlim_cur = DESCRIPTORS;
	setrlimit(RLIMIT_NOFILE, &few);
	count = take_descriptors(taken);
	CHECK(m, count < DESCRIPTORS);
	CHECK_OK(m, oriel_win_allocate(20 * KEPT_BYTES, 1, NULL, m->group, &base, &win));
	while (count > 0)
		close(taken[--count]);
	setrlimit(RLIMIT_NOFILE, &before);
	use(m, win);
	CHECK_OK(m, oriel_win_free(&win));
}

static const struct multi_case cases[] = {
	{ "W6_memory_grows_with_peers_not_ranks", 0, grows_with_peers_not_ranks },
	{ "W8_cost_of_an_extra_window", 4, cost_of_an_extra_window },
	{ "W8_create_and_free_leak_nothing", 2, create_and_free_leak_nothing },
	{ "W8_thousands_of_windows", 2, thousands_of_windows },
	{ "W8_few_pieces_are_kept", 2, few_pieces_are_kept },
	{ "W8_what_is_kept_is_given_up", 2, what_is_kept_is_given_up },
	{ "W11_untouched_memory_costs_nothing", 2, untouched_memory_costs_nothing },
	{ "W11_used_again_without_touching", 2, used_again_without_touching },
	{ "W11_lies_on_its_owners_node", 2, memory_lies_on_its_owners_node },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_memory",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
