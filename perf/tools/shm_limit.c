// SPDX-License-Identifier: BSD-2-Clause
/*
 * shm_limit.c - what shared memory and the kernel give without any library: bounds for Oriel on one
 * machine
 *
 * usage: shm_limit [options] TEST; two processes, each pinned to its own core
 *
 *   flag_lat    a cache line, half of there and back
 *   memcpy_lat  a copy into memory that both map; memcpy_bw reports bandwidth
 *   vm_lat      process_vm_writev into the other's private memory; vm_bw reports bandwidth
 *   store_bw    a loop of 8-byte stores into memory that both map
 *   yield_lat   a flag on one core with sched_yield, half of there and back
 *
 * backends/shm.c runs the other programs' patterns on shared memory (shm_put_lat ...).
 */
#include "tools/shm_limit.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/relax.h"
#include "bench/ticks.h"

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void pin(int core)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)core, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("shm_limit: cannot pin a process to its core, see --cores");
}

/* Pairs with raise_flag of the other process: its earlier stores are visible. */
static void wait_flag(const uint64_t *flag, uint64_t value)
{
	while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) < value)
		perf_relax();
}

static void raise_flag(uint64_t *flag, uint64_t value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

static void barrier(struct shm_side *s)
{
	raise_flag(&s->there->barrier, ++s->barriers);
	while (__atomic_load_n(&s->here->barrier, __ATOMIC_ACQUIRE) < s->barriers)
		sched_yield(); /* the other process may share this core */
}

/* ---- turns: what one side does between two looks at the clock ---- */

static void turn_flag(struct shm_side *s, size_t size_bytes)
{
	(void)size_bytes;
	s->turns++;
	if (s->rank == 0)
		raise_flag(&s->there->flag, s->turns);
	wait_flag(&s->here->flag, s->turns);
	if (s->rank == 1)
		raise_flag(&s->there->flag, s->turns);
}

static void turn_memcpy(struct shm_side *s, size_t size_bytes)
{
	for (int i = 0; s->rank == 0 && i < SHM_BATCH; i++) {
		memcpy(s->shared_there, s->source, size_bytes);
		__asm__ volatile("" ::: "memory"); /* keep every copy */
	}
}

static void turn_vm(struct shm_side *s, size_t size_bytes)
{
	struct iovec here = { s->source, size_bytes }, there = { s->private_there, size_bytes };

	for (int i = 0; s->rank == 0 && i < SHM_BATCH; i++) {
		if (process_vm_writev(s->other, &here, 1, &there, 1, 0) != (ssize_t)size_bytes)
			fail("shm_limit: process_vm_writev");
	}
}

static void turn_stores(struct shm_side *s, size_t size_bytes)
{
	volatile uint64_t *to = (volatile uint64_t *)(void *)s->shared_there;

	(void)size_bytes;
	for (size_t i = 0; s->rank == 0 && i < SHM_STORES; i++)
		to[i] = i;
}

static void turn_yield(struct shm_side *s, size_t size_bytes)
{
	(void)size_bytes;
	s->turns++;
	if (s->rank == 0)
		raise_flag(&s->there->flag, s->turns);
	while (__atomic_load_n(&s->here->flag, __ATOMIC_ACQUIRE) < s->turns)
		sched_yield();
	if (s->rank == 1)
		raise_flag(&s->there->flag, s->turns);
}

static const struct shm_test tests[] = {
	{ .name = "flag_lat", .turn = turn_flag, .latency_share = 0.5, .one_size = 1 },
	{ .name = "memcpy_lat", .turn = turn_memcpy, .latency_share = 1.0 / SHM_BATCH },
	{ .name = "memcpy_bw", .turn = turn_memcpy, .messages = SHM_BATCH },
	{ .name = "vm_lat", .turn = turn_vm, .latency_share = 1.0 / SHM_BATCH },
	{ .name = "vm_bw", .turn = turn_vm, .messages = SHM_BATCH },
	{ .name = "store_bw", .turn = turn_stores, .messages = SHM_STORES, .one_size = 1 },
	{ .name = "yield_lat", .turn = turn_yield, .latency_share = 0.5, .one_size = 1, .one_core = 1 },
	{ .name = NULL },
};

/* ---- two processes ---- */

static void *map(size_t size_bytes, int flag)
{
	void *made = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, flag | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		fail("shm_limit: mmap");
	return made;
}

static void report(struct shm_side *s, const struct shm_options *o, size_t size_bytes, FILE *json, int first)
{
	double *us = calloc((size_t)o->iterations, sizeof(*us)), us_per_tick = ticks_us();

	if (!us)
		fail("shm_limit: calloc");
	for (long i = 0; i < o->iterations; i++)
		us[i] = (double)s->ticks[i] * us_per_tick;
	shm_report(o, size_bytes, us, json, first);
	free(us);
}

static void run_size(struct shm_side *s, const struct shm_options *o, int index, FILE *json)
{
	long warm = o->iterations / 10 + 1;
	size_t size_bytes = o->sizes[index];

	barrier(s);
	for (long i = -warm; i < o->iterations; i++) {
		uint64_t started = ticks_now();

		o->test->turn(s, size_bytes);
		if (i >= 0)
			s->ticks[i] = ticks_now() - started;
	}
	barrier(s);
	if (s->rank == 0)
		report(s, o, size_bytes, json, index == 0);
}

static void run_side(struct shm_side *s, const struct shm_options *o)
{
	FILE *json = NULL;

	pin(o->cores[o->test->one_core ? 0 : s->rank]);
	ticks_begin();
	s->source = map(SHM_SIZE_MAX_BYTES, MAP_PRIVATE);
	memset(s->source, 1, SHM_SIZE_MAX_BYTES);
	memset(s->private_there, 1, SHM_SIZE_MAX_BYTES); /* own memory, at the other's address */
	s->ticks = calloc((size_t)o->iterations, sizeof(*s->ticks));
	if (!s->ticks)
		fail("shm_limit: calloc");
	if (s->rank == 0 && o->json && !(json = fopen(o->json, "w")))
		fail(o->json);
	for (int i = 0; i < o->size_count; i++)
		run_size(s, o, i, json);
	if (json && (fprintf(json, "]}\n") < 0 || fclose(json)))
		fail(o->json);
	free(s->ticks);
}

int main(int argc, char **argv)
{
	struct shm_options o = { .iterations = 1000, .cores = { 0, 1 } };
	struct shm_side s = { .rank = 0 };
	pid_t parent = getpid(), child;
	struct shm_words *words;
	uint8_t *shared;
	int status;

	if (shm_parse(&o, tests, argc, argv))
		return 2;
	words = map(2 * sizeof(*words), MAP_SHARED);
	shared = map(2 * SHM_SIZE_MAX_BYTES, MAP_SHARED);
	memset(shared, 1, 2 * SHM_SIZE_MAX_BYTES);
	s.private_there = map(SHM_SIZE_MAX_BYTES, MAP_PRIVATE);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* else process_vm_writev to the parent may fail */
	child = fork();
	if (child < 0)
		fail("shm_limit: fork");
	if (child == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL))
		fail("shm_limit: prctl");
	s.rank = child == 0;
	s.other = child == 0 ? parent : child;
	s.here = &words[s.rank];
	s.there = &words[!s.rank];
	s.shared_there = shared + (size_t)!s.rank * SHM_SIZE_MAX_BYTES;
	run_side(&s, &o);
	if (child == 0)
		return 0;
	return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
