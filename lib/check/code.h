/* SPDX-License-Identifier: BSD-2-Clause */
/* code.h - which programs and libraries the code of an address is of */
#ifndef ORIEL_CHECK_CODE_H
#define ORIEL_CHECK_CODE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODES_MAX 256

/* The code of some programs and libraries. Another thread may look while one is added. */
struct codes {
	struct {
		uint64_t first, end;
	} list[CODES_MAX];
	uint32_t count;
};

void codes_add(struct codes *codes, const struct dl_phdr_info *info);

bool codes_have(const struct codes *codes, const void *address);

/* Returns whether the name of the library at this path begins with one of these. */
bool library_is_one_of(const char *path, const char *const names[], size_t count);

/* Returns whether it needs a library for whose name the function returns true. */
bool library_needs(const struct dl_phdr_info *info, bool (*is_it)(const char *name));

#endif
