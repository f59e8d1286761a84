// SPDX-License-Identifier: BSD-2-Clause
#include <oriel.h>
#include <stdio.h>
#include <stdlib.h>

#include "form.h"

struct form_win {
	oriel_win *win;
	char name[64];
	bool reversed;
	struct notes_ranks targets, origins; /* of the epochs that are open */
};

static oriel_job *job;
static oriel_group *world;
static const struct notes_ranks everybody = { .count = NOTES_ALL };
static const struct oriel_hint hints[] = { { "signals", "1" }, { NULL, NULL } };

static void check(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "waits: rank %d: %s\n", job ? oriel_rank(job) : -1, oriel_last_error());
	exit(1);
}

static struct notes_ranks only(int rank)
{
	return (struct notes_ranks){ .count = 1, .rank = { rank } };
}

static struct notes_ranks all_reversed(void)
{
	struct notes_ranks ranks = { .count = oriel_size(job) };

	for (int i = 0; i < ranks.count; i++)
		ranks.rank[i] = ranks.count - 1 - i;
	return ranks;
}

/* Returns a rank's place in the window's group. */
static int place(const struct form_win *win, int rank)
{
	return win->reversed ? oriel_size(job) - 1 - rank : rank;
}

static oriel_group *group_of(const struct notes_ranks *ranks)
{
	oriel_group *group;

	check(oriel_group_incl(world, ranks->count, ranks->rank, &group));
	return group;
}

struct form_world form_open(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	check(oriel_init(NULL, &job));
	check(oriel_group_world(job, &world));
	return (struct form_world){ oriel_rank(job), oriel_size(job), true };
}

void form_close(void)
{
	check(oriel_group_free(&world));
	check(oriel_finalize(&job));
}

static struct form_win *named(const char *name)
{
	struct form_win *win = calloc(1, sizeof(*win));

	if (!win)
		abort();
	snprintf(win->name, sizeof(win->name), "%s", name);
	return win;
}

struct form_win *form_allocate(const char *name, size_t size_bytes)
{
	struct form_win *win = named(name);
	void *base;
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_allocate(size_bytes, 1, hints, world, &base, &win->win));
	notes_call("collective", "oriel_win_allocate", name, begun_ns, &everybody);
	check(oriel_win_set_name(win->win, name));
	return win;
}

struct form_win *form_create(const char *name, void *base, size_t size_bytes, bool reversed)
{
	struct notes_ranks order = all_reversed();
	struct form_win *win = named(name);
	oriel_group *group = reversed ? group_of(&order) : world;
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_create(base, size_bytes, 1, hints, group, &win->win));
	notes_call("collective", "oriel_win_create", name, begun_ns, &everybody);
	win->reversed = reversed;
	if (reversed)
		check(oriel_group_free(&group));
	check(oriel_win_set_name(win->win, name));
	return win;
}

void form_free(struct form_win *win)
{
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_free(&win->win));
	notes_call("collective", "oriel_win_free", win->name, begun_ns, &everybody);
	free(win);
}

void form_put(struct form_win *win, const void *origin, size_t size_bytes, int target)
{
	struct notes_ranks ranks = only(target);
	uint64_t begun_ns = notes_now_ns();

	check(oriel_put(win->win, origin, size_bytes, place(win, target), 0));
	notes_call("transfer", "oriel_put", win->name, begun_ns, &ranks);
}

void form_accumulate(struct form_win *win, int target)
{
	static const long double one = 1;
	struct notes_ranks ranks = only(target);
	uint64_t begun_ns = notes_now_ns();

	check(oriel_accumulate(win->win, &one, 1, ORIEL_LONG_DOUBLE, ORIEL_SUM, place(win, target), 4));
	notes_call("transfer", "oriel_accumulate", win->name, begun_ns, &ranks);
}

void form_flush(struct form_win *win, int target)
{
	struct notes_ranks ranks = only(target);
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_flush(win->win, place(win, target)));
	notes_call("flush", "oriel_win_flush", win->name, begun_ns, &ranks);
}

void form_post(struct form_win *win, const struct notes_ranks *origins)
{
	oriel_group *group = group_of(origins);
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_post(win->win, group, 0));
	notes_call("post", "oriel_win_post", win->name, begun_ns, origins);
	win->origins = *origins;
	check(oriel_group_free(&group));
}

void form_start(struct form_win *win, const struct notes_ranks *targets)
{
	oriel_group *group = group_of(targets);
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_start(win->win, group, 0));
	notes_call("start", "oriel_win_start", win->name, begun_ns, targets);
	win->targets = *targets;
	check(oriel_group_free(&group));
}

void form_complete(struct form_win *win)
{
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_complete(win->win));
	notes_call("complete", "oriel_win_complete", win->name, begun_ns, &win->targets);
}

void form_wait(struct form_win *win)
{
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_wait(win->win));
	notes_call("wait", "oriel_win_wait", win->name, begun_ns, &win->origins);
}

void form_fence(struct form_win *win)
{
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_fence(win->win, 0));
	notes_call("fence", "oriel_win_fence", win->name, begun_ns, &everybody);
}

void form_lock(struct form_win *win, bool exclusive, int target)
{
	struct notes_ranks ranks = only(target);
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_lock(win->win, exclusive ? ORIEL_LOCK_EXCLUSIVE : ORIEL_LOCK_SHARED, place(win, target), 0));
	notes_call(exclusive ? "lock_exclusive" : "lock_shared", "oriel_win_lock", win->name, begun_ns, &ranks);
}

void form_unlock(struct form_win *win, int target)
{
	struct notes_ranks ranks = only(target);
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_unlock(win->win, place(win, target)));
	notes_call("unlock", "oriel_win_unlock", win->name, begun_ns, &ranks);
}

void form_lock_all(struct form_win *win)
{
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_lock_all(win->win, 0));
	notes_call("lock_all", "oriel_win_lock_all", win->name, begun_ns, &everybody);
}

void form_unlock_all(struct form_win *win)
{
	uint64_t begun_ns = notes_now_ns();

	check(oriel_win_unlock_all(win->win));
	notes_call("unlock_all", "oriel_win_unlock_all", win->name, begun_ns, &everybody);
}

void form_barrier(void)
{
	uint64_t begun_ns = notes_now_ns();

	check(oriel_barrier(job));
	notes_call("collective", "oriel_barrier", "-", begun_ns, &everybody);
}

void form_signal(struct form_win *win, int target)
{
	struct notes_ranks ranks = only(target);
	uint64_t begun_ns = notes_now_ns();

	check(oriel_signal(win->win, place(win, target), 0, 1, ORIEL_SIGNAL_ADD));
	notes_call("signal", "oriel_signal", win->name, begun_ns, &ranks);
}

void form_signal_until(struct form_win *win, uint64_t value, int sender)
{
	struct notes_ranks ranks = only(sender);
	uint64_t begun_ns = notes_now_ns();

	check(oriel_signal_until(win->win, 0, value));
	notes_call("signal_wait", "oriel_signal_until", win->name, begun_ns, &ranks);
}
