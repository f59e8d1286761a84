// SPDX-License-Identifier: BSD-2-Clause
/* See caller.h. */
#include "see/caller.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unwind.h>

#define FRAMES_MAX 64

/* The code of liboriel.a in a program (lib.mk). liboriel.so has no such section: both are NULL. */
extern const char __start_oriel_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_oriel_text[] __attribute__((weak, visibility("hidden")));

/* A walk up the stack. */
struct walk {
	uintptr_t address; /* of the last frame */
	int frames;
	bool is_outside;
};

static bool is_in_archive(uintptr_t address)
{
	return address >= (uintptr_t)__start_oriel_text && address < (uintptr_t)__stop_oriel_text;
}

static bool begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Returns whether a file is liboriel.so, a part of oriel-mpi, or an MPI. */
static bool is_ours(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return begins_with(name, "liboriel") || begins_with(name, "libmpi");
}

static bool contains(const struct dl_phdr_info *module, uintptr_t address)
{
	for (int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &module->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && address - (module->dlpi_addr + part->p_vaddr) < part->p_memsz)
			return true;
	}
	return false;
}

/* Ends the look through the modules, with 1, at the one that has the walk's address. */
static int check_module(struct dl_phdr_info *module, size_t size_bytes, void *arg)
{
	struct walk *walk = arg;

	(void)size_bytes;
	if (!contains(module, walk->address))
		return 0;
	walk->is_outside = !is_ours(module->dlpi_name) && !is_in_archive(walk->address);
	return 1;
}

static _Unwind_Reason_Code check_frame(struct _Unwind_Context *frame, void *arg)
{
	struct walk *walk = arg;

	walk->address = (uintptr_t)_Unwind_GetIP(frame);
	if (!dl_iterate_phdr(check_module, walk) || walk->is_outside || ++walk->frames == FRAMES_MAX)
		return _URC_END_OF_STACK;
	return _URC_NO_REASON;
}

uint64_t caller_address(void)
{
	struct walk walk = { 0, 0, false };

	_Unwind_Backtrace(check_frame, &walk);
	return walk.is_outside ? walk.address : 0;
}
