// SPDX-License-Identifier: BSD-2-Clause
/*
 * source.h - the line of source, or the function, that a file has at an address
 *
 * libdw reads it, if the build found its headers (config.mk) and the library is there when it is
 * needed: it is opened by name. No debug information outside of the file is searched, since libdw
 * may ask a server in the network for that.
 */
#ifndef ORIEL_SOURCE_H
#define ORIEL_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "see/site.h"

/*
 * Writes "halo.c:88", or "exchange+0x1f in NAME". Returns false if the file has no names for the
 * address, as the file itself counts it, or if nothing here can read them.
 */
bool source_text(const char *path, const char *name, uint64_t address, char text[SITE_TEXT_BYTES]);

#endif
