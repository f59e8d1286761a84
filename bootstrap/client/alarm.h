// SPDX-License-Identifier: BSD-2-Clause
/*
 * alarm.h - a descriptor that becomes readable at once or at a set time
 *
 * It serves clients whose answers come without a descriptor, or whose gets must be repeated.
 */
#ifndef ORIEL_CLIENT_ALARM_H
#define ORIEL_CLIENT_ALARM_H

#include <stdint.h>

#define ALARM_NOW 0
#define ALARM_NEVER UINT64_MAX

/* Opens it without a time. ERRORS: ORIEL_ERR_LIMIT, ORIEL_ERR_MEMORY, with err_set's text. */
int alarm_open(int *fd);

/* Sets the time, as now_ns counts. Until then the descriptor is not readable, even if it was. */
void alarm_set(int fd, uint64_t when_ns);

#endif
