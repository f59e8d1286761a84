// SPDX-License-Identifier: BSD-2-Clause
/* See part.h. Processes that record, and programs that read, share it; the checker's too. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "see/front/part.h"

void part_write_folder(char folder[PART_FOLDER_BYTES])
{
	const char *above = getenv("TMPDIR");

	snprintf(folder, PART_FOLDER_BYTES, "%.200s/oriel-%d", above && *above ? above : "/tmp", (int)geteuid());
}

static bool make_folder(const char *folder)
{
	struct stat st;

	if (mkdir(folder, 0700) && errno != EEXIST)
		return false;
	if (lstat(folder, &st))
		return false;
	errno = EPERM;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

int part_file_make(const char *prefix, char path[PART_FILE_BYTES])
{
	char folder[PART_FOLDER_BYTES];

	part_write_folder(folder);
	snprintf(path, PART_FILE_BYTES, "%s", folder);
	if (!make_folder(folder))
		return -1;
	snprintf(path, PART_FILE_BYTES, "%s/%sXXXXXX", folder, prefix);
	return mkostemp(path, O_CLOEXEC);
}

bool part_file_may_have(uint64_t bytes)
{
	struct rlimit limit;

	errno = EFBIG;
	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
}

bool part_file_take_room(int fd, uint64_t from, uint64_t bytes)
{
	if (!part_file_may_have(from + bytes))
		return false;
	errno = posix_fallocate(fd, (off_t)from, (off_t)bytes);
	return errno == 0;
}

int part_file_open(const char *path, size_t least_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 ||
	    (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size >= (off_t)least_bytes))
		return fd;
	close(fd);
	return -1;
}
