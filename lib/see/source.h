// SPDX-License-Identifier: BSD-2-Clause
/*
 * source.h - the line of source, or the function, that a file has at an address
 *
 * libdw reads it, opened by name, if the build found its headers (config.mk). No debug information
 * outside of the file is searched, since libdw may ask a server in the network for that.
 */
#ifndef ORIEL_SOURCE_H
#define ORIEL_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "see/site.h"

/*
 * Writes "halo.c:88", or "exchange+0x1f in NAME". The address is as the file counts it. Returns
 * false if no name can be read.
 */
bool source_text(const char *path, const char *name, uint64_t address, char text[SITE_TEXT_BYTES]);

#endif
