// SPDX-License-Identifier: BSD-2-Clause
/* See devices.h. */
#include "verbs/devices.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "oriel.h"
#include "pages/shortage.h"
#include "verbs/device.h"

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

#define ANY_CARD "card"

/* Returns whether the name is a user's for softverbs, or its device's. */
static bool means_softverbs(const char *name)
{
	return strcmp(name, "soft") == 0 || strcmp(name, "soft0") == 0;
}

/* Notes an address with a device, or one that may have one. */
static bool is_or_may_be(void *arg, const struct device_candidate *candidate)
{
	bool *found = arg;

	*found = *found || candidate->id || is_shortage(candidate->error);
	return false;
}

/* Returns whether there is a device; a shortage does not prove that there is none. */
static bool has_device(const struct verbs_functions *functions)
{
	struct rdma_event_channel *channel = functions->create_event_channel();
	bool found = false;

	if (!channel)
		return is_shortage(errno);
	device_scan(functions, channel, (struct device_wish){ NULL, NULL }, is_or_may_be, &found);
	functions->destroy_event_channel(channel);
	return found;
}

/* Copies `length` bytes of a name, cut to a device name's size; "card" means any. */
static void copy_name(struct provider *provider, const char *name, size_t length)
{
	snprintf(provider->device, sizeof(provider->device), "%.*s", (int)length, name);
	if (strcmp(provider->device, ANY_CARD) == 0)
		provider->device[0] = '\0';
}

static void add(struct providers *providers, const struct verbs_functions *functions, const char *name, size_t length,
                bool needed)
{
	struct provider *provider = &providers->list[providers->count++];

	provider->functions = functions;
	provider->needed = needed;
	copy_name(provider, name, length);
}

/* Chooses what there is: the user asks for nothing. */
static struct providers choose_freely(void)
{
	struct providers providers = { .count = 0 };

	if (has_device(&verbs_system))
		add(&providers, &verbs_system, "", 0, true);
	add(&providers, &verbs_softverbs, "", 0, providers.count == 0);
	return providers;
}

/* Chooses if the process's libibverbs is softverbs, any of whose devices "soft" means. */
static struct providers choose_loaded(const char *wanted)
{
	struct providers providers = { .count = 0 };

	add(&providers, &verbs_system, "", 0, true);
	if (!means_softverbs(wanted))
		snprintf(providers.list[0].device, sizeof(providers.list[0].device), "%s", wanted);
	return providers;
}

bool provider_system_is_softverbs(void)
{
	return verbs_direct(&verbs_system).map;
}

struct providers providers_choose(const char *wanted_device)
{
	struct providers providers = { .count = 0 };
	const char *wanted = wanted_device ? wanted_device : "";
	const char *plus = strrchr(wanted, '+');
	bool both = plus && means_softverbs(plus + 1), soft = means_softverbs(wanted);

	if (provider_system_is_softverbs())
		return choose_loaded(wanted);
	if (!*wanted)
		return choose_freely();
	if (!soft)
		add(&providers, &verbs_system, wanted, both ? (size_t)(plus - wanted) : strlen(wanted), true);
	if (soft || both)
		add(&providers, &verbs_softverbs, "", 0, true);
	return providers;
}

/* Opens one device. beside: the job has another, here or at other ranks. */
static int open_one(const struct provider *provider, bool beside, const char *wanted_addr, size_t max_message_bytes,
                    struct devices *devices)
{
	struct device *device = &devices->list[devices->count];
	int rc = device_open(device, provider->functions, provider->device, wanted_addr, max_message_bytes);

	device->read_behind = beside && !device->ack_placed;
	if (rc == 0)
		device->index = devices->count++;
	return rc;
}

int providers_open(const struct providers *providers, const char *wanted_addr, size_t max_message_bytes,
                   struct devices *devices)
{
	devices->count = 0;
	for (uint32_t i = 0; i < providers->count; i++) {
		int rc = open_one(&providers->list[i], providers->count > 1, i == 0 ? wanted_addr : NULL, max_message_bytes,
		                  devices);

		if (rc == 0 || !providers->list[i].needed)
			continue;
		devices_close(devices);
		return rc;
	}
	return 0;
}
