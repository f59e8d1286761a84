// SPDX-License-Identifier: BSD-2-Clause
/* Results of calls that may fail. */
#ifndef SOFT_RESULT_H
#define SOFT_RESULT_H

#include <errno.h>

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
