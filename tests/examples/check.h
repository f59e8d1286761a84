// SPDX-License-Identifier: BSD-2-Clause
/* check.h - ends a program when a call of Oriel fails */
#ifndef CHECK_H
#define CHECK_H

#include <oriel.h>
#include <stdio.h>
#include <stdlib.h>

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

#endif
