// SPDX-License-Identifier: BSD-2-Clause
/* Connections: how they end. */
#ifndef SOFT_CM_CONN_H
#define SOFT_CM_CONN_H

#include "soft/cm/cm.h"

/*
 * Under cm_lock: the connection is over; say so, and some time later that its queue pair may be
 * used again.
 */
void cm_ended(struct cm_id *id, int status);
/* Neither look for a listener any more nor wait for the end. */
void cm_stop_timers(struct cm_id *id);

#endif
