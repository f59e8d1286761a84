// SPDX-License-Identifier: BSD-2-Clause
/* The end of connections. */
#ifndef SOFT_CM_CONN_H
#define SOFT_CM_CONN_H

#include "soft/cm/cm.h"

/*
 * Reports that a connection has ended. If this side has disconnected, TIMEWAIT_EXIT follows: then
 * the queue pair may be reused. The caller holds cm_lock.
 */
void cm_ended(struct cm_id *id, int status);
/* Stops the timers of connecting and disconnecting. */
void cm_stop_timers(struct cm_id *id);

#endif
