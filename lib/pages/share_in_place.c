// SPDX-License-Identifier: BSD-2-Clause
/* See share_in_place.h. */
#include "pages/share_in_place.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/order.h"
#include "base/settings.h"
#include "base/util.h"
#include "pages/memory_file.h"
#include "pages/own_pages.h"
#include "pages/page_exchange.h"
#include "pages/page_watch.h"

#define FILE_ROOM_BYTES ((off_t)1 << 46)

struct shared_piece {
	struct page_range pages;
	int fd;
	uint32_t holders;
	uint64_t since_ns; /* when it was moved, which took cost_ns */
	uint64_t cost_ns;
	void *copy; /* for the child, during a fork, or NULL */
};

/* Guards the rest, and the pages during a fork. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shared_piece pieces[SHARED_PIECES_MAX];
static uint64_t count; /* counter_load without the lock: 0 if nothing is shared */

static bool overlaps(const struct page_range *a, const struct page_range *b)
{
	return a->first < b->first + b->size_bytes && b->first < a->first + a->size_bytes;
}

static bool holds(const struct page_range *a, const struct page_range *b)
{
	return a->first <= b->first && b->first + b->size_bytes <= a->first + a->size_bytes;
}

static struct shared_piece *piece_of(const struct page_range *pages)
{
	for (uint64_t i = 0; i < count; i++) {
		if (overlaps(&pieces[i].pages, pages))
			return &pieces[i];
	}
	return NULL;
}

/* Making pieces. The caller holds the lock. */

static const char *not_moved(char room[SHARE_WHY_BYTES], const char *what, const char *text)
{
	snprintf(room, SHARE_WHY_BYTES, "not to be moved: %s%s", what, text);
	return room;
}

static const char *refused(char room[SHARE_WHY_BYTES], int error)
{
	return not_moved(room, "userfaultfd(2): ", strerror(error));
}

/* Half of the descriptors are left to others; the device needs one for each piece, too. */
static bool descriptors_are_short(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd >= limit.rlim_cur / 2;
}

static const char *exchange_for_file(const struct shared_piece *piece, void *fresh, char room[SHARE_WHY_BYTES])
{
	int error;

	if (descriptors_are_short(piece->fd))
		return "one too many: half of the descriptors that a process may have are in use (ulimit -n)";
	madvise(fresh, piece->pages.size_bytes, MADV_DONTFORK);
	error = page_exchange(&piece->pages, -1, fresh);
	return error ? refused(room, error) : NULL;
}

static const char *move_to_file(struct shared_piece *piece, char room[SHARE_WHY_BYTES])
{
	const char *why;
	void *fresh;

	if (map_memory_file("oriel-shared", piece->pages.size_bytes, &fresh, &piece->fd))
		return not_moved(room, "", err_text());
	why = exchange_for_file(piece, fresh, room);
	if (why)
		unmap_memory_file(fresh, piece->pages.size_bytes, piece->fd);
	return why;
}

/*
 * Moves the memory if its pages are its own. The registration cache (page_watch.h) gives them up
 * until they are moved.
 */
static const char *move_if_own(struct shared_piece *piece, const void *base, size_t size_bytes,
                               char room[SHARE_WHY_BYTES])
{
	const char *why;

	page_watch_pause(&piece->pages);
	why = own_pages_hindrance(base, size_bytes);
	if (!why)
		why = move_to_file(piece, room);
	page_watch_resume();
	return why;
}

static const char *add_piece(const void *base, size_t size_bytes, bool if_worth, char room[SHARE_WHY_BYTES])
{
	struct shared_piece piece = { .pages = pages_of(base, size_bytes), .holders = 1, .since_ns = now_ns() };
	const char *why;
	int error;

	if (count == SHARED_PIECES_MAX)
		return "one too many of those that are shared";
	if (if_worth && !move_is_worth(&piece.pages))
		return "not worth moving: it was wanted for less than ten times as long as that took";
	error = page_exchange_try();
	if (error)
		return refused(room, error);
	why = move_if_own(&piece, base, size_bytes, room);
	if (why)
		return why;
	piece.cost_ns = now_ns() - piece.since_ns;
	pieces[count] = piece;
	counter_store(&count, count + 1); /* pairs with the counter_load in none */
	return NULL;
}

static const char *share_locked(const void *base, size_t size_bytes, bool if_worth, char room[SHARE_WHY_BYTES])
{
	struct page_range pages = pages_of(base, size_bytes);
	struct shared_piece *piece = piece_of(&pages);

	if (!piece)
		return add_piece(base, size_bytes, if_worth, room);
	if (!holds(&piece->pages, &pages))
		return "partly shared already";
	piece->holders++;
	return NULL;
}

const char *share_in_place(void *base, size_t size_bytes, bool if_worth, char room[SHARE_WHY_BYTES])
{
	const char *why;

	pthread_mutex_lock(&lock);
	why = share_locked(base, size_bytes, if_worth, room);
	pthread_mutex_unlock(&lock);
	return why;
}

/* Holding pieces. Takes the lock. */

static bool none(void)
{
	return counter_load(&count) == 0; /* pairs with the stores in add_piece and remove_piece */
}

bool is_shared_in_place(const void *base, size_t size_bytes)
{
	struct page_range pages = pages_of(base, size_bytes);
	const struct shared_piece *piece;
	bool all;

	if (none())
		return false;
	pthread_mutex_lock(&lock);
	piece = piece_of(&pages);
	all = piece && holds(&piece->pages, &pages);
	pthread_mutex_unlock(&lock);
	return all;
}

bool share_hold(const void *base, size_t size_bytes)
{
	struct page_range pages = pages_of(base, size_bytes);
	bool any = false;

	if (none())
		return false;
	pthread_mutex_lock(&lock);
	for (uint64_t i = 0; i < count; i++) {
		if (!overlaps(&pieces[i].pages, &pages))
			continue;
		pieces[i].holders++;
		any = true;
	}
	pthread_mutex_unlock(&lock);
	return any;
}

/* Gives the file's pages back now: a peer's device may keep it mapped. */
static void give_file(const struct shared_piece *piece)
{
	empty_memory_file(piece->fd, piece->pages.size_bytes);
	close(piece->fd);
}

/* Puts private memory in place of the piece; false: not possible now. */
static bool exchange_for_memory(const struct shared_piece *piece)
{
	size_t bytes = piece->pages.size_bytes;
	void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fresh == MAP_FAILED)
		return false;
	if (page_exchange(&piece->pages, piece->fd, fresh)) {
		munmap(fresh, bytes);
		return false;
	}
	give_file(piece);
	return true;
}

/*
 * Enlarges the file, since realloc may enlarge the mapping; not under a limit, which the system
 * enforces by a signal.
 */
static void make_room(int fd)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY && ftruncate(fd, FILE_ROOM_BYTES))
		return; /* it keeps its size */
}

/* Maps the file privately. If that fails the memory stays. */
static void map_privately(const struct shared_piece *piece)
{
	void *at = (void *)piece->pages.first;
	size_t bytes = piece->pages.size_bytes;

	make_room(piece->fd);
	if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, piece->fd, 0) == MAP_FAILED)
		tell_of_process("%zu bytes of window memory at %p stay in shared pages: %s; children will not have them", bytes,
		                at, strerror(errno));
	close(piece->fd);
}

/* Makes the memory private again, or at least no piece. */
static void move_back(const struct shared_piece *piece)
{
	if (!exchange_for_memory(piece))
		map_privately(piece);
}

static void remove_piece(struct shared_piece *piece)
{
	*piece = pieces[count - 1];
	counter_store(&count, count - 1); /* pairs with the counter_load in none */
}

static void let_go_of(struct shared_piece *piece)
{
	uint64_t before_ns = now_ns();

	if (--piece->holders > 0)
		return;
	move_back(piece);
	move_took(&piece->pages, piece->cost_ns + now_ns() - before_ns, now_ns() - piece->since_ns);
	remove_piece(piece);
}

/* Goes downwards, since the last piece takes the place of a removed one. */
void share_let_go(const void *base, size_t size_bytes)
{
	struct page_range pages = pages_of(base, size_bytes);

	if (none())
		return;
	pthread_mutex_lock(&lock);
	for (uint64_t i = count; i-- > 0;) {
		if (overlaps(&pieces[i].pages, &pages))
			let_go_of(&pieces[i]);
	}
	pthread_mutex_unlock(&lock);
}

/* Forks. */

static void *copy_of(const struct shared_piece *piece)
{
	size_t bytes = piece->pages.size_bytes;
	void *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return NULL;
	copy_memory_file(copy, (const void *)piece->pages.first, bytes, piece->fd);
	return copy;
}

static void before(void)
{
	pthread_mutex_lock(&lock);
	for (uint64_t i = 0; i < count; i++)
		pieces[i].copy = copy_of(&pieces[i]);
}

static void in_parent(void)
{
	for (uint64_t i = 0; i < count; i++) {
		if (pieces[i].copy)
			munmap(pieces[i].copy, pieces[i].pages.size_bytes);
	}
	pthread_mutex_unlock(&lock);
}

static void put_copy(const struct shared_piece *piece)
{
	void *at = (void *)piece->pages.first;
	size_t bytes = piece->pages.size_bytes;

	if (!piece->copy || page_move(piece->copy, bytes, at))
		mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, piece->fd, 0);
	close(piece->fd);
}

static void in_child(void)
{
	for (uint64_t i = 0; i < count; i++)
		put_copy(&pieces[i]);
	counter_store(&count, 0); /* the child has no other thread */
	pthread_mutex_unlock(&lock);
}

/* Registered at load time, before any fork. */
__attribute__((constructor)) static void register_handlers(void)
{
	pthread_atfork(before, in_parent, in_child);
}

struct memo {
	struct page_range pages;
	uint32_t skips; /* after the next stay that is too short */
	uint32_t left;  /* skips due now */
};

static struct memo memos[MOVE_MEMOS];
static uint32_t next; /* the memo to overwrite */

static struct memo *memo_of(const struct page_range *pages)
{
	for (uint32_t i = 0; i < MOVE_MEMOS; i++) {
		if (memos[i].pages.first == pages->first && memos[i].pages.size_bytes == pages->size_bytes)
			return &memos[i];
	}
	return NULL;
}

bool move_is_worth(const struct page_range *pages)
{
	struct memo *memo = memo_of(pages);

	if (!memo || memo->left == 0)
		return true;
	memo->left--;
	return false;
}

void move_took(const struct page_range *pages, uint64_t cost_ns, uint64_t stay_ns)
{
	struct memo *memo = memo_of(pages);

	if (!memo) {
		memo = &memos[next++ % MOVE_MEMOS];
		*memo = (struct memo){ .pages = *pages, .skips = 1 };
	}
	if (stay_ns / MOVE_PAYS >= cost_ns) {
		memo->skips = 1;
		return;
	}
	memo->left = memo->skips;
	memo->skips = min_u32(2 * memo->skips, MOVE_SKIPS_MAX);
}
