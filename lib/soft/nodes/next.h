// SPDX-License-Identifier: BSD-2-Clause
/* The functions that calls would have gone to. */
#ifndef SOFT_NODES_NEXT_H
#define SOFT_NODES_NEXT_H

#include <dlfcn.h>
#include <stdatomic.h>

/* Looked up once. Whoever writes it writes the same, so nobody has to see it at a certain moment. */
static inline void *nodes_next(_Atomic(void *) *slot, const char *name)
{
	void *next = atomic_load_explicit(slot, memory_order_relaxed);

	if (!next) {
		next = dlsym(RTLD_NEXT, name);
		atomic_store_explicit(slot, next, memory_order_relaxed);
	}
	return next;
}

/* libc's function of this name, or that of another library that takes libc's place. */
#define NEXT(name)                        \
	((__typeof__(name) *)(__extension__({ \
		static _Atomic(void *) slot;      \
		nodes_next(&slot, #name);         \
	})))

#endif
