// SPDX-License-Identifier: BSD-2-Clause
/* See source.h. */
#include "see/source.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY_NAME "libdw.so.1"

/* The functions of libdw that are called here. */
struct library {
	__typeof__(dwfl_begin) *begin;
	__typeof__(dwfl_end) *end;
	__typeof__(dwfl_report_offline) *report;
	__typeof__(dwfl_report_end) *report_end;
	__typeof__(dwfl_offline_section_address) *section_address;
	__typeof__(dwfl_module_getelf) *elf;
	__typeof__(dwfl_module_getsrc) *line;
	__typeof__(dwfl_lineinfo) *line_info;
	__typeof__(dwfl_module_addrinfo) *function;
};

struct entry {
	const char *name;
	size_t offset;
};

static const struct entry entries[] = {
	{ "dwfl_begin", offsetof(struct library, begin) },
	{ "dwfl_end", offsetof(struct library, end) },
	{ "dwfl_report_offline", offsetof(struct library, report) },
	{ "dwfl_report_end", offsetof(struct library, report_end) },
	{ "dwfl_offline_section_address", offsetof(struct library, section_address) },
	{ "dwfl_module_getelf", offsetof(struct library, elf) },
	{ "dwfl_module_getsrc", offsetof(struct library, line) },
	{ "dwfl_lineinfo", offsetof(struct library, line_info) },
	{ "dwfl_module_addrinfo", offsetof(struct library, function) },
};

/* Another version of the library may lack a function: it is not used then. */
static bool open_library(struct library *library)
{
	void *handle = dlopen(LIBRARY_NAME, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; handle && i < sizeof(entries) / sizeof(entries[0]); i++) {
		void *function = dlsym(handle, entries[i].name);

		if (!function)
			return false;
		memcpy((char *)library + entries[i].offset, &function, sizeof(function));
	}
	return handle;
}

/* Finds nothing: see source.h. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
                          const char *link, GElf_Word sum, char **found)
{
	(void)module;
	(void)data;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)sum;
	(void)found;
	return -1;
}

static bool line_text(const struct library *library, Dwfl_Module *module, Dwarf_Addr address,
                      char text[SITE_TEXT_BYTES])
{
	Dwfl_Line *line = library->line(module, address);
	const char *path, *slash;
	int number = 0;

	path = line ? library->line_info(line, NULL, &number, NULL, NULL, NULL) : NULL;
	if (!path || number <= 0)
		return false;
	slash = strrchr(path, '/');
	snprintf(text, SITE_TEXT_BYTES, "%.48s:%d", slash ? slash + 1 : path, number);
	return true;
}

static bool function_text(const struct library *library, Dwfl_Module *module, const char *name, Dwarf_Addr address,
                          char text[SITE_TEXT_BYTES])
{
	GElf_Off offset = 0;
	GElf_Sym symbol;
	const char *function = library->function(module, address, &offset, &symbol, NULL, NULL, NULL);

	if (!function)
		return false;
	snprintf(text, SITE_TEXT_BYTES, "%.30s+0x%" PRIx64 " in %.18s", function, (uint64_t)offset, name);
	return true;
}

/* libdw counts the addresses of a file from a place that it has chosen. */
static bool module_text(const struct library *library, Dwfl_Module *module, const char *name, uint64_t address,
                        char text[SITE_TEXT_BYTES])
{
	Dwarf_Addr moved = 0;

	if (!library->elf(module, &moved))
		return false;
	moved += address;
	return line_text(library, module, moved, text) || function_text(library, module, name, moved, text);
}

bool source_text(const char *path, const char *name, uint64_t address, char text[SITE_TEXT_BYTES])
{
	Dwfl_Callbacks callbacks = { .find_debuginfo = find_debuginfo };
	struct library library;
	Dwfl_Module *module;
	Dwfl *dwfl;
	bool found;

	if (!open_library(&library))
		return false;
	callbacks.section_address = library.section_address;
	dwfl = library.begin(&callbacks);
	if (!dwfl)
		return false;
	module = library.report(dwfl, name, path, -1);
	library.report_end(dwfl, NULL, NULL);
	found = module && module_text(&library, module, name, address, text);
	library.end(dwfl);
	return found;
}
