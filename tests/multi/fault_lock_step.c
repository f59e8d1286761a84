// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault_lock_step.c - rules L21, L22: ranks die at each step of taking, using and giving back a lock
 *
 *   oriel-run -n N fault_lock_step    ranks 3 and up die, one after another
 *
 * DESIGN NOTES
 *
 * Each kind of epoch below is a list of steps: the work requests to rank 0 that change something there, and,
 * where rank 0's words are mapped, the stores to them and the fetch-and-add. One victim dies instead of the
 * first step, the next one instead of the second, and so on, until one has outlived the list: then comes the
 * next kind. What the victim has done before is in place when it dies. Reads change nothing, and are not
 * counted.
 *
 * Requests are counted by a post_send in front of the device's. Stores are counted by the page
 * fault that they cause: the slabs of rank 0 that are mapped here are read-only, but for the one
 * instruction that a trap behind it ends. (x86-64; elsewhere mapped words have no steps.)
 *
 * The victim says whether it dies as a holder, going by the words it has written. The others then
 * take the lock exclusively, within 5 s: the first of them gets the orphan reported, and no other
 * does; if the victim was no holder, none does. The board is not used by a rank that may die in it:
 * its words are stores.
 */
#include "multi.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/order.h"
#include "base/util.h"
#include "job/job.h"
#include "sync/lock_repair.h"
#include "job/lock_table.h"
#include "told.h"
#include "win/link.h"
#include "win/lock_words.h"
#include "win/win.h"

#define SURVIVORS 3
#define RELEASED_NS told_limit_ns()
#define LIMIT_S 150
#define KIND_STEPS 1000 /* PLAN is kind * KIND_STEPS + the step to die at */
#define FLAG_TRAP 0x100 /* of the processor's flags: a trap behind the next instruction */

enum { TURN, PLAN, HEADER, OVER, ORPHANS, GRANTS, DYING, FINISHED = 8, DONE = 12 }; /* of each survivor: the last two */

struct kind {
	const char *name;
	enum oriel_lock_type type;
	bool all;    /* lock_all */
	bool behind; /* rank 0 holds it when the victim comes */
};

static const struct kind kinds[] = {
	{ "shared", ORIEL_LOCK_SHARED, false, false },         { "exclusive", ORIEL_LOCK_EXCLUSIVE, false, false },
	{ "lock_all", ORIEL_LOCK_SHARED, true, false },        { "shared, behind", ORIEL_LOCK_SHARED, false, true },
	{ "lock_all, behind", ORIEL_LOCK_SHARED, true, true }, { "exclusive, behind", ORIEL_LOCK_EXCLUSIVE, false, true },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The victim's steps so far; one of its threads counts them, with its signal handlers. */
static struct victim {
	struct multi *m;
	struct direct_access *direct; /* of rank 0 */
	struct wire *wire;
	const struct kind *kind;
	pthread_t thread;
	uint64_t header; /* where rank 0 has it */
	uint64_t stored; /* address there of the store that is let through */
	int steps;
	int fatal; /* the step it dies at; 0: none yet */
	int member_writes;
	bool held;
	int (*post)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
} victim;

static void die(void)
{
	struct multi *m = victim.m;

	multi_raise(m, ORPHANS, multi_word(m, ORPHANS) + victim.held);
	multi_raise(m, DYING, (uint64_t)m->rank);
	kill(getpid(), SIGKILL);
	pause();
}

/* A step instead of which it dies; or not. */
static bool is_fatal(void)
{
	return ++victim.steps == victim.fatal;
}

/*
 * Notes what this write makes of the victim. ASK counts as holding: no rank can distinguish it. The
 * second member word of a list belongs to WAIT, the third is WAIT.
 */
static void note_written(uint64_t addr)
{
	const struct kind *kind = victim.kind;

	if (addr == victim.header + offsetof(struct lock_header, serving))
		victim.held = false;
	else if (addr == victim.header + offsetof(struct lock_header, next))
		victim.held = !kind->behind;
	else if (kind->type == ORIEL_LOCK_SHARED)
		victim.held = ++victim.member_writes < 3;
}

/* Requests. */

static uint64_t changes(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_RDMA_WRITE ? wr->wr.rdma.remote_addr : wr->wr.atomic.remote_addr;
}

/*
 * Waits until all up to this one is in place at rank 0. The wire's lock is held: no other thread
 * takes completions.
 */
static void post_and_wait(struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr *last)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc = { 0 };

	last->next = NULL;
	last->send_flags |= IBV_SEND_SIGNALED;
	victim.post(qp, list, &bad);
	while (wc.status == IBV_WC_SUCCESS && wc.wr_id < last->wr_id)
		ibv_poll_cq(victim.wire->cq, 1, &wc);
}

/*
 * Returns the bytes of a request: 0 if it only brings a completion, 1 for the put that goes out
 * when the lock is held.
 */
static size_t size_of(const struct ibv_send_wr *wr)
{
	return wr->num_sge ? wr->sg_list[0].length : 0;
}

static int counted_post(struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad)
{
	struct ibv_send_wr *before = NULL;

	for (struct ibv_send_wr *wr = list; wr && victim.fatal && qp == victim.wire->qp; before = wr, wr = wr->next) {
		if (wr->opcode == IBV_WR_RDMA_READ || size_of(wr) == 0)
			continue;
		victim.held |= size_of(wr) == 1;
		if (is_fatal()) {
			if (before)
				post_and_wait(qp, list, before);
			die();
		}
		if (size_of(wr) > 1)
			note_written(changes(wr));
	}
	return victim.post(qp, list, bad);
}

static void count_requests(void)
{
	struct ibv_context *context = victim.wire->qp->context;

	victim.post = context->ops.post_send;
	context->ops.post_send = counted_post;
}

/* Stores. */

#ifdef __x86_64__

static void protect(int how)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	for (uint32_t i = 0; i < victim.direct->slab_count; i++) {
		const struct direct_slab *slab = &victim.direct->slabs[i];
		uintptr_t from = (uintptr_t)slab->here / page * page;

		if (slab->here)
			mprotect((void *)from, (uintptr_t)slab->here + slab->size_bytes - from, how);
	}
}

/* Returns the address at rank 0 of what is mapped here, or 0. */
static uint64_t address_there(const void *here)
{
	for (uint32_t i = 0; i < victim.direct->slab_count; i++) {
		const struct direct_slab *slab = &victim.direct->slabs[i];
		uintptr_t offset = (uintptr_t)here - (uintptr_t)slab->here;

		if (slab->here && offset < slab->size_bytes)
			return slab->addr + offset;
	}
	return 0;
}

static void before_store(int signal_number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)signal_number;
	victim.stored = address_there(info->si_addr);
	if (victim.stored == 0) {
		signal(SIGSEGV, SIG_DFL); /* an error of its own */
		return;
	}
	if (pthread_equal(pthread_self(), victim.thread) && is_fatal())
		die();
	protect(PROT_READ | PROT_WRITE);
	at->uc_mcontext.gregs[REG_EFL] |= FLAG_TRAP;
}

static void behind_store(int signal_number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)signal_number;
	(void)info;
	note_written(victim.stored);
	at->uc_mcontext.gregs[REG_EFL] &= ~FLAG_TRAP;
	protect(PROT_READ);
}

static void count_stores(void)
{
	struct sigaction store = { .sa_sigaction = before_store, .sa_flags = SA_SIGINFO };
	struct sigaction stored = { .sa_sigaction = behind_store, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &store, NULL);
	sigaction(SIGTRAP, &stored, NULL);
	protect(PROT_READ);
}

#else

static void count_stores(void)
{
}

#endif

/* The victim's list. */

static void granted(void)
{
	victim.held = true;
}

static void put_and_flush(struct multi *m, oriel_win *win)
{
	static const uint8_t byte = 1;

	CHECK_OK(m, oriel_put(win, &byte, 1, 0, 200 + (size_t)m->rank));
	CHECK_OK(m, oriel_win_flush(win, 0));
	granted();
	CHECK_OK(m, oriel_put(win, &byte, 1, 0, 400 + (size_t)m->rank));
}

static void run_list(struct multi *m, oriel_win *win, const struct kind *kind)
{
	if (kind->all) {
		CHECK_OK(m, oriel_win_lock_all(win, 0));
		put_and_flush(m, win);
		CHECK_OK(m, oriel_win_unlock_all(win));
		return;
	}
	CHECK_OK(m, oriel_win_lock(win, kind->type, 0, 0));
	granted();
	put_and_flush(m, win);
	CHECK_OK(m, oriel_win_unlock(win, 0));
}

static void be_victim(struct multi *m, oriel_win *win)
{
	struct peer *target = peer_find(m->job, 0);
	uint64_t plan;

	victim.m = m;
	victim.direct = &target->direct;
	victim.wire = &target->wire;
	victim.thread = pthread_self();
	victim.header = multi_word(m, HEADER);
	multi_await(m, TURN, (uint64_t)m->rank);
	plan = multi_word(m, PLAN);
	if (plan / KIND_STEPS < KINDS) {
		victim.kind = &kinds[plan / KIND_STEPS];
		if (lock_is_mapped(win, link_find(win, 0)))
			count_stores();
		else
			count_requests();
		victim.fatal = (int)(plan % KIND_STEPS);
		run_list(m, win, victim.kind);
		multi_raise(m, OVER, multi_word(m, OVER) + 1);
		victim.held = false;
	}
	multi_tell(m); /* what was wrong here, if anything */
	die();
}

/* The others. */

/* The word of a victim at this rank, which is 0. */
static struct lock_member *word_of(struct multi *m, const struct multi_window *w, int rank)
{
	struct peer *peer = peer_find(m->job, rank);
	struct lock_member *member;

	pthread_mutex_lock(&m->job->lock);
	member = lock_table_member(lock_table_words(m->job, w->win->slot), peer->neighbour);
	pthread_mutex_unlock(&m->job->lock);
	return member;
}

/*
 * Until it waits for the lock, or is dead and its word has been looked at: later it could be taken
 * for the holder.
 */
static void await_waiting(struct multi *m, const struct multi_window *w, int rank)
{
	const struct peer *peer = peer_find(m->job, rank);
	const struct lock_member *member = word_of(m, w, rank);

	for (;;) {
		bool dead = state_load(&peer->state) == PEER_DEAD; /* pairs with rank_died */
		uint64_t state = flag_load(&member->state);        /* pairs with write_state, and lock_repair.c */
		uint64_t low = state & 0xff;

		if (low == LOCK_WAIT || low == LOCK_TICKET || low == LOCK_GONE || (state & LOCK_EXAMINED))
			return;
		if (dead && low == LOCK_ABSENT)
			return;
		sched_yield();
	}
}

/* Checks that the reported orphan fits. */
static void check_told(struct multi *m, int told, bool orphan)
{
	uint64_t plan = multi_word(m, PLAN);

	if (told != orphan)
		multi_fail(m, __FILE__, __LINE__, "%s, died at step %d: orphaned is %d, not %d", kinds[plan / KIND_STEPS].name,
		           (int)(plan % KIND_STEPS), told, orphan);
}

/*
 * Takes one exclusive lock after a death. The first rank that does gets the orphan reported, if
 * there is one.
 */
static void take_after(struct multi *m, oriel_win *win, bool orphan, uint64_t first)
{
	uint64_t begun = now_ns(), grants;

	CHECK_OK(m, oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	CHECK(m, now_ns() - begun <= RELEASED_NS);
	grants = multi_word(m, GRANTS); /* the lock guards it */
	check_told(m, oriel_win_lock_orphaned(win, 0), orphan && grants == first);
	multi_raise(m, GRANTS, grants + 1);
	CHECK_OK(m, oriel_win_unlock(win, 0));
}

static void all_have_done(struct multi *m, int turn)
{
	multi_raise(m, DONE + m->rank, (uint64_t)turn);
	for (int rank = 0; rank < SURVIVORS; rank++)
		multi_await(m, DONE + rank, (uint64_t)turn);
}

/* Rank 0: the victim's turn. */
static void send_victim(struct multi *m, const struct multi_window *w, int rank, uint64_t plan)
{
	bool behind = plan / KIND_STEPS < KINDS && kinds[plan / KIND_STEPS].behind;

	if (behind)
		CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	multi_raise(m, PLAN, plan);
	multi_raise(m, TURN, (uint64_t)rank);
	if (behind) {
		await_waiting(m, w, rank);
		CHECK_OK(m, oriel_win_unlock(w->win, 0));
	}
}

static void survive(struct multi *m, const struct multi_window *w)
{
	uint64_t plan = 1, orphans = 0, over = 0;

	for (int turn = SURVIVORS; turn < m->size; turn++) {
		if (m->rank == 0)
			send_victim(m, w, turn, plan);
		multi_await(m, DYING, (uint64_t)turn);
		take_after(m, w->win, multi_word(m, ORPHANS) > orphans, (uint64_t)(turn - SURVIVORS) * SURVIVORS);
		orphans = multi_word(m, ORPHANS);
		plan = multi_word(m, OVER) > over ? (plan / KIND_STEPS + 1) * KIND_STEPS + 1 : plan + 1;
		over = multi_word(m, OVER);
		all_have_done(m, turn);
	}
	CHECK(m, over == KINDS); /* else the job has too few ranks for the lists */
}

static int leave(struct multi *m, struct multi_window *w)
{
	oriel_job *job = m->job;

	multi_raise(m, FINISHED + m->rank, 1);
	for (int rank = 0; rank < SURVIVORS; rank++)
		multi_await(m, FINISHED + rank, 1);
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_free(&w->win));
	CHECK_OK(m, oriel_group_free(&m->group));
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_finalize(&job));
	if (multi_tell(m) == 0)
		printf("told %d\n", m->rank);
	return multi_failed(m);
}

/* Connections and descriptions are known, and to whom tickets are drawn. */
static void first_contact(struct multi *m, oriel_win *win)
{
	CHECK_OK(m, oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	CHECK_OK(m, oriel_win_unlock(win, 0));
}

int main(int argc, char **argv)
{
	struct multi_window w;
	struct multi m;

	(void)argv;
	if (argc != 1 || !multi_enter(&m, "L21_L22_death_at_each_step", LIMIT_S))
		return 2;
	multi_window_open(&m, &w, 4096);
	first_contact(&m, w.win);
	if (m.rank == 0) {
		pthread_mutex_lock(&m.job->lock);
		multi_raise(&m, HEADER, (uint64_t)(uintptr_t)lock_table_words(m.job, w.win->slot));
		pthread_mutex_unlock(&m.job->lock);
	}
	multi_sync(&m);
	if (m.rank >= SURVIVORS)
		be_victim(&m, w.win);
	survive(&m, &w);
	return leave(&m, &w);
}
