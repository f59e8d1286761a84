// SPDX-License-Identifier: BSD-2-Clause
/* See shortage.h. */
#include "pages/shortage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/process_limit.h"
#include "oriel.h"
#include "pages/memory_file.h"

#define NO_LIMIT (~0ull)

bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS || error == EFBIG;
}

int shortage_code(int error)
{
	return error == EMFILE || error == ENFILE ? ORIEL_ERR_LIMIT : ORIEL_ERR_MEMORY;
}

static unsigned long long limit_of(unsigned resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return NO_LIMIT;
	return (unsigned long long)limit.rlim_cur;
}

/* Returns the bytes of the process's address space; 0: unknown. */
static unsigned long long address_space(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

static void room_text(int error, char *text, size_t text_bytes)
{
	struct memory_room room;

	memory_room("", MEMORY_LEFT, &room);
	if (room.bytes == UINT64_MAX)
		snprintf(text, text_bytes, "%s: no limit of this process is known to be met; free memory, and call again",
		         strerror(error));
	else
		snprintf(text, text_bytes, "%s: %llu bytes can be had of the %llu that are %s; free memory, and call again",
		         strerror(error), (unsigned long long)room.bytes, (unsigned long long)room.limit_bytes, room.limit);
}

/* A limit of the process is met before the machine is full. */
static void memory_text(int error, bool pinned, char *text, size_t text_bytes)
{
	if (pinned && limit_of(RLIMIT_MEMLOCK) != NO_LIMIT)
		snprintf(text, text_bytes,
		         "%s: the locked-memory limit is %llu bytes; free memory, or raise it (ulimit -l), and call again",
		         strerror(error), limit_of(RLIMIT_MEMLOCK));
	else if (limit_of(RLIMIT_AS) != NO_LIMIT)
		snprintf(text, text_bytes,
		         "%s: the address space may have %llu bytes and has %llu; raise that limit (ulimit -v), and call again",
		         strerror(error), limit_of(RLIMIT_AS), address_space());
	else if (limit_of(RLIMIT_DATA) != NO_LIMIT)
		snprintf(text, text_bytes,
		         "%s: the process's data may have %llu bytes; raise that limit (ulimit -d), and call again",
		         strerror(error), limit_of(RLIMIT_DATA));
	else
		room_text(error, text, text_bytes);
}

void shortage_text(int error, bool pinned, char *text, size_t text_bytes)
{
	if (error == EMFILE)
		snprintf(text, text_bytes,
		         "%s: a connection needs up to 8 descriptors, and this process may have %llu; close some, or raise the "
		         "limit (ulimit -n), and call again",
		         strerror(error), limit_of(RLIMIT_NOFILE));
	else if (error == ENFILE)
		snprintf(text, text_bytes, "%s: the whole system has no more descriptors; raise /proc/sys/fs/file-max",
		         strerror(error));
	else if (error == EFBIG)
		snprintf(
			text, text_bytes,
			"%s: memory that ranks share counts as a file, and a file of this process may have %llu bytes; raise the "
			"limit (ulimit -f), and call again",
			strerror(error), limit_of(RLIMIT_FSIZE));
	else
		memory_text(error, pinned, text, text_bytes);
}

void thread_text(int error, char *text, size_t text_bytes)
{
	if (error == EAGAIN)
		process_limit_text(error, text, text_bytes);
	else
		snprintf(text, text_bytes,
		         "%s: the system forbids threads, as an old seccomp profile of a container does (clone3)",
		         strerror(error));
}
