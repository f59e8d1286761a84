// SPDX-License-Identifier: BSD-2-Clause
/*
 * boot_clients.h - the ways to be started that boot.c chooses from
 *
 * ASSUMPTIONS: the functions that open are called by boot_open only, which fills in events and
 * events_arg afterwards: no client calls an event before its first dispatch. ERRORS: 0 or a
 * negative ORIEL_ERR_*, with err_set's text.
 */
#ifndef ORIEL_BOOT_CLIENTS_H
#define ORIEL_BOOT_CLIENTS_H

#include "boot.h"

/* What oriel-run puts into the environment of its ranks. */
#define BOOT_ENV_SERVER "ORIEL_BOOTSTRAP" /* see address.h */
#define BOOT_ENV_RANK "ORIEL_RANK"
#define BOOT_ENV_SIZE "ORIEL_SIZE"
#define BOOT_ENV_LOCAL_SIZE "ORIEL_LOCAL_SIZE"
#define BOOT_ENV_SECRET_FD "ORIEL_SECRET_FD" /* number of an inherited descriptor, see boot_run.c */
#define BOOT_ENV_ADDR "ORIEL_ADDR"
#define BOOT_ENV_DEVICE "ORIEL_DEVICE"

/* A rank of an oriel-run job. */
int boot_run_open(struct boot **boot);

/* A job of one rank: this process. */
int boot_single_open(struct boot **boot);

#endif
