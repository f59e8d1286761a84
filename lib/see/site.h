// SPDX-License-Identifier: BSD-2-Clause
/*
 * site.h - a place in a process's code, in words
 *
 * Says "halo.c:88" if the file has debug information, "exchange+0x1f in halo" if it has names only,
 * and "halo+0x11d4", as addr2line takes it, if it has neither or if the build found no libdw.
 */
#ifndef ORIEL_SITE_H
#define ORIEL_SITE_H

#include <stdint.h>
#include <sys/types.h>

#define SITE_TEXT_BYTES 64

/*
 * Names the call that returns to the address in a process; pid 0 is this one. A file of more than
 * most_bytes is not searched for names. Printable ASCII; "" if the process has no code there.
 * Returns text.
 */
const char *site_text(pid_t pid, uint64_t address, uint64_t most_bytes, char text[SITE_TEXT_BYTES]);

#endif
