// SPDX-License-Identifier: BSD-2-Clause
/* check.h - ends a program when a call of Oriel fails; prints how to run a program */
#ifndef CHECK_H
#define CHECK_H

#include <oriel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of the call. If it is an error, CHECK prints the place and the library's message, and exits. */
#define CHECK(call) check((call), __FILE__, __LINE__)

static inline int check(int rc, const char *file, int line)
{
	if (rc < 0) {
		fprintf(stderr, "%s:%d: %s\n", file, line, oriel_last_error());
		exit(1);
	}
	return rc;
}

/* If the program has an argument, prints how to run it, and exits: with 0 if the argument is --help, else with 2. */
static inline void usage(int argc, char **argv, const char *command)
{
	if (argc == 1)
		return;
	printf("usage: %s\n", command);
	exit(strcmp(argv[1], "--help") == 0 ? 0 : 2);
}

#endif
