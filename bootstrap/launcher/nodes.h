// SPDX-License-Identifier: BSD-2-Clause
/*
 * nodes.h - several machines are for other starters: what to type there in place of oriel-run
 */
#ifndef ORIEL_LAUNCHER_NODES_H
#define ORIEL_LAUNCHER_NODES_H

#include <stdbool.h>
#include <stddef.h>

struct options;

/*
 * Whether several machines are asked for: by --hosts, or by being started inside a Slurm allocation
 * of several nodes. text then says so, with the line to type.
 */
bool nodes_are_wanted(const struct options *options, char *text, size_t size_bytes);

#endif
