/* SPDX-License-Identifier: BSD-2-Clause */
/* share.h - what the functions that share.awk makes call: at their begin and at their end */
#ifndef ORIEL_PERF_APPS_SHARE_H
#define ORIEL_PERF_APPS_SHARE_H

void share_enter(double *at);
void share_leave(double at);
#endif
