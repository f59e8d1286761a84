// SPDX-License-Identifier: BSD-2-Clause
/*
 * source.h - the line of source, or the function, that a file has at an address
 *
 * libdw reads it, opened by name, if the build found its headers (config.mk). No other file is
 * searched: libdw may ask a server for that.
 */
#ifndef ORIEL_SOURCE_H
#define ORIEL_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#define SOURCE_NAME_BYTES 64

/* Names that are not known are "". */
struct source_place {
	char file[SOURCE_NAME_BYTES]; /* without its folder */
	int line;                     /* 0: not known */
	char function[SOURCE_NAME_BYTES];
	uint64_t offset; /* in the function */
};

/* The address is as the file counts it. Returns false without a name. */
bool source_find(const char *path, uint64_t address, struct source_place *place);

#endif
