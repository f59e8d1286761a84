// SPDX-License-Identifier: BSD-2-Clause
/* See call.h. The report is written by a program of its own: oriel-see (report/main.c). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "see/front/call.h"
#include "see/front/spawn.h"

#define PROGRAM_VARIABLE "ORIEL_SEE" /* the starter's */

void report_at_end(void)
{
	const char *program = getenv(PROGRAM_VARIABLE);
	struct part *part = part_of_process();
	int error = ENOENT;

	part_end();
	if (!part || part->header.rank != 0)
		return;
	if (program) {
		char *const arguments[] = { (char *)(uintptr_t)program, (char *)"--job", part->header.job, NULL };

		error = spawn_and_wait(program, arguments);
	}
	if (error)
		fprintf(stderr, "oriel: no report is written: %s: %s; oriel-see --job '%s' writes it\n",
		        program ? program : PROGRAM_VARIABLE " is not set", strerror(error), part->header.job);
}
