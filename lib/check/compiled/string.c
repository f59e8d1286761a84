// SPDX-License-Identifier: BSD-2-Clause
/*
 * string.c - functions of memory and text, in front of the C library
 *
 * All code of the process calls them. They record the accesses of those callers that were compiled
 * with -fsanitize=thread.
 */
#include <dlfcn.h>
#include <string.h>

#include "check/compiled/tsan.h"
#include "check/compiled/watch.h"

#define VISIBLE __attribute__((visibility("default")))

#define CALLS(X) \
	X(memcpy)    \
	X(memmove)   \
	X(memset) X(memcmp) X(memchr) X(strlen) X(strcmp) X(strncmp) X(strcpy) X(strncpy) X(strcat) X(strchr) X(strdup)

/* The functions behind this library. */
static struct {
#define X(name) __typeof__(name) *name;
	CALLS(X)
#undef X
} next;

/* ISO C has no cast from an object's address to a function's. memcpy is not known yet. */
static void find(const char *name, void *function)
{
	union {
		void *found;
		char bytes[sizeof(void *)];
	} value = { dlsym(RTLD_NEXT, name) };

	for (size_t i = 0; i < sizeof(value); i++)
		((volatile char *)function)[i] = value.bytes[i];
}

static __attribute__((noinline)) void find_all(void)
{
#define X(name) find(#name, &next.name);
	CALLS(X)
#undef X
}

/* Constructors of other libraries may come first. */
static void need(const void *function)
{
	if (__builtin_expect(!function, 0))
		find_all();
}

static void reads(const void *site, const char *call, const void *memory, size_t bytes)
{
	if (object_has(site))
		watch_range(site, call, memory, bytes, KIND_LOAD);
}

static void writes(const void *site, const char *call, const void *memory, size_t bytes)
{
	if (object_has(site))
		watch_range(site, call, memory, bytes, KIND_STORE);
}

static void *copy(const void *site, void *to, const void *from, size_t bytes)
{
	need((const void *)(uintptr_t)next.memcpy);
	reads(site, "memcpy", from, bytes);
	writes(site, "memcpy", to, bytes);
	return next.memcpy(to, from, bytes);
}

VISIBLE void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	return copy(HERE, to, from, bytes);
}

void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
	return copy(HERE, to, from, bytes);
}

static void *move(const void *site, void *to, const void *from, size_t bytes)
{
	need((const void *)(uintptr_t)next.memmove);
	reads(site, "memmove", from, bytes);
	writes(site, "memmove", to, bytes);
	return next.memmove(to, from, bytes);
}

VISIBLE void *memmove(void *to, const void *from, size_t bytes)
{
	return move(HERE, to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
	return move(HERE, to, from, bytes);
}

static void *set(const void *site, void *memory, int byte, size_t bytes)
{
	need((const void *)(uintptr_t)next.memset);
	writes(site, "memset", memory, bytes);
	return next.memset(memory, byte, bytes);
}

VISIBLE void *memset(void *memory, int byte, size_t bytes)
{
	return set(HERE, memory, byte, bytes);
}

void *__tsan_memset(void *memory, int byte, size_t bytes)
{
	return set(HERE, memory, byte, bytes);
}

/* How many bytes of the two decide is not known: those before the first difference do. */
VISIBLE int memcmp(const void *a, const void *b, size_t bytes)
{
	size_t same = 0;

	need((const void *)(uintptr_t)next.memcmp);
	if (object_has(HERE)) {
		while (same < bytes && ((const char *)a)[same] == ((const char *)b)[same])
			same++;
		same += same < bytes;
		reads(HERE, "memcmp", a, same);
		reads(HERE, "memcmp", b, same);
	}
	return next.memcmp(a, b, bytes);
}

VISIBLE void *memchr(const void *memory, int byte, size_t bytes)
{
	const char *found;

	need((const void *)(uintptr_t)next.memchr);
	found = next.memchr(memory, byte, bytes);
	reads(HERE, "memchr", memory, found ? (size_t)(found - (const char *)memory) + 1 : bytes);
	return (void *)(uintptr_t)found;
}

VISIBLE size_t strlen(const char *text)
{
	size_t bytes;

	need((const void *)(uintptr_t)next.strlen);
	bytes = next.strlen(text);
	reads(HERE, "strlen", text, bytes + 1);
	return bytes;
}

/* Returns how many bytes two texts have in common, and one behind these. */
static size_t common(const char *a, const char *b, size_t most)
{
	size_t at = 0;

	while (at < most && a[at] == b[at] && a[at])
		at++;
	return at < most ? at + 1 : most;
}

VISIBLE int strcmp(const char *a, const char *b)
{
	need((const void *)(uintptr_t)next.strcmp);
	if (object_has(HERE)) {
		reads(HERE, "strcmp", a, common(a, b, SIZE_MAX));
		reads(HERE, "strcmp", b, common(a, b, SIZE_MAX));
	}
	return next.strcmp(a, b);
}

VISIBLE int strncmp(const char *a, const char *b, size_t most)
{
	need((const void *)(uintptr_t)next.strncmp);
	if (object_has(HERE)) {
		reads(HERE, "strncmp", a, common(a, b, most));
		reads(HERE, "strncmp", b, common(a, b, most));
	}
	return next.strncmp(a, b, most);
}

VISIBLE char *strcpy(char *restrict to, const char *restrict from)
{
	need((const void *)(uintptr_t)next.strcpy);
	if (object_has(HERE)) {
		reads(HERE, "strcpy", from, next.strlen(from) + 1);
		writes(HERE, "strcpy", to, next.strlen(from) + 1);
	}
	return next.strcpy(to, from);
}

VISIBLE char *strncpy(char *restrict to, const char *restrict from, size_t most)
{
	need((const void *)(uintptr_t)next.strncpy);
	if (object_has(HERE)) {
		size_t bytes = strnlen(from, most);

		reads(HERE, "strncpy", from, bytes < most ? bytes + 1 : most);
		writes(HERE, "strncpy", to, most);
	}
	return next.strncpy(to, from, most);
}

VISIBLE char *strcat(char *restrict to, const char *restrict from)
{
	need((const void *)(uintptr_t)next.strcat);
	if (object_has(HERE)) {
		reads(HERE, "strcat", to, next.strlen(to) + 1);
		reads(HERE, "strcat", from, next.strlen(from) + 1);
		writes(HERE, "strcat", to + next.strlen(to), next.strlen(from) + 1);
	}
	return next.strcat(to, from);
}

VISIBLE char *strchr(const char *text, int byte)
{
	char *found;

	need((const void *)(uintptr_t)next.strchr);
	found = next.strchr(text, byte);
	if (object_has(HERE))
		reads(HERE, "strchr", text, found ? (size_t)(found - text) + 1 : next.strlen(text) + 1);
	return found;
}

VISIBLE char *strdup(const char *text)
{
	need((const void *)(uintptr_t)next.strdup);
	if (object_has(HERE))
		reads(HERE, "strdup", text, next.strlen(text) + 1);
	return next.strdup(text);
}
