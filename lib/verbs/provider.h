// SPDX-License-Identifier: BSD-2-Clause
/*
 * provider.h - the libraries that serve a rank's devices: rdma-core a card, and built-in softverbs
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
#ifndef ORIEL_PROVIDER_H
#define ORIEL_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs/devices.h"
#include "verbs/functions.h"

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
