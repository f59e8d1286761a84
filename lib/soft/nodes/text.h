// SPDX-License-Identifier: BSD-2-Clause
/* The device's files whose text depends on the host. */
#ifndef SOFT_NODES_TEXT_H
#define SOFT_NODES_TEXT_H

/* Returns a descriptor to read the text from, or -1 if `path` has no such text. */
int nodes_text(const char *path, int flags);

#endif
