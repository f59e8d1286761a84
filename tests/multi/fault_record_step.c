// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault_record_step.c - rules A21, N7: ranks die at each request of sending an active message, of
 * answering one, and of a put with a signal
 *
 *   oriel-run -n N fault_record_step    ranks 3 and up die, one after another
 *
 * DESIGN NOTES
 *
 * Each kind below is a list of work requests that change something at rank 0, or, of the last one,
 * at rank 1. As in fault_lock_step one victim dies instead of the first of them, the next one
 * instead of the second, and so on, until one has outlived the list: then comes the next kind. What
 * the victim has posted before is in place when it dies. Requests are counted by a post_send in
 * front of the device's.
 *
 * The victim says how many active messages it has finished and whether it has sent its signal. Rank
 * 0 has applied just these active messages, each whole, and takes that signal, with all data before
 * it, and no other. Then oriel_signal_wait reports the death to every survivor, once, and so does
 * each operation on the victim. Meanwhile, and afterwards, what the survivors send each other is
 * applied, and none of it is lost. How long an answer takes decides whether more than one active
 * message is in it: so its list may have some requests more or less.
 */
#include "multi.h"

#include <complex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "job/job.h"
#include "job/peer.h"
#include "am/am_recv.h"
#include "win/link.h"
#include "win/win.h"

#define SURVIVORS 3
#define LIMIT_S 150
#define KIND_STEPS 1000 /* PLAN is kind * KIND_STEPS + the step to die at */
#define COUNT 100       /* elements of an active message that does not fit its slot */
#define ASKED 3         /* active messages that the victim answers */
#define CONTACTS 1      /* and those before */
#define SMALL_PUT 100
#define LARGE_PUT 9000

enum { TURN, PLAN, OVER, DYING, MESSAGES, SMALL_MESSAGES, SIGNALS, FINISHED = 16, DONE = 20 };

/* The window of each rank: which rank adds, or puts, where. */
struct layout {
	multi_rest victims[COUNT];
	multi_rest small; /* the victims too */
	multi_rest survivors[COUNT];
	multi_rest contact;
	uint8_t small_put[SMALL_PUT];
	uint8_t large_put[LARGE_PUT];
};

struct fault {
	struct multi m;
	oriel_win *win;
	struct layout *layout;
	multi_rest ones[COUNT], before[COUNT];
	uint64_t sent; /* active messages to rank 0 that are applied */
};

/* The kinds: what the victim does. */

static void add(struct fault *f, int target, size_t at, size_t count)
{
	CHECK_OK(&f->m, oriel_accumulate(f->win, f->ones, count, MULTI_REST, ORIEL_SUM, target, at));
}

static void send_small(struct fault *f)
{
	add(f, 0, offsetof(struct layout, small), 1);
	add(f, 0, offsetof(struct layout, small), 1);
	CHECK_OK(&f->m, oriel_win_flush(f->win, 0));
}

static void send_large(struct fault *f)
{
	add(f, 0, offsetof(struct layout, victims), COUNT);
	add(f, 0, offsetof(struct layout, victims), COUNT);
	CHECK_OK(&f->m, oriel_win_flush(f->win, 0));
}

static int fetch(struct fault *f, int target, size_t at)
{
	int rc = oriel_get_accumulate(f->win, f->ones, f->before, COUNT, MULTI_REST, ORIEL_SUM, target, at);

	return rc ? rc : oriel_win_flush(f->win, target);
}

static void send_fetching(struct fault *f)
{
	CHECK_OK(&f->m, fetch(f, 0, offsetof(struct layout, victims)));
	CHECK_OK(&f->m, fetch(f, 0, offsetof(struct layout, victims)));
}

static void put_both(struct fault *f)
{
	uint8_t *data = multi_alloc(LARGE_PUT);

	multi_fill(data, LARGE_PUT, (uint64_t)f->m.rank);
	CHECK_OK(&f->m, oriel_put(f->win, data, SMALL_PUT, 0, offsetof(struct layout, small_put)));
	CHECK_OK(&f->m, oriel_put(f->win, data, LARGE_PUT, 0, offsetof(struct layout, large_put)));
	CHECK_OK(&f->m, oriel_win_flush_local(f->win, 0));
	free(data);
}

static void put_and_set(struct fault *f)
{
	put_both(f);
	CHECK_OK(&f->m, oriel_signal(f->win, 0, 0, (uint64_t)f->m.rank, ORIEL_SIGNAL_SET));
	CHECK_OK(&f->m, oriel_win_flush(f->win, 0));
}

static void put_and_add(struct fault *f)
{
	put_both(f);
	CHECK_OK(&f->m, oriel_signal(f->win, 0, 1, (uint64_t)f->m.rank, ORIEL_SIGNAL_ADD));
	CHECK_OK(&f->m, oriel_win_flush(f->win, 0));
}

/* The service thread does it, and may die in it: not at the board, so this one stays away from that. */
static void answer(struct fault *f)
{
	oriel_job *job = f->m.job;
	bool told = false;

	while (!told) {
		sched_yield();
		pthread_mutex_lock(&job->am.lock);
		told = peer_find(job, 1)->am_receiver->ack.applied == CONTACTS + ASKED;
		pthread_mutex_unlock(&job->am.lock);
	}
}

static const struct kind {
	const char *name;
	void (*run)(struct fault *f);
	bool answers; /* rank 1's active messages */
	int steps;    /* at the most; 0: until a victim has outlived the list */
} kinds[] = {
	{ "small messages", send_small, false, 0 },
	{ "large messages", send_large, false, 0 },
	{ "messages with results", send_fetching, false, 0 },
	{ "put and set", put_and_set, false, 0 },
	{ "put and add", put_and_add, false, 0 },
	{ "answers", answer, true, 8 },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The victim's steps so far; one of its threads counts them. */
static struct victim {
	struct multi *m;
	const struct kind *kind;
	struct wire *wire; /* to rank 0, or whom it answers */
	uint64_t window;   /* where rank 0 has its window */
	uint64_t before;   /* active messages to it before these steps */
	pthread_t thread;
	pthread_mutex_t last; /* of two threads one dies, and the other does not get to the board */
	int steps;
	int fatal; /* the step it dies at; 0: none yet */
	uint64_t signals;
	int (*post)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
} victim = { .last = PTHREAD_MUTEX_INITIALIZER };

static void begin_to_die(void)
{
	pthread_mutex_lock(&victim.last); /* for good */
}

static uint64_t messages_to_first(struct multi *m)
{
	const struct am_sender *out = peer_find(m->job, 0)->am_sender;

	return out ? out->sent : 0;
}

static void die(void)
{
	struct multi *m = victim.m;
	int messages = victim.kind && victim.kind->run == send_small ? SMALL_MESSAGES : MESSAGES;

	multi_raise(m, messages, multi_word(m, messages) + messages_to_first(m) - victim.before);
	multi_raise(m, SIGNALS, multi_word(m, SIGNALS) + victim.signals);
	multi_raise(m, DYING, (uint64_t)m->rank);
	kill(getpid(), SIGKILL);
	pause();
}

/* Requests. */

static bool is_signal(uint64_t addr)
{
	return (victim.kind->run == put_and_set || victim.kind->run == put_and_add) &&
	       addr - victim.window >= sizeof(struct layout);
}

static void note_posted(const struct ibv_send_wr *wr)
{
	bool atomic = wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	uint64_t addr = atomic ? wr->wr.atomic.remote_addr : wr->wr.rdma.remote_addr;

	victim.signals += is_signal(addr);
}

/*
 * Waits until all before `fatal` is in place at its target, though it was posted some time ago: an
 * empty request goes out for its completion. The wire's lock is held: no other thread takes
 * completions.
 */
static void post_before(struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr *before,
                        const struct ibv_send_wr *fatal)
{
	struct ibv_send_wr empty = *fatal, *bad;
	struct ibv_wc wc = { 0 };

	if (before) {
		before->next = NULL;
		victim.post(qp, list, &bad);
	}
	empty.next = NULL;
	empty.sg_list = NULL;
	empty.num_sge = 0;
	if (fatal->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		empty.wr.rdma.remote_addr = fatal->wr.atomic.remote_addr;
		empty.wr.rdma.rkey = fatal->wr.atomic.rkey;
	}
	empty.opcode = IBV_WR_RDMA_WRITE;
	empty.send_flags = IBV_SEND_SIGNALED;
	victim.post(qp, &empty, &bad);
	while (wc.status == IBV_WC_SUCCESS && wc.wr_id < empty.wr_id)
		ibv_poll_cq(victim.wire->cq, 1, &wc);
}

static bool is_counted(const struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	if (qp != victim.wire->qp || (!victim.kind->answers && !pthread_equal(pthread_self(), victim.thread)))
		return false;
	return wr->opcode != IBV_WR_RDMA_READ && wr->num_sge > 0 && wr->sg_list[0].length > 0;
}

static int counted_post(struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad)
{
	struct ibv_send_wr *before = NULL;

	for (struct ibv_send_wr *wr = list; wr && victim.fatal; before = wr, wr = wr->next) {
		if (!is_counted(qp, wr))
			continue;
		if (++victim.steps == victim.fatal) {
			begin_to_die();
			post_before(qp, list, before, wr);
			die();
		}
		note_posted(wr);
	}
	return victim.post(qp, list, bad);
}

static void count_requests(void)
{
	struct ibv_context *context = victim.wire->qp->context;

	victim.post = context->ops.post_send;
	context->ops.post_send = counted_post;
}

static void be_victim(struct fault *f)
{
	struct multi *m = &f->m;
	struct peer *target = peer_find(m->job, 0);
	uint64_t plan;

	multi_await(m, TURN, (uint64_t)m->rank);
	plan = multi_word(m, PLAN);
	victim.m = m;
	victim.before = messages_to_first(m);
	victim.window = link_find(f->win, 0)->base;
	victim.thread = pthread_self();
	if (plan / KIND_STEPS < KINDS) {
		victim.kind = &kinds[plan / KIND_STEPS];
		victim.wire = victim.kind->answers ? &peer_find(m->job, 1)->wire : &target->wire;
		victim.fatal = (int)(plan % KIND_STEPS);
		count_requests();
		victim.kind->run(f);
	}
	begin_to_die();
	if (victim.kind)
		multi_raise(m, OVER, multi_word(m, OVER) + 1);
	multi_tell(m); /* what was wrong here, if anything */
	die();
}

/* The others. */

static bool is_whole(const multi_rest *list)
{
	for (int i = 0; i < COUNT; i++) {
		if (creall(list[i]) != creall(list[0]) || cimagl(list[i]) != creall(list[0]))
			return false;
	}
	return true;
}

/* Rank 1 wants answers of a victim: each is whole, or the victim is dead. */
static void ask(struct fault *f, int rank)
{
	int rc = 0;

	for (int i = 0; i < ASKED && rc == 0; i++) {
		rc = fetch(f, rank, offsetof(struct layout, survivors));
		CHECK(&f->m, rc == ORIEL_ERR_PEER || (rc == 0 && is_whole(f->before) && creall(f->before[0]) == i));
	}
}

/* Rank 0 applies it meanwhile. */
static void send_on(struct fault *f)
{
	CHECK_OK(&f->m, fetch(f, 0, offsetof(struct layout, survivors)));
	CHECK(&f->m, is_whole(f->before) && creall(f->before[0]) >= (double)f->sent);
	f->sent++;
}

/* A signal that the victim has sent comes first, behind its data; one that it has not never does. */
static void take_signal(struct fault *f, int rank)
{
	struct multi *m = &f->m;
	uint64_t value = 0;
	uint32_t signal = 9;

	CHECK_OK(m, oriel_signal_wait(f->win, 0, 2, &signal, &value));
	CHECK(m, signal < 2 && (signal == 1 || value == (uint64_t)rank));
	CHECK(m, multi_holds(f->layout->small_put, SMALL_PUT, (uint64_t)rank));
	CHECK(m, multi_holds(f->layout->large_put, LARGE_PUT, (uint64_t)rank));
}

static void be_told(struct fault *f, int rank)
{
	struct multi *m = &f->m;
	uint64_t value;
	uint32_t signal = 9;
	int flag = 1;

	CHECK_RC(m, ORIEL_ERR_PEER, oriel_signal_wait(f->win, 0, 2, &signal, &value));
	CHECK_OK(m, oriel_signal_test(f->win, 0, 2, &signal, &value, &flag));
	CHECK(m, flag == 0 && signal == 9);
	CHECK_RC(m, ORIEL_ERR_PEER, fetch(f, rank, offsetof(struct layout, survivors)));
}

/* At rank 0: what the victims have finished, no more and no less, and nothing in part. */
static void check_messages(struct fault *f, int rank)
{
	struct multi *m = &f->m;
	const struct layout *layout = f->layout;
	double messages = (double)multi_word(m, MESSAGES), small = (double)multi_word(m, SMALL_MESSAGES);
	uint64_t plan = multi_word(m, PLAN);

	while (!process_ended(multi_pid(m, rank), 0))
		sched_yield();
	am_drain_all(&m->job->am);
	if (!is_whole(layout->victims) || creall(layout->victims[0]) != messages || creall(layout->small) != small ||
	    cimagl(layout->small) != small)
		multi_fail(m, __FILE__, __LINE__, "%s, died at step %d: %Lg and %Lg records are applied, not %g and %g",
		           plan / KIND_STEPS < KINDS ? kinds[plan / KIND_STEPS].name : "none", (int)(plan % KIND_STEPS),
		           creall(layout->victims[0]), creall(layout->small), messages, small);
}

static void all_have_done(struct multi *m, int turn)
{
	multi_raise(m, DONE + m->rank, (uint64_t)turn);
	for (int rank = 0; rank < SURVIVORS; rank++)
		multi_await(m, DONE + rank, (uint64_t)turn);
}

/* The plan behind this one, if the victim has outlived its list or not. */
static uint64_t next_plan(uint64_t plan, bool outlived)
{
	uint64_t kind = plan / KIND_STEPS, step = plan % KIND_STEPS;
	bool last = kind < KINDS && kinds[kind].steps && step == (uint64_t)kinds[kind].steps;

	return outlived || last ? (kind + 1) * KIND_STEPS + 1 : plan + 1;
}

static void one_death(struct fault *f, int rank, uint64_t plan, uint64_t signals)
{
	struct multi *m = &f->m;
	bool answers = plan / KIND_STEPS < KINDS && kinds[plan / KIND_STEPS].answers;

	if (m->rank == 0) {
		multi_raise(m, PLAN, plan);
		multi_raise(m, TURN, (uint64_t)rank);
	}
	multi_await(m, TURN, (uint64_t)rank);
	if (answers && m->rank == 1)
		ask(f, rank);
	send_on(f);
	multi_await(m, DYING, (uint64_t)rank);
	if (m->rank == 0 && multi_word(m, SIGNALS) > signals)
		take_signal(f, rank);
	if (m->rank == 0)
		check_messages(f, rank);
	be_told(f, rank);
	send_on(f);
	all_have_done(m, rank);
}

static void survive(struct fault *f)
{
	struct multi *m = &f->m;
	uint64_t plan = 1, over = 0, signals = 0;

	for (int rank = SURVIVORS; rank < m->size; rank++) {
		one_death(f, rank, plan, signals);
		signals = multi_word(m, SIGNALS);
		plan = next_plan(plan, multi_word(m, OVER) > over);
		over = multi_word(m, OVER);
		all_have_done(m, m->size + rank); /* has read them */
	}
	CHECK(m, plan / KIND_STEPS >= KINDS); /* else the job has too few ranks for the lists */
	CHECK(m, multi_word(m, SIGNALS) > 0 && multi_word(m, MESSAGES) > 0 && multi_word(m, SMALL_MESSAGES) > 0);
}

/* Connections and rings are there: the survivors have all of them, the victims those to survivors. */
static void first_contact(struct fault *f)
{
	int last = f->m.rank < SURVIVORS ? f->m.size : SURVIVORS;

	for (int rank = 0; rank < last; rank++)
		add(f, rank, offsetof(struct layout, contact), 1);
	CHECK_OK(&f->m, oriel_win_flush(f->win, ORIEL_RANK_ALL));
	multi_sync(&f->m);
}

static int leave(struct fault *f)
{
	struct multi *m = &f->m;
	oriel_job *job = m->job;

	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_unlock_all(f->win));
	multi_raise(m, FINISHED + m->rank, 1);
	for (int rank = 0; rank < SURVIVORS; rank++)
		multi_await(m, FINISHED + rank, 1);
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_free(&f->win));
	CHECK(m, m->rank != 0 || (is_whole(f->layout->survivors) &&
	                          creall(f->layout->survivors[0]) == (double)SURVIVORS * 2 * (m->size - SURVIVORS)));
	CHECK_OK(m, oriel_group_free(&m->group));
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_finalize(&job));
	if (multi_tell(m) == 0)
		printf("told %d\n", m->rank);
	free(f->layout);
	return multi_failed(m);
}

int main(int argc, char **argv)
{
	static const struct oriel_hint hints[] = { { "signals", "2" }, { NULL, NULL } };
	static struct fault f;

	(void)argv;
	if (argc != 1 || !multi_enter(&f.m, "A21_N7_death_at_each_request", LIMIT_S))
		return 2;
	f.layout = multi_alloc(sizeof(*f.layout));
	memset(f.layout, 0, sizeof(*f.layout));
	for (int i = 0; i < COUNT; i++)
		f.ones[i] = 1 + I;
	CHECK_OK(&f.m, oriel_win_create(f.layout, sizeof(*f.layout), 1, hints, f.m.group, &f.win));
	CHECK_OK(&f.m, oriel_win_lock_all(f.win, ORIEL_MODE_NOCHECK));
	first_contact(&f);
	if (f.m.rank >= SURVIVORS)
		be_victim(&f);
	survive(&f);
	return leave(&f);
}
