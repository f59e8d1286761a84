// SPDX-License-Identifier: BSD-2-Clause
/*
 * See call.h. Objects are noted when a call first comes from them: they may be closed later.
 */
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "see/front/call.h"
#include "see/front/object.h"

#define ALIGNED(bytes) (((bytes) + 3) & ~(size_t)3)

struct search {
	uintptr_t address;
	struct part_object object;
	uint64_t offset;
};

static void take_build_id(struct part_object *object, const char *note, size_t left)
{
	while (left >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *header = (const void *)note;
		size_t bytes = sizeof(*header) + ALIGNED(header->n_namesz) + ALIGNED(header->n_descsz);
		const char *name = note + sizeof(*header);

		if (bytes > left)
			return;
		if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
		    header->n_descsz <= PART_BUILD_ID_BYTES) {
			memcpy(object->build_id, name + ALIGNED(header->n_namesz), header->n_descsz);
			object->build_id_bytes = header->n_descsz;
			return;
		}
		note += bytes;
		left -= bytes;
	}
}

/* The program itself has no name in the list of objects. */
static void take_path(struct part_object *object, const char *name)
{
	if (name[0])
		snprintf(object->path, sizeof(object->path), "%s", name);
	else if (readlink("/proc/self/exe", object->path, sizeof(object->path) - 1) < 0)
		object->path[0] = '\0';
}

static int check_object(struct dl_phdr_info *info, size_t size_bytes, void *arg)
{
	struct search *search = arg;
	bool found = false;

	(void)size_bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		found |= header->p_type == PT_LOAD && search->address - (info->dlpi_addr + header->p_vaddr) < header->p_memsz;
	}
	if (!found)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_NOTE && !search->object.build_id_bytes)
			take_build_id(&search->object, (const char *)(info->dlpi_addr + header->p_vaddr), header->p_memsz);
	}
	take_path(&search->object, info->dlpi_name);
	search->offset = search->address - info->dlpi_addr;
	return 1;
}

bool object_describe(const void *address, struct part_object *object, uint64_t *offset)
{
	struct search search = { .address = (uintptr_t)address };

	if (!dl_iterate_phdr(check_object, &search))
		return false;
	*object = search.object;
	*offset = search.offset;
	return true;
}

uint32_t object_find(struct part *part, const void *address, uint64_t *offset)
{
	uint32_t count = part->header.object_count;
	struct part_object object;

	if (!object_describe(address, &object, offset))
		return PART_NONE;
	for (uint32_t i = 0; i < count; i++) {
		if (strcmp(part->objects[i].path, object.path) == 0)
			return i;
	}
	if (count == PART_OBJECTS)
		return PART_NONE;
	part->objects[count] = object;
	__atomic_store_n(&part->header.object_count, count + 1, __ATOMIC_RELEASE);
	return count;
}
