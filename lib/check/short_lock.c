// SPDX-License-Identifier: BSD-2-Clause
/* See short_lock.h. */
#include "check/short_lock.h"

#include <sched.h>

_Thread_local bool short_lock_is_own __attribute__((tls_model("initial-exec")));
static bool is_taken;

void short_lock_enter(void)
{
	short_lock_is_own = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	while (__atomic_exchange_n(&is_taken, true, __ATOMIC_ACQUIRE)) /* pairs with short_lock_leave */
		sched_yield();
}

bool short_lock_enter_if_free(void)
{
	short_lock_is_own = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_exchange_n(&is_taken, true, __ATOMIC_ACQUIRE)) /* pairs with short_lock_leave */
		return true;
	short_lock_is_own = false;
	return false;
}

void short_lock_leave(void)
{
	__atomic_store_n(&is_taken, false, __ATOMIC_RELEASE); /* pairs with short_lock_enter */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	short_lock_is_own = false;
}
