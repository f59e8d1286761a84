// SPDX-License-Identifier: BSD-2-Clause
/*
 * provider.h - who serves the device of a rank: rdma-core, or the softverbs that is built in
 *
 * The name asked for decides. Without one rdma-core is asked first, and softverbs serves where that
 * has no device. Where the process's libibverbs is itself softverbs (oriel-soft), that is the device,
 * and the one built in stays silent.
 */
#ifndef ORIEL_PROVIDER_H
#define ORIEL_PROVIDER_H

#include <stdbool.h>

#include "verbs/functions.h"

struct provider {
	const struct verbs_functions *functions;
	const char *device; /* the name to look for among its devices, or "": any */
};

/* Whether the process's libibverbs is softverbs. */
bool provider_system_is_softverbs(void);

/* The names "soft" and "soft0" mean softverbs, any other a device of rdma-core, NULL and "" any. */
struct provider provider_choose(const char *wanted_device);

#endif
