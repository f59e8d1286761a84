// SPDX-License-Identifier: BSD-2-Clause
/*
 * What leaves a library, and data that must not be looked up as if it did (functions need no mark:
 * -fvisibility=hidden).
 */
#ifndef SOFT_EXPORT_H
#define SOFT_EXPORT_H

#define SOFT_HIDDEN __attribute__((visibility("hidden")))
#define SOFT_EXPORT __attribute__((visibility("default")))

#endif
