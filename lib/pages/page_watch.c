// SPDX-License-Identifier: BSD-2-Clause
/* See page_watch.h. */
#include "pages/page_watch.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/order.h"
#include "base/util.h"
#include "pages/own_pages.h"
#include "pages/page_exchange.h"

/* Constants since Linux 4.11 and 5.18; older headers lack the last. */
#define WATCHED_EVENTS (UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_UNMAP)
#define EXACT_ADDRESS (1u << 11)
#define NEEDED (WATCHED_EVENTS | EXACT_ADDRESS)

#define FIELDS_MAX 64 /* of mappings ever watched; more are merged */
#define EVENTS_MAX 16 /* read at once */
#define MOVED_MAX 64  /* destinations of moved memory to examine */
#define ASKS_MAX 1000 /* with a yield between two */

enum range_state { RANGE_FREE, RANGE_SAME, RANGE_HIT };

/* Written by the range's user; the reader also changes the state. */
struct range {
	uint64_t first, end; /* counter_load */
	uint32_t state;      /* state_load */
};

static struct range ranges[PAGE_WATCH_MAX];
static uint64_t batch; /* odd while the reader examines events; counter_load */
static uint64_t hits;  /* counter_load */

/* Destinations of moved memory, which is watched there; written by the reader. */
static uint64_t moved[MOVED_MAX], moved_count;
static uint64_t moved_seen; /* of these, under the lock; counter_load */

/* Guards the rest; the reader never takes it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct page_range fields[FIELDS_MAX];
static uint32_t field_count;
static uint32_t users;
static pthread_t reader;
static int events = -1; /* the userfaultfd; users and the reader read it without the lock */
static int stop = -1;   /* an eventfd */

/* The reader's thread. */

static void hit(uint64_t first, uint64_t end)
{
	for (int i = 0; i < PAGE_WATCH_MAX; i++) {
		struct range *range = &ranges[i];

		/*
		 * Pairs with the stores of page_watch_begin: a range not seen yet was begun after the
		 * change.
		 */
		if (state_load(&range->state) != RANGE_SAME || counter_load(&range->first) >= end ||
		    counter_load(&range->end) <= first)
			continue;
		if (state_change(&range->state, RANGE_SAME, RANGE_HIT)) /* page_watch_is_same sees it behind the batch */
			word_add(&hits, 1);                                 /* pairs with the load in page_watch_hits */
	}
}

/*
 * Notes a destination. The memory may have grown there without an event, so it stays watched until
 * take_moved looks at the mappings. If too many have been moved, it is given up.
 */
static void note_moved(uint64_t first, uint64_t size_bytes)
{
	struct uffdio_range range = { first, size_bytes };

	if (moved_count - counter_load(&moved_seen) == MOVED_MAX) { /* pairs with take_moved */
		ioctl(events, UFFDIO_UNREGISTER, &range);
		return;
	}
	counter_store(&moved[moved_count % MOVED_MAX], first);
	counter_store(&moved_count, moved_count + 1); /* pairs with the load in take_moved */
}

static void look_at(const struct uffd_msg *event)
{
	if (event->event == UFFD_EVENT_UNMAP || event->event == UFFD_EVENT_REMOVE) {
		hit(event->arg.remove.start, event->arg.remove.end);
	} else if (event->event == UFFD_EVENT_REMAP) {
		hit(event->arg.remap.from, event->arg.remap.from + event->arg.remap.len);
		note_moved(event->arg.remap.to, event->arg.remap.len);
	}
}

static void read_events(void)
{
	struct uffd_msg list[EVENTS_MAX];
	ssize_t bytes;

	counter_store(&batch, batch + 1); /* pairs with the load in batch_ended: before the first is read */
	full_fence();                     /* pairs with the fence of page_watch_settled */
	while ((bytes = read(events, list, sizeof(list))) > 0) {
		for (size_t i = 0; i < (size_t)bytes / sizeof(list[0]); i++)
			look_at(&list[i]);
	}
	counter_store(&batch, batch + 1); /* pairs with the load in batch_ended: the marks are set */
}

/*
 * Reads events, and closes the descriptor, so that the end of this thread, which changes its stack,
 * waits for no reader.
 */
static void *run_reader(void *arg)
{
	struct pollfd wanted[] = { { .fd = events, .events = POLLIN }, { .fd = stop, .events = POLLIN } };

	while (!(wanted[1].revents & POLLIN)) {
		if (poll(wanted, 2, -1) > 0 && wanted[0].revents)
			read_events();
	}
	close(events);
	return arg;
}

/* Fields. The caller holds the lock. */

static struct page_range both(const struct page_range *a, const struct page_range *b)
{
	uintptr_t first = a->first < b->first ? a->first : b->first;
	uintptr_t a_end = a->first + a->size_bytes, b_end = b->first + b->size_bytes;

	return (struct page_range){ first, (a_end > b_end ? a_end : b_end) - first };
}

static bool touch(const struct page_range *a, const struct page_range *b)
{
	return a->first <= b->first + b->size_bytes && b->first <= a->first + a->size_bytes;
}

/* Notes a field. If there is no room, it joins the last one. */
static void note_field(const struct page_range *pages)
{
	for (uint32_t i = 0; i < field_count; i++) {
		if (touch(&fields[i], pages) || i == FIELDS_MAX - 1) {
			fields[i] = both(&fields[i], pages);
			return;
		}
	}
	fields[field_count++] = *pages;
}

static void take_moved(void)
{
	for (; moved_seen != counter_load(&moved_count);
	     counter_store(&moved_seen, moved_seen + 1)) { /* pairs with note_moved */
		struct page_range first = { counter_load(&moved[moved_seen % MOVED_MAX]), 1 }, around;

		if (mappings_around(&first, &around))
			note_field(&around);
	}
}

/* Start and end. The caller holds the lock. */

static int start_reader(void)
{
	sigset_t all, before;
	int error;

	stop = eventfd(0, EFD_CLOEXEC);
	if (stop < 0)
		return errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&reader, NULL, run_reader, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		close(stop);
	return error;
}

static int start(void)
{
	uint64_t offered;
	int error = userfault_open(WATCHED_EVENTS, &offered, &events);

	if (error)
		return error;
	error = (offered & NEEDED) == NEEDED ? start_reader() : ENOSYS;
	if (error)
		close(events);
	return error;
}

static void unwatch(void *arg, const struct page_range *pages)
{
	struct uffdio_range range = { pages->first, pages->size_bytes };

	(void)arg;
	ioctl(events, UFFDIO_UNREGISTER, &range);
}

/*
 * Ends the watch while the reader still reads: this thread may unmap, and others move what is
 * watched.
 */
static void end(void)
{
	do {
		take_moved();
		while (field_count > 0)
			mappings_visit(&fields[--field_count], unwatch, NULL);
	} while (page_watch_settled() && counter_load(&moved_count) != moved_seen);
	eventfd_write(stop, 1);
	pthread_join(reader, NULL);
	close(stop);
}

int page_watch_open(void)
{
	int error;

	pthread_mutex_lock(&lock);
	error = users == 0 ? start() : 0;
	users += error == 0;
	pthread_mutex_unlock(&lock);
	return error;
}

void page_watch_close(void)
{
	pthread_mutex_lock(&lock);
	if (--users == 0)
		end();
	pthread_mutex_unlock(&lock);
}

/* Ranges. */

/* Watches the whole mappings around the pages. The caller holds the lock. */
static bool watch_mappings(const struct page_range *pages)
{
	struct uffdio_register request = { .mode = UFFDIO_REGISTER_MODE_WP };
	struct page_range around;

	if (!mappings_around(pages, &around))
		return false;
	request.range = (struct uffdio_range){ around.first, around.size_bytes };
	if (ioctl(events, UFFDIO_REGISTER, &request))
		return false;
	note_field(&around);
	return true;
}

/* Returns a free range. The caller holds the lock. */
static int free_range(void)
{
	for (int i = 0; i < PAGE_WATCH_MAX; i++) {
		if (state_load(&ranges[i].state) == RANGE_FREE) /* changes from RANGE_FREE under the lock only */
			return i;
	}
	return PAGE_WATCH_NONE;
}

/* Publishes the range first, so that all changes that the kernel reports hit it. */
static int begin_locked(const struct page_range *pages)
{
	int found = free_range();

	if (found == PAGE_WATCH_NONE)
		return found;
	counter_store(&ranges[found].first, pages->first);
	counter_store(&ranges[found].end, pages->first + pages->size_bytes);
	state_store(&ranges[found].state, RANGE_SAME); /* pairs with the state_load in hit */
	/* Memory that is being moved now would be taken for the range's. */
	if (page_watch_settled() && watch_mappings(pages))
		return found;
	page_watch_end(found);
	return PAGE_WATCH_NONE;
}

int page_watch_begin(const struct page_range *pages)
{
	int found;

	pthread_mutex_lock(&lock);
	found = begin_locked(pages);
	pthread_mutex_unlock(&lock);
	return found;
}

void page_watch_end(int range)
{
	state_store(&ranges[range].state, RANGE_FREE); /* pairs with the state_load in free_range */
}

bool page_watch_is_same(int range)
{
	return state_load(&ranges[range].state) == RANGE_SAME; /* page_watch_settled came after the marks */
}

uint64_t page_watch_hits(void)
{
	return counter_load(&hits); /* pairs with the store in hit */
}

/*
 * Returns whether there is a change that the reader has not read, or whose caller does not know
 * that yet.
 */
static bool change_under_way(void)
{
	struct uffdio_writeprotect nothing = { .mode = 0 };

	return ioctl(events, UFFDIO_WRITEPROTECT, &nothing) == 0 || errno != EINVAL;
}

/* Returns whether the batch in hand has ended. */
static bool batch_ended(void)
{
	uint64_t first = counter_load(&batch); /* pairs with the stores in read_events */

	for (int i = 0; i < ASKS_MAX; i++) {
		if (first % 2 == 0 || counter_load(&batch) != first)
			return true;
		sched_yield();
	}
	return false;
}

bool page_watch_settled(void)
{
	for (int i = 0; i < ASKS_MAX; i++) {
		if (!change_under_way()) {
			full_fence(); /* pairs with the fence of read_events: what has been read is seen to be in hand */
			return batch_ended();
		}
		sched_yield();
	}
	return false;
}

/* Other code that wants the pages. */

/*
 * Keeps the lock for page_watch_resume. Leaves unwatched mappings alone: other code may watch them,
 * and the kernel lets anyone end that before 6.16.
 */
void page_watch_pause(const struct page_range *pages)
{
	pthread_mutex_lock(&lock);
	hit(pages->first, pages->first + pages->size_bytes);
	take_moved();
	for (uint32_t i = 0; i < field_count; i++) {
		if (touch(&fields[i], pages)) {
			mappings_visit(pages, unwatch, NULL);
			return;
		}
	}
}

void page_watch_resume(void)
{
	pthread_mutex_unlock(&lock);
}

/* Forks. */

static void before(void)
{
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

/* The child watches nothing, and closes the descriptor: the parent's calls must not wait for it. */
static void in_child(void)
{
	if (users > 0) {
		close(events);
		close(stop);
	}
	users = 0;
	field_count = 0;
	memset(ranges, 0, sizeof(ranges));
	counter_store(&batch, 0); /* the child has no other thread */
	counter_store(&moved_seen, moved_count);
	pthread_mutex_unlock(&lock);
}

/*
 * Registered at load time, before any fork, and before share_in_place.c: a fork takes that file's
 * lock first, as share_in_place does.
 */
__attribute__((constructor(101))) static void register_handlers(void)
{
	pthread_atfork(before, in_parent, in_child);
}
