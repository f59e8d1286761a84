// SPDX-License-Identifier: BSD-2-Clause
/* atomic_16.c - atomics of 16 bits; see atomic_of.h */
#include "check/compiled/watch.h"

#define VALUE uint16_t
#define NAME(name) __tsan_atomic16_##name

#include "check/compiled/atomic_of.h"
