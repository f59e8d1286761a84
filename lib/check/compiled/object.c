// SPDX-License-Identifier: BSD-2-Clause
/*
 * object.c - which code was compiled with -fsanitize=thread; see watch.h
 *
 * Each object file that was has a constructor that calls __tsan_init, often by a jump, so that its
 * place is not known. The program or library that it is linked into needs libtsan.
 */
#include <link.h>
#include <string.h>

#include "check/compiled/tsan.h"
#include "check/compiled/watch.h"

#define OBJECTS_MAX 256 /* programs and libraries */
#define LIBTSAN "libtsan.so."

struct code {
	uint64_t first, end;
};

static struct code codes[OBJECTS_MAX];   /* compiled so */
static struct code helpers[OBJECTS_MAX]; /* of libraries whose threads are the program's */
static uint32_t code_count, helper_count, files;
static char unknown[64]; /* the first library that may order threads; "": none */
static bool is_started;

/* They order no threads but by calls that are followed, or for themselves. */
static const char *const known[] = { "libtsan.", "libc.",     "libm.",      "libpthread.",  "libdl.",       "librt.",
	                                 "libutil.", "libgcc_s.", "libstdc++.", "libgfortran.", "libquadmath.", "libgomp.",
	                                 "libmpi",   "liboriel",  "ld-linux",   "linux-vdso" };
static const char *const with_threads[] = { "libstdc++.", "libgomp." };

uint32_t objects_count(void)
{
	return __atomic_load_n(&files, __ATOMIC_RELAXED);
}

static bool has(const struct code list[], const uint32_t *count_of, const void *address)
{
	uint32_t count = __atomic_load_n(count_of, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++) {
		if ((uint64_t)(uintptr_t)address - list[i].first < list[i].end - list[i].first)
			return true;
	}
	return false;
}

bool object_has(const void *address)
{
	return has(codes, &code_count, address);
}

bool object_has_threads(const void *address)
{
	return object_has(address) || has(helpers, &helper_count, address);
}

const char *object_unknown(void)
{
	return unknown[0] ? unknown : NULL;
}

/* Returns the strings of a dynamic section, which the dynamic linker may have moved. */
static const char *strings_of(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag != DT_STRTAB)
			continue;
		return (const char *)(entry->d_un.d_ptr < info->dlpi_addr ? info->dlpi_addr + entry->d_un.d_ptr
		                                                          : entry->d_un.d_ptr);
	}
	return NULL;
}

/* Returns whether the name of a library begins with one of these. */
static bool is_one_of(const char *name, const char *const list[], size_t count)
{
	const char *slash = strrchr(name, '/');

	for (size_t i = 0; i < count; i++) {
		if (strncmp(slash ? slash + 1 : name, list[i], strlen(list[i])) == 0)
			return true;
	}
	return false;
}

/* Finds a library that recompiled code needs, and that is not known. */
static void find_unknown(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
	const char *strings = strings_of(info, entry);

	for (; strings && entry->d_tag != DT_NULL; entry++) {
		const char *name = strings + entry->d_un.d_val;

		if (entry->d_tag == DT_NEEDED && !unknown[0] && !is_one_of(name, known, sizeof(known) / sizeof(*known)))
			strncpy(unknown, name, sizeof(unknown) - 1);
	}
}

static bool needs_libtsan(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
	const char *strings = strings_of(info, entry);

	for (; strings && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_NEEDED && strncmp(strings + entry->d_un.d_val, LIBTSAN, sizeof(LIBTSAN) - 1) == 0)
			return true;
	}
	return false;
}

static void add_code(const struct dl_phdr_info *info, struct code list[], uint32_t *count)
{
	for (int i = 0; i < info->dlpi_phnum && *count < OBJECTS_MAX; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t first = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		list[*count] = (struct code){ first, first + header->p_memsz };
		__atomic_store_n(count, *count + 1, __ATOMIC_RELEASE);
	}
}

static int take_library(struct dl_phdr_info *info, size_t size_bytes, void *arg)
{
	(void)size_bytes;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t dynamic = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_DYNAMIC || !needs_libtsan(info, (const ElfW(Dyn) *)dynamic))
			continue;
		add_code(info, codes, &code_count);
		find_unknown(info, (const ElfW(Dyn) *)dynamic);
	}
	if (is_one_of(info->dlpi_name, with_threads, sizeof(with_threads) / sizeof(*with_threads)))
		add_code(info, helpers, &helper_count);
	return 0;
}

void objects_find(void)
{
	if (code_count == 0)
		dl_iterate_phdr(take_library, NULL);
}

/* The first call comes from the program's start, before that of the constructors. */
__attribute__((constructor)) static void start(void)
{
	objects_find();
	is_started = true;
}

void __tsan_init(void)
{
	__atomic_add_fetch(&files, is_started, __ATOMIC_RELAXED);
}
