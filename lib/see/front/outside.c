// SPDX-License-Identifier: BSD-2-Clause
/* See call.h. oriel-top and the watchdog name such a call where a rank waits for this one. */
#include <stdio.h>

#include "base/util.h"
#include "see/front/call.h"

static struct board *shown_on; /* NULL: there is no job */
static _Thread_local uint8_t slot __attribute__((tls_model("initial-exec")));

void outside_open(struct board *board)
{
	__atomic_store_n(&shown_on, board, __ATOMIC_RELEASE); /* pairs with outside_begin */
}

void outside_begin(const char *call, const void *caller)
{
	struct board *board = __atomic_load_n(&shown_on, __ATOMIC_ACQUIRE); /* pairs with outside_open */
	struct board_wait wait = { .caller = (uint64_t)(uintptr_t)caller, .cause = CAUSE_OUTSIDE };

	if (!board)
		return;
	wait.since_ns = now_ns();
	snprintf(wait.call, sizeof(wait.call), "%s", call);
	board_show(board, &slot, &wait);
}

int outside_end(int rc)
{
	struct board *board = __atomic_load_n(&shown_on, __ATOMIC_ACQUIRE); /* pairs with outside_open */

	if (board && slot)
		board_clear(board, &slot);
	return rc;
}
