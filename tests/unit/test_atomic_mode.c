// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_atomic_mode.c - sync/atomic_mode.h: when integers of 8 bytes are changed by instructions and
 * when by plain code, among processes that share memory
 */
#include <CUnit/CUnit.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/order.h"
#include "base/process.h"
#include "base/util.h"
#include "job/peer.h"
#include "sync/atomic_mode.h"
#include "op/element.h"
#include "suites.h"

#define CHILDREN 2
#define PLACES (CHILDREN + 1)
#define WORDS 64
#define ROUNDS 400
#define SINGLES 200 /* of each child, in a round */
#define VECTORS 20
#define PAGE LOCKED_PAGE_BYTES

/* An owner's table and words, and where the processes of a test meet. */
struct shared {
	_Alignas(64) uint8_t table[sizeof(struct page_lock_table) + PLACES * sizeof(struct updates)];
	_Alignas(LOCKED_PAGE_BYTES) uint64_t words[WORDS];
	uint32_t round;          /* that has begun; by the parent */
	uint32_t done[CHILDREN]; /* rounds that each child has ended; by itself */
};

static struct shared *shared_new(void)
{
	void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_PTR_NOT_EQUAL_FATAL(memory, MAP_FAILED);
	return memory;
}

static struct page_lock_table *table_of(struct shared *shared)
{
	return (struct page_lock_table *)(void *)shared->table;
}

static struct page_locks own_page_locks(void)
{
	return (struct page_locks){ .process = (process_clock_ns() / NS_PER_SECOND + 1) << 32 | (uint32_t)getpid(),
		                        .updaters = PLACES,
		                        .has_barrier = heavy_barrier_join() };
}

/* The owner as the one at that place knows it. */
static struct peer *owner_new(struct shared *shared, const struct page_locks *ours, int place)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	CU_ASSERT_PTR_NOT_NULL_FATAL(peer);
	peer->page_locks = table_of(shared);
	peer->updates = &table_of(shared)->updates[place];
	peer->updates->process = ours->process;
	return peer;
}

static uint64_t there(const struct shared *shared)
{
	return (uintptr_t)shared->words;
}

static enum atomic_mode mode_of(struct shared *shared)
{
	return atomic_mode(table_of(shared), there(shared));
}

static void test_many_switch(void)
{
	struct shared *shared = shared_new();
	struct page_locks ours = own_page_locks();
	uint64_t from = there(shared);

	CU_ASSERT_FALSE(atomic_mode_try_locked(&ours, table_of(shared), from, from + 8, 1));
	CU_ASSERT_FALSE(
		atomic_mode_try_locked(&ours, table_of(shared), from, from + 8 * (MODE_SWITCH_MIN - 1), MODE_SWITCH_MIN - 1));
	CU_ASSERT_EQUAL(mode_of(shared), MODE_ATOMIC);
	CU_ASSERT_EQUAL(atomic_mode_try_locked(&ours, table_of(shared), from, from + 8 * MODE_SWITCH_MIN, MODE_SWITCH_MIN),
	                ours.has_barrier);
	CU_ASSERT_EQUAL(mode_of(shared), ours.has_barrier ? MODE_LOCKED : MODE_ATOMIC);
	CU_ASSERT_EQUAL(atomic_mode_try_locked(&ours, table_of(shared), from, from + 8, 1), ours.has_barrier);
	CU_ASSERT_EQUAL(atomic_mode(table_of(shared), from + PAGE), MODE_ATOMIC); /* another's page */
	CU_ASSERT_EQUAL(atomic_mode_try_locked(&ours, table_of(shared), from + PAGE - 8, from + 3 * PAGE, 1000),
	                ours.has_barrier);
	CU_ASSERT_EQUAL(atomic_mode(table_of(shared), from + 2 * PAGE), ours.has_barrier ? MODE_LOCKED : MODE_ATOMIC);
	munmap(shared, sizeof(*shared));
}

/* Words change by instructions, however many, and the neighbouring page's mode stays. */
static void test_pinned(void)
{
	struct shared *shared = shared_new();
	struct page_locks ours = own_page_locks();
	struct peer *peer = owner_new(shared, &ours, 1);
	uint64_t from = there(shared);
	uint8_t *in_progress;

	state_store(&table_of(shared)->modes[page_lock_index(from)], MODE_PINNED);
	CU_ASSERT_FALSE(atomic_mode_try_locked(&ours, table_of(shared), from, from + 2 * PAGE, 1000));
	CU_ASSERT_EQUAL(mode_of(shared), MODE_PINNED);
	in_progress = update_begin(peer, 0, from);
	CU_ASSERT_PTR_NOT_NULL_FATAL(in_progress);
	CU_ASSERT_FALSE(atomic_mode_try_locked(&ours, table_of(shared), from, from + PAGE, 1000));
	CU_ASSERT_EQUAL(ours.rests, 0); /* it is no try: no update was waited for */
	update_end(in_progress);
	free(peer);
	munmap(shared, sizeof(*shared));
}

static void test_no_barrier(void)
{
	struct shared *shared = shared_new();
	struct page_locks ours = own_page_locks();
	uint64_t from = there(shared);

	ours.has_barrier = false;
	CU_ASSERT_FALSE(atomic_mode_try_locked(&ours, table_of(shared), from, from + PAGE, 1000));
	CU_ASSERT_EQUAL(mode_of(shared), MODE_ATOMIC);
	munmap(shared, sizeof(*shared));
}

/* Words that are read only change no mode; the handler's update counts as any other. */
static void test_handler(void)
{
	struct shared *shared = shared_new();
	struct page_locks ours = own_page_locks();
	uint64_t from = there(shared);
	uint8_t *in_progress;

	ours.piece.addr = table_of(shared);
	in_progress = update_begin_here(&ours, from);
	CU_ASSERT_EQUAL(in_progress != NULL, ours.has_barrier);
	CU_ASSERT_FALSE(atomic_mode_try_locked(&ours, table_of(shared), from, from + PAGE, 0));
	CU_ASSERT_EQUAL(mode_of(shared), MODE_ATOMIC);
	CU_ASSERT_FALSE(atomic_mode_try_locked(&ours, table_of(shared), from, from + PAGE, 1000));
	if (in_progress)
		update_end(in_progress);
	ours.rests = 0;
	CU_ASSERT_EQUAL(atomic_mode_try_locked(&ours, table_of(shared), from, from + PAGE, 1000), ours.has_barrier);
	CU_ASSERT_EQUAL(update_begin_here(&ours, from), NULL);
	munmap(shared, sizeof(*shared));
}

/*
 * While one is in progress the words stay with instructions; one that begins behind the switch
 * takes the page lock.
 */
static void test_update(void)
{
	struct shared *shared = shared_new();
	struct page_locks ours = own_page_locks();
	struct peer *peer = owner_new(shared, &ours, 1);
	uint64_t from = there(shared);
	uint8_t *in_progress = update_begin(peer, 3, from);

	CU_ASSERT_PTR_EQUAL_FATAL(in_progress, &table_of(shared)->updates[1].window[3]);
	CU_ASSERT_EQUAL(*in_progress, 1);
	CU_ASSERT_FALSE(atomic_mode_try_locked(&ours, table_of(shared), from, from + PAGE, 1000));
	if (ours.has_barrier) {
		CU_ASSERT_EQUAL(mode_of(shared), MODE_SWITCHING);
		CU_ASSERT_PTR_NULL(update_begin(peer, 4, from));
		CU_ASSERT_EQUAL(table_of(shared)->updates[1].window[4], 0);
	}
	update_end(in_progress);
	CU_ASSERT_EQUAL(*in_progress, 0);
	CU_ASSERT_FALSE(atomic_mode_try_locked(&ours, table_of(shared), from, from + PAGE, 1000)); /* not at once again */
	ours.rests = 0;
	CU_ASSERT_EQUAL(atomic_mode_try_locked(&ours, table_of(shared), from, from + PAGE, 1000), ours.has_barrier);
	CU_ASSERT_PTR_NULL(update_begin(peer, UPDATE_WINDOWS, from + PAGE)); /* there is no place for it */
	peer->updates = NULL;
	CU_ASSERT_PTR_NULL(update_begin(peer, 3, from + PAGE));
	free(peer);
	munmap(shared, sizeof(*shared));
}

/* One whose process has ended meanwhile is over; one that is stopped is not. */
static void test_updater_dies(void)
{
	struct shared *shared = shared_new();
	struct page_locks ours = own_page_locks();
	uint64_t from = there(shared);
	siginfo_t info;
	pid_t child = fork();

	if (child == 0) {
		struct page_locks own = own_page_locks();

		update_begin(owner_new(shared, &own, 2), 0, from);
		state_store(&shared->done[0], 1);
		for (;;)
			pause();
	}
	while (state_load(&shared->done[0]) == 0)
		sched_yield();
	kill(child, SIGSTOP);
	waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT);
	CU_ASSERT_FALSE(atomic_mode_try_locked(&ours, table_of(shared), from, from + PAGE, 1000));
	kill(child, SIGKILL);
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	ours.rests = 0;
	CU_ASSERT_EQUAL(atomic_mode_try_locked(&ours, table_of(shared), from, from + PAGE, 1000), ours.has_barrier);
	waitpid(child, NULL, 0);
	munmap(shared, sizeof(*shared));
}

/* Many processes at words of one page. */

static void take(struct page_lock *page_lock, uint64_t process)
{
	while (!page_trylock(page_lock, process))
		;
}

/* At once when it comes, where there are processors enough. */
static void await_state(const uint32_t *state, uint32_t least)
{
	for (uint32_t turns = 0; state_load(state) < least; turns++) {
		if (turns > 10000)
			sched_yield();
	}
}

/* With the page lock. */
static void add_held(struct shared *shared, struct page_locks *ours, size_t at, size_t count)
{
	struct page_lock *page_lock = page_lock_of(table_of(shared), there(shared));
	uint64_t ones[WORDS], from = there(shared) + at * 8;

	for (size_t i = 0; i < count; i++)
		ones[i] = 1;
	take(page_lock, ours->process);
	if (atomic_mode_try_locked(ours, table_of(shared), from, from + count * 8, count))
		element_apply(ORIEL_UINT64, ORIEL_SUM, &shared->words[at], ones, NULL, count);
	else
		element_apply_atomic(ORIEL_UINT64, ORIEL_SUM, &shared->words[at], ones, NULL, count);
	page_unlock(page_lock);
}

static void add_single(struct shared *shared, struct page_locks *ours, const struct peer *owner, size_t at)
{
	const uint64_t one = 1;
	uint8_t *in_progress = update_begin(owner, 0, there(shared));

	if (!in_progress) {
		add_held(shared, ours, at, 1);
		return;
	}
	element_apply_atomic(ORIEL_UINT64, ORIEL_SUM, &shared->words[at], &one, NULL, 1);
	update_end(in_progress);
}

static void add_singles(struct shared *shared, int child)
{
	struct page_locks ours = own_page_locks();
	struct peer *owner = owner_new(shared, &ours, child + 1);

	if (!ours.has_barrier)
		owner->updates = NULL;
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		await_state(&shared->round, round);
		for (size_t i = 0; i < SINGLES; i++)
			add_single(shared, &ours, owner, i % 3);
		state_store(&shared->done[child], round);
	}
	_exit(0);
}

/*
 * Children add single ones all the time, and somewhere among them comes the first vector of each round, which
 * changes the mode; each round begins with instructions anew. Nothing is lost.
 */
static void test_mode_changes(void)
{
	struct shared *shared = shared_new();
	struct page_locks ours = own_page_locks();
	uint32_t plain = 0;
	uint64_t sum = 0;

	for (int child = 0; child < CHILDREN; child++) {
		if (fork() == 0)
			add_singles(shared, child);
	}
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		state_store(&table_of(shared)->modes[page_lock_index(there(shared))], MODE_ATOMIC);
		state_store(&shared->round, round);
		for (int i = 0; i < VECTORS; i++)
			add_held(shared, &ours, 0, WORDS);
		plain += mode_of(shared) == MODE_LOCKED;
		for (int child = 0; child < CHILDREN; child++)
			await_state(&shared->done[child], round);
	}
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < WORDS; i++)
		sum += shared->words[i];
	CU_ASSERT_EQUAL(sum, (uint64_t)ROUNDS * (VECTORS * WORDS + CHILDREN * SINGLES));
	CU_ASSERT_TRUE(plain > 0 || !ours.has_barrier);
	munmap(shared, sizeof(*shared));
}

/* One begins, and the other changes the mode at the same moment. */

#define MEETINGS 20000

/* The child's report of a round in done[0], with the round's number above it. */
enum { HAS_NOT_BEGUN = 1, HAS_BEGUN, HAS_ENDED };

/* It goes on until the parent has looked. */
static void begin_and_stay(struct shared *shared)
{
	struct page_locks ours = own_page_locks();
	struct peer *owner = owner_new(shared, &ours, 1);

	for (uint32_t round = 1; round <= MEETINGS; round++) {
		uint8_t *in_progress;

		await_state(&shared->round, round);
		in_progress = update_begin(owner, 0, there(shared));
		state_store(&shared->done[0], round * 4 + (in_progress ? HAS_BEGUN : HAS_NOT_BEGUN));
		await_state(&shared->done[1], round);
		if (in_progress)
			update_end(in_progress);
		state_store(&shared->done[0], round * 4 + HAS_ENDED);
	}
	_exit(0);
}

static void test_either_sees(void)
{
	struct shared *shared = shared_new();
	struct page_locks ours = own_page_locks();
	uint64_t from = there(shared);
	uint32_t both = 0;

	if (ours.has_barrier && fork() == 0)
		begin_and_stay(shared);
	for (uint32_t round = 1; ours.has_barrier && round <= MEETINGS; round++) {
		bool plain, begun;

		state_store(&table_of(shared)->modes[page_lock_index(from)], MODE_ATOMIC);
		state_store(&shared->round, round);
		for (volatile uint32_t i = 0; i < round % 200; i++) /* as long as the other takes to hear of it, or not */
			;
		ours.rests = 0;
		plain = atomic_mode_try_locked(&ours, table_of(shared), from, from + PAGE, WORDS);
		await_state(&shared->done[0], round * 4 + HAS_NOT_BEGUN);
		begun = state_load(&shared->done[0]) == round * 4 + HAS_BEGUN;
		both += plain && begun;
		state_store(&shared->done[1], round);
		await_state(&shared->done[0], round * 4 + HAS_ENDED);
	}
	wait(NULL);
	CU_ASSERT_EQUAL(both, 0);
	munmap(shared, sizeof(*shared));
}

void suite_atomic_mode(void)
{
	CU_pSuite suite = CU_add_suite("atomic_mode", NULL, NULL);

	CU_add_test(suite, "many_switch", test_many_switch);
	CU_add_test(suite, "pinned", test_pinned);
	CU_add_test(suite, "no_barrier", test_no_barrier);
	CU_add_test(suite, "handler", test_handler);
	CU_add_test(suite, "update", test_update);
	CU_add_test(suite, "updater_dies", test_updater_dies);
	CU_add_test(suite, "mode_changes", test_mode_changes);
	CU_add_test(suite, "either_sees", test_either_sees);
}
