// SPDX-License-Identifier: BSD-2-Clause
/* The functions that these calls replace. */
#ifndef SOFT_NODES_NEXT_H
#define SOFT_NODES_NEXT_H

#include <dlfcn.h>
#include <stdatomic.h>

/* Looks a function up once. All threads store the same pointer, so relaxed order suffices. */
static inline void *nodes_next(_Atomic(void *) *slot, const char *name)
{
	void *next = atomic_load_explicit(slot, memory_order_relaxed);

	if (!next) {
		next = dlsym(RTLD_NEXT, name);
		atomic_store_explicit(slot, next, memory_order_relaxed);
	}
	return next;
}

/* Libc's function of this name, or that of another library that replaces libc's. */
#define NEXT(name)                        \
	((__typeof__(name) *)(__extension__({ \
		static _Atomic(void *) slot;      \
		nodes_next(&slot, #name);         \
	})))

#endif
