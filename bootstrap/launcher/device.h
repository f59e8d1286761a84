// SPDX-License-Identifier: BSD-2-Clause
/*
 * device.h - which device the ranks run on: one of the machine, or softverbs
 *
 * The ranks get softverbs' libraries (soft_path.h) by LD_LIBRARY_PATH.
 */
#ifndef ORIEL_LAUNCHER_DEVICE_H
#define ORIEL_LAUNCHER_DEVICE_H

#include <limits.h>

#define DEVICE_SOFT "soft" /* the name --device knows it by */

struct options;

struct device_choice {
	char soft_path[PATH_MAX]; /* folder of softverbs' libraries, or "" for a device of the machine */
};

/*
 * --device soft: softverbs; --device NAME: the machine's; auto: the machine's if there is any, else
 * softverbs. Says with -v which.
 * ERRORS: -1 after saying that softverbs is asked for and not there.
 */
int device_choose(const struct options *options, struct device_choice *choice);

/* In the child: set the environment accordingly. */
void device_set_environment(const struct options *options, const struct device_choice *choice);

#endif
