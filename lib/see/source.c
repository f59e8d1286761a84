// SPDX-License-Identifier: BSD-2-Clause
/* See source.h. */
#include "see/source.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY_NAME "libdw.so.1"
#define CXX_LIBRARY_NAME "libstdc++.so.6"

struct library {
	__typeof__(dwfl_begin) *begin;
	__typeof__(dwfl_end) *end;
	__typeof__(dwfl_report_offline) *report;
	__typeof__(dwfl_report_end) *report_end;
	__typeof__(dwfl_offline_section_address) *section_address;
	__typeof__(dwfl_module_getelf) *elf;
	__typeof__(dwfl_module_getsrc) *line;
	__typeof__(dwfl_lineinfo) *line_info;
	__typeof__(dwfl_module_nextcu) *next_unit;
	__typeof__(dwarf_haspc) *unit_has;
	__typeof__(dwarf_getsrc_die) *unit_line;
	__typeof__(dwarf_linesrc) *line_file;
	__typeof__(dwarf_lineno) *line_number;
	__typeof__(dwfl_module_addrinfo) *function;
	__typeof__(dwfl_module_addrdie) *unit;
	__typeof__(dwarf_getscopes) *scopes;
	__typeof__(dwarf_tag) *tag;
	__typeof__(dwarf_diename) *name;
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
	{ "dwfl_module_nextcu", offsetof(struct library, next_unit) },
	{ "dwarf_haspc", offsetof(struct library, unit_has) },
	{ "dwarf_getsrc_die", offsetof(struct library, unit_line) },
	{ "dwarf_linesrc", offsetof(struct library, line_file) },
	{ "dwarf_lineno", offsetof(struct library, line_number) },
	{ "dwfl_module_addrinfo", offsetof(struct library, function) },
	{ "dwfl_module_addrdie", offsetof(struct library, unit) },
	{ "dwarf_getscopes", offsetof(struct library, scopes) },
	{ "dwarf_tag", offsetof(struct library, tag) },
	{ "dwarf_diename", offsetof(struct library, name) },
};

/* Another version may lack a function. */
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

/* clang writes no table of addresses. */
static Dwarf_Die *find_unit(const struct library *library, Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = library->unit(module, address, bias);

	if (unit)
		return unit;
	unit = library->next_unit(module, NULL, bias);
	while (unit && library->unit_has(unit, address - *bias) <= 0)
		unit = library->next_unit(module, unit, bias);
	return unit;
}

static const char *unit_line(const struct library *library, Dwfl_Module *module, Dwarf_Addr address, int *number)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = find_unit(library, module, address, &bias);
	Dwarf_Line *line = unit ? library->unit_line(unit, address - bias) : NULL;

	return line && library->line_number(line, number) == 0 ? library->line_file(line, NULL, NULL) : NULL;
}

static void find_line(const struct library *library, Dwfl_Module *module, Dwarf_Addr address,
                      struct source_place *place)
{
	Dwfl_Line *line = library->line(module, address);
	const char *path, *slash;

	path = line ? library->line_info(line, NULL, &place->line, NULL, NULL, NULL)
	            : unit_line(library, module, address, &place->line);
	if (!path || place->line <= 0)
		return;
	slash = strrchr(path, '/');
	snprintf(place->file, sizeof(place->file), "%s", slash ? slash + 1 : path);
}

static void cut_arguments(char *name)
{
	char *end = strrchr(name, ')');
	int depth = 0;

	for (; end && end > name; end--) {
		depth += (*end == ')') - (*end == '(');
		if (depth == 0)
			break;
	}
	if (end && end > name)
		*end = '\0';
}

/* Returns a name of C++ as in its source, for free(), or NULL. */
static char *cxx_name(const char *symbol)
{
	char *(*demangle)(const char *, char *, size_t *, int *);
	void *handle = strncmp(symbol, "_Z", 2) == 0 ? dlopen(CXX_LIBRARY_NAME, RTLD_NOW | RTLD_LOCAL) : NULL;
	void *function = handle ? dlsym(handle, "__cxa_demangle") : NULL;
	char *name;

	if (!function)
		return NULL;
	memcpy(&demangle, &function, sizeof(demangle));
	name = demangle(symbol, NULL, NULL, NULL);
	if (name)
		cut_arguments(name);
	return name;
}

static void find_function(const struct library *library, Dwfl_Module *module, Dwarf_Addr address,
                          struct source_place *place)
{
	GElf_Off offset = 0;
	GElf_Sym symbol;
	const char *function = library->function(module, address, &offset, &symbol, NULL, NULL, NULL);
	char *name;

	if (!function)
		return;
	name = cxx_name(function);
	snprintf(place->function, sizeof(place->function), "%s", name ? name : function);
	place->offset = offset;
	free(name);
}

/* An inlined function has no symbol. */
static void find_inlined(const struct library *library, Dwfl_Module *module, Dwarf_Addr address,
                         struct source_place *place)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = find_unit(library, module, address, &bias), *scopes = NULL;
	int count = unit ? library->scopes(unit, address - bias, &scopes) : 0, i = 0;
	const char *name;

	while (i < count && library->tag(&scopes[i]) == DW_TAG_lexical_block)
		i++;
	name = i < count && library->tag(&scopes[i]) == DW_TAG_inlined_subroutine ? library->name(&scopes[i]) : NULL;
	if (name)
		snprintf(place->function, sizeof(place->function), "%s", name);
	free(scopes);
}

/* libdw counts addresses from a place that it has chosen. */
static bool find_names(const struct library *library, Dwfl_Module *module, uint64_t address, struct source_place *place)
{
	Dwarf_Addr moved = 0;

	if (!library->elf(module, &moved))
		return false;
	find_line(library, module, moved + address, place);
	find_function(library, module, moved + address, place);
	if (place->file[0])
		find_inlined(library, module, moved + address, place);
	return place->file[0] || place->function[0];
}

bool source_find(const char *path, uint64_t address, struct source_place *place)
{
	Dwfl_Callbacks callbacks = { .find_debuginfo = find_debuginfo };
	struct library library;
	Dwfl_Module *module;
	Dwfl *dwfl;
	bool found;

	memset(place, 0, sizeof(*place));
	if (!open_library(&library))
		return false;
	callbacks.section_address = library.section_address;
	dwfl = library.begin(&callbacks);
	if (!dwfl)
		return false;
	module = library.report(dwfl, path, path, -1);
	library.report_end(dwfl, NULL, NULL);
	found = module && find_names(&library, module, address, place);
	library.end(dwfl);
	return found;
}
