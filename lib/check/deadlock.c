// SPDX-License-Identifier: BSD-2-Clause
/* See deadlock.h. A trace is another process's work: each index in it is bounded. */
#include "check/deadlock.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/process.h"

#define RANKS_MAX (1 << 16)

/* ---- the traces of a job ---- */

static const struct trace *map_header(const char *path)
{
	int fd = part_file_open(path, sizeof(struct trace));
	void *memory = MAP_FAILED;

	if (fd >= 0) {
		memory = mmap(NULL, sizeof(struct trace), PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
	}
	return memory == MAP_FAILED ? NULL : memory;
}

static void unmap_header(const struct trace *trace)
{
	munmap((void *)(uintptr_t)trace, sizeof(*trace));
}

static bool is_alive(const struct trace *trace)
{
	char state = process_state(trace->pid);

	return state != '?' && state != 'Z' && state != 'X';
}

static bool has_ended(const struct trace *trace)
{
	return __atomic_load_n(&trace->state, __ATOMIC_ACQUIRE) == PART_ENDED; /* pairs with trace_end */
}

/* A process that was killed may have left its trace, of an earlier job of this name. */
static bool is_of_job(const struct trace *trace, const char *name, const char *host)
{
	/* pairs with trace_open, and with trace_job */
	return __atomic_load_n(&trace->mark, __ATOMIC_ACQUIRE) == TRACE_MARK && trace->version == TRACE_VERSION &&
	       __atomic_load_n(&trace->rank, __ATOMIC_ACQUIRE) >= 0 && trace->size > trace->rank &&
	       trace->size <= RANKS_MAX && strncmp(trace->job, name, PART_JOB_BYTES) == 0 &&
	       strncmp(trace->host, host, PART_HOST_BYTES) == 0 && (has_ended(trace) || is_alive(trace));
}

/* All traces of a job name one size. */
static bool take_header(struct deadlock_job *job, const struct trace *trace)
{
	struct deadlock_rank *at;
	int rank = trace->rank;

	if (!job->ranks) {
		job->ranks = calloc((size_t)trace->size, sizeof(*job->ranks));
		job->core = calloc((size_t)trace->size, sizeof(*job->core));
		job->size = job->ranks && job->core ? trace->size : 0;
	}
	if (rank < 0 || rank >= job->size)
		return false;
	at = &job->ranks[rank];
	at->is_double |= at->trace != NULL;
	if (at->trace)
		unmap_header(at->trace);
	at->trace = at->is_double ? NULL : trace;
	return !at->is_double;
}

bool deadlock_open(struct deadlock_job *job, const char *name, const char *host)
{
	char folder[PART_FOLDER_BYTES];
	const struct dirent *entry;
	DIR *directory;

	*job = (struct deadlock_job){ 0 };
	part_write_folder(folder);
	directory = opendir(folder);
	while (directory && (entry = readdir(directory))) {
		char path[PART_FOLDER_BYTES + 300];
		const struct trace *trace = NULL;

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (strncmp(entry->d_name, TRACE_PREFIX, strlen(TRACE_PREFIX)) == 0)
			trace = map_header(path);
		if (trace && !(is_of_job(trace, name, host) && take_header(job, trace)))
			unmap_header(trace);
	}
	if (directory)
		closedir(directory);
	return job->size > 0;
}

void deadlock_close(struct deadlock_job *job)
{
	for (int rank = 0; rank < job->size; rank++) {
		if (job->ranks[rank].trace)
			unmap_header(job->ranks[rank].trace);
	}
	free(job->ranks);
	free(job->core);
	*job = (struct deadlock_job){ 0 };
}

bool deadlock_is_whole(const struct deadlock_job *job)
{
	for (int rank = 0; rank < job->size; rank++) {
		if (!job->ranks[rank].trace)
			return false;
	}
	return true;
}

/* ---- what a wait needs ---- */

static const struct trace_waits *waits_of(const struct deadlock_job *job, int rank)
{
	return &job->ranks[rank].trace->waits;
}

/* The target has not begun the post that the last start for it awaits. */
static bool needs_post(const struct trace_waits *own, const struct trace_waits *other, uint64_t window, int rank,
                       int target)
{
	struct trace_count started = waits_find(own, COUNT_STARTS, window, target);

	return started.value > 0 && started.epoch == 2 * waits_value(own, COUNT_START_EPOCHS, window, -1) &&
	       waits_value(other, COUNT_POSTS, window, rank) < started.value;
}

/* The origin has not begun the complete that the last post for it awaits. */
static bool needs_complete(const struct trace_waits *own, const struct trace_waits *other, uint64_t window, int rank,
                           int origin)
{
	struct trace_count posted = waits_find(own, COUNT_POSTS, window, origin);
	struct trace_count started = waits_find(other, COUNT_STARTS, window, rank);

	if (posted.value == 0 || posted.epoch != 2 * waits_value(own, COUNT_POST_EPOCHS, window, -1))
		return false;
	return started.value < posted.value ||
	       (started.value == posted.value && waits_value(other, COUNT_COMPLETES, window, -1) < started.epoch / 2);
}

/* The other rank holds a lock that excludes the one that is wanted. */
static bool needs_unlock(const struct trace_waits *other, const struct trace_wait *wait)
{
	uint64_t held = waits_value(other, COUNT_LOCK, wait->object, wait->rank);

	return held == HELD_EXCLUSIVE || (held == HELD_SHARED && wait->flags & AWAIT_EXCLUSIVE);
}

static bool have_tags(const struct trace_waits *one, const struct trace_waits *other)
{
	/* pairs with count_of_tag */
	return !__atomic_load_n(&one->is_untagged, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&other->is_untagged, __ATOMIC_ACQUIRE);
}

/* Fewer messages of the other rank are under way than are awaited. */
static bool needs_message(const struct trace_waits *own, const struct trace_waits *others, int rank, int other,
                          const struct trace_wait *wait)
{
	bool is_of_any_tag = wait->flags & AWAIT_ANY_TAG || !have_tags(own, others);
	uint64_t object = is_of_any_tag ? wait->object : tag_object(wait->object, wait->tag);
	uint64_t sent = waits_value(others, COUNT_SENT, object, rank);
	uint64_t received = waits_value(own, COUNT_RECEIVED, object, other);

	return sent >= received && sent - received < wait->number;
}

/* Returns how many receives of the rank may take such a message. */
static uint64_t count_receiving(const struct trace_waits *waits, uint64_t comm, uint32_t tag, int source)
{
	uint64_t tagged = tag_object(comm, tag), of_any_tag = tag_object(comm, WAITS_ANY_TAG);

	return waits_value(waits, COUNT_RECEIVING, tagged, source) + waits_value(waits, COUNT_RECEIVING, tagged, -1) +
	       waits_value(waits, COUNT_RECEIVING, of_any_tag, source) +
	       waits_value(waits, COUNT_RECEIVING, of_any_tag, -1);
}

/* The message was not received, and no receive has begun that may take it. */
static bool needs_receiver(const struct trace_waits *own, const struct trace_waits *others, int rank,
                           const struct trace_wait *wait)
{
	uint64_t object = tag_object(wait->object, wait->tag);

	return have_tags(own, others) && waits_value(others, COUNT_RECEIVED, object, rank) < wait->number &&
	       count_receiving(others, wait->object, wait->tag, rank) == 0;
}

bool deadlock_is_any(const struct trace_wait *wait)
{
	return wait->kind == AWAIT_SIGNAL || (wait->kind == AWAIT_MESSAGE && wait->rank < 0);
}

/*
 * An end of the job frees windows and gives locks back. So a rank that has ended is not needed for
 * these.
 */
static bool may_end_by_itself(const struct deadlock_job *job, const struct trace_wait *wait, int other)
{
	return job->ranks[other].is_ended && (wait->kind == AWAIT_UNLOCK || wait->flags & AWAIT_FREE);
}

bool deadlock_needs(const struct deadlock_job *job, int rank, const struct trace_wait *wait, int other)
{
	const struct trace_waits *own = waits_of(job, rank), *others = waits_of(job, other);

	if (!waits_value(others, COUNT_MEMBER, wait->object, -1) || may_end_by_itself(job, wait, other))
		return false;
	switch (wait->kind) {
	case AWAIT_POST:
		return needs_post(own, others, wait->object, rank, other);
	case AWAIT_COMPLETE:
		return needs_complete(own, others, wait->object, rank, other);
	case AWAIT_FENCE:
		return waits_value(others, COUNT_FENCES, wait->object, -1) < wait->number;
	case AWAIT_COLLECTIVE:
		return (wait->rank < 0 || wait->rank == other) && other != rank &&
		       waits_value(others, COUNT_COLLECTIVES, wait->object, -1) < wait->number;
	case AWAIT_UNLOCK:
		return other != rank && needs_unlock(others, wait);
	case AWAIT_MESSAGE:
		return (wait->rank < 0 || wait->rank == other) && needs_message(own, others, rank, other, wait);
	case AWAIT_RECEIVER:
		return wait->rank == other && needs_receiver(own, others, rank, wait);
	case AWAIT_SIGNAL:
		return true;
	default:
		return false;
	}
}

/* No signal that the wait may take is under way. */
static bool signals_are_taken(const struct deadlock_job *job, int rank, const struct trace_wait *wait)
{
	if (wait->count > WAITS_SIGNALS)
		return false;
	for (uint32_t i = 0; i < wait->count; i++) {
		uint64_t object = signal_object(wait->object, wait->number + i), sent = 0;

		for (int other = 0; other < job->size; other++)
			sent += job->ranks[other].trace ? waits_value(waits_of(job, other), COUNT_SIGNALS, object, rank) : 0;
		if (sent != (wait->flags & AWAIT_UNTIL ? 0 : waits_value(waits_of(job, rank), COUNT_TAKEN, object, -1)))
			return false;
	}
	return true;
}

/* ---- the set ---- */

static bool is_in_set(const struct deadlock_job *job, int rank)
{
	return job->ranks[rank].trace && job->ranks[rank].is_stuck;
}

static bool is_member(const struct deadlock_job *job, int rank, uint64_t object)
{
	return job->ranks[rank].trace && waits_value(waits_of(job, rank), COUNT_MEMBER, object, -1);
}

/* All that may end the wait are in the set, and none has begun to. */
static bool all_are_stuck(const struct deadlock_job *job, int rank, const struct trace_wait *wait)
{
	uint32_t members = 0;

	for (int other = 0; other < job->size; other++) {
		if (!is_member(job, other, wait->object))
			continue;
		members++;
		if (!is_in_set(job, other) || !deadlock_needs(job, rank, wait, other))
			return false;
	}
	return members == wait->size && (wait->kind != AWAIT_SIGNAL || signals_are_taken(job, rank, wait));
}

static bool one_is_stuck(const struct deadlock_job *job, int rank, const struct trace_wait *wait)
{
	for (int other = 0; other < job->size; other++) {
		if (is_in_set(job, other) && deadlock_needs(job, rank, wait, other))
			return true;
	}
	return false;
}

bool deadlock_keeps(const struct deadlock_job *job, int rank, const struct trace_wait *wait)
{
	return deadlock_is_any(wait) ? all_are_stuck(job, rank, wait) : one_is_stuck(job, rank, wait);
}

/* Returns how many waits the thread shows, and in *kept how many of them keep it. */
static uint32_t count_waits(const struct deadlock_job *job, int rank, int32_t thread, uint32_t *kept)
{
	struct trace_wait wait;
	uint32_t count = 0;

	*kept = 0;
	for (int i = 0; i < WAITS_SLOTS; i++) {
		if (!waits_read_slot(waits_of(job, rank), i, &wait) || wait.thread != thread)
			continue;
		count++;
		*kept += deadlock_keeps(job, rank, &wait);
	}
	return count;
}

/* A call with several waits may not show all of them yet. */
static bool thread_stays(const struct deadlock_job *job, int rank, const struct trace_wait *wait)
{
	uint32_t count, kept;

	if (wait->kind == AWAIT_SIGNAL || wait->count <= 1)
		return deadlock_keeps(job, rank, wait);
	count = count_waits(job, rank, wait->thread, &kept);
	return count == wait->count && (wait->flags & AWAIT_PART ? kept > 0 : kept == count);
}

/* Returns whether each thread of the rank waits for the set. */
static bool stays(const struct deadlock_job *job, int rank)
{
	bool any = false;

	for (int i = 0; i < WAITS_SLOTS; i++) {
		struct trace_wait wait;

		if (!waits_read_slot(waits_of(job, rank), i, &wait))
			continue;
		if (!thread_stays(job, rank, &wait))
			return false;
		any = true;
	}
	return any;
}

/* Takes ranks out until each that is left waits for the set. Returns whether one does. */
static bool shrink(const struct deadlock_job *job)
{
	bool has_changed = true, any = false;

	while (has_changed) {
		has_changed = any = false;
		for (int rank = 0; rank < job->size; rank++) {
			struct deadlock_rank *at = &job->ranks[rank];

			if (!at->is_stuck || at->is_ended)
				continue;
			at->is_stuck = stays(job, rank);
			has_changed |= !at->is_stuck;
			any |= at->is_stuck;
		}
	}
	return any;
}

/* ---- one time ---- */

/* Returns whether each call of the process that others wait for is counted. */
static bool is_usable(const struct trace *trace)
{
	/* pairs with count_of */
	return !__atomic_load_n(&trace->waits.is_unproven, __ATOMIC_ACQUIRE) && !trace->unknown[0];
}

/* The death of a process ends waits and gives its locks back. */
static void look_first(struct deadlock_rank *at)
{
	const struct trace_waits *waits = at->trace ? &at->trace->waits : NULL;

	at->is_stuck = at->is_ended = false;
	at->seen = 0;
	if (!waits || !is_usable(at->trace))
		return;
	at->is_ended = __atomic_load_n(&waits->is_ended, __ATOMIC_ACQUIRE); /* pairs with watch_ended */
	at->changes = __atomic_load_n(&waits->changes, __ATOMIC_ACQUIRE);   /* pairs with waits_begin */
	at->is_stuck = at->is_ended || (at->changes > 0 &&                  /* pairs with look */
	                                at->changes == __atomic_load_n(&waits->quiet, __ATOMIC_ACQUIRE));
	if (at->is_stuck && !has_ended(at->trace))
		at->is_stuck = is_alive(at->trace);
}

bool deadlock_may_search(const struct trace *trace)
{
	/* pairs with note_report */
	return !strchr("?ZXTt", process_state(trace->pid)) &&
	       __atomic_load_n(&trace->waits.reported_count, __ATOMIC_ACQUIRE) < WAITS_REPORTED;
}

/* Returns whether nothing has happened since the first look. */
static bool is_unchanged(const struct deadlock_job *job)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (int rank = 0; rank < job->size; rank++) {
		const struct deadlock_rank *at = &job->ranks[rank];

		if (is_in_set(job, rank) && !at->is_ended &&
		    __atomic_load_n(&at->trace->waits.changes, __ATOMIC_ACQUIRE) != at->changes) /* pairs with wait_end */
			return false;
		if (is_in_set(job, rank) && (!is_usable(at->trace) || at->is_ended != at->trace->waits.is_ended))
			return false;
	}
	return true;
}

/* ---- what is reported ---- */

static bool is_reported_by(const struct trace_waits *waits, int rank, uint64_t changes)
{
	uint32_t count = __atomic_load_n(&waits->reported_count, __ATOMIC_ACQUIRE); /* pairs with note_report */

	for (uint32_t i = 0; i < count && i < WAITS_REPORTED; i++) {
		if (waits->reported[i].rank == rank && waits->reported[i].changes == changes)
			return true;
	}
	return false;
}

static bool is_reported(const struct deadlock_job *job, int rank)
{
	for (int by = 0; by < job->size; by++) {
		if (job->ranks[by].trace && is_reported_by(waits_of(job, by), rank, job->ranks[rank].changes))
			return true;
	}
	return false;
}

static bool needs_in_a_slot(const struct deadlock_job *job, int rank, int other)
{
	for (int i = 0; i < WAITS_SLOTS; i++) {
		struct trace_wait wait;

		if (waits_read_slot(waits_of(job, rank), i, &wait) && deadlock_needs(job, rank, &wait, other) &&
		    deadlock_keeps(job, rank, &wait))
			return true;
	}
	return false;
}

/* Returns a rank of the set that a stuck one needs: if it can, another one that has not ended. */
static int next_of(const struct deadlock_job *job, int rank)
{
	int next = -1;

	for (int other = 0; other < job->size; other++) {
		if (!is_in_set(job, other) || !needs_in_a_slot(job, rank, other))
			continue;
		if (!job->ranks[other].is_ended && other != rank)
			return other;
		next = other;
	}
	return next;
}

/*
 * Follows the needs from a rank to a circle, or to the last before a rank that has ended. Returns
 * false if it comes to where an earlier rank has come to.
 */
static bool find_core(struct deadlock_job *job, int from)
{
	int rank, start = from;

	while (job->ranks[start].seen != from + 1) {
		int next;

		if (job->ranks[start].seen)
			return false;
		job->ranks[start].seen = from + 1;
		next = next_of(job, start);
		if (next < 0 || job->ranks[next].is_ended)
			break;
		start = next;
	}
	job->core_count = 0;
	rank = start;
	do {
		job->core[job->core_count++] = rank;
		rank = next_of(job, rank);
	} while (rank >= 0 && rank != start && !job->ranks[rank].is_ended && job->core_count < job->size);
	return true;
}

static bool core_is_new(const struct deadlock_job *job)
{
	for (int i = 0; i < job->core_count; i++) {
		if (is_reported(job, job->core[i]))
			return false;
	}
	return job->core_count > 0;
}

static bool find_new_core(struct deadlock_job *job)
{
	for (int rank = 0; rank < job->size; rank++) {
		if (!is_in_set(job, rank) || job->ranks[rank].is_ended)
			continue;
		if (find_core(job, rank) && core_is_new(job))
			return true;
	}
	return false;
}

/* Finds the core that a rank waits for, reported or not. */
static bool find_core_of(struct deadlock_job *job, int rank)
{
	if (rank >= job->size || !is_in_set(job, rank) || job->ranks[rank].is_ended)
		return false;
	return find_core(job, rank);
}

bool deadlock_search(struct deadlock_job *job, int from)
{
	for (int rank = 0; rank < job->size; rank++)
		look_first(&job->ranks[rank]);
	return shrink(job) && (from < 0 ? find_new_core(job) : find_core_of(job, from)) && is_unchanged(job);
}
