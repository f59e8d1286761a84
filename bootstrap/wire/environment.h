// SPDX-License-Identifier: BSD-2-Clause
/* environment.h - the variables that oriel-run sets for its ranks */
#ifndef ORIEL_WIRE_ENVIRONMENT_H
#define ORIEL_WIRE_ENVIRONMENT_H

#include <stdbool.h>
#include <string.h>

#define BOOT_ENV_SERVER "ORIEL_BOOTSTRAP" /* see address.h */
#define BOOT_ENV_RANK "ORIEL_RANK"
#define BOOT_ENV_SIZE "ORIEL_SIZE"
#define BOOT_ENV_LOCAL_SIZE "ORIEL_LOCAL_SIZE"
#define BOOT_ENV_SECRET_FD "ORIEL_SECRET_FD" /* number of an inherited descriptor, see client/run.c */
#define BOOT_ENV_ADDR "ORIEL_ADDR"
#define BOOT_ENV_DEVICE "ORIEL_DEVICE"
#define BOOT_ENV_VERBOSE "ORIEL_VERBOSE"
#define BOOT_ENV_UNKIND "ORIEL_UNKIND"
#define BOOT_SEED_DIGITS 18

static inline bool boot_is_seed(const char *text)
{
	size_t length = strlen(text);

	return length > 0 && length <= BOOT_SEED_DIGITS && strspn(text, "0123456789") == length;
}

#endif
