// SPDX-License-Identifier: BSD-2-Clause
/*
 * info_ranks.c - see info_ranks.h.
 *
 * DESIGN NOTES Every rank asks about all others in turn, although only rank 0 prints: a rank that
 * left at once would be gone when another asks. Neighbours that are reached in one way share a
 * line.
 */
#include "info_ranks.h"

#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/util.h"
#include "boot.h"
#include "conn/conn.h"
#include "conn/endpoint.h"
#include "verbs/devices.h"

#define ANSWER_MS 20000 /* some launchers answer nothing before all ranks have put */
#define TURN_MS 50
#define LINE_BYTES 320

struct info_ranks {
	struct boot *boot;
	struct devices devices;
	struct endpoint own;
	int asked; /* the rank asked about */
	bool answered;
	bool lost;                /* no more answers will come */
	bool reachable;           /* all so far */
	char answer[LINE_BYTES];  /* how it is reached */
	char printed[LINE_BYTES]; /* the line to print for ranks first to last */
	int first, last;
};

/* Returns the length of "10.0.0.1 18515" without the port, which means nothing to a reader. */
static int host_bytes(const char *address)
{
	return (int)strcspn(address, " ");
}

static void describe(struct info_ranks *ranks, const struct endpoint *other)
{
	const struct device *device;
	char why[ROUTE_WHY_BYTES];

	switch (route_choose(&ranks->own, other, why)) {
	case ROUTE_SOFT:
		snprintf(ranks->answer, LINE_BYTES, "softverbs, by the memory of this machine");
		break;
	case ROUTE_CARD:
		device = devices_find(&ranks->devices, false);
		snprintf(ranks->answer, LINE_BYTES, "%s, from %.*s to %.*s", device_name(device), host_bytes(ranks->own.card),
		         ranks->own.card, host_bytes(other->card), other->card);
		break;
	case ROUTE_NONE:
		snprintf(ranks->answer, LINE_BYTES, "nothing: %s", why);
		ranks->reachable = false;
		break;
	}
}

static void on_value(void *arg, int rank, const char *key, const void *value, size_t size_bytes)
{
	struct info_ranks *ranks = arg;
	char why[ENDPOINT_WHY_BYTES] = "it has ended";
	struct endpoint other;

	(void)key;
	if (rank != ranks->asked)
		return;
	ranks->answered = true;
	if (value && endpoint_decode(&other, value, size_bytes, why)) {
		describe(ranks, &other);
		return;
	}
	snprintf(ranks->answer, LINE_BYTES, "nothing: %s", why);
	ranks->reachable = false;
}

static void on_death(void *arg, int rank, const char *text)
{
	(void)arg;
	(void)rank;
	(void)text;
}

static void on_loss(void *arg, const char *text)
{
	struct info_ranks *ranks = arg;

	ranks->lost = true;
	snprintf(ranks->answer, LINE_BYTES, "nothing: %s", text);
}

static const struct boot_events events = { on_value, on_death, on_loss };

/* A rank without a device publishes that too. */
static void open_devices(struct info_ranks *ranks)
{
	const char *device = *ranks->boot->device ? ranks->boot->device : getenv("ORIEL_DEVICE");
	const char *addr = *ranks->boot->addr ? ranks->boot->addr : getenv("ORIEL_ADDR");
	struct providers providers = providers_choose(device);
	const struct device *card = NULL, *soft = NULL;

	if (providers_open(&providers, addr, 0, &ranks->devices) == 0) {
		card = devices_find(&ranks->devices, false);
		soft = devices_find(&ranks->devices, true);
	}
	endpoint_make(&ranks->own, card ? card->addr_text : "", soft ? soft->addr_text : "",
	              ranks->devices.list[0].atomics_by);
}

static int publish(struct info_ranks *ranks)
{
	uint8_t bytes[ENDPOINT_MAX_BYTES];

	return ranks->boot->ops->put(ranks->boot, ENDPOINT_BOOT_KEY, bytes, endpoint_encode(&ranks->own, bytes));
}

struct info_ranks *info_ranks_join(int *rank, const char **why)
{
	struct info_ranks *ranks = calloc(1, sizeof(*ranks));

	*rank = 0;
	*why = "out of memory";
	if (!ranks || sodium_init() < 0 || boot_open(NULL, &events, ranks, &ranks->boot)) {
		if (ranks)
			*why = err_text();
		free(ranks);
		return NULL;
	}
	*rank = ranks->boot->rank;
	ranks->reachable = true;
	return ranks;
}

/* Waits until the launcher has answered, or clearly will not. */
static void await_answer(struct info_ranks *ranks)
{
	struct pollfd wait = { .fd = ranks->boot->ops->fd(ranks->boot), .events = POLLIN };
	uint64_t until_ns = now_ns() + (uint64_t)ANSWER_MS * 1000000;

	while (!ranks->answered && !ranks->lost && now_ns() < until_ns) {
		poll(&wait, 1, TURN_MS);
		if (ranks->boot->ops->dispatch(ranks->boot))
			on_loss(ranks, err_text());
	}
	if (ranks->answered)
		return;
	ranks->reachable = false;
	if (!ranks->lost)
		snprintf(ranks->answer, LINE_BYTES, "nothing: the launcher has no answer after %d s", ANSWER_MS / 1000);
	ranks->lost = true;
}

static void ask(struct info_ranks *ranks, int rank)
{
	if (ranks->lost)
		return;
	ranks->asked = rank;
	ranks->answered = false;
	if (ranks->boot->ops->get(ranks->boot, rank, ENDPOINT_BOOT_KEY))
		on_loss(ranks, err_text());
	await_answer(ranks);
}

static void flush_line(struct info_ranks *ranks)
{
	char who[32];

	if (!*ranks->printed)
		return;
	if (ranks->first == ranks->last)
		snprintf(who, sizeof(who), "%d", ranks->first);
	else
		snprintf(who, sizeof(who), "%d-%d", ranks->first, ranks->last);
	printf("  %-24s %s\n", who, ranks->printed);
}

static void print_answer(struct info_ranks *ranks, int rank)
{
	if (strcmp(ranks->printed, ranks->answer) == 0 && ranks->last == rank - 1) {
		ranks->last = rank;
		return;
	}
	flush_line(ranks);
	memcpy(ranks->printed, ranks->answer, LINE_BYTES);
	ranks->first = ranks->last = rank;
}

static void print_title(const struct boot *boot)
{
	if (boot->size == 1)
		printf("job\n  one rank: there is no other to reach\n");
	else
		printf("how rank %d of %d would reach the others (bootstrap: %s)\n", boot->rank, boot->size,
		       boot->ops->name);
}

bool info_ranks_ask(struct info_ranks *ranks, bool show)
{
	open_devices(ranks);
	if (publish(ranks))
		on_loss(ranks, err_text());
	if (show)
		print_title(ranks->boot);
	for (int rank = 0; rank < ranks->boot->size; rank++) {
		if (rank == ranks->boot->rank)
			continue;
		ask(ranks, rank);
		if (show)
			print_answer(ranks, rank);
	}
	if (show)
		flush_line(ranks);
	return ranks->reachable;
}

void info_ranks_leave(struct info_ranks *ranks)
{
	devices_close(&ranks->devices);
	ranks->boot->ops->leave(ranks->boot);
	ranks->boot->ops->close(ranks->boot);
	sodium_memzero(&ranks->own, sizeof(ranks->own));
	free(ranks);
}
