// SPDX-License-Identifier: BSD-2-Clause
/* The device's files, and the functions that these calls replace. */
#ifndef SOFT_NODES_H
#define SOFT_NODES_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>

/* All threads store the same pointer, so relaxed order suffices. */
static inline void *nodes_next(_Atomic(void *) *slot, const char *name)
{
	void *next = atomic_load_explicit(slot, memory_order_relaxed);

	if (!next) {
		next = dlsym(RTLD_NEXT, name);
		atomic_store_explicit(slot, next, memory_order_relaxed);
	}
	return next;
}

/* Libc's function of this name, or another library's in its place. */
#define NEXT(name)                        \
	((__typeof__(name) *)(__extension__({ \
		static _Atomic(void *) slot;      \
		nodes_next(&slot, #name);         \
	})))

/* The device's paths in /dev and /sys: paths.c. */

enum {
	NODES_PATH_MAX = 1024, /* bytes */
};

/* Returns the file in place of `path`, written to `room`, or `path` if it is not the device's. */
const char *nodes_path(const char *path, char room[NODES_PATH_MAX]);

/* Removes our directory from a result, in place, so that a program sees the names it knows. */
char *nodes_answer(char *path);

/* Files whose text depends on the host: paths.c. */

/* Returns a descriptor to read the text from, or -1 if `path` has no such text. */
int nodes_text(const char *path, int flags);

#endif
