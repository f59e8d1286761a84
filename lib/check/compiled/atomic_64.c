// SPDX-License-Identifier: BSD-2-Clause
/* atomic_64.c - atomics of 64 bits; see atomic_of.h */
#include "check/compiled/watch.h"

#define VALUE uint64_t
#define NAME(name) __tsan_atomic64_##name

#include "check/compiled/atomic_of.h"
