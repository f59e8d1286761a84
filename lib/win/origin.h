// SPDX-License-Identifier: BSD-2-Clause
/* origin.h - origin memory: registered already, registered for an epoch, or copied */
#ifndef ORIEL_ORIGIN_H
#define ORIEL_ORIGIN_H

#include <stdint.h>

#include "verbs/wire.h"
#include "win/operation.h"

struct oriel_win;
struct link;

/*
 * The way of an operation by the wire: how it is given the origin; *lkey is for WAY_REGISTERED. Memory
 * that is neither registered nor small is registered for the epoch, or copied piece by piece where that
 * fails. The caller holds win->lock.
 */
enum way origin_way(struct oriel_win *win, const struct link *link, const struct op *op, uint32_t *lkey);

/* Deregister what was registered for operations that are now complete, or lost with their peer. */
void release_epoch_mrs(struct oriel_win *win);

#endif
