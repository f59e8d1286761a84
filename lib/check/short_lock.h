/* SPDX-License-Identifier: BSD-2-Clause */
/* short_lock.h - the lock of a library, for a few instructions: a mutex would take more */
#ifndef ORIEL_CHECK_SHORT_LOCK_H
#define ORIEL_CHECK_SHORT_LOCK_H

#include <stdbool.h>

/* This thread has the lock: a signal may have interrupted it, and its handler must not enter. */
extern _Thread_local bool short_lock_is_own __attribute__((tls_model("initial-exec"), visibility("hidden")));

void short_lock_enter(void);

/* Returns whether this thread has entered: not if another one has the lock. It calls nothing. */
bool short_lock_enter_if_free(void);

void short_lock_leave(void);

#endif
