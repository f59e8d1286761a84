// SPDX-License-Identifier: BSD-2-Clause
/* What a call returns that may fail. */
#ifndef SOFT_RESULT_H
#define SOFT_RESULT_H

#include <errno.h>

/*
 * An errno value, in errno too, where a call that went to the kernel would have left it; some programs
 * look only there. Posting does not go to the kernel.
 */
static inline int soft_result(int err)
{
	if (err)
		errno = err;
	return err;
}

#endif
