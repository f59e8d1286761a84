// SPDX-License-Identifier: BSD-2-Clause
/*
 * parts.c - makes the parts of a job that has ended, for tests of reports of many ranks (run)
 *
 *   see-parts FOLDER RANKS
 *
 * Each rank has called from SITES places, and has waited there for RANKS_AWAITED ranks. All numbers
 * are made up; run knows those of the waits.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "see/front/part.h"

enum { SITES = 20, RANKS_AWAITED = 12, SECOND_NS = 1000000000 };

static const char *const calls[] = { "MPI_Put", "MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait" };

static struct part part;

static void make_sites(int rank)
{
	for (uint32_t i = 0; i < SITES; i++) {
		struct part_site *site = &part.sites[i];

		*site = (struct part_site){ .offset = 4096 + 16 * i, .bytes = 8000, .ticks = SECOND_NS / SITES };
		snprintf(site->call, sizeof(site->call), "%s", calls[i % (sizeof(calls) / sizeof(calls[0]))]);
		site->ticks -= (uint64_t)rank;
		site->sizes[4] = 1000;
	}
}

static void make_waits(int rank, int ranks)
{
	for (uint32_t i = 0; i < SITES * RANKS_AWAITED; i++) {
		struct part_wait *wait = &part.waits[i];
		uint64_t ns = 1000 + ((uint64_t)rank * 7919 + i * 104729) % 1000003;

		*wait = (struct part_wait){ .site = i / RANKS_AWAITED, .cause = i % 2 ? WAIT_LATE_POST : WAIT_LATE_COMPLETE };
		wait->rank = (rank + 1 + (int)(i % RANKS_AWAITED) * 37) % ranks;
		wait->count = 100;
		wait->ns = wait->max_ns = ns;
		wait->root_count = 2;
		wait->roots[0] = (struct part_root){ .rank = wait->rank, .ns = ns / 4 };
		wait->roots[1] = (struct part_root){ .rank = 3, .ns = ns - ns / 4 };
	}
}

static void make_part(int rank, int ranks)
{
	struct part_header *header = &part.header;

	memset(&part, 0, sizeof(part));
	*header = (struct part_header){ .mark = PART_MARK, .version = PART_VERSION, .state = PART_ENDED, .has_counter = 1 };
	header->rank = rank;
	header->size = ranks;
	header->pid = 100000 + rank;
	header->begun_ns = header->begun_ticks = SECOND_NS;
	header->ended_ns = header->ended_ticks = 3 * (uint64_t)SECOND_NS;
	header->site_count = SITES;
	header->window_count = header->object_count = 1;
	header->wait_count = SITES * RANKS_AWAITED;
	snprintf(header->job, sizeof(header->job), "made");
	snprintf(header->host, sizeof(header->host), "here");
	part.windows[0] = (struct part_window){ .key = 77, .name = "halo", .kind = "allocated" };
	snprintf(part.objects[0].path, sizeof(part.objects[0].path), "/none/app");
	make_sites(rank);
	make_waits(rank, ranks);
}

static int write_part(const char *folder, int rank)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/" PART_PREFIX "%06d", folder, rank);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || write(fd, &part, sizeof(part)) != sizeof(part))
		return perror(path), -1;
	return close(fd);
}

int main(int argc, char **argv)
{
	int ranks = argc == 3 ? atoi(argv[2]) : 0;

	if (ranks <= 0)
		return 2;
	for (int rank = 0; rank < ranks; rank++) {
		make_part(rank, ranks);
		if (write_part(argv[1], rank))
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
