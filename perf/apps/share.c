// SPDX-License-Identifier: BSD-2-Clause
/*
 * share.c - a program's share of time in one-sided calls, and its resident memory; preloaded
 *
 * perf/apps/share.awk makes a function for each call of share.calls, which calls the call's other
 * name, under oriel-mpi Oriel's. MPI_Finalize adds a line to the file that APPS_SHARE names:
 * seconds in these calls, seconds between MPI_Init and MPI_Finalize, maximum resident KiB. Times
 * are inexact if threads call at once.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/share.h"

static double begun, inside;
static int depth; /* an MPI may implement a call by another */

void share_enter(double *at)
{
	*at = depth++ == 0 ? PMPI_Wtime() : 0;
}

void share_leave(double at)
{
	if (--depth == 0)
		inside += PMPI_Wtime() - at;
}

static long resident_kib(void)
{
	char line[256];
	long kib = 0;
	FILE *status = fopen("/proc/self/status", "re");

	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	if (status)
		fclose(status);
	return kib;
}

static void write_line(double all)
{
	const char *name = getenv("APPS_SHARE");
	int fd = name ? open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%.6f %.6f %ld\n", inside, all, resident_kib());
	close(fd);
}

int MPI_Init(int *argc, char ***argv)
{
	int rc = PMPI_Init(argc, argv);

	begun = PMPI_Wtime();
	return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int rc = PMPI_Init_thread(argc, argv, required, provided);

	begun = PMPI_Wtime();
	return rc;
}

int MPI_Finalize(void)
{
	write_line(PMPI_Wtime() - begun);
	return PMPI_Finalize();
}
