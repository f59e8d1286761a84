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
int boot_check_get(const struct boot *boot, int rank, const char *key);

/* The error of clients whose launcher takes one put of a rank: ORIEL_ERR_SYNC. */
int boot_refuse_second_put(const char *key);

/*
 * Read a number that a launcher has put into the environment; beside is a variable of the same
 * launcher that is there. ERRORS: ORIEL_ERR_BOOTSTRAP: missing, or no number from min to max.
 */
int boot_read_number(const char *variable, const char *beside, long min, long max, int *out);

/* Copy ORIEL_ADDR and ORIEL_DEVICE, where set. */
int boot_read_choices(struct boot *boot);

#endif
