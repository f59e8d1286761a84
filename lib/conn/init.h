// SPDX-License-Identifier: BSD-2-Clause
/* init.h - the part of joining a job that tests with a bootstrap of their own call directly */
#ifndef ORIEL_INIT_H
#define ORIEL_INIT_H

#include "oriel.h"

struct boot;

/*
 * Joins the job once the bootstrap is open. job is fresh from handle_new and takes over boot; both
 * are released on failure.
 */
int job_open(struct oriel_job *job, struct boot *boot, const struct oriel_options *options);

#endif
