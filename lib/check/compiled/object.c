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

static struct code codes[OBJECTS_MAX];
static uint32_t code_count, files;
static bool is_started;

uint32_t objects_count(void)
{
	return __atomic_load_n(&files, __ATOMIC_RELAXED);
}

bool object_has(const void *address)
{
	uint32_t count = __atomic_load_n(&code_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++) {
		if ((uint64_t)(uintptr_t)address - codes[i].first < codes[i].end - codes[i].first)
			return true;
	}
	return false;
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

static bool needs_libtsan(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
	const char *strings = strings_of(info, entry);

	for (; strings && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_NEEDED && strncmp(strings + entry->d_un.d_val, LIBTSAN, sizeof(LIBTSAN) - 1) == 0)
			return true;
	}
	return false;
}

static void add_code(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum && code_count < OBJECTS_MAX; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t first = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		codes[code_count] = (struct code){ first, first + header->p_memsz };
		__atomic_store_n(&code_count, code_count + 1, __ATOMIC_RELEASE);
	}
}

static int take_library(struct dl_phdr_info *info, size_t size_bytes, void *arg)
{
	(void)size_bytes;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t dynamic = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC && needs_libtsan(info, (const ElfW(Dyn) *)dynamic))
			add_code(info);
	}
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
	is_started = true;
}

void __tsan_init(void)
{
	__atomic_add_fetch(&files, is_started, __ATOMIC_RELAXED);
}
