/* SPDX-License-Identifier: BSD-2-Clause */
/* behind.h - the functions behind a library whose functions stand in front of others */
#ifndef ORIEL_SEE_FRONT_BEHIND_H
#define ORIEL_SEE_FRONT_BEHIND_H

#include <dlfcn.h>
#include <string.h>

/*
 * Finds the next function of that name: *function, a pointer to a function, becomes its address, or
 * NULL. ISO C casts no address of an object to a function's.
 */
static inline void find_behind(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

#endif
