// SPDX-License-Identifier: BSD-2-Clause
/*
 * wide.c - atomics of 16 bytes, under a lock: not all processors have instructions for them
 *
 * They are atomic for the threads of the process.
 */
#include <pthread.h>

#include "check/compiled/tsan.h"
#include "check/compiled/watch.h"

__extension__ typedef unsigned __int128 wide;

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

#pragma GCC visibility push(default)
wide __tsan_atomic128_load(const volatile wide *memory, int order);
void __tsan_atomic128_store(volatile wide *memory, wide value, int order);
wide __tsan_atomic128_exchange(volatile wide *memory, wide value, int order);
wide __tsan_atomic128_fetch_add(volatile wide *memory, wide value, int order);
wide __tsan_atomic128_fetch_sub(volatile wide *memory, wide value, int order);
wide __tsan_atomic128_fetch_and(volatile wide *memory, wide value, int order);
wide __tsan_atomic128_fetch_or(volatile wide *memory, wide value, int order);
wide __tsan_atomic128_fetch_xor(volatile wide *memory, wide value, int order);
wide __tsan_atomic128_fetch_nand(volatile wide *memory, wide value, int order);
int __tsan_atomic128_compare_exchange_strong(volatile wide *memory, wide *expected, wide value, int order, int failed);
int __tsan_atomic128_compare_exchange_weak(volatile wide *memory, wide *expected, wide value, int order, int failed);
wide __tsan_atomic128_compare_exchange_val(volatile wide *memory, wide expected, wide value, int order, int failed);
#pragma GCC visibility pop

/* Begins a change of the value. Returns it. Any order counts as the strongest. */
static wide begin(const void *site, const volatile wide *memory, enum compiled_kind kind)
{
	watch_atomic(site, memory, sizeof(wide), kind, __ATOMIC_SEQ_CST);
	strand_before(memory, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&changing);
	strand_after(memory, __ATOMIC_SEQ_CST);
	return *memory;
}

static void end(void)
{
	pthread_mutex_unlock(&changing);
}

wide __tsan_atomic128_load(const volatile wide *memory, int order)
{
	wide value = begin(HERE, memory, KIND_ATOMIC_LOAD);

	(void)order;
	end();
	return value;
}

void __tsan_atomic128_store(volatile wide *memory, wide value, int order)
{
	begin(HERE, memory, KIND_ATOMIC_STORE);
	(void)order;
	*memory = value;
	end();
}

wide __tsan_atomic128_exchange(volatile wide *memory, wide value, int order)
{
	wide before = begin(HERE, memory, KIND_ATOMIC_STORE);

	(void)order;
	*memory = value;
	end();
	return before;
}

wide __tsan_atomic128_fetch_add(volatile wide *memory, wide value, int order)
{
	wide before = begin(HERE, memory, KIND_ATOMIC_STORE);

	(void)order;
	*memory = before + value;
	end();
	return before;
}

wide __tsan_atomic128_fetch_sub(volatile wide *memory, wide value, int order)
{
	wide before = begin(HERE, memory, KIND_ATOMIC_STORE);

	(void)order;
	*memory = before - value;
	end();
	return before;
}

wide __tsan_atomic128_fetch_and(volatile wide *memory, wide value, int order)
{
	wide before = begin(HERE, memory, KIND_ATOMIC_STORE);

	(void)order;
	*memory = before & value;
	end();
	return before;
}

wide __tsan_atomic128_fetch_or(volatile wide *memory, wide value, int order)
{
	wide before = begin(HERE, memory, KIND_ATOMIC_STORE);

	(void)order;
	*memory = before | value;
	end();
	return before;
}

wide __tsan_atomic128_fetch_xor(volatile wide *memory, wide value, int order)
{
	wide before = begin(HERE, memory, KIND_ATOMIC_STORE);

	(void)order;
	*memory = before ^ value;
	end();
	return before;
}

wide __tsan_atomic128_fetch_nand(volatile wide *memory, wide value, int order)
{
	wide before = begin(HERE, memory, KIND_ATOMIC_STORE);

	(void)order;
	*memory = ~(before & value);
	end();
	return before;
}

static wide exchange(const void *site, volatile wide *memory, wide expected, wide value)
{
	wide before = begin(site, memory, KIND_ATOMIC_STORE);

	if (before == expected)
		*memory = value;
	end();
	return before;
}

int __tsan_atomic128_compare_exchange_strong(volatile wide *memory, wide *expected, wide value, int order, int failed)
{
	wide before = exchange(HERE, memory, *expected, value);
	bool is_equal = before == *expected;

	(void)order;
	(void)failed;
	*expected = before;
	return is_equal;
}

int __tsan_atomic128_compare_exchange_weak(volatile wide *memory, wide *expected, wide value, int order, int failed)
{
	wide before = exchange(HERE, memory, *expected, value);
	bool is_equal = before == *expected;

	(void)order;
	(void)failed;
	*expected = before;
	return is_equal;
}

wide __tsan_atomic128_compare_exchange_val(volatile wide *memory, wide expected, wide value, int order, int failed)
{
	(void)order;
	(void)failed;
	return exchange(HERE, memory, expected, value);
}
