// SPDX-License-Identifier: BSD-2-Clause
/* origin.h - origin memory: registered already, registered for an epoch, or copied */
#ifndef ORIEL_ORIGIN_H
#define ORIEL_ORIGIN_H

#include <stdint.h>

#include "win/operation.h"

struct oriel_win;
struct link;

/* The key for an operation's origin memory; 0 where the wire copies. The caller holds win->lock. */
uint32_t origin_lkey(struct oriel_win *win, const struct link *link, const struct op *op);

/* Deregister what was registered for operations that are now complete, or lost with their peer. */
void release_epoch_mrs(struct oriel_win *win);

#endif
