// SPDX-License-Identifier: BSD-2-Clause
/* progress.c - see progress.h. */
#include "bench/progress.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/ticks.h"

#define FIRST_US 2e6 /* shorter runs show nothing */
#define EVERY_US 5e5

static int terminal(void)
{
	char path[64];
	int fd;

	if (isatty(STDERR_FILENO))
		return STDERR_FILENO;
	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)getppid());
	fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || isatty(fd))
		return fd;
	close(fd);
	return -1;
}

static uint64_t ticks_from_now(double us)
{
	return ticks_now() + (uint64_t)(us / ticks_us());
}

void progress_begin(struct progress *progress, bool wanted)
{
	*progress = (struct progress){ .next = UINT64_MAX, .fd = wanted ? terminal() : -1 };
	if (progress->fd >= 0)
		progress->next = ticks_from_now(FIRST_US);
}

/* Drops text that the terminal does not take. */
static void say(const struct progress *progress, const char *text, int bytes)
{
	if (write(progress->fd, text, (size_t)bytes) < 0)
		return;
}

void progress_show(struct progress *progress, size_t size_bytes, long operations)
{
	char line[80];
	int bytes = snprintf(line, sizeof(line), "\r%zu bytes: %ld operations\033[K", size_bytes, operations);

	say(progress, line, bytes);
	progress->shown = true;
	progress->next = ticks_from_now(EVERY_US);
}

void progress_clear(struct progress *progress)
{
	if (progress->shown)
		say(progress, "\r\033[K", 4);
	progress->shown = false;
}
