// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_origin.c - origin memory that is mapped anew between its epochs: rule D2, hostile
 *
 * Rank 0 puts from and gets to an origin that it changes as soon as the call that frees it has
 * returned: it unmaps it and maps other memory there, by munmap and mmap, MAP_FIXED, MADV_DONTNEED,
 * mremap, or free and malloc, and scribbles on that. Or it leaves it for some epochs, so that what
 * is kept of memory that stays is used when that ends, and now and then a forked child has the same
 * pages meanwhile. All the time another thread maps, moves and unmaps buffers of its own, which the
 * kernel puts where the origin has just been. A library that keeps anything about an origin for
 * longer than its epoch, a registration or a mapping, moves a stale byte, and is caught: rank 1
 * compares all that has arrived, and rank 0 what it has got.
 *
 * MULTI_D2_ROUNDS is how many epochs there are (1000, and to cards 500).
 */
#include "multi.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORIGIN_BYTES ((size_t)256 << 10) /* the largest */
#define PAGE ((size_t)4096)
#define CHURNED 8
#define STAYS_MAX 16 /* epochs that an origin stays */
#define FORKS_ONE_IN 64
#define SCRIBBLED 0xee
#define LIMIT_S 3600 /* for a million rounds; a round that is wrong ends nothing */

enum { WORD_ROUND, WORD_SEEN };

/* The present state of the origin. */
struct origin {
	uint8_t *at;
	size_t size_bytes; /* mapped, or allocated */
	bool heap;
	bool in_place;  /* other memory has been mapped there before */
	uint64_t stays; /* for so many changes that are none but of its bytes */
	pid_t child;    /* that has the same pages, or 0 */
};

static void *map(void *where, size_t size_bytes)
{
	int fixed = where ? MAP_FIXED : 0;
	void *at = mmap(where, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

/* A thread that maps and unmaps until `end`. */
struct churn {
	uint32_t stop; /* written by rank 0's main thread; both by atomics */
	uint64_t seed;
};

static void *churn(void *arg)
{
	struct churn *c = arg;
	uint8_t *buffers[CHURNED] = { 0 };
	size_t sizes[CHURNED] = { 0 };
	uint64_t state = c->seed;

	while (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED)) {
		size_t i = multi_random(&state) % CHURNED, size_bytes = (1 + multi_random(&state) % 64) * PAGE;

		if (!buffers[i]) {
			buffers[i] = map(NULL, size_bytes);
			memset(buffers[i], SCRIBBLED, PAGE);
		} else if (multi_random(&state) % 2) {
			buffers[i] = mremap(buffers[i], sizes[i], size_bytes, MREMAP_MAYMOVE);
		} else {
			munmap(buffers[i], sizes[i]);
			buffers[i] = NULL;
		}
		sizes[i] = size_bytes;
		sched_yield();
	}
	for (size_t i = 0; i < CHURNED; i++) {
		if (buffers[i])
			munmap(buffers[i], sizes[i]);
	}
	return NULL;
}

static void end_child(struct origin *o)
{
	if (o->child > 0) {
		kill(o->child, SIGKILL);
		waitpid(o->child, NULL, 0);
	}
	o->child = 0;
}

/* It writes too: what it writes is its own. */
static void begin_child(struct origin *o)
{
	end_child(o);
	o->child = fork();
	if (o->child != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(o->at, SCRIBBLED, o->size_bytes);
	for (;;)
		pause();
}

static void drop(struct origin *o)
{
	end_child(o);
	if (o->heap)
		free(o->at);
	else if (o->at)
		munmap(o->at, o->size_bytes);
	*o = (struct origin){ 0 };
}

static void *map_near(void *place)
{
	void *at = mmap(place, ORIGIN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

/*
 * Maps an origin where none has been, so that nothing is known of the place; or where the kernel
 * chooses.
 */
static void *map_afresh(bool anywhere)
{
	static uintptr_t place = (uintptr_t)1 << 44;

	if (anywhere)
		return map(NULL, ORIGIN_BYTES);
	place += 4 * ORIGIN_BYTES;
	return map_near((void *)place);
}

static void make(struct origin *o, bool heap, bool anywhere)
{
	o->heap = heap;
	o->size_bytes = ORIGIN_BYTES;
	o->at = heap ? multi_alloc(ORIGIN_BYTES) : map_afresh(anywhere);
}

/*
 * Other memory in the place of the origin, or elsewhere. A place where that happens again and again
 * is one where nothing is kept any more: so then the next origin lies elsewhere.
 */
static void replace(struct origin *o, uint64_t how)
{
	bool heap = how % 8 == 7, in_place = o->in_place;

	o->in_place = true;
	if (o->heap || heap || how % 8 == 0 || in_place) {
		drop(o);
		make(o, heap, how >> 10 & 1);
	} else if (how % 8 == 1) {
		munmap(o->at, o->size_bytes);
		o->at = map_near(o->at); /* there, unless the other thread was faster */
	} else if (how % 8 < 4) {
		map(o->at, o->size_bytes);
	} else if (how % 8 == 4) {
		madvise(o->at, o->size_bytes, MADV_DONTNEED);
	} else if (how % 8 == 5) {
		void *elsewhere = map(NULL, o->size_bytes); /* where the origin goes to; what was there is gone */

		o->at = mremap(o->at, o->size_bytes, o->size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
		if (o->at == MAP_FAILED)
			abort();
	} else {
		o->at = mremap(mremap(o->at, o->size_bytes, PAGE, 0), PAGE, o->size_bytes, MREMAP_MAYMOVE);
		if (o->at == MAP_FAILED)
			abort();
	}
}

/* All of it is scribbled on, whether it stays or not. */
static void change(struct origin *o, uint64_t how)
{
	if (o->stays > 0) {
		o->stays--;
	} else {
		replace(o, how);
		o->stays = how >> 3 & 1 ? how / 16 % STAYS_MAX : 0;
	}
	if (how / 512 % FORKS_ONE_IN == 0)
		begin_child(o);
	memset(o->at, SCRIBBLED, o->size_bytes);
}

/* A round is the same on both ranks. */
struct round {
	uint64_t seed;
	size_t size_bytes;
	size_t disp;
	uint64_t how; /* the origin is changed */
	bool pscw;    /* else lock and flush_local */
};

static struct round next_round(uint64_t *state)
{
	static const size_t most[] = { 64, 4096, 12288, 12288, 12288, 12288, 65536, ORIGIN_BYTES };
	uint64_t kind = multi_random(state);
	struct round round = { .seed = multi_random(state), .how = kind >> 16, .pscw = kind >> 8 & 1 };

	round.size_bytes = 1 + multi_random(state) % most[kind % 8];
	round.disp = multi_random(state) % (ORIGIN_BYTES - round.size_bytes + 1);
	return round;
}

static long rounds(void)
{
	const char *given = getenv("MULTI_D2_ROUNDS");

	return given ? atol(given) : multi_over_card() ? 500 : 1000;
}

/* Gets back what rank 1 has received last, and replaces the origin's memory right after. */
static void get_back(struct multi *m, oriel_win *win, struct origin *o, const struct round *r)
{
	CHECK_OK(m, oriel_win_lock(win, ORIEL_LOCK_SHARED, 1, 0));
	CHECK_OK(m, oriel_get(win, o->at, r->size_bytes, 1, r->disp));
	CHECK_OK(m, oriel_win_unlock(win, 1));
	if (!multi_holds(o->at, r->size_bytes, r->seed))
		multi_fail(m, __FILE__, __LINE__, "%zu bytes got to memory that was mapped anew are wrong", r->size_bytes);
	change(o, r->how >> 8);
}

static void put_round(struct multi *m, oriel_win *win, oriel_group *target, struct origin *o, const struct round *r)
{
	multi_fill(o->at, r->size_bytes, r->seed);
	if (r->pscw) {
		CHECK_OK(m, oriel_win_start(win, target, 0));
		CHECK_OK(m, oriel_put(win, o->at, r->size_bytes, 1, r->disp));
		CHECK_OK(m, oriel_win_complete(win));
		change(o, r->how);
		return;
	}
	CHECK_OK(m, oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 1, 0));
	CHECK_OK(m, oriel_put(win, o->at, r->size_bytes, 1, r->disp));
	CHECK_OK(m, oriel_win_flush_local(win, 1));
	change(o, r->how);
	CHECK_OK(m, oriel_win_unlock(win, 1));
}

static void see_round(struct multi *m, const struct multi_window *w, oriel_group *origin, const struct round *r,
                      uint64_t number)
{
	if (r->pscw) {
		CHECK_OK(m, oriel_win_post(w->win, origin, 0));
		CHECK_OK(m, oriel_win_wait(w->win));
	} else {
		multi_await(m, WORD_ROUND, number);
		CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_SHARED, 1, 0));
	}
	if (!multi_holds(w->base + r->disp, r->size_bytes, r->seed))
		multi_fail(m, __FILE__, __LINE__, "%zu bytes put from memory that was mapped anew are wrong", r->size_bytes);
	if (!r->pscw)
		CHECK_OK(m, oriel_win_unlock(w->win, 1));
	multi_raise(m, WORD_SEEN, number);
}

static void run_rounds(struct multi *m, const struct multi_window *w, uint64_t state)
{
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	struct origin origin = { 0 };
	long count = rounds();

	make(&origin, false, true);
	for (long i = 1; i <= count; i++) {
		struct round r = next_round(&state);

		if (m->rank == 1) {
			see_round(m, w, other, &r, (uint64_t)i);
			continue;
		}
		put_round(m, w->win, other, &origin, &r);
		multi_raise(m, WORD_ROUND, (uint64_t)i);
		multi_await(m, WORD_SEEN, (uint64_t)i);
		if (r.how >> 32 & 1)
			get_back(m, w->win, &origin, &r);
	}
	drop(&origin);
	multi_group_drop(m, other);
}

static void origins_mapped_anew(struct multi *m, bool allocated)
{
	uint64_t seed = multi_seed(m);
	struct churn c = { .seed = seed };
	struct multi_window w;
	pthread_t thread;
	bool churning = m->rank == 0 && pthread_create(&thread, NULL, churn, &c) == 0;

	multi_window_open_as(m, &w, ORIGIN_BYTES, NULL, allocated);
	run_rounds(m, &w, seed);
	multi_window_close(m, &w);
	__atomic_store_n(&c.stop, 1, __ATOMIC_RELAXED);
	if (churning)
		pthread_join(thread, NULL);
}

static void to_private_memory(struct multi *m)
{
	origins_mapped_anew(m, false);
}

static void to_mapped_memory(struct multi *m)
{
	origins_mapped_anew(m, true);
}

static const struct multi_case cases[] = {
	{ "D2_origins_mapped_anew_to_private_memory", 2, to_private_memory },
	{ "D2_origins_mapped_anew_to_mapped_memory", 2, to_mapped_memory },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_origin",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
		.limit_s = LIMIT_S,
	};

	return multi_main(argc, argv, &program);
}
