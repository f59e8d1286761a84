// SPDX-License-Identifier: BSD-2-Clause
/*
 * What leaves a library: functions need no mark (-fvisibility=hidden), data that must not be looked
 * up as if it did has one. And the results of calls.
 */
#ifndef SOFT_EXPORT_H
#define SOFT_EXPORT_H

#include <errno.h>

#define SOFT_HIDDEN __attribute__((visibility("hidden")))
#define SOFT_EXPORT __attribute__((visibility("default")))

/*
 * Returns an errno value, and stores it in errno, as a call to the kernel would; some programs read
 * only errno. Posting makes no call to the kernel.
 */
static inline int soft_result(int err)
{
	if (err)
		errno = err;
	return err;
}

#endif
