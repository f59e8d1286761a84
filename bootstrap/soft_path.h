// SPDX-License-Identifier: BSD-2-Clause
/*
 * soft_path.h - whether the machine has an RDMA device, and where softverbs is
 *
 * softverbs is a pair of libraries that take the place of libibverbs and librdmacm. They are looked
 * for beside the program that asks: in ../lib/soft of a build tree or ../lib/oriel/soft of an
 * installation.
 */
#ifndef ORIEL_SOFT_PATH_H
#define ORIEL_SOFT_PATH_H

#include <limits.h>
#include <stdbool.h>

/* Whether the machine has any RDMA device; which of them is of use the ranks find out. */
bool machine_has_device(void);

/* The folder of softverbs' libraries; false, and "", if there is none. */
bool soft_path(char path[PATH_MAX]);

#endif
