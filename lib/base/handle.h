// SPDX-License-Identifier: BSD-2-Clause
/*
 * handle.h - handles that can be checked after they were freed
 *
 * Every public object begins with a struct handle. Its memory never goes back to the allocator but
 * serves the next object of the same kind, so that a freed handle still points to readable memory
 * whose magic is wrong (E2). The magic and the handle's pointer to itself reveal a foreign pointer.
 *
 * A child made by fork has neither the threads nor the connections of the objects that it inherits.
 * All handles are invalid there, and it may make its own.
 */
#ifndef ORIEL_HANDLE_H
#define ORIEL_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum handle_kind { HANDLE_JOB, HANDLE_GROUP, HANDLE_WIN, HANDLE_MEM, HANDLE_KINDS };

struct handle {
	uint64_t magic;            /* handle_magic(kind) while alive, 0 afterwards */
	const struct handle *self; /* this struct; the next free one after release */
	struct handle *next;       /* while alive: the next live handle, under handle.c's lock */
	struct handle **link;      /* while alive: the pointer to it in that list */
	uint64_t serial;           /* unique in the process, even in reused memory; 0 once released */
};

/*
 * Returns a zeroed object of object_bytes bytes that begins with a live struct handle, or NULL if
 * memory is out.
 */
void *handle_new(enum handle_kind kind, size_t object_bytes);

/* Makes the handle invalid and keeps its memory for the next handle_new of its kind. */
void handle_release(enum handle_kind kind, void *object);

/*
 * Returns ORIEL_ERR_HANDLE, with a text about a handle that handle_valid does not accept; `what` is
 * "job", "group" or the like.
 */
int handle_refuse(const void *object, const char *call, const char *what);

/* Returns the magic of a kind: a word that memory rarely holds. */
static inline uint64_t handle_magic(enum handle_kind kind)
{
	return 0x6f7269656c480000 + (uint64_t)kind;
}

/* Returns whether the pointer is a live handle of that kind. */
static inline bool handle_valid(enum handle_kind kind, const void *object)
{
	const struct handle *h = object;

	return h && (uintptr_t)h % _Alignof(struct handle) == 0 && h->magic == handle_magic(kind) && h->self == h;
}

/*
 * public_struct.c: structs that a program and the library exchange, perhaps of two builds
 *
 * Each begins with struct_bytes, which the program sets to its own sizeof. Members are only added
 * at the end, so both know the smaller of both sizes.
 */

#define PUBLIC_STRUCT_MAX_BYTES 4096 /* more than any build has: such a size was never set */

/* Returns 0 if the program has set a possible size. ERRORS: ORIEL_ERR_ARG, naming the struct. */
int public_struct_check(size_t struct_bytes, const char *name);

/* Copies what both know; what only `to` has becomes zero. `to` keeps its struct_bytes. */
void public_struct_copy(void *to, size_t to_bytes, const void *from, size_t from_bytes);

#endif
