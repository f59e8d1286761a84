// SPDX-License-Identifier: BSD-2-Clause
/* See recompiled.h. */
#include "check/recompiled.h"

#include <stdio.h>
#include <stdlib.h>

#include "mpi/starter/libraries.h"

/*
 * clang's runtime, which does not see what orders accesses, would report races. Without memory for
 * the variable it does.
 */
static void quiet_runtime(void)
{
	const char *options = getenv("TSAN_OPTIONS");
	char *all;

	if (asprintf(&all, "%s report_bugs=0", options ? options : "") < 0)
		return;
	setenv("TSAN_OPTIONS", all, 1);
	free(all);
}

/* gcc links libtsan, whose name the library has; clang links its runtime. */
bool recompiled_library(const char *path, char name[RECOMPILED_BYTES])
{
	const int version = libraries_version_of(path, "libtsan.so.");
	const bool by_clang = version < 0 && image_has_text(path, "__tsan_init");

	if (image_has_text(path, INLINE_LIBRARY)) {
		snprintf(name, RECOMPILED_BYTES, "%s", INLINE_LIBRARY);
		return true;
	}
	if (by_clang)
		quiet_runtime();
	snprintf(name, RECOMPILED_BYTES, "liboriel-tsan.so.%d", by_clang ? 2 : version);
	return by_clang || version >= 0;
}
