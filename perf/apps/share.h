/* SPDX-License-Identifier: BSD-2-Clause */
/* share.h - the calls of share.awk's functions, at their begin and end */
#ifndef ORIEL_PERF_APPS_SHARE_H
#define ORIEL_PERF_APPS_SHARE_H

void share_enter(double *at);
void share_leave(double at);
#endif
