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

/* A region, as each device knows it; all NULL: none. */
struct registration {
	struct ibv_mr *mr[DEVICES_MAX];
	bool holds; /* memory that has been moved (share_in_place.h): whoever registers for peers sees to it */
};

static inline bool is_registered(const struct registration *registration)
{
	return registration->mr[0];
}

/*
 * Register memory with every device, or with none. ERRORS: ORIEL_ERR_MEMORY with need, limit and
 * remedy, and errno.
 */
int devices_register(const struct devices *devices, void *base, size_t size_bytes, unsigned access,
                     struct registration *registration);

/* The same without a text: 0 or an errno value. */
int devices_try_register(const struct devices *devices, void *base, size_t size_bytes, unsigned access,
                         struct registration *registration);

void devices_deregister(const struct devices *devices, struct registration *registration);

/* Whether one of them may place words twice (places_twice). */
bool devices_place_twice(const struct devices *devices);

/* The one that lends (device_lends), or the one that does not; NULL if there is none. */
const struct device *devices_find(const struct devices *devices, bool lends);

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
