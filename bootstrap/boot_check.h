// SPDX-License-Identifier: BSD-2-Clause
/*
 * boot_check.h - checks of arguments and environment that all bootstrap clients share
 *
 * ERRORS: 0 or a negative ORIEL_ERR_*, with err_set's text.
 */
#ifndef ORIEL_BOOT_CHECK_H
#define ORIEL_BOOT_CHECK_H

#include "boot.h"

/* Check the arguments of a put or get. */
int boot_check_key(const char *key);
int boot_check_value(const char *key, const void *value, size_t size_bytes);
int boot_check_get(const struct boot *boot, int rank, const char *key);

/* Returns ORIEL_ERR_SYNC, for launchers that take one put of each rank. */
int boot_refuse_second_put(const char *key);

/*
 * Reads a number that the launcher has set; beside is another variable of this launcher, which is
 * set. ERRORS: ORIEL_ERR_BOOTSTRAP: missing, or no number from min to max.
 */
int boot_read_number(const char *variable, const char *beside, long min, long max, int *out);

/* Copies ORIEL_ADDR and ORIEL_DEVICE, if set. */
int boot_read_choices(struct boot *boot);

#endif
