// SPDX-License-Identifier: BSD-2-Clause
/*
 * public_struct.h - structs that a program and the library pass each other, of two builds perhaps
 *
 * Each begins with struct_bytes, which the program sets to its own sizeof. Members are only ever
 * added at the end, so the smaller of both sizes is what both know.
 */
#ifndef ORIEL_PUBLIC_STRUCT_H
#define ORIEL_PUBLIC_STRUCT_H

#include <stddef.h>

#define PUBLIC_STRUCT_MAX_BYTES 4096 /* more than any build will have: such a size was never set */

/* Whether the program has set a size that can be one. ERRORS: ORIEL_ERR_ARG, naming the struct. */
int public_struct_check(size_t struct_bytes, const char *name);

/* Copy what both know from one to the other; what only `to` has becomes zero. `to` keeps its struct_bytes. */
void public_struct_copy(void *to, size_t to_bytes, const void *from, size_t from_bytes);

#endif
