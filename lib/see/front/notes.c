// SPDX-License-Identifier: BSD-2-Clause
/*
 * notes.c - when ranks begin the calls that others wait for; see call.h
 *
 * A process notes in its part when it begins a post, a complete, a fence or a collective call. A
 * rank of this machine that has waited maps the part of the rank that it waited for, and reads the
 * time there. So nothing is sent, and no rank does anything for another one.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "see/front/call.h"
#include "see/front/clock.h"

#define SEARCH_NS (10 * NS_PER_MS) /* between searches of the folder for a rank that is not there */
#define PATH_BYTES 512

/* ---- own notes ---- */

static uint64_t unlocks[PART_WINDOWS + 1];
static uint64_t collectives;
static bool knows_all;

bool notes_know_all(void)
{
	return __atomic_load_n(&knows_all, __ATOMIC_RELAXED);
}

static uint32_t place_of(uint32_t window)
{
	return window == PART_NONE ? PART_WINDOWS : window;
}

static void write_note(struct part_note *note, uint64_t number, uint64_t begun)
{
	__atomic_store_n(&note->number, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	/* pairs with read_note */
	__atomic_store_n(&note->begun, begun, __ATOMIC_RELAXED);
	__atomic_store_n(&note->number, number, __ATOMIC_RELEASE);
}

void notes_add(enum part_event event, uint32_t window, uint64_t number, uint64_t begun)
{
	struct part *part = part_of_process();
	uint64_t at = number;

	if (!part || event == EVENT_POST || event == EVENT_COMPLETE)
		return;
	if (event == EVENT_COLLECTIVE) /* whose numbers are keys of windows, too: two in a row may leave the same */
		at = __atomic_fetch_add(&collectives, 1, __ATOMIC_RELAXED);
	write_note(&part->notes[place_of(window)].latest[event][at % PART_LATEST], number, begun);
	if (!notes_know_all())
		remote_add_begin(part, event, window, number, begun);
}

/* Of two threads that unlock at one time, one may replace the other's note. */
void notes_add_unlock(uint32_t window, int member, uint64_t begun)
{
	struct part *part = part_of_process();
	uint32_t place = place_of(window);
	uint64_t count = __atomic_load_n(&unlocks[place], __ATOMIC_RELAXED) + 1;
	uint64_t number = (uint64_t)(member + 1) << PART_RANK_SHIFT | count;

	if (!part)
		return;
	__atomic_store_n(&unlocks[place], count, __ATOMIC_RELAXED);
	write_note(&part->notes[place].latest[EVENT_UNLOCK][count % PART_LATEST], number, begun);
	if (!notes_know_all())
		remote_add_begin(part, EVENT_UNLOCK, window, number, begun);
}

/* ---- others' notes ---- */

static const struct part **others; /* by rank; set before the count */
static int others_count;
static uint64_t searched_ns;
static pthread_mutex_t mapping = PTHREAD_MUTEX_INITIALIZER;

/* Returns how many ranks `others` has room for. */
static int ranks_known(void)
{
	return __atomic_load_n(&others_count, __ATOMIC_ACQUIRE); /* pairs with make_others */
}

/* Returns the rank whose part it is, or -1: it is of another job. Its owner may write to it. */
static int rank_in_job(const struct part *other, const struct part *own)
{
	uint64_t mark = __atomic_load_n(&other->header.mark, __ATOMIC_ACQUIRE); /* pairs with begin */
	int rank = __atomic_load_n(&other->header.rank, __ATOMIC_RELAXED);
	bool ours = mark == PART_MARK && other->header.version == PART_VERSION &&
	            strncmp(other->header.job, own->header.job, sizeof(own->header.job)) == 0 &&
	            strncmp(other->header.host, own->header.host, sizeof(own->header.host)) == 0;

	return ours && rank >= 0 && rank < ranks_known() ? rank : -1;
}

static const struct part *map_other(const char *path)
{
	int fd = part_file_open(path, sizeof(struct part));
	void *memory = MAP_FAILED;

	if (fd >= 0)
		memory = mmap(NULL, sizeof(struct part), PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

static void keep_other(const struct part *own, const char *path)
{
	const struct part *other = map_other(path);
	int rank;

	if (!other)
		return;
	rank = rank_in_job(other, own);
	if (rank >= 0 && !others[rank])
		__atomic_store_n(&others[rank], other, __ATOMIC_RELEASE); /* pairs with known_part */
	else
		munmap((void *)(uintptr_t)other, sizeof(*other));
}

static void search_folder(const struct part *own)
{
	char path[PATH_BYTES];
	const struct dirent *entry;
	DIR *files = opendir(part_folder());

	while (files && (entry = readdir(files))) {
		snprintf(path, sizeof(path), "%s/%s", part_folder(), entry->d_name);
		if (strncmp(entry->d_name, PART_PREFIX, strlen(PART_PREFIX)) == 0)
			keep_other(own, path);
	}
	if (files)
		closedir(files);
}

static bool is_complete(void)
{
	for (int rank = 0; rank < others_count; rank++) {
		if (!others[rank])
			return false;
	}
	return others_count > 0;
}

static void make_others(int size)
{
	others = calloc((size_t)size, sizeof(*others));
	if (others)
		__atomic_store_n(&others_count, size, __ATOMIC_RELEASE); /* pairs with ranks_known */
}

static void search(const struct part *own, bool at_once)
{
	pthread_mutex_lock(&mapping);
	if (!others && own->header.size > 0)
		make_others(own->header.size);
	if (others && !is_complete() && (at_once || now_ns() - searched_ns >= SEARCH_NS)) {
		search_folder(own);
		searched_ns = now_ns();
		__atomic_store_n(&knows_all, is_complete(), __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&mapping);
}

void notes_search(void)
{
	const struct part *own = part_of_process();

	if (own)
		search(own, true);
}

static const struct part *known_part(int rank)
{
	if (rank < 0 || rank >= ranks_known())
		return NULL;
	return __atomic_load_n(&others[rank], __ATOMIC_ACQUIRE); /* pairs with keep_other */
}

/* Returns the part of a rank of this machine, or NULL. */
static const struct part *other_part(const struct part *own, int rank)
{
	const struct part *other = known_part(rank);

	if (other || rank < 0 || rank >= own->header.size)
		return other;
	search(own, false);
	return known_part(rank);
}

bool notes_know(int rank)
{
	const struct part *own = part_of_process();

	return own && (rank == own->header.rank || other_part(own, rank));
}

int notes_rank(int32_t process)
{
	for (int rank = 0; process && rank < ranks_known(); rank++) {
		const struct part *other = known_part(rank);

		if (other && other->header.pid == process)
			return rank;
	}
	return -1;
}

static const struct part_notes *notes_of(const struct part *other, uint64_t key)
{
	/* pairs with add_entry */
	uint32_t count = __atomic_load_n(&other->header.window_count, __ATOMIC_ACQUIRE);

	if (key == 0)
		return &other->notes[PART_WINDOWS];
	for (uint32_t i = count < PART_WINDOWS ? count : PART_WINDOWS; i > 0; i--) {
		if (other->windows[i - 1].key == key)
			return &other->notes[i - 1];
	}
	return NULL;
}

/* Copies a note. Returns false if it is being written. */
static bool read_note(const struct part_note *note, struct part_note *copy)
{
	copy->number = __atomic_load_n(&note->number, __ATOMIC_ACQUIRE); /* pairs with write_note */
	copy->begun = __atomic_load_n(&note->begun, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return copy->number != 0 && __atomic_load_n(&note->number, __ATOMIC_RELAXED) == copy->number;
}

/* Makes the note's time the latest, if it is and is not after before_ns. */
static void take_later(uint64_t *latest_ns, const struct part_note *note, uint64_t before_ns)
{
	uint64_t begun_ns = clock_ns(note->begun);

	if (begun_ns <= before_ns && begun_ns > *latest_ns)
		*latest_ns = begun_ns;
}

uint64_t notes_find(int rank, enum part_event event, uint64_t key, uint64_t number, uint64_t before_ns)
{
	const struct part *own = part_of_process(), *other = own ? other_part(own, rank) : NULL;
	const struct part_notes *notes = other ? notes_of(other, key) : NULL;
	uint64_t latest_ns = 0;

	for (int i = 0; notes && i < PART_LATEST; i++) {
		struct part_note note;

		if (read_note(&notes->latest[event][i], &note) && (number == 0 || note.number == number))
			take_later(&latest_ns, &note, before_ns);
	}
	return latest_ns;
}

/* Returns a number that an epoch's call has to itself, in the table of the rank that made it. */
static uint64_t number_of(uint64_t key, enum part_event event, int rank, uint32_t epoch)
{
	uint64_t number = key ^ ((uint64_t)event << 56 | (uint64_t)(uint32_t)rank << 32 | epoch);

	number = (number ^ number >> 32) * 0x9e3779b97f4a7c15ULL;
	return (number ^ number >> 29) * 0x9e3779b97f4a7c15ULL | 1;
}

static uint32_t place_of_epoch(uint64_t number)
{
	return (uint32_t)(number >> 32) % PART_EPOCHS;
}

void notes_add_epoch(struct part *part, enum part_event event, uint32_t window, int rank, uint32_t epoch,
                     uint64_t begun)
{
	uint64_t number = number_of(part->windows[window].key, event, rank, epoch);

	write_note(&part->epochs[place_of_epoch(number)], number, begun);
	if (!notes_know_all())
		remote_add_begin(part, event, window, (uint64_t)(rank + 1) << PART_RANK_SHIFT | epoch, begun);
}

uint64_t notes_find_epoch(int rank, enum part_event event, uint32_t window, uint32_t epoch)
{
	const struct part *own = part_of_process(), *other = own ? other_part(own, rank) : NULL;
	struct part_note note;
	uint64_t number;

	if (!other || window == PART_NONE || !epoch)
		return 0;
	number = number_of(own->windows[window].key, event, own->header.rank, epoch);
	return read_note(&other->epochs[place_of_epoch(number)], &note) && note.number == number ? clock_ns(note.begun) : 0;
}

uint64_t notes_find_unlock(int rank, uint64_t key, int member, uint64_t before_ns)
{
	const struct part *own = part_of_process(), *other = own ? other_part(own, rank) : NULL;
	const struct part_notes *notes = other ? notes_of(other, key) : NULL;
	uint64_t latest_ns = 0;

	for (int i = 0; notes && i < PART_LATEST; i++) {
		struct part_note note;
		uint64_t of;

		if (!read_note(&notes->latest[EVENT_UNLOCK][i], &note))
			continue;
		of = note.number >> PART_RANK_SHIFT;
		if (of == 0 || of == (uint64_t)member + 1)
			take_later(&latest_ns, &note, before_ns);
	}
	return latest_ns;
}

uint64_t notes_find_next_unlock(int rank, uint64_t key, int member, uint64_t after_ns, uint64_t before_ns)
{
	uint64_t next_ns = 0;

	/* There are no more unlocks in the notes. */
	for (int i = 0; i < PART_LATEST && before_ns > after_ns; i++) {
		uint64_t at_ns = notes_find_unlock(rank, key, member, before_ns);

		if (at_ns <= after_ns)
			break;
		next_ns = at_ns;
		before_ns = at_ns - 1;
	}
	return next_ns;
}

/* ---- presence ---- */

/* The rank's call may end between two loads: the answer is that of a moment before or behind. */
uint64_t notes_inside(int rank)
{
	const struct part *own = part_of_process(), *other = own ? other_part(own, rank) : NULL;
	uint64_t entered, now = clock_ticks();

	if (!other)
		return 0;
	/* pairs with call_go_inside and call_add_time */
	entered = __atomic_load_n(&other->presence.entered, __ATOMIC_RELAXED);
	return __atomic_load_n(&other->presence.inside, __ATOMIC_RELAXED) + (entered && entered < now ? now - entered : 0);
}

/* ---- latenesses ---- */

void notes_add_lateness(struct part *part, uint32_t wait, int rank, uint64_t begun_ns, uint64_t ended_ns)
{
	uint64_t number = part->lateness_count + 1;
	struct part_lateness *lateness = &part->latenesses[number % PART_LATENESSES];

	__atomic_store_n(&lateness->number, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&lateness->begun_ns, begun_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&lateness->ended_ns, ended_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&lateness->rank, rank, __ATOMIC_RELAXED);
	lateness->wait = wait;
	__atomic_store_n(&lateness->number, number, __ATOMIC_RELEASE); /* pairs with read_lateness */
	__atomic_store_n(&part->lateness_count, number, __ATOMIC_RELAXED);
}

static bool read_lateness(const struct part_lateness *lateness, struct part_lateness *copy)
{
	/* pairs with notes_add_lateness */
	copy->number = __atomic_load_n(&lateness->number, __ATOMIC_ACQUIRE);
	copy->begun_ns = __atomic_load_n(&lateness->begun_ns, __ATOMIC_RELAXED);
	copy->ended_ns = __atomic_load_n(&lateness->ended_ns, __ATOMIC_RELAXED);
	copy->rank = __atomic_load_n(&lateness->rank, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return copy->number != 0 && copy->rank >= 0 && copy->rank < ranks_known() &&
	       __atomic_load_n(&lateness->number, __ATOMIC_RELAXED) == copy->number;
}

int notes_latenesses(int rank, struct part_lateness list[NOTES_LATENESSES])
{
	const struct part *own = part_of_process(), *other = own ? other_part(own, rank) : NULL;
	uint64_t last =
		other ? __atomic_load_n(&other->lateness_count, __ATOMIC_RELAXED) : 0; /* pairs with the store above */
	int count = 0;

	for (uint64_t i = 0; i < NOTES_LATENESSES && i < last; i++)
		count += read_lateness(&other->latenesses[(last - i) % PART_LATENESSES], &list[count]);
	return count;
}
