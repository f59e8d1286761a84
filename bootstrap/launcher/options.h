// SPDX-License-Identifier: BSD-2-Clause
/*
 * options.h - oriel-run's command line
 *
 * ERRORS: options_parse prints nothing; error[] says what is wrong and what to do.
 */
#ifndef ORIEL_LAUNCHER_OPTIONS_H
#define ORIEL_LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define RUN_RANKS_MAX 8192 /* on one machine */
#define RUN_ADDRS_MAX 256
#define RUN_VARIABLES_MAX 256
#define RUN_SECONDS_MAX 100000000.
#define RUN_GRACE_DEFAULT_S 10.
#define RUN_OPTIONS_ERROR_BYTES 1024

enum options_verdict {
	OPTIONS_RUN,
	OPTIONS_HELP,
	OPTIONS_VERSION,
	OPTIONS_WRONG, /* see error */
};

/* Strings belong to argv, except addrs, which options_free frees. */
struct options {
	int size; /* ranks to start */
	bool prefix;
	bool verbose;
	double timeout_s;                 /* for the whole job; 0: none */
	double grace_s;                   /* from a failure to SIGTERM, and from SIGTERM to SIGKILL */
	const char *hosts;                /* requested machines, only for an error; NULL: none */
	const char *device;               /* NULL: do not set ORIEL_DEVICE */
	const char *unkind;               /* a seed; NULL: do not set ORIEL_UNKIND */
	char *addr_list;                  /* copy of --addr, cut into addrs */
	const char *addrs[RUN_ADDRS_MAX]; /* rank i gets addrs[i % addr_count] */
	int addr_count;
	char *variables[RUN_VARIABLES_MAX + 1]; /* VAR=VALUE, then NULL */
	int variable_count;
	char **command; /* program and arguments, then NULL */
	char error[RUN_OPTIONS_ERROR_BYTES];
};

enum options_verdict options_parse(int argc, char **argv, struct options *options);
void options_free(struct options *options);

const char *options_usage(void);

#endif
