// SPDX-License-Identifier: BSD-2-Clause
/*
 * fake_malloc.h - memory for the fakes themselves, which no fault takes away
 *
 * unit_fake is linked with --wrap=malloc, --wrap=calloc, --wrap=realloc: the library gets its
 * memory from fake_state.c, which can let the n-th request fail. To be included behind stdlib.h.
 */
#ifndef ORIEL_TESTS_FAKE_MALLOC_H
#define ORIEL_TESTS_FAKE_MALLOC_H

#include <stddef.h>

void *__real_malloc(size_t size_bytes);
void *__real_calloc(size_t count, size_t size_bytes);
void *__real_realloc(void *old, size_t size_bytes);

#define calloc __real_calloc

#endif
