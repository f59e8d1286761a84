// SPDX-License-Identifier: BSD-2-Clause
/* fake_boot.c - see fake_boot.h; and the one part of the fake device that a race detector shall see. */
#include "fake_boot.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake_malloc.h"
#include "fake_verbs.h"
#include "conn/endpoint.h"
#include "oriel.h"

enum news_kind { NEWS_VALUE, NEWS_DIED, NEWS_LOST };

/* One thing to tell a rank. */
struct news {
	enum news_kind kind;
	int rank;
	bool known; /* NEWS_VALUE: there is one */
	uint8_t value[BOOT_VALUE_MAX_BYTES];
	size_t value_bytes;
	char text[BOOT_KEY_MAX_BYTES + 1]; /* key, or how it ended */
	struct news *next;
};

struct fake_boot {
	struct boot base;
	struct fake_world *world;
	int fd;
};

struct fake_rank {
	struct fake_boot *boot;
	struct news *inbox;
	bool has_value; /* the library puts one key */
	uint8_t value[BOOT_VALUE_MAX_BYTES];
	size_t value_bytes;
	bool is_awaited_by[FAKE_RANKS_MAX]; /* ranks that have asked for it */
	bool left;
	bool ended;
};

struct fake_world {
	pthread_mutex_t lock;
	int size;
	int aborted;
	struct fake_rank ranks[FAKE_RANKS_MAX];
};

void fake_hand_over(uint64_t *token)
{
	__atomic_store_n(token, 1, __ATOMIC_RELEASE);
}

void fake_take_over(const uint64_t *token)
{
	(void)__atomic_load_n(token, __ATOMIC_ACQUIRE);
}

static const void *false_value;
static size_t false_value_bytes;
static bool false_keys;

void fake_world_false_keys(bool on)
{
	false_keys = on;
}

void fake_world_false_value(const void *value, size_t size_bytes)
{
	false_value = value;
	false_value_bytes = size_bytes;
}

/* Returns the value with another key. */
static size_t falsify_key(const void *value, size_t size_bytes, uint8_t bytes[ENDPOINT_MAX_BYTES])
{
	char why[ENDPOINT_WHY_BYTES];
	struct endpoint endpoint;

	if (!endpoint_decode(&endpoint, value, size_bytes, why))
		abort();
	endpoint.key[0] ^= 1;
	return endpoint_encode(&endpoint, bytes);
}

void fake_place_word(void *to, uint64_t value)
{
	__atomic_store_n((uint64_t *)to, value, __ATOMIC_RELEASE);
}

uint64_t fake_add_to_word(void *to, uint64_t add)
{
	return __atomic_fetch_add((uint64_t *)to, add, __ATOMIC_SEQ_CST);
}

uint64_t fake_swap_word(void *to, uint64_t compare, uint64_t swap)
{
	__atomic_compare_exchange_n((uint64_t *)to, &compare, swap, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return compare;
}

static struct fake_boot *own(const struct boot *boot)
{
	return (struct fake_boot *)(uintptr_t)boot;
}

/* The caller holds the lock, as for the next ones. */
static struct news *tell(struct fake_world *world, int to, enum news_kind kind, int about, const char *text)
{
	struct news *news = calloc(1, sizeof(*news)), **at = &world->ranks[to].inbox;

	news->kind = kind;
	news->rank = about;
	strncat(news->text, text, sizeof(news->text) - 1);
	while (*at)
		at = &(*at)->next;
	*at = news;
	if (world->ranks[to].boot)
		eventfd_write(world->ranks[to].boot->fd, 1);
	return news;
}

static void answer(struct fake_world *world, int asker, int about)
{
	const struct fake_rank *rank = &world->ranks[about];
	struct news *news = tell(world, asker, NEWS_VALUE, about, ENDPOINT_BOOT_KEY);

	news->known = rank->has_value;
	news->value_bytes = rank->value_bytes;
	memcpy(news->value, rank->value, rank->value_bytes);
}

static void answer_waiting(struct fake_world *world, int about)
{
	for (int asker = 0; asker < world->size; asker++) {
		if (world->ranks[about].is_awaited_by[asker])
			answer(world, asker, about);
		world->ranks[about].is_awaited_by[asker] = false;
	}
}

static int put(struct boot *boot, const char *key, const void *value, size_t size_bytes)
{
	struct fake_world *world = own(boot)->world;
	struct fake_rank *rank = &world->ranks[boot->rank];

	uint8_t falsified[ENDPOINT_MAX_BYTES];

	(void)key;
	if (false_keys) {
		size_bytes = falsify_key(value, size_bytes, falsified);
		value = falsified;
	}
	if (false_value) {
		value = false_value;
		size_bytes = false_value_bytes;
	}
	pthread_mutex_lock(&world->lock);
	memcpy(rank->value, value, size_bytes);
	rank->value_bytes = size_bytes;
	rank->has_value = true;
	answer_waiting(world, boot->rank);
	pthread_mutex_unlock(&world->lock);
	return 0;
}

static int get(struct boot *boot, int rank, const char *key)
{
	struct fake_world *world = own(boot)->world;

	(void)key;
	pthread_mutex_lock(&world->lock);
	if (world->ranks[rank].has_value || world->ranks[rank].ended)
		answer(world, boot->rank, rank);
	else
		world->ranks[rank].is_awaited_by[boot->rank] = true;
	pthread_mutex_unlock(&world->lock);
	return 0;
}

static int leave(struct boot *boot)
{
	struct fake_world *world = own(boot)->world;

	pthread_mutex_lock(&world->lock);
	world->ranks[boot->rank].left = true;
	pthread_mutex_unlock(&world->lock);
	return 0;
}

static int note_abort(struct boot *boot, int status, const char *reason)
{
	struct fake_world *world = own(boot)->world;

	(void)reason;
	pthread_mutex_lock(&world->lock);
	world->aborted = status;
	pthread_mutex_unlock(&world->lock);
	return 0;
}

static int boot_fd(const struct boot *boot)
{
	return own(boot)->fd;
}

static struct news *next_news(struct fake_boot *boot)
{
	struct fake_world *world = boot->world;
	struct fake_rank *rank = &world->ranks[boot->base.rank];
	struct news *news;
	eventfd_t count;

	pthread_mutex_lock(&world->lock);
	news = rank->inbox;
	if (news)
		rank->inbox = news->next;
	else
		eventfd_read(boot->fd, &count);
	pthread_mutex_unlock(&world->lock);
	return news;
}

static void deliver(struct boot *boot, const struct news *news)
{
	const struct boot_events *events = boot->events;

	switch (news->kind) {
	case NEWS_VALUE:
		events->value(boot->events_arg, news->rank, news->text, news->known ? news->value : NULL, news->value_bytes);
		break;
	case NEWS_DIED:
		events->died(boot->events_arg, news->rank, news->text);
		break;
	case NEWS_LOST:
		events->lost(boot->events_arg, news->text);
		break;
	}
}

static int dispatch(struct boot *boot)
{
	for (struct news *news = next_news(own(boot)); news; news = next_news(own(boot))) {
		deliver(boot, news);
		free(news);
	}
	return 0;
}

static void close_boot(struct boot *boot)
{
	struct fake_world *world = own(boot)->world;
	struct fake_rank *rank = &world->ranks[boot->rank];

	pthread_mutex_lock(&world->lock);
	rank->boot = NULL;
	while (rank->inbox) {
		struct news *news = rank->inbox;

		rank->inbox = news->next;
		free(news);
	}
	pthread_mutex_unlock(&world->lock);
	close(own(boot)->fd);
	free(boot);
}

static const struct boot_ops ops = {
	.name = "fake",
	.put = put,
	.get = get,
	.leave = leave,
	.abort = note_abort,
	.fd = boot_fd,
	.dispatch = dispatch,
	.close = close_boot,
};

struct fake_world *fake_world_new(int size)
{
	struct fake_world *world = calloc(1, sizeof(*world));

	pthread_mutex_init(&world->lock, NULL);
	world->size = size;
	return world;
}

int fake_world_free(struct fake_world *world)
{
	int open = 0;

	for (int i = 0; i < world->size; i++) {
		open += world->ranks[i].boot != NULL;
		while (world->ranks[i].inbox) {
			struct news *news = world->ranks[i].inbox;

			world->ranks[i].inbox = news->next;
			free(news);
		}
	}
	pthread_mutex_destroy(&world->lock);
	free(world);
	return open;
}

struct boot *fake_boot_open(struct fake_world *world, int rank, const struct boot_events *events, void *arg)
{
	struct fake_boot *boot = calloc(1, sizeof(*boot));

	boot->base.ops = &ops;
	boot->base.events = events;
	boot->base.events_arg = arg;
	boot->base.rank = rank;
	boot->base.size = world->size;
	boot->base.local_size = world->size;
	boot->world = world;
	boot->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	pthread_mutex_lock(&world->lock);
	world->ranks[rank].boot = boot;
	if (world->ranks[rank].inbox)
		eventfd_write(boot->fd, 1);
	pthread_mutex_unlock(&world->lock);
	return &boot->base;
}

void fake_world_ended(struct fake_world *world, int rank, const char *text)
{
	pthread_mutex_lock(&world->lock);
	for (int i = 0; i < world->size && !world->ranks[rank].left && !world->ranks[rank].ended; i++) {
		if (i != rank)
			tell(world, i, NEWS_DIED, rank, text);
	}
	world->ranks[rank].ended = true;
	answer_waiting(world, rank);
	pthread_mutex_unlock(&world->lock);
}

void fake_world_lost(struct fake_world *world)
{
	pthread_mutex_lock(&world->lock);
	for (int i = 0; i < world->size; i++)
		tell(world, i, NEWS_LOST, 0, "the launcher is gone");
	pthread_mutex_unlock(&world->lock);
}

int fake_world_aborted(struct fake_world *world)
{
	int status;

	pthread_mutex_lock(&world->lock);
	status = world->aborted;
	pthread_mutex_unlock(&world->lock);
	return status;
}
