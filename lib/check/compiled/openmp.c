// SPDX-License-Identifier: BSD-2-Clause
/*
 * openmp.c - what gcc makes of OpenMP, in front of libgomp; see strand.h
 *
 * Followed are parallel regions, barriers, critical, atomic, ordered, single with copyprivate, and
 * locks. Where tasks, doacross loops, teams or devices come in, all threads become one strand.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "see/front/behind.h"
#include "check/compiled/strand.h"
#include "check/compiled/watch.h"

typedef void region(void *data);

#pragma GCC visibility push(default)
void GOMP_parallel(region *run, void *data, unsigned threads, unsigned flags);
unsigned GOMP_parallel_reductions(region *run, void *data, unsigned threads, unsigned flags);
void GOMP_parallel_sections(region *run, void *data, unsigned threads, unsigned count, unsigned flags);
void GOMP_parallel_loop_static(region *run, void *data, unsigned threads, long first, long end, long step, long chunk,
                               unsigned flags);
void GOMP_parallel_loop_dynamic(region *run, void *data, unsigned threads, long first, long end, long step, long chunk,
                                unsigned flags);
void GOMP_parallel_loop_guided(region *run, void *data, unsigned threads, long first, long end, long step, long chunk,
                               unsigned flags);
void GOMP_parallel_loop_nonmonotonic_dynamic(region *run, void *data, unsigned threads, long first, long end, long step,
                                             long chunk, unsigned flags);
void GOMP_parallel_loop_nonmonotonic_guided(region *run, void *data, unsigned threads, long first, long end, long step,
                                            long chunk, unsigned flags);
void GOMP_parallel_loop_runtime(region *run, void *data, unsigned threads, long first, long end, long step,
                                unsigned flags);
void GOMP_parallel_loop_nonmonotonic_runtime(region *run, void *data, unsigned threads, long first, long end, long step,
                                             unsigned flags);
void GOMP_parallel_loop_maybe_nonmonotonic_runtime(region *run, void *data, unsigned threads, long first, long end,
                                                   long step, unsigned flags);
void GOMP_parallel_start(region *run, void *data, unsigned threads);
void GOMP_barrier(void);
bool GOMP_barrier_cancel(void);
void GOMP_loop_end(void);
bool GOMP_loop_end_cancel(void);
void GOMP_sections_end(void);
bool GOMP_sections_end_cancel(void);
void GOMP_workshare_task_reduction_unregister(bool is_cancelled);
void *GOMP_single_copy_start(void);
void GOMP_single_copy_end(void *data);
void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_critical_name_start(void **name);
void GOMP_critical_name_end(void **name);
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);
void GOMP_ordered_start(void);
void GOMP_ordered_end(void);
void omp_set_lock(void *lock);
void omp_unset_lock(void *lock);
int omp_test_lock(void *lock);
void omp_set_nest_lock(void *lock);
void omp_unset_nest_lock(void *lock);
int omp_test_nest_lock(void *lock);
void omp_set_lock_(void *lock);
void omp_unset_lock_(void *lock);
int omp_test_lock_(void *lock);
void omp_set_nest_lock_(void *lock);
void omp_unset_nest_lock_(void *lock);
int omp_test_nest_lock_(void *lock);
void GOMP_task(region *run, void *data, void (*copy)(void *, void *), long bytes, long align, bool is_deferred,
               unsigned flags, void **depend, int priority, void *detach);
void GOMP_taskloop(region *run, void *data, void (*copy)(void *, void *), long bytes, long align, unsigned flags,
                   unsigned long tasks, int priority, long first, long end, long step);
void GOMP_taskloop_ull(region *run, void *data, void (*copy)(void *, void *), long bytes, long align, unsigned flags,
                       unsigned long tasks, int priority, unsigned long long first, unsigned long long end,
                       unsigned long long step);
void GOMP_doacross_post(long *counts);
void GOMP_doacross_ull_post(unsigned long long *counts);
unsigned GOMP_teams_reg(region *run, void *data, unsigned teams, unsigned threads, unsigned flags);
void GOMP_target_ext(int device, region *run, size_t count, void **addresses, size_t *sizes, unsigned short *kinds,
                     unsigned flags, void **depend, void **arguments);
void GOMP_target_update_ext(int device, size_t count, void **addresses, size_t *sizes, unsigned short *kinds,
                            unsigned flags, void **depend);
void GOMP_target_enter_exit_data(int device, size_t count, void **addresses, size_t *sizes, unsigned short *kinds,
                                 unsigned flags, void **depend);
#pragma GCC visibility pop

#define CALLS(X)                                                                             \
	X(GOMP_parallel)                                                                         \
	X(GOMP_parallel_reductions)                                                              \
	X(GOMP_parallel_sections)                                                                \
	X(GOMP_parallel_loop_static)                                                             \
	X(GOMP_parallel_loop_dynamic)                                                            \
	X(GOMP_parallel_loop_guided)                                                             \
	X(GOMP_parallel_loop_nonmonotonic_dynamic)                                               \
	X(GOMP_parallel_loop_nonmonotonic_guided)                                                \
	X(GOMP_parallel_loop_runtime)                                                            \
	X(GOMP_parallel_loop_nonmonotonic_runtime)                                               \
	X(GOMP_parallel_loop_maybe_nonmonotonic_runtime)                                         \
	X(GOMP_parallel_start)                                                                   \
	X(GOMP_barrier)                                                                          \
	X(GOMP_barrier_cancel)                                                                   \
	X(GOMP_loop_end)                                                                         \
	X(GOMP_loop_end_cancel)                                                                  \
	X(GOMP_sections_end)                                                                     \
	X(GOMP_sections_end_cancel)                                                              \
	X(GOMP_workshare_task_reduction_unregister)                                              \
	X(GOMP_single_copy_start)                                                                \
	X(GOMP_single_copy_end)                                                                  \
	X(GOMP_critical_start)                                                                   \
	X(GOMP_critical_end)                                                                     \
	X(GOMP_critical_name_start)                                                              \
	X(GOMP_critical_name_end)                                                                \
	X(GOMP_atomic_start)                                                                     \
	X(GOMP_atomic_end)                                                                       \
	X(GOMP_ordered_start)                                                                    \
	X(GOMP_ordered_end)                                                                      \
	X(omp_set_lock)                                                                          \
	X(omp_unset_lock)                                                                        \
	X(omp_test_lock)                                                                         \
	X(omp_set_nest_lock)                                                                     \
	X(omp_unset_nest_lock)                                                                   \
	X(omp_test_nest_lock)                                                                    \
	X(omp_set_lock_)                                                                         \
	X(omp_unset_lock_)                                                                       \
	X(omp_test_lock_)                                                                        \
	X(omp_set_nest_lock_)                                                                    \
	X(omp_unset_nest_lock_)                                                                  \
	X(omp_test_nest_lock_)                                                                   \
	X(GOMP_task)                                                                             \
	X(GOMP_taskloop)                                                                         \
	X(GOMP_taskloop_ull)                                                                     \
	X(GOMP_doacross_post)                                                                    \
	X(GOMP_doacross_ull_post) X(GOMP_teams_reg) X(GOMP_target_ext) X(GOMP_target_update_ext) \
		X(GOMP_target_enter_exit_data)

/* The functions behind this library. */
static struct {
#define X(name) __typeof__(name) *name;
	CALLS(X)
#undef X
} next;

static __attribute__((noinline)) void find_all(void)
{
#define X(name) find_behind(#name, &next.name);
	CALLS(X)
#undef X
}

static void need(void)
{
	if (__builtin_expect(!next.GOMP_barrier, 0))
		find_all();
}

/* ---- parallel regions ---- */

/* Its address names a thing: bytes of one word would be one thing. */
typedef uint32_t thing;

struct team {
	region *run;
	void *data;
	thing begin, end, ordered;
	thing barriers[2]; /* by turns: the last may have begun the next one before the first has left this one */
};

static _Thread_local __attribute__((tls_model("initial-exec"))) struct team *team;
static _Thread_local __attribute__((tls_model("initial-exec"))) unsigned turn; /* of its barriers */

static void run_region(void *data)
{
	struct team *outer = team, *now = data;
	unsigned turn_of_outer = turn;

	team = now;
	turn = 0;
	strand_acquire(&now->begin);
	now->run(now->data);
	strand_release(&now->end);
	team = outer;
	turn = turn_of_outer;
}

/* A region is about to begin. */
static void *begin(struct team *now)
{
	need();
	strand_split();
	strand_release(&now->begin);
	return now;
}

static void end(const struct team *now)
{
	strand_acquire(&now->end);
}

void GOMP_parallel(region *run, void *data, unsigned threads, unsigned flags)
{
	struct team now = { .run = run, .data = data };

	begin(&now);
	next.GOMP_parallel(run_region, &now, threads, flags);
	end(&now);
}

unsigned GOMP_parallel_reductions(region *run, void *data, unsigned threads, unsigned flags)
{
	need();
	strand_merge("a reduction of tasks");
	return next.GOMP_parallel_reductions(run, data, threads, flags);
}

void GOMP_parallel_sections(region *run, void *data, unsigned threads, unsigned count, unsigned flags)
{
	struct team now = { .run = run, .data = data };

	begin(&now);
	next.GOMP_parallel_sections(run_region, &now, threads, count, flags);
	end(&now);
}

void GOMP_parallel_loop_static(region *run, void *data, unsigned threads, long first, long last, long step, long chunk,
                               unsigned flags)
{
	struct team now = { .run = run, .data = data };

	begin(&now);
	next.GOMP_parallel_loop_static(run_region, &now, threads, first, last, step, chunk, flags);
	end(&now);
}

void GOMP_parallel_loop_dynamic(region *run, void *data, unsigned threads, long first, long last, long step, long chunk,
                                unsigned flags)
{
	struct team now = { .run = run, .data = data };

	begin(&now);
	next.GOMP_parallel_loop_dynamic(run_region, &now, threads, first, last, step, chunk, flags);
	end(&now);
}

void GOMP_parallel_loop_guided(region *run, void *data, unsigned threads, long first, long last, long step, long chunk,
                               unsigned flags)
{
	struct team now = { .run = run, .data = data };

	begin(&now);
	next.GOMP_parallel_loop_guided(run_region, &now, threads, first, last, step, chunk, flags);
	end(&now);
}

void GOMP_parallel_loop_nonmonotonic_dynamic(region *run, void *data, unsigned threads, long first, long last,
                                             long step, long chunk, unsigned flags)
{
	struct team now = { .run = run, .data = data };

	begin(&now);
	next.GOMP_parallel_loop_nonmonotonic_dynamic(run_region, &now, threads, first, last, step, chunk, flags);
	end(&now);
}

void GOMP_parallel_loop_nonmonotonic_guided(region *run, void *data, unsigned threads, long first, long last, long step,
                                            long chunk, unsigned flags)
{
	struct team now = { .run = run, .data = data };

	begin(&now);
	next.GOMP_parallel_loop_nonmonotonic_guided(run_region, &now, threads, first, last, step, chunk, flags);
	end(&now);
}

void GOMP_parallel_loop_runtime(region *run, void *data, unsigned threads, long first, long last, long step,
                                unsigned flags)
{
	struct team now = { .run = run, .data = data };

	begin(&now);
	next.GOMP_parallel_loop_runtime(run_region, &now, threads, first, last, step, flags);
	end(&now);
}

void GOMP_parallel_loop_nonmonotonic_runtime(region *run, void *data, unsigned threads, long first, long last,
                                             long step, unsigned flags)
{
	struct team now = { .run = run, .data = data };

	begin(&now);
	next.GOMP_parallel_loop_nonmonotonic_runtime(run_region, &now, threads, first, last, step, flags);
	end(&now);
}

void GOMP_parallel_loop_maybe_nonmonotonic_runtime(region *run, void *data, unsigned threads, long first, long last,
                                                   long step, unsigned flags)
{
	struct team now = { .run = run, .data = data };

	begin(&now);
	next.GOMP_parallel_loop_maybe_nonmonotonic_runtime(run_region, &now, threads, first, last, step, flags);
	end(&now);
}

/* ---- barriers ---- */

static void arrive(void)
{
	need();
	if (team)
		strand_release(&team->barriers[turn % 2]);
}

static void leave(void)
{
	if (team)
		strand_acquire(&team->barriers[turn++ % 2]);
}

void GOMP_barrier(void)
{
	arrive();
	next.GOMP_barrier();
	leave();
}

bool GOMP_barrier_cancel(void)
{
	bool is_cancelled;

	arrive();
	is_cancelled = next.GOMP_barrier_cancel();
	leave();
	return is_cancelled;
}

void GOMP_loop_end(void)
{
	arrive();
	next.GOMP_loop_end();
	leave();
}

bool GOMP_loop_end_cancel(void)
{
	bool is_cancelled;

	arrive();
	is_cancelled = next.GOMP_loop_end_cancel();
	leave();
	return is_cancelled;
}

void GOMP_sections_end(void)
{
	arrive();
	next.GOMP_sections_end();
	leave();
}

bool GOMP_sections_end_cancel(void)
{
	bool is_cancelled;

	arrive();
	is_cancelled = next.GOMP_sections_end_cancel();
	leave();
	return is_cancelled;
}

void GOMP_workshare_task_reduction_unregister(bool is_cancelled)
{
	arrive();
	next.GOMP_workshare_task_reduction_unregister(is_cancelled);
	leave();
}

/* Returns NULL to the thread that goes on, and to the others when that calls single_copy_end. */
void *GOMP_single_copy_start(void)
{
	void *data;

	arrive();
	data = next.GOMP_single_copy_start();
	if (data)
		leave();
	return data;
}

void GOMP_single_copy_end(void *data)
{
	arrive();
	next.GOMP_single_copy_end(data);
	leave();
}

/* ---- one thread at a time ---- */

static thing unnamed, atomic;

void GOMP_critical_start(void)
{
	need();
	next.GOMP_critical_start();
	strand_acquire(&unnamed);
}

void GOMP_critical_end(void)
{
	strand_release(&unnamed);
	next.GOMP_critical_end();
}

void GOMP_critical_name_start(void **name)
{
	need();
	next.GOMP_critical_name_start(name);
	strand_acquire(name);
}

void GOMP_critical_name_end(void **name)
{
	strand_release(name);
	next.GOMP_critical_name_end(name);
}

void GOMP_atomic_start(void)
{
	need();
	next.GOMP_atomic_start();
	strand_acquire(&atomic);
}

void GOMP_atomic_end(void)
{
	strand_release(&atomic);
	next.GOMP_atomic_end();
}

void GOMP_ordered_start(void)
{
	need();
	next.GOMP_ordered_start();
	if (team)
		strand_acquire(&team->ordered);
}

void GOMP_ordered_end(void)
{
	if (team)
		strand_release(&team->ordered);
	next.GOMP_ordered_end();
}

/* ---- locks, of C and of Fortran ---- */

static int tested(const void *lock, int rc)
{
	if (rc)
		strand_acquire(lock);
	return rc;
}

void omp_set_lock(void *lock)
{
	need();
	next.omp_set_lock(lock);
	strand_acquire(lock);
}

void omp_unset_lock(void *lock)
{
	need();
	strand_release(lock);
	next.omp_unset_lock(lock);
}

int omp_test_lock(void *lock)
{
	need();
	return tested(lock, next.omp_test_lock(lock));
}

void omp_set_nest_lock(void *lock)
{
	need();
	next.omp_set_nest_lock(lock);
	strand_acquire(lock);
}

void omp_unset_nest_lock(void *lock)
{
	need();
	strand_release(lock);
	next.omp_unset_nest_lock(lock);
}

int omp_test_nest_lock(void *lock)
{
	need();
	return tested(lock, next.omp_test_nest_lock(lock));
}

void omp_set_lock_(void *lock)
{
	need();
	next.omp_set_lock_(lock);
	strand_acquire(lock);
}

void omp_unset_lock_(void *lock)
{
	need();
	strand_release(lock);
	next.omp_unset_lock_(lock);
}

int omp_test_lock_(void *lock)
{
	need();
	return tested(lock, next.omp_test_lock_(lock));
}

void omp_set_nest_lock_(void *lock)
{
	need();
	next.omp_set_nest_lock_(lock);
	strand_acquire(lock);
}

void omp_unset_nest_lock_(void *lock)
{
	need();
	strand_release(lock);
	next.omp_unset_nest_lock_(lock);
}

int omp_test_nest_lock_(void *lock)
{
	need();
	return tested(lock, next.omp_test_nest_lock_(lock));
}

/* ---- what is not followed ---- */

static void merge(const char *call)
{
	need();
	strand_merge(call);
}

void GOMP_parallel_start(region *run, void *data, unsigned threads)
{
	merge("GOMP_parallel_start");
	next.GOMP_parallel_start(run, data, threads);
}

/* Compilers of before gcc 11 give fewer arguments: libgomp looks at those that the flags name. */
void GOMP_task(region *run, void *data, void (*copy)(void *, void *), long bytes, long align, bool is_deferred,
               unsigned flags, void **depend, int priority, void *detach)
{
	merge("a task of OpenMP");
	next.GOMP_task(run, data, copy, bytes, align, is_deferred, flags, depend, priority, detach);
}

void GOMP_taskloop(region *run, void *data, void (*copy)(void *, void *), long bytes, long align, unsigned flags,
                   unsigned long tasks, int priority, long first, long last, long step)
{
	merge("a task of OpenMP");
	next.GOMP_taskloop(run, data, copy, bytes, align, flags, tasks, priority, first, last, step);
}

void GOMP_taskloop_ull(region *run, void *data, void (*copy)(void *, void *), long bytes, long align, unsigned flags,
                       unsigned long tasks, int priority, unsigned long long first, unsigned long long last,
                       unsigned long long step)
{
	merge("a task of OpenMP");
	next.GOMP_taskloop_ull(run, data, copy, bytes, align, flags, tasks, priority, first, last, step);
}

void GOMP_doacross_post(long *counts)
{
	merge("a doacross loop of OpenMP");
	next.GOMP_doacross_post(counts);
}

void GOMP_doacross_ull_post(unsigned long long *counts)
{
	merge("a doacross loop of OpenMP");
	next.GOMP_doacross_ull_post(counts);
}

unsigned GOMP_teams_reg(region *run, void *data, unsigned teams, unsigned threads, unsigned flags)
{
	merge("a league of teams of OpenMP");
	return next.GOMP_teams_reg(run, data, teams, threads, flags);
}

void GOMP_target_ext(int device, region *run, size_t count, void **addresses, size_t *sizes, unsigned short *kinds,
                     unsigned flags, void **depend, void **arguments)
{
	merge("a device of OpenMP");
	next.GOMP_target_ext(device, run, count, addresses, sizes, kinds, flags, depend, arguments);
}

void GOMP_target_update_ext(int device, size_t count, void **addresses, size_t *sizes, unsigned short *kinds,
                            unsigned flags, void **depend)
{
	merge("a device of OpenMP");
	next.GOMP_target_update_ext(device, count, addresses, sizes, kinds, flags, depend);
}

void GOMP_target_enter_exit_data(int device, size_t count, void **addresses, size_t *sizes, unsigned short *kinds,
                                 unsigned flags, void **depend)
{
	merge("a device of OpenMP");
	next.GOMP_target_enter_exit_data(device, count, addresses, sizes, kinds, flags, depend);
}
