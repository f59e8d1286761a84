// SPDX-License-Identifier: BSD-2-Clause
/* Files of the device whose text depends on the host. */
#ifndef SOFT_NODES_TEXT_H
#define SOFT_NODES_TEXT_H

/* A descriptor from which the text of such a file is read, or -1 where `path` is none of them. */
int nodes_text(const char *path, int flags);

#endif
