// SPDX-License-Identifier: BSD-2-Clause
/* devices.c - see devices.h. */
#include "verbs/devices.h"

#include <errno.h>
#include <string.h>

#include "oriel.h"

void devices_deregister(const struct devices *devices, struct registration *registration)
{
	for (uint32_t i = 0; i < devices->count; i++) {
		if (registration->mr[i])
			device_deregister(&devices->list[i], registration->mr[i]);
		registration->mr[i] = NULL;
	}
}

int devices_try_register(const struct devices *devices, void *base, size_t size_bytes, unsigned access,
                         struct registration *registration)
{
	memset(registration, 0, sizeof(*registration));
	for (uint32_t i = 0; i < devices->count; i++) {
		int error;

		registration->mr[i] = device_try_register(&devices->list[i], base, size_bytes, access);
		if (registration->mr[i])
			continue;
		error = errno;
		devices_deregister(devices, registration);
		return error;
	}
	return 0;
}

int devices_register(const struct devices *devices, void *base, size_t size_bytes, unsigned access,
                     struct registration *registration)
{
	memset(registration, 0, sizeof(*registration));
	for (uint32_t i = 0; i < devices->count; i++) {
		registration->mr[i] = device_register(&devices->list[i], base, size_bytes, access);
		if (registration->mr[i])
			continue;
		devices_deregister(devices, registration);
		return ORIEL_ERR_MEMORY;
	}
	return 0;
}

bool devices_place_twice(const struct devices *devices)
{
	bool twice = false;

	for (uint32_t i = 0; i < devices->count; i++)
		twice |= devices->list[i].places_twice;
	return twice;
}

const struct device *devices_find(const struct devices *devices, bool lends)
{
	for (uint32_t i = 0; i < devices->count; i++) {
		if (device_lends(&devices->list[i]) == lends)
			return &devices->list[i];
	}
	return NULL;
}

uint64_t devices_served(const struct devices *devices)
{
	uint64_t served = 0;

	for (uint32_t i = 0; i < devices->count; i++) {
		if (devices->list[i].lender.served)
			served += devices->list[i].lender.served();
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
