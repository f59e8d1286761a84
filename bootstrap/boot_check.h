// SPDX-License-Identifier: BSD-2-Clause
/*
 * boot_check.h - what every bootstrap client checks of its caller and reads of the environment
 *
 * ERRORS: 0 or a negative ORIEL_ERR_*, with err_set's text.
 */
#ifndef ORIEL_BOOT_CHECK_H
#define ORIEL_BOOT_CHECK_H

#include "boot.h"

/* Are these what a put, or a get, may carry? */
int boot_check_key(const char *key);
int boot_check_value(const char *key, const void *value, size_t size_bytes);

/* Copy ORIEL_ADDR and ORIEL_DEVICE, where set. */
int boot_read_choices(struct boot *boot);

#endif
