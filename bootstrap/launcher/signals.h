// SPDX-License-Identifier: BSD-2-Clause
/* signals.h - signals the launcher gets: for itself, and to be passed on to the ranks. */
#ifndef ORIEL_LAUNCHER_SIGNALS_H
#define ORIEL_LAUNCHER_SIGNALS_H

#include "launcher/job.h"

/* Watch signals for the job. One set at a time. */
void signals_open(struct job *job);
void signals_close(struct job *job);

#endif
