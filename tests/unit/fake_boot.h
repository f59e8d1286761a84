// SPDX-License-Identifier: BSD-2-Clause
/*
 * fake_boot.h - a launcher inside the test program: several ranks of one process, each with its own
 * struct boot.
 */
#ifndef ORIEL_TESTS_FAKE_BOOT_H
#define ORIEL_TESTS_FAKE_BOOT_H

#include <stdbool.h>

#include "boot.h"

#define FAKE_RANKS_MAX 200

struct fake_world;

struct fake_world *fake_world_new(int size);

/* Makes ranks put this value instead of theirs from now on; NULL: theirs again. */
void fake_world_false_value(const void *value, size_t size_bytes);

/* All boots must have been closed. Returns how many were not. */
int fake_world_free(struct fake_world *world);

/* The boot of a rank; its close function releases it. */
struct boot *fake_boot_open(struct fake_world *world, int rank, const struct boot_events *events, void *arg);

/* The rank is gone: the others get news of it, unless it had left in order. */
void fake_world_ended(struct fake_world *world, int rank, const char *text);

/* The launcher is gone: every rank gets news of it. */
void fake_world_lost(struct fake_world *world);

/* The status of the last abort, or 0. */
int fake_world_aborted(struct fake_world *world);

/* Whether the keys that ranks put are others than those they expect to be proven. */
void fake_world_false_keys(bool on);

#endif
