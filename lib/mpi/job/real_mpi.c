// SPDX-License-Identifier: BSD-2-Clause
/* See real_mpi.h. */
#include "mpi/job/real_mpi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct real_mpi real_mpi;

#ifdef OMPI_MAJOR_VERSION
static const char *const others[] = { "libmpich.so.12", "libmpi.so.12", "libmpi_abi.so.1" };
#else
static const char *const others[] = { "libmpi.so.40", "libmpi_abi.so.1" };
#endif

/* ISO C has no cast from an object's address to a function's. */
static void find(void *scope, const char *name, void *function)
{
	void *found = dlsym(scope, name);

	memcpy(function, &found, sizeof(found));
}

static void fill(void *scope)
{
#define X(name) find(scope, "PMPI_" #name, &real_mpi.name);
	CALLS(X)
#undef X
}

__attribute__((constructor)) static void fill_at_load(void)
{
	fill(RTLD_NEXT);
}

/* Returns the address of the symbol after this library, or 0. */
static uintptr_t next_address(const char *name)
{
	return (uintptr_t)dlsym(RTLD_NEXT, name);
}

struct file {
	uintptr_t inside; /* an address */
	uintptr_t begin, end;
};

/* Finds the file's ends; returns 1 if `inside` lies between them. */
static int contains(struct dl_phdr_info *info, size_t size_bytes, void *arg)
{
	struct file *file = arg;

	(void)size_bytes;
	file->begin = UINTPTR_MAX;
	file->end = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t begin = (uintptr_t)(info->dlpi_addr + part->p_vaddr), end = begin + (uintptr_t)part->p_memsz;

		if (part->p_type != PT_LOAD)
			continue;
		file->begin = begin < file->begin ? begin : file->begin;
		file->end = end > file->end ? end : file->end;
	}
	return file->inside >= file->begin && file->inside < file->end;
}

/* dladdr reads all symbols of a file, so only a tool's is looked up. */
const char *real_mpi_bypassed_tool(void)
{
	static const char *const names[] = {
#define X(name) "MPI_" #name,
		CALLS(X)
#undef X
	};
	struct file mpi = { .inside = next_address("PMPI_Comm_rank") };
	Dl_info info;

	if (!mpi.inside || !dl_iterate_phdr(contains, &mpi))
		return NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uintptr_t found = next_address(names[i]);

		if (found && (found < mpi.begin || found >= mpi.end) && dladdr((void *)found, &info))
			return info.dli_fname;
	}
	return NULL;
}

/* Returns 1, which ends the search, if the file's name begins with the library's. */
static int has_name(struct dl_phdr_info *info, size_t size_bytes, void *library)
{
	const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;

	(void)size_bytes;
	return strncmp(name, library, strlen(library)) == 0;
}

/* Returns the library if it is loaded, or NULL. dlopen alone would search some forty folders. */
static void *loaded(const char *library)
{
	bool found = dl_iterate_phdr(has_name, (void *)(uintptr_t)library);

	return found ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

const char *real_mpi_use_other(void)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		void *library = loaded(others[i]);

		if (library) {
			fill(library);
			return others[i];
		}
	}
	return NULL;
}

int real_mpi_reaches(const char *library)
{
	void *handle = loaded(library);

	return handle && dlsym(handle, "PMPI_Comm_rank") == dlsym(RTLD_DEFAULT, "PMPI_Comm_rank");
}
