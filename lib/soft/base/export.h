// SPDX-License-Identifier: BSD-2-Clause
/*
 * Marks for symbols that a library exports, and the results of calls. Functions are hidden without
 * a mark (-fvisibility=hidden); data needs one.
 */
#ifndef SOFT_EXPORT_H
#define SOFT_EXPORT_H

#include <errno.h>

#define SOFT_HIDDEN __attribute__((visibility("hidden")))
#define SOFT_EXPORT __attribute__((visibility("default")))

/* Returns an errno value, and stores it in errno: some programs read only that. */
static inline int soft_result(int err)
{
	if (err)
		errno = err;
	return err;
}

#endif
