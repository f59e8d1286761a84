// SPDX-License-Identifier: BSD-2-Clause
/* See devices.h. */
#include "verbs/devices.h"

#include <errno.h>

#include "oriel.h"

uint32_t devices_without_pinning(const struct devices *devices)
{
	uint32_t set = 0;

	for (uint32_t i = 0; i < devices->count; i++)
		set |= device_maps_memory(&devices->list[i]) ? 1u << i : 0;
	return set ? set : devices_all(devices);
}

static void deregister(const struct devices *devices, uint32_t set, struct registration *registration)
{
	for (uint32_t i = 0; i < devices->count; i++) {
		if (!(set >> i & 1) || !registration->mr[i])
			continue;
		device_deregister(&devices->list[i], registration->mr[i]);
		registration->mr[i] = NULL;
	}
}

void devices_deregister(const struct devices *devices, struct registration *registration)
{
	deregister(devices, devices_all(devices), registration);
}

typedef struct ibv_mr *register_fn(const struct device *device, void *base, size_t size_bytes, unsigned access);

static int register_by(register_fn *with_device, const struct devices *devices, uint32_t set,
                       const struct memory_access *memory, struct registration *registration)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < devices->count; i++) {
		int error;

		if (!(set >> i & 1) || registration->mr[i])
			continue;
		registration->mr[i] = with_device(&devices->list[i], memory->base, memory->size_bytes, memory->access);
		if (registration->mr[i]) {
			done |= 1u << i;
			continue;
		}
		error = errno;
		deregister(devices, done, registration);
		return error;
	}
	return 0;
}

int devices_try_register(const struct devices *devices, uint32_t set, const struct memory_access *memory,
                         struct registration *registration)
{
	return register_by(device_try_register, devices, set, memory, registration);
}

int devices_register(const struct devices *devices, uint32_t set, const struct memory_access *memory,
                     struct registration *registration)
{
	return register_by(device_register, devices, set, memory, registration) ? ORIEL_ERR_MEMORY : 0;
}

bool devices_place_twice(const struct devices *devices)
{
	bool twice = false;

	for (uint32_t i = 0; i < devices->count; i++)
		twice |= devices->list[i].places_twice;
	return twice;
}

const struct device *devices_find(const struct devices *devices, bool maps_memory)
{
	for (uint32_t i = 0; i < devices->count; i++) {
		if (device_maps_memory(&devices->list[i]) == maps_memory)
			return &devices->list[i];
	}
	return NULL;
}

uint64_t devices_served(const struct devices *devices)
{
	uint64_t served = 0;

	for (uint32_t i = 0; i < devices->count; i++) {
		if (devices->list[i].direct.served)
			served += devices->list[i].direct.served();
	}
	return served;
}

int devices_open_wakeups(struct devices *devices)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < devices->count; i++)
		rc = wakeup_open(&devices->list[i].wakeup, devices->list[i].functions, devices->list[i].verbs);
	return rc;
}

void devices_close(struct devices *devices)
{
	while (devices->count > 0)
		device_close(&devices->list[--devices->count]);
}
