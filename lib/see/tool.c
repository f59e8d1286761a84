// SPDX-License-Identifier: BSD-2-Clause
/* See tool.h. */
#include "see/tool.h"

#include <stddef.h>

#include "base/owned_lock.h"

const struct tool *see_tool;

int oriel_tool_attach(const struct tool *attached)
{
	if (attached->version != TOOL_VERSION)
		return -1;
	see_tool = attached;
	owned_lock_waited = attached->waited_for_thread;
	return 0;
}
