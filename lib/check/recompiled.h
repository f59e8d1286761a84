/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recompiled.h - a program that was compiled with -fsanitize=thread, as its starter sees it
 *
 * oriel-check and oriel-mpi both preload the library that takes the loads and stores of such a
 * program (compiled/compiled.h).
 */
#ifndef ORIEL_CHECK_RECOMPILED_H
#define ORIEL_CHECK_RECOMPILED_H

#include <stdbool.h>

#define RECOMPILED_BYTES 64

/* The name is in programs with clang's checks inside, which were linked with the library. */
#define INLINE_LIBRARY "liboriel-inline.so"

/*
 * Returns whether the program, or a library of it, was compiled so, and writes the name of the
 * library to preload. If clang has linked its runtime into the program, extends TSAN_OPTIONS.
 */
bool recompiled_library(const char *path, char name[RECOMPILED_BYTES]);

#endif
