// SPDX-License-Identifier: BSD-2-Clause
/*
 * devices.h - the devices of a job, and memory that is registered with each of them
 *
 * DESIGN NOTES
 *
 * A job opens one device, or two: a card, and softverbs for the ranks that share memory. Memory
 * that peers may touch is registered with both, and has one key for each; a peer sees only the key
 * of its own device.
 *
 * A card pins what is registered with it. Memory that no peer reaches via the card is registered
 * with softverbs alone, which pins nothing.
 */
#ifndef ORIEL_DEVICES_H
#define ORIEL_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/device.h"
#include "verbs/functions.h"

struct devices {
	struct device list[DEVICES_MAX]; /* element i has index i */
	uint32_t count;
};

/* A region's registrations, by device; NULL: none. */
struct registration {
	struct ibv_mr *mr[DEVICES_MAX];
	bool holds; /* holds moved memory (share_in_place.h); set by mem/mem.c */
};

/* Returns the first registration, or NULL. */
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

/* Returns the devices that pin nothing, or all if there are none. */
uint32_t devices_without_pinning(const struct devices *devices);

struct memory_access {
	void *base;
	size_t size_bytes;
	unsigned access; /* IBV_ACCESS_... */
};

/*
 * Registers memory with those devices of a set that do not have it yet; on an error with none of
 * these. *registration begins as zeroes. ERRORS: ORIEL_ERR_MEMORY, and errno.
 */
int devices_register(const struct devices *devices, uint32_t set, const struct memory_access *memory,
                     struct registration *registration);

/* Registers like devices_register, without a text. Returns 0 or an errno value. */
int devices_try_register(const struct devices *devices, uint32_t set, const struct memory_access *memory,
                         struct registration *registration);

void devices_deregister(const struct devices *devices, struct registration *registration);

bool devices_place_twice(const struct devices *devices);

/* Returns the device whose device_maps_memory is as given; NULL: none. */
const struct device *devices_find(const struct devices *devices, bool maps_memory);

/* Returns a number that changes when this process has served peers' operations (extension.h). */
uint64_t devices_served(const struct devices *devices);

/* Opens a wakeup for each device. ERRORS: ORIEL_ERR_DEVICE, ORIEL_ERR_MEMORY. */
int devices_open_wakeups(struct devices *devices);

void devices_close(struct devices *devices);

/*
 * The libraries that serve a rank's devices: rdma-core a card, and built-in softverbs
 *
 * DESIGN NOTES
 *
 * ORIEL_DEVICE decides:
 *
 *   unset         a card if there is one, and softverbs for ranks that share memory
 *   soft, soft0   softverbs only
 *   card          any card, and no shared memory
 *   NAME          this device of rdma-core, and no shared memory
 *   card+soft, NAME+soft   both; an error if one cannot be opened
 *
 * If the process's libibverbs is softverbs (oriel-soft), the built-in one is not used.
 */

struct provider {
	const struct verbs_functions *functions;
	char device[64]; /* its device's name, or "": any */
	bool needed;     /* without it the rank cannot do what the user asks for */
};

/* At least one; a card is the first. */
struct providers {
	struct provider list[DEVICES_MAX];
	uint32_t count;
};

bool provider_system_is_softverbs(void);

struct providers providers_choose(const char *wanted);

/*
 * Opens their devices. The address is the card's, or the only device's. A device that is not needed
 * and cannot be opened is left out; the thread's last error says why. ERRORS: ORIEL_ERR_DEVICE,
 * ORIEL_ERR_MEMORY; none is then open.
 */
int providers_open(const struct providers *providers, const char *wanted_addr, size_t max_message_bytes,
                   struct devices *devices);

#endif
