// SPDX-License-Identifier: BSD-2-Clause
/*
 * public_struct.h - structs that a program and the library exchange, perhaps of two builds
 *
 * Each begins with struct_bytes, which the program sets to its own sizeof. Members are only added
 * at the end, so both know the smaller of both sizes.
 */
#ifndef ORIEL_PUBLIC_STRUCT_H
#define ORIEL_PUBLIC_STRUCT_H

#include <stddef.h>

#define PUBLIC_STRUCT_MAX_BYTES 4096 /* more than any build has: such a size was never set */

/* Returns 0 if the program has set a possible size. ERRORS: ORIEL_ERR_ARG, naming the struct. */
int public_struct_check(size_t struct_bytes, const char *name);

/* Copies what both know; what only `to` has becomes zero. `to` keeps its struct_bytes. */
void public_struct_copy(void *to, size_t to_bytes, const void *from, size_t from_bytes);

#endif
