// SPDX-License-Identifier: BSD-2-Clause
/* See code.h. */
#include "check/code.h"

#include <string.h>

#include "check/symbols.h"

void codes_add(struct codes *codes, const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum && codes->count < CODES_MAX; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uint64_t first = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		codes->list[codes->count].first = first;
		codes->list[codes->count].end = first + part->p_memsz;
		__atomic_store_n(&codes->count, codes->count + 1, __ATOMIC_RELEASE); /* pairs with codes_have */
	}
}

bool codes_have(const struct codes *codes, const void *address)
{
	uint32_t count = __atomic_load_n(&codes->count, __ATOMIC_ACQUIRE); /* pairs with codes_add */

	for (uint32_t i = 0; i < count; i++) {
		if ((uint64_t)(uintptr_t)address - codes->list[i].first < codes->list[i].end - codes->list[i].first)
			return true;
	}
	return false;
}

bool library_is_one_of(const char *path, const char *const names[], size_t count)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < count; i++) {
		if (strncmp(slash ? slash + 1 : path, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

bool library_needs(const struct dl_phdr_info *info, bool (*is_it)(const char *name))
{
	const struct symbols symbols = symbols_of(info);

	for (const ElfW(Dyn) *entry = symbols.dynamic; symbols.names && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_NEEDED && is_it(symbols.names + entry->d_un.d_val))
			return true;
	}
	return false;
}
