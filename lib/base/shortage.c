// SPDX-License-Identifier: BSD-2-Clause
/* shortage.c - see shortage.h. */
#include "base/shortage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "oriel.h"

bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS || error == EFBIG;
}

int shortage_code(int error)
{
	return error == EMFILE || error == ENFILE ? ORIEL_ERR_LIMIT : ORIEL_ERR_MEMORY;
}

static unsigned long long limit_of(unsigned resource)
{
	struct rlimit limit = { 0, 0 };

	getrlimit(resource, &limit);
	return limit.rlim_cur == RLIM_INFINITY ? 0 : (unsigned long long)limit.rlim_cur;
}

void shortage_text(int error, char *text, size_t text_bytes)
{
	if (error == EMFILE)
		snprintf(text, text_bytes,
		         "%s: a connection needs up to 8 descriptors, and this process may have %llu; close some, or raise the "
		         "limit (ulimit -n), and call again",
		         strerror(error), limit_of(RLIMIT_NOFILE));
	else if (error == ENFILE)
		snprintf(text, text_bytes, "%s: the whole system has no more descriptors; raise /proc/sys/fs/file-max",
		         strerror(error));
	else if (error == EFBIG)
		snprintf(
			text, text_bytes,
			"%s: memory that ranks share counts as a file, and a file of this process may have %llu bytes; raise the "
			"limit (ulimit -f), and call again",
			strerror(error), limit_of(RLIMIT_FSIZE));
	else
		snprintf(text, text_bytes,
		         "%s: the locked-memory limit is %llu bytes (0: none); free memory, or raise it (ulimit -l), and call "
		         "again",
		         strerror(error), limit_of(RLIMIT_MEMLOCK));
}
