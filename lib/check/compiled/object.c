// SPDX-License-Identifier: BSD-2-Clause
/*
 * object.c - which code was compiled with -fsanitize=thread; see watch.h
 *
 * Each object file that was has a constructor that calls __tsan_init, often by a jump, so that its
 * place is not known. The program or library that it is linked into needs libtsan, or has it in
 * itself (runtime.c).
 */
#include <string.h>

#include "check/code.h"
#include "check/compiled/tsan.h"
#include "check/compiled/watch.h"
#include "check/symbols.h"

static struct codes recompiled;
static struct codes helpers; /* of libraries whose threads are the program's */
static uint32_t files;
static char unknown[64]; /* the first library that may order threads; "": none */
static bool is_started;

/* They order no threads but by calls that are followed, or for themselves. */
static const char *const known[] = { "libtsan.",     "libc.",        "libm.",    "libpthread.", "libdl.",
	                                 "librt.",       "libresolv.",   "libutil.", "libgcc_s.",   "libstdc++.",
	                                 "libgfortran.", "libquadmath.", "libgomp.", "libmpi",      "liboriel",
	                                 "ld-linux",     "linux-vdso" };
static const char *const with_threads[] = { "libstdc++.", "libgomp." };

uint32_t objects_count(void)
{
	return __atomic_load_n(&files, __ATOMIC_RELAXED);
}

bool object_has(const void *address)
{
	return codes_have(&recompiled, address);
}

bool object_has_threads(const void *address)
{
	return object_has(address) || codes_have(&helpers, address);
}

const char *object_unknown(void)
{
	return unknown[0] ? unknown : NULL;
}

/* It, or what takes its place. */
static bool is_libtsan(const char *name)
{
	static const char *const names[] = { "libtsan.so.", "liboriel-inline.so" };

	return library_is_one_of(name, names, sizeof(names) / sizeof(*names));
}

/* Keeps in mind the first one that is not known. */
static bool note_unknown(const char *name)
{
	if (!unknown[0] && !library_is_one_of(name, known, sizeof(known) / sizeof(*known)))
		strncpy(unknown, name, sizeof(unknown) - 1);
	return unknown[0];
}

/* Code of clang calls the runtime that is in the program, and names no library for it. */
static bool calls_runtime_inside(const struct dl_phdr_info *info)
{
	struct symbols symbols;

	if (!runtime_is_inside || symbols_lie_in(info, (const void *)(uintptr_t)objects_find))
		return false;
	symbols = symbols_of(info);
	return symbols_have(&symbols, "__tsan_init");
}

static int take_library(struct dl_phdr_info *info, size_t size_bytes, void *arg)
{
	(void)size_bytes;
	(void)arg;
	if (library_needs(info, is_libtsan) || calls_runtime_inside(info)) {
		codes_add(&recompiled, info);
		library_needs(info, note_unknown);
	}
	if (library_is_one_of(info->dlpi_name, with_threads, sizeof(with_threads) / sizeof(*with_threads)))
		codes_add(&helpers, info);
	return 0;
}

void objects_find(void)
{
	if (recompiled.count == 0)
		dl_iterate_phdr(take_library, NULL);
}

/* The first call comes from the program's start, before that of the constructors. */
__attribute__((constructor)) static void start(void)
{
	runtime_take();
	objects_find();
	is_started = true;
}

void __tsan_init(void)
{
	__atomic_add_fetch(&files, is_started, __ATOMIC_RELAXED);
}
