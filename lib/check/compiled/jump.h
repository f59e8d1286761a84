/* SPDX-License-Identifier: BSD-2-Clause */
/* jump.h - a jump that takes the place of a function; see runtime.c */
#ifndef ORIEL_CHECK_JUMP_H
#define ORIEL_CHECK_JUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes a jump to the other address over the code at `from`, which can be written to, and has so
 * many bytes. Returns false if that is too little, or if it knows no jump of this processor.
 */
bool jump_write(void *from, size_t bytes, uint64_t to);

#endif
