// SPDX-License-Identifier: BSD-2-Clause
/* atomic_8.c - atomics of 8 bits; see atomic_of.h */
#include "check/compiled/watch.h"

#define VALUE uint8_t
#define NAME(name) __tsan_atomic8_##name

#include "check/compiled/atomic_of.h"
