/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * next.h - the functions behind this library, of those of the C library that a file takes
 *
 * A file defines CALLS(X), which calls X for each, and includes this: next()->read is read then.
 * Other libraries may call them before the constructors of this one.
 */

#include "see/front/behind.h"

struct calls {
#define X(name) __typeof__(name) *name;
	CALLS(X)
#undef X
};

static const struct calls *next(void)
{
	static struct calls calls;
	static bool is_found;

	if (__atomic_load_n(&is_found, __ATOMIC_ACQUIRE))
		return &calls;
#define X(name) find_behind(#name, &calls.name);
	CALLS(X)
#undef X
	__atomic_store_n(&is_found, true, __ATOMIC_RELEASE);
	return &calls;
}
