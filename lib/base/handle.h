// SPDX-License-Identifier: BSD-2-Clause
/*
 * handle.h - handles that can be checked after they were freed
 *
 * Every public object begins with a struct handle. Its memory is never freed but serves the next
 * object of that kind: a freed handle still points to readable memory, whose magic is wrong (E2).
 * The handle's pointer to itself reveals a foreign pointer.
 *
 * A child made by fork has neither the threads nor the connections of inherited objects. All
 * handles are invalid there, and it may make its own.
 */
#ifndef ORIEL_HANDLE_H
#define ORIEL_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum handle_kind { HANDLE_JOB, HANDLE_GROUP, HANDLE_WIN, HANDLE_MEM, HANDLE_KINDS };

struct handle {
	uint64_t magic;            /* handle_magic(kind), or 0 once released */
	const struct handle *self; /* this struct; the next free one once released */
	struct handle *next;       /* next live handle, under handle.c's lock */
	struct handle **link;      /* the pointer to it in that list */
	uint64_t serial;           /* unique in the process, even in reused memory; 0 once released */
};

/* Returns a zeroed object that begins with a live struct handle, or NULL: out of memory. */
void *handle_new(enum handle_kind kind, size_t object_bytes);

/* Makes the handle invalid and keeps its memory for handle_new. */
void handle_release(enum handle_kind kind, void *object);

/* Returns ORIEL_ERR_HANDLE, with a text about an invalid handle; `what` is "job" or "group". */
int handle_refuse(const void *object, const char *call, const char *what);

/* Returns a word that memory rarely holds. */
static inline uint64_t handle_magic(enum handle_kind kind)
{
	return 0x6f7269656c480000 + (uint64_t)kind;
}

static inline bool handle_valid(enum handle_kind kind, const void *object)
{
	const struct handle *h = object;

	return h && (uintptr_t)h % _Alignof(struct handle) == 0 && h->magic == handle_magic(kind) && h->self == h;
}

/*
 * Structs that a program and the library exchange, perhaps of two builds
 *
 * Each begins with struct_bytes, which the program sets to its own sizeof. Members are added at the
 * end, so both know the smaller size.
 */

#define PUBLIC_STRUCT_MAX_BYTES 4096 /* more than any build has */

/* Returns 0 if the program has set a possible size. ERRORS: ORIEL_ERR_ARG, naming the struct. */
int public_struct_check(size_t struct_bytes, const char *name);

/* Copies what both know; what only `to` has becomes zero. `to` keeps its struct_bytes. */
void public_struct_copy(void *to, size_t to_bytes, const void *from, size_t from_bytes);

#endif
