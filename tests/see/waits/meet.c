// SPDX-License-Identifier: BSD-2-Clause
#include "meet.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static _Atomic unsigned *arrived; /* how often any rank has arrived */
static unsigned size, meetings;

void meet_open(const char *folder, int ranks)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/meet", folder);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*arrived))) {
		perror(path);
		exit(1);
	}
	arrived = mmap(NULL, sizeof(*arrived), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (arrived == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	close(fd);
	size = (unsigned)ranks;
}

void meet(void)
{
	const struct timespec nap = { .tv_nsec = 20000 };

	meetings++;
	atomic_fetch_add(arrived, 1);
	while (atomic_load(arrived) < meetings * size)
		nanosleep(&nap, NULL);
}
