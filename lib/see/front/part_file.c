// SPDX-License-Identifier: BSD-2-Clause
/* See part.h. The recording process and oriel-see find and open parts alike. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "see/front/part.h"

void part_write_folder(char folder[PART_FOLDER_BYTES])
{
	const char *above = getenv("TMPDIR");

	snprintf(folder, PART_FOLDER_BYTES, "%.200s/oriel-%d", above && *above ? above : "/tmp", (int)geteuid());
}

bool part_make_folder(const char *folder)
{
	struct stat st;

	if (mkdir(folder, 0700) && errno != EEXIST)
		return false;
	if (lstat(folder, &st))
		return false;
	errno = EPERM;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

int part_file_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	               st.st_size >= (off_t)sizeof(struct part)))
		return fd;
	close(fd);
	return -1;
}
