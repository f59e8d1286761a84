// SPDX-License-Identifier: BSD-2-Clause
/*
 * Helgrind knows mutexes and not C11 atomics. In the build that it watches every atomic word has a
 * mutex, under which it is accessed, so that helgrind sees the order that the word makes. That
 * hides wrong memory orders, and data whose accesses happen to have an atomic one between them;
 * both are ThreadSanitizer's to find. What helgrind adds is the order of locks, and tables without
 * theirs. Included before each file: CFLAGS="-include tests/soft/helgrind.h".
 */
#ifndef SOFT_HELGRIND_H
#define SOFT_HELGRIND_H

#include <pthread.h>
#include <stdatomic.h>

#define ORDERED_WORDS 8192u

/* All zeros is an unlocked mutex. */
__attribute__((weak, visibility("hidden"))) pthread_mutex_t helgrind_order[ORDERED_WORDS];

static inline pthread_mutex_t *helgrind_of(const volatile void *word)
{
	return &helgrind_order[(unsigned int)((unsigned long)word / 4 * 2654435761u >> 8) % ORDERED_WORDS];
}

#define ORDERED_ADD(to, by, what)                                           \
	__extension__({                                                         \
		__auto_type ordered_to = (to);                                      \
		pthread_mutex_lock(helgrind_of(ordered_to));                        \
		__auto_type ordered_value = what(ordered_to, by, __ATOMIC_SEQ_CST); \
		pthread_mutex_unlock(helgrind_of(ordered_to));                      \
		ordered_value;                                                      \
	})

#define ORDERED_STORE(to, what)                                       \
	__extension__({                                                   \
		__auto_type ordered_to = (to);                                \
		__typeof__((void)0, *ordered_to) ordered_value = (what);      \
		pthread_mutex_lock(helgrind_of(ordered_to));                  \
		__atomic_store(ordered_to, &ordered_value, __ATOMIC_SEQ_CST); \
		pthread_mutex_unlock(helgrind_of(ordered_to));                \
	})

#define ORDERED_LOAD(from)                                             \
	__extension__({                                                    \
		__auto_type ordered_from = (from);                             \
		__typeof__((void)0, *ordered_from) ordered_value;              \
		pthread_mutex_lock(helgrind_of(ordered_from));                 \
		__atomic_load(ordered_from, &ordered_value, __ATOMIC_SEQ_CST); \
		pthread_mutex_unlock(helgrind_of(ordered_from));               \
		ordered_value;                                                 \
	})

#define ORDERED_EXCHANGE(to, what)                                                   \
	__extension__({                                                                  \
		__auto_type ordered_to = (to);                                               \
		__typeof__((void)0, *ordered_to) ordered_new = (what), ordered_old;          \
		pthread_mutex_lock(helgrind_of(ordered_to));                                 \
		__atomic_exchange(ordered_to, &ordered_new, &ordered_old, __ATOMIC_SEQ_CST); \
		pthread_mutex_unlock(helgrind_of(ordered_to));                               \
		ordered_old;                                                                 \
	})

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_fetch_add
#undef atomic_fetch_sub
#define atomic_load(from) ORDERED_LOAD(from)
#define atomic_load_explicit(from, order) ORDERED_LOAD(from)
#define atomic_store(to, what) ORDERED_STORE(to, what)
#define atomic_store_explicit(to, what, order) ORDERED_STORE(to, what)
#define atomic_exchange(to, what) ORDERED_EXCHANGE(to, what)
#define atomic_exchange_explicit(to, what, order) ORDERED_EXCHANGE(to, what)
#define atomic_fetch_add(to, by) ORDERED_ADD(to, by, __atomic_fetch_add)
#define atomic_fetch_sub(to, by) ORDERED_ADD(to, by, __atomic_fetch_sub)

#endif
