// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "see/report/report_file.h"

/* A file renamed onto /dev/null would take its place for all programs of the machine. */
static bool is_written_as_it_is(const char *path)
{
	struct stat st;

	return strncmp(path, "/dev/std", 8) == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
	       (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

/* Nothing waits for a pipe's reader to come; it is waited for while it reads. */
static int open_as_it_is(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0)
		fcntl(fd, F_SETFL, O_WRONLY | O_APPEND);
	return fd;
}

static int make_beside(struct report_file *report)
{
	if (snprintf(report->made, sizeof(report->made), "%s.XXXXXX", report->path) < (int)sizeof(report->made))
		return mkstemp(report->made);
	errno = ENAMETOOLONG;
	return -1;
}

struct report_file report_file_create(const char *path)
{
	struct report_file report = { .path = path };
	int fd = is_written_as_it_is(path) ? open_as_it_is(path) : make_beside(&report);

	report.file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!report.file)
		fprintf(stderr, "oriel-see: %s cannot be written: %s\n", path, strerror(errno));
	return report;
}

bool report_file_finish(struct report_file *report)
{
	bool failed = ferror(report->file);

	failed |= fclose(report->file) != 0;
	if (!failed && (!*report->made || rename(report->made, report->path) == 0))
		return true;
	fprintf(stderr, "oriel-see: %s cannot be written: %s\n", report->path, strerror(errno));
	if (*report->made)
		unlink(report->made);
	return false;
}
