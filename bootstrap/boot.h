// SPDX-License-Identifier: BSD-2-Clause
/*
 * boot.h - what the library needs of the launcher
 *
 * A rank puts once, before its first get: launchers keep the first value, and answer nothing before
 * all ranks have put. There is no barrier, since those of some launchers wait for the dead; ranks
 * leave by goodbyes (goodbye.h).
 *
 * Calls are asynchronous and belong to one thread at a time: oriel_init's caller until the service
 * thread runs, the service thread until it has ended, then oriel_finalize's caller. Answers are
 * callbacks out of ops->dispatch, which is called when ops->fd is readable.
 *
 * ERRORS: functions return 0 or a negative ORIEL_ERR_*, with err_set's text.
 */
#ifndef ORIEL_BOOT_H
#define ORIEL_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "variables.h"

#define BOOT_KEY_MAX_BYTES 63 /* without the terminating 0 */
#define BOOT_VALUE_MAX_BYTES 255
#define BOOT_RANKS_MAX (1 << 24)

struct boot;
struct oriel_bootstrap;

/* Callbacks; none may call ops->dispatch or ops->close. */
struct boot_events {
	/* The answer to a get; value is NULL if the rank ended without putting the key. */
	void (*value)(void *arg, int rank, const char *key, const void *value, size_t size_bytes);
	/* A rank ended without leaving the job; text says how. Called once per rank. */
	void (*died)(void *arg, int rank, const char *text);
	/* The launcher is gone: no further answers. Called once. */
	void (*lost)(void *arg, const char *text);
};

struct boot_ops {
	const char *name;
	bool tells_deaths; /* each process's end, at once */
	int (*put)(struct boot *boot, const char *key, const void *value, size_t size_bytes);
	int (*get)(struct boot *boot, int rank, const char *key);
	int (*leave)(struct boot *boot); /* this rank now ends in order */
	int (*abort)(struct boot *boot, int status, const char *reason);
	int (*fd)(const struct boot *boot); /* -1: nothing comes unasked; dispatch after each request */
	int (*dispatch)(struct boot *boot); /* never blocks */
	void (*close)(struct boot *boot);
};

struct boot {
	const struct boot_ops *ops;
	const struct boot_events *events;
	void *events_arg;
	int rank;
	int size;
	int local_size;     /* ranks on this machine */
	uint32_t gathering; /* 1: no answers before all ranks have put; state_store, state_load */
	char job[64];       /* the job's name, equal at all ranks; "": unknown */
	char addr[64];      /* the launcher's --addr, or "" */
	char device[64];    /* the launcher's --device, or "" */
};

/*
 * Joins the job of `own`, the program's own means, if not NULL; *own is not needed afterwards.
 * Otherwise the environment names the launcher: oriel-run, PMIx or PMI-1; without any, the job has
 * one rank. Launchers without a client here are ORIEL_ERR_BOOTSTRAP. Blocks, with a bound, until
 * the launcher has accepted this rank.
 */
int boot_open(const struct oriel_bootstrap *own, const struct boot_events *events, void *events_arg,
              struct boot **boot);

#endif
