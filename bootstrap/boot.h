// SPDX-License-Identifier: BSD-2-Clause
/*
 * boot.h - what the library needs of whoever started the process
 *
 * Small on purpose, so that another process manager is one more file: rank, size, one value of each
 * rank read on demand, abort, and news of dead ranks. A rank puts once, and before it gets
 * anything: launchers keep what they were told first, and answer nothing before all have put. No
 * barrier: what some process managers call so is none, or waits for the dead; ranks leave by
 * goodbyes (goodbye.h). Everything is asynchronous and belongs to one thread at a time:
 * oriel_init's caller until the service thread runs, the service thread until it has ended, then
 * oriel_finalize's caller. Requests are sent at once; answers come as callbacks out of
 * boot_dispatch, which is called when boot_fd is readable.
 *
 * ERRORS: functions return 0 or a negative ORIEL_ERR_*, with err_set's text.
 */
#ifndef ORIEL_BOOT_H
#define ORIEL_BOOT_H

#include <stddef.h>
#include <stdint.h>

#define BOOT_KEY_MAX_BYTES 63 /* without the terminating 0 */
#define BOOT_VALUE_MAX_BYTES 255
#define BOOT_RANKS_MAX (1 << 24)

struct boot;
struct oriel_bootstrap;

/* Callbacks; none may call back into boot_dispatch or boot_close. */
struct boot_events {
	/* The answer to boot_get: value is NULL if the rank ended without ever putting the key. */
	void (*value)(void *arg, int rank, const char *key, const void *value, size_t size_bytes);
	/*
	 * A rank ended without leaving the job in order (signal, exit before boot_leave). text says
	 * how. Told once per rank.
	 */
	void (*died)(void *arg, int rank, const char *text);
	/* The launcher is gone: no further answers will come. Told once. */
	void (*lost)(void *arg, const char *text);
};

/* One way to be started. */
struct boot_ops {
	const char *name;
	int (*put)(struct boot *boot, const char *key, const void *value, size_t size_bytes);
	int (*get)(struct boot *boot, int rank, const char *key);
	int (*leave)(struct boot *boot); /* "this rank ends in order from here on" */
	int (*abort)(struct boot *boot, int status, const char *reason);
	int (*fd)(const struct boot *boot); /* -1: nothing will ever come without a request (dispatch after each request) */
	int (*dispatch)(struct boot *boot); /* never blocks */
	void (*close)(struct boot *boot);
};

struct boot {
	const struct boot_ops *ops;
	const struct boot_events *events;
	void *events_arg;
	int rank;
	int size;
	int local_size;     /* ranks on this machine, for the choice between spinning and yielding */
	uint32_t gathering; /* 1: nothing is answered before all ranks have put; by the client, state_store; state_load */
	char addr[64];      /* the local address the launcher chose for this rank (--addr), or "" */
	char device[64];    /* likewise --device, or "" */
};

/*
 * Join the job: by `own`, the program's own means, if that is not NULL; otherwise find out how the
 * process was started, and join that launcher's: oriel-run, PMIx, PMI-1; without any, a job of one
 * rank. Traces of a launcher that has no client here (plain srun, PALS_RANKID, ...) are
 * ORIEL_ERR_BOOTSTRAP. Blocks, with a bound, until the launcher has accepted this rank. *own is not
 * needed afterwards.
 */
int boot_open(const struct oriel_bootstrap *own, const struct boot_events *events, void *events_arg,
              struct boot **boot);

#endif
