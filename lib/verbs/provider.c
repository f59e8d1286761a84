// SPDX-License-Identifier: BSD-2-Clause
/* provider.c - see provider.h. */
#include "verbs/provider.h"

#include <errno.h>
#include <string.h>

#include "base/shortage.h"
#include "verbs/device.h"

/* As a user calls softverbs, and as it calls its one device. */
static bool means_softverbs(const char *name)
{
	return strcmp(name, "soft") == 0 || strcmp(name, "soft0") == 0;
}

/* An address with a device, or one of which that could not be found out. */
static bool is_or_may_be(void *arg, const struct device_candidate *candidate)
{
	bool *found = arg;

	*found = *found || candidate->id || is_shortage(candidate->error);
	return false;
}

/* Who is short of something has not said that there is no device. */
static bool has_device(const struct verbs_functions *functions)
{
	struct rdma_event_channel *channel = functions->create_event_channel();
	bool found = false;

	if (!channel)
		return is_shortage(errno);
	device_scan(functions, channel, NULL, NULL, is_or_may_be, &found);
	functions->destroy_event_channel(channel);
	return found;
}

bool provider_system_is_softverbs(void)
{
	return verbs_lender(&verbs_system).lend;
}

struct provider provider_choose(const char *wanted_device)
{
	const char *wanted = wanted_device ? wanted_device : "";

	if (provider_system_is_softverbs())
		return (struct provider){ &verbs_system, means_softverbs(wanted) ? "" : wanted };
	if (means_softverbs(wanted) || (!*wanted && !has_device(&verbs_system)))
		return (struct provider){ &verbs_softverbs, "" };
	return (struct provider){ &verbs_system, wanted };
}
