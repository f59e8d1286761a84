// SPDX-License-Identifier: BSD-2-Clause
/* See mr_cache.h. */
#include "verbs/mr_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/util.h"
#include "pages/page_watch.h"
#include "see/tool.h"

#define SHARE_OF_MEMORY 4 /* at most one part in so many is cached */
#define DOUBTS_MAX 64     /* a power of 2 */
#define DOUBT_MAX 1024    /* most operations that pass before a new try */
#define PAYS_USES 16      /* uses that make a registration worth keeping */

struct cached_mr {
	struct page_range pages;
	struct ibv_mr *mr; /* NULL: the entry is free, or being made */
	int range;         /* of page_watch.h */
	uint32_t users;
	uint64_t uses;
	uint64_t used; /* last use, by `clock` */
	bool write;
};

/* Memory that could not be cached, or not for long: `wait` operations pass before a new try. */
struct doubt {
	uintptr_t first;
	uint32_t wait, waited;
};

enum watching { WATCH_NOT_YET, WATCH_OPEN, WATCH_REFUSED };

struct mr_cache {
	const struct verbs_functions *functions;
	struct ibv_pd *pd;
	size_t bytes_max;
	pthread_mutex_t lock; /* guards the rest; released while memory is registered */
	enum watching watching;
	size_t bytes;
	uint64_t clock;
	uint64_t hits_seen;             /* page_watch_hits when hit entries were last dropped */
	int last;                       /* the entry found last */
	int top;                        /* entries from here on are free */
	uint32_t backoff_left, backoff; /* operations that register nothing, left and in all */
	struct cached_mr entries[MR_CACHE_MAX];
	struct doubt doubts[DOUBTS_MAX];
	struct mr_cache *next; /* guarded by all_lock */
};

/* All caches of the process. Lock order: this one, a cache's. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mr_cache *all;

/* Forgets all caches in a child: they are its parent's. */
static void disown(void)
{
	all = NULL;
	pthread_mutex_init(&all_lock, NULL);
}

__attribute__((constructor)) static void register_handler(void)
{
	pthread_atfork(NULL, NULL, disown);
}

/* Doubts. The caller holds the lock. */

static struct doubt *doubt_of(struct mr_cache *cache, uintptr_t first)
{
	return &cache->doubts[(first / 4096 * 0x9e3779b97f4a7c15u >> 32) % DOUBTS_MAX];
}

/* Returns whether the operation passes, which it counts. */
static bool is_doubted(struct mr_cache *cache, uintptr_t first)
{
	struct doubt *doubt = doubt_of(cache, first);

	if (doubt->first != first || doubt->wait == 0)
		return false;
	doubt->wait--;
	return true;
}

static void doubt_it(struct mr_cache *cache, uintptr_t first)
{
	struct doubt *doubt = doubt_of(cache, first);

	if (doubt->first != first)
		*doubt = (struct doubt){ .first = first, .waited = 1 };
	doubt->wait = doubt->waited = doubt->waited < DOUBT_MAX ? 2 * doubt->waited : DOUBT_MAX;
}

static void trust_it(struct mr_cache *cache, uintptr_t first)
{
	struct doubt *doubt = doubt_of(cache, first);

	if (doubt->first == first)
		doubt->first = 0;
}

/* Entries. The caller holds the lock. */

static bool is_free(const struct cached_mr *entry)
{
	return !entry->mr && entry->users == 0;
}

static bool is_idle(const struct cached_mr *entry)
{
	return entry->mr && entry->users == 0;
}

static void forget(struct mr_cache *cache, struct cached_mr *entry)
{
	cache->bytes -= entry->pages.size_bytes;
	*entry = (struct cached_mr){ .mr = NULL };
	while (cache->top > 0 && is_free(&cache->entries[cache->top - 1]))
		cache->top--;
}

static void drop(struct mr_cache *cache, struct cached_mr *entry)
{
	cache->functions->dereg_mr(entry->mr);
	page_watch_end(entry->range);
	forget(cache, entry);
}

static void drop_if_hit(struct mr_cache *cache, struct cached_mr *entry)
{
	if (!is_idle(entry) || page_watch_is_same(entry->range))
		return;
	if (entry->uses < PAYS_USES)
		doubt_it(cache, entry->pages.first);
	else
		trust_it(cache, entry->pages.first);
	drop(cache, entry);
}

static void drop_all_hit(struct mr_cache *cache)
{
	uint64_t hits = page_watch_hits();

	if (hits == cache->hits_seen)
		return;
	cache->hits_seen = hits;
	for (int i = cache->top; i-- > 0;)
		drop_if_hit(cache, &cache->entries[i]);
}

static bool drop_all_idle(struct mr_cache *cache)
{
	bool any = false;

	for (int i = cache->top; i-- > 0;) {
		if (!is_idle(&cache->entries[i]))
			continue;
		drop(cache, &cache->entries[i]);
		any = true;
	}
	return any;
}

/*
 * A drop before a registration has paid delays new ones: otherwise a program that cycles through
 * more memory than there is room for drops each before its next use.
 */
static void begin_backoff(struct mr_cache *cache, const struct cached_mr *dropped)
{
	if (dropped->uses >= PAYS_USES)
		cache->backoff = 1;
	else if (cache->backoff < DOUBT_MAX)
		cache->backoff = cache->backoff ? 2 * cache->backoff : 1;
	cache->backoff_left = cache->backoff;
}

static bool is_backing_off(struct mr_cache *cache)
{
	if (cache->backoff_left == 0)
		return false;
	cache->backoff_left--;
	return true;
}

static bool drop_oldest(struct mr_cache *cache)
{
	struct cached_mr *oldest = NULL;

	for (int i = 0; i < cache->top; i++) {
		struct cached_mr *entry = &cache->entries[i];

		if (is_idle(entry) && (!oldest || entry->used < oldest->used))
			oldest = entry;
	}
	if (!oldest)
		return false;
	begin_backoff(cache, oldest);
	drop(cache, oldest);
	return true;
}

static bool serves(const struct cached_mr *entry, const struct page_range *pages, bool write)
{
	size_t offset = pages->first - entry->pages.first;

	return entry->mr && (entry->write || !write) && offset < entry->pages.size_bytes &&
	       entry->pages.size_bytes - offset >= pages->size_bytes && page_watch_is_same(entry->range);
}

/* Finds an entry that serves the pages. */
static struct cached_mr *find(struct mr_cache *cache, const struct page_range *pages, bool write)
{
	if (serves(&cache->entries[cache->last], pages, write))
		return &cache->entries[cache->last];
	for (int i = 0; i < cache->top; i++) {
		if (serves(&cache->entries[i], pages, write)) {
			cache->last = i;
			return &cache->entries[i];
		}
	}
	return NULL;
}

/* Drops all idle registrations; returns whether there were any. */
static bool give_back(void)
{
	bool any = false;

	pthread_mutex_lock(&all_lock);
	for (struct mr_cache *cache = all; cache; cache = cache->next) {
		pthread_mutex_lock(&cache->lock);
		any |= drop_all_idle(cache);
		pthread_mutex_unlock(&cache->lock);
	}
	pthread_mutex_unlock(&all_lock);
	return any;
}

/* Making entries. */

/* Returns a free entry, or NULL. The caller holds the lock. */
static struct cached_mr *free_entry(struct mr_cache *cache)
{
	for (int i = 0; i < MR_CACHE_MAX; i++) {
		if (!is_free(&cache->entries[i]))
			continue;
		if (i >= cache->top)
			cache->top = i + 1;
		return &cache->entries[i];
	}
	return NULL;
}

/* Returns an entry that no look-up finds yet, or NULL. The caller holds the lock. */
static struct cached_mr *reserve(struct mr_cache *cache, const struct page_range *pages)
{
	struct cached_mr *entry;

	if (pages->size_bytes > cache->bytes_max)
		return NULL;
	while (pages->size_bytes > cache->bytes_max - cache->bytes) {
		if (!drop_oldest(cache))
			return NULL;
	}
	entry = free_entry(cache);
	if (!entry && drop_oldest(cache))
		entry = free_entry(cache);
	if (!entry)
		return NULL;
	*entry = (struct cached_mr){ .pages = *pages, .users = 1 };
	cache->bytes += pages->size_bytes;
	return entry;
}

struct ibv_mr *mr_cache_register(const struct verbs_functions *functions, struct ibv_pd *pd, void *base,
                                 size_t size_bytes, unsigned access)
{
	const struct tool *tool = see_tool;
	uint64_t begun_ns = tool ? now_ns() : 0;
	struct ibv_mr *mr = functions->reg_mr(pd, base, size_bytes, (int)access);

	if (!mr && (errno == ENOMEM || errno == EAGAIN) && give_back())
		mr = functions->reg_mr(pd, base, size_bytes, (int)access);
	if (tool && tool->registered && mr)
		tool->registered(begun_ns, now_ns());
	return mr;
}

static struct ibv_mr *register_as(const struct mr_cache *cache, const struct page_range *pages, unsigned access)
{
	return mr_cache_register(cache->functions, cache->pd, (void *)pages->first, pages->size_bytes, access);
}

static struct ibv_mr *register_pages(const struct mr_cache *cache, struct cached_mr *entry, bool write)
{
	struct ibv_mr *mr = register_as(cache, &entry->pages, IBV_ACCESS_LOCAL_WRITE);

	entry->write = mr;
	return mr || write ? mr : register_as(cache, &entry->pages, 0);
}

/* Watches before it registers: a change between the two hits the range. */
static struct ibv_mr *watch_and_register(const struct mr_cache *cache, struct cached_mr *entry, bool write)
{
	struct ibv_mr *mr;

	entry->range = page_watch_begin(&entry->pages);
	if (entry->range == PAGE_WATCH_NONE)
		return NULL;
	mr = register_pages(cache, entry, write);
	if (!mr)
		page_watch_end(entry->range);
	return mr;
}

/* Makes an entry. The caller holds the lock, which is released meanwhile. */
static struct cached_mr *make(struct mr_cache *cache, const struct page_range *pages, bool write)
{
	struct cached_mr *entry;
	struct ibv_mr *mr;

	if (is_doubted(cache, pages->first) || is_backing_off(cache))
		return NULL;
	entry = reserve(cache, pages);
	if (!entry)
		return NULL;
	pthread_mutex_unlock(&cache->lock);
	mr = watch_and_register(cache, entry, write);
	pthread_mutex_lock(&cache->lock);
	entry->mr = mr;
	if (mr)
		return entry;
	entry->users = 0;
	forget(cache, entry);
	doubt_it(cache, pages->first);
	return NULL;
}

/* Uses. */

/* Starts watching at the first operation that needs it. The caller holds the lock. */
static bool watches(struct mr_cache *cache)
{
	if (cache->watching == WATCH_NOT_YET)
		cache->watching = page_watch_open() == 0 ? WATCH_OPEN : WATCH_REFUSED;
	return cache->watching == WATCH_OPEN;
}

/*
 * Looks a found entry up again once all earlier changes are known. If that takes too long, nothing
 * new is made: it may exist already.
 */
static struct cached_mr *find_settled(struct mr_cache *cache, const struct page_range *pages, bool write)
{
	if (!find(cache, pages, write))
		return make(cache, pages, write);
	if (!page_watch_settled())
		return NULL;
	drop_all_hit(cache);
	return find(cache, pages, write);
}

struct cached_mr *mr_cache_take(struct mr_cache *cache, const void *base, size_t size_bytes, bool write)
{
	struct page_range pages = pages_of(base, size_bytes);
	struct cached_mr *entry = NULL;

	if (!cache)
		return NULL;
	pthread_mutex_lock(&cache->lock);
	if (watches(cache)) {
		drop_all_hit(cache);
		entry = find_settled(cache, &pages, write);
	}
	if (entry) {
		entry->users += entry->uses > 0; /* its maker already counts */
		entry->uses++;
		entry->used = ++cache->clock;
	}
	pthread_mutex_unlock(&cache->lock);
	return entry;
}

void mr_cache_give(struct mr_cache *cache, struct cached_mr *entry)
{
	pthread_mutex_lock(&cache->lock);
	entry->users--;
	drop_if_hit(cache, entry);
	pthread_mutex_unlock(&cache->lock);
}

uint32_t mr_cache_lkey(const struct cached_mr *entry)
{
	return entry->mr->lkey; /* constant while in use */
}

void mr_cache_tidy(struct mr_cache *cache)
{
	if (!cache)
		return;
	pthread_mutex_lock(&cache->lock);
	drop_all_hit(cache);
	pthread_mutex_unlock(&cache->lock);
}

/* Opening and closing. */

static size_t bytes_to_keep(void)
{
	size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur < memory)
		memory = (size_t)limit.rlim_cur;
	return memory / SHARE_OF_MEMORY;
}

struct mr_cache *mr_cache_open(const struct verbs_functions *functions, struct ibv_pd *pd)
{
	struct mr_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->functions = functions;
	cache->pd = pd;
	cache->bytes_max = bytes_to_keep();
	pthread_mutex_init(&cache->lock, NULL);
	pthread_mutex_lock(&all_lock);
	cache->next = all;
	all = cache;
	pthread_mutex_unlock(&all_lock);
	return cache;
}

static void take_out(const struct mr_cache *cache)
{
	struct mr_cache **at = &all;

	pthread_mutex_lock(&all_lock);
	while (*at != cache)
		at = &(*at)->next;
	*at = cache->next;
	pthread_mutex_unlock(&all_lock);
}

void mr_cache_close(struct mr_cache *cache)
{
	if (!cache)
		return;
	take_out(cache);
	drop_all_idle(cache);
	if (cache->watching == WATCH_OPEN)
		page_watch_close();
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}
