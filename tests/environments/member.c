// SPDX-License-Identifier: BSD-2-Clause
/*
 * member.c - a rank that does what its arguments say, for the tests of restricted environments
 *
 *   environments-member STEP...
 *
 * Steps are done in order; a step "R=STEP" is for rank R only, as ORIEL_RANK has it. A step that
 * fails says why on stderr and ends the rank with status 1.
 *
 *   init             oriel_init                        undumpable    prctl(PR_SET_DUMPABLE, 0)
 *   mix              all kinds of epochs, each byte    user:UID      setuid, and the group likewise
 *                    checked, on memory of malloc      root:DIR      chroot, and there to /
 *                    and on allocated windows          touch:FILE    create a file
 *   end              oriel_finalize                    await:FILE    wait until a file exists
 *   allocate:BYTES   make and free such a window       die:SIGNAL    raise
 *   silent           daemon(3)                         barrier       oriel_barrier
 *   get_constant     get into memory that cannot be written
 *   pid:FILE         write the process's number        expect:CODE   the next step fails with CODE
 *                    into a file                                     and prints why
 */
#include <fcntl.h>
#include <grp.h>
#include <oriel.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define RANKS_MAX 64
#define PART_BYTES ((size_t)140000) /* of each origin: beyond what is copied, and what goes by the ring */
#define ROUNDS 2

static oriel_job *job;
static oriel_group *world, *others;
static int rank, size;

static bool is_ok(int rc, const char *what)
{
	if (rc)
		fprintf(stderr, "rank %d: %s: %d: %s\n", rank, what, rc, oriel_last_error());
	return rc == 0;
}

static unsigned char letter(int origin, int target, int round, size_t at)
{
	return (unsigned char)(origin * 31 + target * 7 + round * 101 + (int)(at % 251));
}

static bool are_right(const unsigned char *bytes, int origin, int target, int round)
{
	for (size_t at = 0; at < PART_BYTES; at++) {
		if (bytes[at] != letter(origin, target, round, at)) {
			fprintf(stderr, "rank %d: byte %zu from rank %d in round %d is wrong\n", rank, at, origin, round);
			return false;
		}
	}
	return true;
}

static bool put_to(oriel_win *win, unsigned char *from, int target, int round)
{
	unsigned char *part = from + (size_t)target * PART_BYTES;

	for (size_t at = 0; at < PART_BYTES; at++)
		part[at] = letter(rank, target, round, at);
	return is_ok(oriel_put(win, part, PART_BYTES, target, (size_t)rank * PART_BYTES), "oriel_put");
}

static bool put_to_all(oriel_win *win, unsigned char *from, int round)
{
	bool ok = true;

	for (int target = 0; ok && target < size; target++)
		ok = target == rank || put_to(win, from, target, round);
	return ok;
}

static bool look_at_all(const unsigned char *base, int round)
{
	bool ok = true;

	for (int origin = 0; ok && origin < size; origin++)
		ok = origin == rank || are_right(base + (size_t)origin * PART_BYTES, origin, rank, round);
	return ok;
}

static bool by_fence(oriel_win *win, unsigned char *base, unsigned char *from, int round)
{
	return is_ok(oriel_win_fence(win, 0), "oriel_win_fence") && put_to_all(win, from, round) &&
	       is_ok(oriel_win_fence(win, 0), "oriel_win_fence") && look_at_all(base, round) &&
	       is_ok(oriel_win_fence(win, ORIEL_MODE_NOSUCCEED), "oriel_win_fence");
}

static bool by_pscw(oriel_win *win, unsigned char *base, unsigned char *from, int round)
{
	return is_ok(oriel_win_post(win, others, 0), "oriel_win_post") &&
	       is_ok(oriel_win_start(win, others, 0), "oriel_win_start") && put_to_all(win, from, round) &&
	       is_ok(oriel_win_complete(win), "oriel_win_complete") && is_ok(oriel_win_wait(win), "oriel_win_wait") &&
	       look_at_all(base, round) && is_ok(oriel_barrier(job), "oriel_barrier");
}

/* Each rank writes its part of the next one, and reads it back. */
static bool by_lock(oriel_win *win, unsigned char *from, int round)
{
	int target = (rank + 1) % size;
	unsigned char *back = from + (size_t)rank * PART_BYTES;

	return is_ok(oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, target, 0), "oriel_win_lock") &&
	       (target == rank || put_to(win, from, target, round)) &&
	       is_ok(oriel_win_flush(win, target), "oriel_win_flush") &&
	       is_ok(oriel_get(win, back, PART_BYTES, target, (size_t)rank * PART_BYTES), "oriel_get") &&
	       is_ok(oriel_win_unlock(win, target), "oriel_win_unlock") &&
	       (target == rank || are_right(back, rank, target, round)) && is_ok(oriel_barrier(job), "oriel_barrier");
}

static bool all_ways(oriel_win *win, unsigned char *base, unsigned char *from)
{
	bool ok = true;

	for (int round = 0; ok && round < ROUNDS; round++)
		ok = by_fence(win, base, from, 3 * round) && by_pscw(win, base, from, 3 * round + 1) &&
		     by_lock(win, from, 3 * round + 2);
	return ok;
}

static bool on_memory_of_malloc(unsigned char *from)
{
	unsigned char *base = malloc((size_t)size * PART_BYTES);
	oriel_win *win;
	bool ok = base &&
	          is_ok(oriel_win_create(base, (size_t)size * PART_BYTES, 1, NULL, world, &win), "oriel_win_create") &&
	          all_ways(win, base, from) && is_ok(oriel_win_free(&win), "oriel_win_free");

	free(base);
	return ok;
}

static bool on_allocated_memory(unsigned char *from)
{
	void *base;
	oriel_win *win;

	return is_ok(oriel_win_allocate((size_t)size * PART_BYTES, 1, NULL, world, &base, &win), "oriel_win_allocate") &&
	       all_ways(win, base, from) && is_ok(oriel_win_free(&win), "oriel_win_free");
}

/* Sums integers at rank 0, and complex numbers of 32 bytes, which a thread of rank 0 adds. */
static bool count(oriel_win *win)
{
	const int64_t one = 1;
	const long double _Complex half = 0.5L;
	int64_t before;
	bool ok = is_ok(oriel_win_lock_all(win, 0), "oriel_win_lock_all");

	for (int i = 0; ok && i < 100; i++)
		ok = is_ok(oriel_fetch_and_op(win, &one, &before, ORIEL_INT64, ORIEL_SUM, 0, 0), "oriel_fetch_and_op") &&
		     is_ok(oriel_accumulate(win, &half, 1, ORIEL_LONG_DOUBLE_COMPLEX, ORIEL_SUM, 0, 1), "oriel_accumulate");
	return ok && is_ok(oriel_win_unlock_all(win), "oriel_win_unlock_all") && is_ok(oriel_barrier(job), "oriel_barrier");
}

static bool by_accumulates(void)
{
	void *base;
	oriel_win *win;
	bool ok = is_ok(oriel_win_allocate(48, 16, NULL, world, &base, &win), "oriel_win_allocate") && count(win);
	long double _Complex sum;

	if (ok && rank == 0) {
		memcpy(&sum, (char *)base + 16, sizeof(sum));
		ok = *(int64_t *)base == 100 * size && sum == 50.0L * size;
		if (!ok)
			fprintf(stderr, "rank 0: the sums are wrong\n");
	}
	return ok && is_ok(oriel_win_free(&win), "oriel_win_free");
}

static bool mix(void)
{
	unsigned char *from = malloc((size_t)size * PART_BYTES);
	bool ok = from && on_memory_of_malloc(from) && on_allocated_memory(from) && by_accumulates();

	free(from);
	if (ok)
		printf("mix is right\n");
	fflush(stdout);
	return ok;
}

static int init(void)
{
	int list[RANKS_MAX], count = 0, rc = oriel_init(NULL, &job);

	if (rc)
		return rc;
	rank = oriel_rank(job);
	size = oriel_size(job);
	for (int r = 0; r < size && r < RANKS_MAX; r++)
		if (r != rank)
			list[count++] = r;
	rc = oriel_group_world(job, &world);
	return rc ? rc : oriel_group_incl(world, count, list, &others);
}

static int end(void)
{
	oriel_group_free(&others);
	oriel_group_free(&world);
	return oriel_finalize(&job);
}

static int allocate(size_t bytes)
{
	void *base;
	oriel_win *win;
	int rc = oriel_win_allocate(bytes, 1, NULL, world, &base, &win);

	return rc ? rc : oriel_win_free(&win);
}

static int get_constant(void)
{
	static const char constant[8] = "constant";
	static char memory[8];
	oriel_win *win;
	int rc = oriel_win_create(memory, sizeof(memory), 1, NULL, world, &win);

	if (rc == 0)
		rc = oriel_win_fence(win, 0);
	if (rc == 0)
		rc = oriel_get(win, (void *)constant, sizeof(constant), (rank + 1) % size, 0);
	return rc ? rc : oriel_win_fence(win, 0);
}

static void await(const char *file)
{
	const struct timespec moment = { .tv_nsec = 5000000 };

	while (access(file, F_OK))
		nanosleep(&moment, NULL);
}

/* The file is there once all of it is. */
static int write_pid(const char *path)
{
	char part[512];
	FILE *file;

	snprintf(part, sizeof(part), "%s.part", path);
	file = fopen(part, "we");
	if (!file)
		return -1;
	fprintf(file, "%d\n", (int)getpid());
	return fclose(file) || rename(part, path);
}

/* 0, -1 with errno, or an error of the library. */
static int system_step(const char *name, const char *value)
{
	gid_t group = (gid_t)atoi(value);

	if (strcmp(name, "undumpable") == 0)
		return prctl(PR_SET_DUMPABLE, 0);
	if (strcmp(name, "user") == 0)
		return setgroups(1, &group) || setgid(group) || setuid((uid_t)group);
	if (strcmp(name, "root") == 0)
		return chroot(value) || chdir("/");
	if (strcmp(name, "silent") == 0)
		return daemon(1, 1);
	if (strcmp(name, "touch") == 0)
		return close(open(value, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
	if (strcmp(name, "pid") == 0)
		return write_pid(value);
	if (strcmp(name, "die") == 0)
		return raise(atoi(value));
	await(value);
	return 0;
}

static int step(const char *name, const char *value)
{
	if (strcmp(name, "init") == 0)
		return init();
	if (strcmp(name, "mix") == 0)
		return mix() ? 0 : 1;
	if (strcmp(name, "end") == 0)
		return end();
	if (strcmp(name, "allocate") == 0)
		return allocate((size_t)strtoull(value, NULL, 10));
	if (strcmp(name, "get_constant") == 0)
		return get_constant();
	if (strcmp(name, "barrier") == 0)
		return oriel_barrier(job);
	return system_step(name, value);
}

/* The step behind "R=", if it is this rank's; else NULL. */
static char *own_step(char *text)
{
	const char *own = getenv("ORIEL_RANK");
	char *end;
	long wanted = strtol(text, &end, 10);

	if (end == text || *end != '=')
		return text;
	return own && wanted == atoi(own) ? end + 1 : NULL;
}

static int expected; /* of the next step */

static bool run_step(char *text)
{
	char *value = strchr(text, ':');
	int rc, wanted = expected;

	if (value)
		*value++ = '\0';
	if (strcmp(text, "expect") == 0) {
		expected = atoi(value ? value : "0");
		return true;
	}
	expected = 0;
	rc = step(text, value ? value : "");
	if (rc < 0 && rc == wanted)
		printf("%s: %s\n", text, oriel_last_error());
	else if (rc != wanted)
		fprintf(stderr, "%s: %d instead of %d: %s\n", text, rc, wanted, oriel_last_error());
	fflush(stdout);
	return rc == wanted;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *text = own_step(argv[i]);

		if (text && !run_step(text))
			return 1;
	}
	return 0;
}
