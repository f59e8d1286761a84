// SPDX-License-Identifier: BSD-2-Clause
/*
 * The adversary: adversary.h.
 *
 * DESIGN NOTES
 *
 * A process has one sequence of random numbers, drawn from the seed and a counter;
 * lib/soft/README.md has its words. `fail` has no other effect; calls that take completions and
 * events or destroy objects do not count. In every case, an event is raised only for entries after
 * ibv_req_notify_cq (cq.c).
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"

enum {
	DEFAULT_PERCENT = 30,
	DELAY_NS = 200000,
	CUT_WITHIN_MS = 20,
	PLACE_MAX = 256,  /* bytes placed one by one */
	PAUSES = 2,       /* per write, on average */
	PAUSE_BYTES = 40, /* shorter writes pause as often per byte as one of this size */
};

struct soft_adversary soft_adversary;

/* Returns the next number of the sequence (splitmix64). */
static uint64_t draw(void)
{
	uint64_t x = soft_adversary.seed + 0x9e3779b97f4a7c15u * (atomic_fetch_add(&soft_adversary.drawn, 1) + 1);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static bool chance(uint32_t percent)
{
	return percent && draw() % 100 < percent;
}

static void set(const char *word)
{
	static const struct {
		const char *name;
		uint32_t *value;
	} settings[] = {
		{ "delay=", &soft_adversary.delay },      { "reorder=", &soft_adversary.reorder },
		{ "late=", &soft_adversary.late },        { "disorder=", &soft_adversary.disorder },
		{ "fail=", &soft_adversary.fail },        { "cut=", &soft_adversary.cut },
		{ "within=", &soft_adversary.within_ms }, { "apart=", &soft_adversary.apart },
		{ "twice=", &soft_adversary.twice },      { "lose=", &soft_adversary.lose },
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strncmp(word, settings[i].name, strlen(settings[i].name)) == 0)
			*settings[i].value = (uint32_t)strtoul(word + strlen(settings[i].name), NULL, 10);
}

static void read_environment(void)
{
	const char *text = getenv("SOFTVERBS_ADVERSARY");

	if (!text)
		text = getenv("ORIEL_UNKIND");
	if (!text || !*text)
		return;
	soft_adversary.seed = strtoull(text, NULL, 10);
	soft_adversary.within_ms = CUT_WITHIN_MS;
	soft_adversary.delay = soft_adversary.reorder = soft_adversary.late = DEFAULT_PERCENT;
	while ((text = strchr(text, ',')))
		set(++text);
	soft_adversary.on = true;
}

void soft_adversary_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_environment);
}

uint64_t soft_adversary_delay(void)
{
	return chance(soft_adversary.delay) ? 1 + draw() % DELAY_NS : 0;
}

bool soft_adversary_overtakes(void)
{
	return chance(soft_adversary.disorder);
}

bool soft_adversary_loses(void)
{
	return chance(soft_adversary.lose);
}

bool soft_adversary_late(void)
{
	return chance(soft_adversary.late);
}

bool soft_adversary_twice(void)
{
	if (!chance(soft_adversary.twice))
		return false;
	sched_yield();
	return true;
}

static bool pauses(size_t length)
{
	return draw() % (length > PAUSE_BYTES ? length : PAUSE_BYTES) < PAUSES;
}

bool soft_adversary_place(void *to, const void *from, size_t length)
{
	uint8_t order[PLACE_MAX];

	if (length == 0 || length > PLACE_MAX || !chance(soft_adversary.reorder))
		return false;
	for (size_t i = 0; i < length; i++)
		order[i] = (uint8_t)i;
	for (size_t i = length; i > 1; i--) {
		size_t j = draw() % i;
		uint8_t other = order[j];

		order[j] = order[i - 1];
		order[i - 1] = other;
	}
	for (size_t i = 0; i < length; i++) {
		__atomic_store_n((uint8_t *)to + order[i], ((const uint8_t *)from)[order[i]], __ATOMIC_RELAXED);
		if (pauses(length))
			sched_yield();
	}
	return true;
}

uint64_t soft_adversary_cut(void)
{
	if (!soft_adversary.cut || atomic_fetch_add(&soft_adversary.connections, 1) + 1 != soft_adversary.cut)
		return 0;
	return 1 + draw() % (soft_adversary.within_ms * (uint64_t)1000000 + 1);
}

void soft_adversary_tell_cut(void)
{
	fprintf(stderr, "softverbs: the adversary cuts connection %u\n", soft_adversary.cut);
}

SOFT_EXPORT bool softverbs_adversary_fails(const char *call)
{
	if (!soft_adversary.fail || atomic_fetch_add(&soft_adversary.calls, 1) + 1 != soft_adversary.fail)
		return false;
	fprintf(stderr, "softverbs: the adversary lets call %u fail: %s\n", soft_adversary.fail, call);
	return true;
}
