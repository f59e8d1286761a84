// SPDX-License-Identifier: BSD-2-Clause
/*
 * devices.h - the devices of a job, and memory that is registered with each of them
 *
 * DESIGN NOTES
 *
 * A job opens one device, or two: a card, and softverbs for the ranks that it shares memory with. What
 * peers may touch is registered with all of them, so that any peer can, whichever it talks by: a
 * region has one address and a key for each device. A peer only ever sees the keys of the device that
 * it talks by; no structure that peers read carries those of two.
 *
 * A card pins what is registered with it: every page is touched and stays. Memory that no peer reaches
 * by the card is registered with softverbs alone, which pins nothing.
 */
#ifndef ORIEL_DEVICES_H
#define ORIEL_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/device.h"

struct devices {
	struct device list[DEVICES_MAX]; /* element i has index i */
	uint32_t count;
};

/* A region, as each device knows it; NULL: it is not registered with that one. */
struct registration {
	struct ibv_mr *mr[DEVICES_MAX];
	bool holds; /* memory that has been moved (share_in_place.h): whoever registers for peers sees to it */
};

/* The first region of a device, or NULL: it is registered with none. */
static inline struct ibv_mr *first_region(const struct registration *registration)
{
	struct ibv_mr *first = NULL;

	for (uint32_t i = 0; i < DEVICES_MAX && !first; i++)
		first = registration->mr[i];
	return first;
}

static inline bool is_registered(const struct registration *registration)
{
	return first_region(registration);
}

/* Sets of devices: bit i is the device with index i. */
static inline uint32_t devices_all(const struct devices *devices)
{
	return (1u << devices->count) - 1;
}

/* Those that pin nothing; all of them where there is none such. */
uint32_t devices_without_pinning(const struct devices *devices);

/* What is registered, and for what. */
struct memory_access {
	void *base;
	size_t size_bytes;
	unsigned access; /* IBV_ACCESS_... */
};

/*
 * Register memory with those devices of a set with which it is not registered yet; on an error with none more than
 * before. *registration begins as zeroes. ERRORS: ORIEL_ERR_MEMORY with need, limit and remedy, and errno.
 */
int devices_register(const struct devices *devices, uint32_t set, const struct memory_access *memory,
                     struct registration *registration);

/* The same without a text: 0 or an errno value. */
int devices_try_register(const struct devices *devices, uint32_t set, const struct memory_access *memory,
                         struct registration *registration);

void devices_deregister(const struct devices *devices, struct registration *registration);

/* Whether one of them may place words twice (places_twice). */
bool devices_place_twice(const struct devices *devices);

/*
 * The one that maps memory (device_maps_memory), or the one that does not; NULL if there is none.
 */
const struct device *devices_find(const struct devices *devices, bool maps_memory);

/* Another number whenever this process has carried out operations of others, where devices have it do so (extension.h). */
uint64_t devices_served(const struct devices *devices);

/*
 * Have each device wake this process when a peer asks for it (wakeup.h). ERRORS: ORIEL_ERR_DEVICE,
 * ORIEL_ERR_MEMORY.
 */
int devices_open_wakeups(struct devices *devices);

/* Close all that are open. */
void devices_close(struct devices *devices);

#endif
