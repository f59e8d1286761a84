// SPDX-License-Identifier: BSD-2-Clause
/* nodes.h - oriel-run serves one machine; the command to type for several */
#ifndef ORIEL_LAUNCHER_NODES_H
#define ORIEL_LAUNCHER_NODES_H

#include <stdbool.h>
#include <stddef.h>

struct options;

/*
 * Returns whether several machines are wanted, by --hosts or by a Slurm allocation of several
 * nodes. If so, text says that, with the command to type.
 */
bool nodes_are_wanted(const struct options *options, char *text, size_t size_bytes);

#endif
