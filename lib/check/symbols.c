// SPDX-License-Identifier: BSD-2-Clause
/* See symbols.h. */
#include "check/symbols.h"

#include <string.h>

/* Words of a table DT_GNU_HASH, before its filter of 64-bit words. */
enum { BUCKETS, FIRST_HASHED, FILTER_WORDS, FILTER_SHIFT, HEADER_WORDS };

/* The dynamic linker may have moved a pointer of the section already. */
static const void *pointer_of(const struct dl_phdr_info *info, const ElfW(Dyn) * entry, ElfW(Sxword) tag)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		uint64_t address = entry->d_un.d_ptr;

		if (entry->d_tag == tag)
			return (const void *)(uintptr_t)(address < info->dlpi_addr ? info->dlpi_addr + address : address);
	}
	return NULL;
}

/* The last bucket's chain ends with the last symbol. Those before the first are not hashed. */
static uint32_t count_of(const uint32_t *hash)
{
	const uint32_t *buckets = hash + HEADER_WORDS + 2 * hash[FILTER_WORDS], *chains = buckets + hash[BUCKETS];
	uint32_t last = 0;

	for (uint32_t i = 0; i < hash[BUCKETS]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	if (last < hash[FIRST_HASHED])
		return hash[FIRST_HASHED];
	while (!(chains[last - hash[FIRST_HASHED]] & 1))
		last++;
	return last + 1;
}

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	}
	return NULL;
}

struct symbols symbols_of(const struct dl_phdr_info *info)
{
	struct symbols symbols = { .base = info->dlpi_addr, .dynamic = dynamic_of(info) };
	const uint32_t *hash;

	if (!symbols.dynamic)
		return symbols;
	hash = pointer_of(info, symbols.dynamic, DT_GNU_HASH);
	symbols.names = pointer_of(info, symbols.dynamic, DT_STRTAB);
	symbols.list = pointer_of(info, symbols.dynamic, DT_SYMTAB);
	symbols.count = hash && symbols.names && symbols.list ? count_of(hash) : 0;
	return symbols;
}

bool symbols_have(const struct symbols *symbols, const char *name)
{
	for (uint32_t i = 0; i < symbols->count; i++) {
		if (strcmp(symbols->names + symbols->list[i].st_name, name) == 0)
			return true;
	}
	return false;
}

bool symbols_lie_in(const struct dl_phdr_info *info, const void *address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t offset = (uint64_t)(uintptr_t)address - info->dlpi_addr - header->p_vaddr;

		if (header->p_type == PT_LOAD && header->p_flags & PF_X && offset < header->p_memsz)
			return true;
	}
	return false;
}
