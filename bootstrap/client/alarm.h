// SPDX-License-Identifier: BSD-2-Clause
/*
 * alarm.h - a descriptor that becomes readable when asked to: at once, or at a moment to come
 *
 * For clients whose answers come without a descriptor, or have to be asked for again. It has one
 * moment, and the one set last counts.
 */
#ifndef ORIEL_CLIENT_ALARM_H
#define ORIEL_CLIENT_ALARM_H

#include <stdint.h>

#define ALARM_NOW 0
#define ALARM_NEVER UINT64_MAX

/* A descriptor without a moment. ERRORS: ORIEL_ERR_LIMIT, ORIEL_ERR_MEMORY, with err_set's text. */
int alarm_open(int *fd);

/* When it is to be readable, as now_ns counts. It is not before, also if it was. */
void alarm_set(int fd, uint64_t when_ns);

#endif
