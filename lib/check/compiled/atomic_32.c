// SPDX-License-Identifier: BSD-2-Clause
/* atomic_32.c - atomics of 32 bits; see atomic_of.h */
#include "check/compiled/watch.h"

#define VALUE uint32_t
#define NAME(name) __tsan_atomic32_##name

#include "check/compiled/atomic_of.h"
