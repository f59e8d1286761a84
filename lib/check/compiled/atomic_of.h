/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * atomic_of.h - atomics of one size, by the compiler's builtins, for atomic_8.c and its like
 *
 * The file that includes it defines VALUE, the type, and NAME(load), the function's name. All are
 * carried out in the strongest order. An atomic that may change memory counts as a store.
 */

#define BYTES ((uint32_t)sizeof(VALUE))

#pragma GCC visibility push(default)
VALUE NAME(load)(const volatile VALUE *memory, int order);
void NAME(store)(volatile VALUE *memory, VALUE value, int order);
VALUE NAME(exchange)(volatile VALUE *memory, VALUE value, int order);
VALUE NAME(fetch_add)(volatile VALUE *memory, VALUE value, int order);
VALUE NAME(fetch_sub)(volatile VALUE *memory, VALUE value, int order);
VALUE NAME(fetch_and)(volatile VALUE *memory, VALUE value, int order);
VALUE NAME(fetch_or)(volatile VALUE *memory, VALUE value, int order);
VALUE NAME(fetch_xor)(volatile VALUE *memory, VALUE value, int order);
VALUE NAME(fetch_nand)(volatile VALUE *memory, VALUE value, int order);
int NAME(compare_exchange_strong)(volatile VALUE *memory, VALUE *expected, VALUE value, int order, int failed);
int NAME(compare_exchange_weak)(volatile VALUE *memory, VALUE *expected, VALUE value, int order, int failed);
VALUE NAME(compare_exchange_val)(volatile VALUE *memory, VALUE expected, VALUE value, int order, int failed);
#pragma GCC visibility pop

VALUE NAME(load)(const volatile VALUE *memory, int order)
{
	VALUE value;

	watch_atomic(HERE, memory, BYTES, KIND_ATOMIC_LOAD, order);
	value = __atomic_load_n(memory, __ATOMIC_SEQ_CST);
	strand_after(memory, order);
	return value;
}

void NAME(store)(volatile VALUE *memory, VALUE value, int order)
{
	watch_atomic(HERE, memory, BYTES, KIND_ATOMIC_STORE, order);
	strand_before(memory, order);
	__atomic_store_n(memory, value, __ATOMIC_SEQ_CST);
}

VALUE NAME(exchange)(volatile VALUE *memory, VALUE value, int order)
{
	VALUE before;

	watch_atomic(HERE, memory, BYTES, KIND_ATOMIC_STORE, order);
	strand_before(memory, order);
	before = __atomic_exchange_n(memory, value, __ATOMIC_SEQ_CST);
	strand_after(memory, order);
	return before;
}

VALUE NAME(fetch_add)(volatile VALUE *memory, VALUE value, int order)
{
	VALUE before;

	watch_atomic(HERE, memory, BYTES, KIND_ATOMIC_STORE, order);
	strand_before(memory, order);
	before = __atomic_fetch_add(memory, value, __ATOMIC_SEQ_CST);
	strand_after(memory, order);
	return before;
}

VALUE NAME(fetch_sub)(volatile VALUE *memory, VALUE value, int order)
{
	VALUE before;

	watch_atomic(HERE, memory, BYTES, KIND_ATOMIC_STORE, order);
	strand_before(memory, order);
	before = __atomic_fetch_sub(memory, value, __ATOMIC_SEQ_CST);
	strand_after(memory, order);
	return before;
}

VALUE NAME(fetch_and)(volatile VALUE *memory, VALUE value, int order)
{
	VALUE before;

	watch_atomic(HERE, memory, BYTES, KIND_ATOMIC_STORE, order);
	strand_before(memory, order);
	before = __atomic_fetch_and(memory, value, __ATOMIC_SEQ_CST);
	strand_after(memory, order);
	return before;
}

VALUE NAME(fetch_or)(volatile VALUE *memory, VALUE value, int order)
{
	VALUE before;

	watch_atomic(HERE, memory, BYTES, KIND_ATOMIC_STORE, order);
	strand_before(memory, order);
	before = __atomic_fetch_or(memory, value, __ATOMIC_SEQ_CST);
	strand_after(memory, order);
	return before;
}

VALUE NAME(fetch_xor)(volatile VALUE *memory, VALUE value, int order)
{
	VALUE before;

	watch_atomic(HERE, memory, BYTES, KIND_ATOMIC_STORE, order);
	strand_before(memory, order);
	before = __atomic_fetch_xor(memory, value, __ATOMIC_SEQ_CST);
	strand_after(memory, order);
	return before;
}

VALUE NAME(fetch_nand)(volatile VALUE *memory, VALUE value, int order)
{
	VALUE before;

	watch_atomic(HERE, memory, BYTES, KIND_ATOMIC_STORE, order);
	strand_before(memory, order);
	before = __atomic_fetch_nand(memory, value, __ATOMIC_SEQ_CST);
	strand_after(memory, order);
	return before;
}

int NAME(compare_exchange_strong)(volatile VALUE *memory, VALUE *expected, VALUE value, int order, int failed)
{
	bool is_equal;

	watch_atomic(HERE, memory, BYTES, KIND_ATOMIC_STORE, order | failed);
	strand_before(memory, order);
	is_equal = __atomic_compare_exchange_n(memory, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	strand_after(memory, is_equal ? order : failed);
	return is_equal;
}

int NAME(compare_exchange_weak)(volatile VALUE *memory, VALUE *expected, VALUE value, int order, int failed)
{
	bool is_equal;

	watch_atomic(HERE, memory, BYTES, KIND_ATOMIC_STORE, order | failed);
	strand_before(memory, order);
	is_equal = __atomic_compare_exchange_n(memory, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	strand_after(memory, is_equal ? order : failed);
	return is_equal;
}

VALUE NAME(compare_exchange_val)(volatile VALUE *memory, VALUE expected, VALUE value, int order, int failed)
{
	watch_atomic(HERE, memory, BYTES, KIND_ATOMIC_STORE, order | failed);
	strand_before(memory, order);
	strand_after(memory,
	             __atomic_compare_exchange_n(memory, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
	                 ? order
	                 : failed);
	return expected;
}
