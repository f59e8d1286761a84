/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols.h - the dynamic symbols of a program or library that is loaded */
#ifndef ORIEL_CHECK_SYMBOLS_H
#define ORIEL_CHECK_SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct symbols {
	uint64_t base;             /* of addresses */
	const ElfW(Sym) * list;    /* the first `undefined` ones are defined elsewhere */
	uint32_t count;            /* 0: not known */
	const char *names;         /* NULL: not known */
	const ElfW(Dyn) * dynamic; /* NULL: there are none */
};

/* Returns those of a file that dl_iterate_phdr names. */
struct symbols symbols_of(const struct dl_phdr_info *info);

/* Returns whether the file has, or needs, a symbol of this name. */
bool symbols_have(const struct symbols *symbols, const char *name);

/* Returns whether the address lies in the file's code. */
bool symbols_lie_in(const struct dl_phdr_info *info, const void *address);

#endif
