// SPDX-License-Identifier: BSD-2-Clause
/* signals.h - signals to the launcher, or for the ranks */
#ifndef ORIEL_LAUNCHER_SIGNALS_H
#define ORIEL_LAUNCHER_SIGNALS_H

#include "launcher/job.h"

/* Watches signals for a job, one job at a time. */
void signals_open(struct job *job);
void signals_close(struct job *job);

#endif
