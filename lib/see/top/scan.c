// SPDX-License-Identifier: BSD-2-Clause
/* See scan.h. */
#include "see/top/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "base/util.h"
#include "see/report/program.h"

#define LINK_TEXT "/memfd:" BOARD_FILE " (deleted)"
#define PATH_BYTES 64

struct found {
	pid_t pid;  /* in /proc */
	pid_t own;  /* as the process itself sees it */
	size_t row; /* its first row, */
	size_t rows;
	struct board_copy board;
};

struct scan {
	struct found *list;
	uint32_t count;
	uint32_t capacity;
	char host[64];
};

static bool is_own(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid == geteuid();
}

/* No other file is opened: that may block, or have effects. */
static bool leads_to_board(const char *path)
{
	char text[sizeof(LINK_TEXT)];
	ssize_t length = readlink(path, text, sizeof(text));

	return length == (ssize_t)sizeof(LINK_TEXT) - 1 && memcmp(text, LINK_TEXT, sizeof(LINK_TEXT) - 1) == 0;
}

static bool read_twice(int fd, struct board_copy *copy)
{
	char first[BOARD_BYTES], second[BOARD_BYTES];
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size == BOARD_BYTES &&
	       pread(fd, first, sizeof(first), 0) == BOARD_BYTES && pread(fd, second, sizeof(second), 0) == BOARD_BYTES &&
	       board_read(copy, first, second, sizeof(first));
}

static bool read_board(const char *path, struct board_copy *copy)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool sound = fd >= 0 && read_twice(fd, copy);

	if (fd >= 0)
		close(fd);
	return sound;
}

/* Returns the process's number in its own namespace, the last that the kernel lists. */
static pid_t own_number(pid_t pid)
{
	char path[PATH_BYTES], line[256];
	pid_t own = pid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');

		if (strncmp(line, "NSpid:", 6) == 0 && last)
			own = (pid_t)atoi(last + 1);
	}
	if (file)
		fclose(file);
	return own;
}

static void keep(struct scan *scan, pid_t pid, const struct board_copy *copy)
{
	if (!grow_array(&scan->list, &scan->capacity, scan->count + 1, sizeof(*scan->list)))
		program_fail("out of memory");
	scan->list[scan->count++] = (struct found){ .pid = pid, .own = copy->header.pid, .board = *copy };
}

/* A child has its parent's board open: the number in it is the parent's. */
static void look_at_file(struct scan *scan, pid_t pid, const char *path)
{
	struct board_copy copy;

	if (leads_to_board(path) && read_board(path, &copy) && copy.header.pid == own_number(pid))
		keep(scan, pid, &copy);
}

static void look_at_process(struct scan *scan, pid_t pid)
{
	char folder[PATH_BYTES], path[PATH_BYTES + 300];
	const struct dirent *entry;
	DIR *files;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	files = is_own(folder) ? opendir(folder) : NULL;
	while (files && (entry = readdir(files))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			look_at_file(scan, pid, path);
	}
	if (files)
		closedir(files);
}

static void look_at_all(struct scan *scan)
{
	const struct dirent *entry;
	DIR *processes = opendir("/proc");

	if (!processes)
		program_fail("/proc cannot be read");
	while ((entry = readdir(processes))) {
		if (atoi(entry->d_name) > 0)
			look_at_process(scan, (pid_t)atoi(entry->d_name));
	}
	closedir(processes);
}

static bool has_process(const struct found *found, const pid_t *pids, int pid_count)
{
	for (int i = 0; i < pid_count; i++) {
		if (found->pid == pids[i])
			return true;
	}
	return false;
}

static bool is_wanted(const struct scan *scan, const struct found *found, const pid_t *pids, int pid_count)
{
	for (size_t i = 0; i < scan->count; i++) {
		if (has_process(&scan->list[i], pids, pid_count) &&
		    strcmp(scan->list[i].board.header.job, found->board.header.job) == 0)
			return true;
	}
	return pid_count == 0;
}

static struct row *add_row(struct rows *rows, const struct scan *scan, const struct found *found)
{
	struct row *row = rows_add(rows);

	memcpy(row->job, found->board.header.job, sizeof(row->job));
	memcpy(row->host, scan->host, sizeof(row->host));
	row->rank = found->board.header.rank;
	row->size = found->board.header.size;
	row->pid = (int)found->pid;
	row->state = process_state(found->pid);
	return row;
}

/* Returns the rank of the job that is this process, or -1. */
static int rank_of(const struct scan *scan, const char *job, pid_t own)
{
	for (size_t i = 0; i < scan->count; i++) {
		if (scan->list[i].own == own && strcmp(scan->list[i].board.header.job, job) == 0)
			return scan->list[i].board.header.rank;
	}
	return -1;
}

static void set_holders(const struct scan *scan, struct row *row, const struct board_wait *wait)
{
	row->lock_of = wait->rank_count ? wait->ranks[0] : -1;
	row->rank_count = 0;
	row->more_ranks = false;
	for (uint32_t i = 0; i < wait->holder_count; i++) {
		int rank = rank_of(scan, row->job, wait->holders[i]);

		if (rank >= 0)
			row->ranks[row->rank_count++] = rank;
	}
}

static void set_wait(const struct scan *scan, struct row *row, const struct board_wait *wait, uint64_t now)
{
	memcpy(row->call, wait->call, sizeof(row->call));
	site_text(row->pid, wait->caller, UINT64_MAX, row->site);
	memcpy(row->window, wait->window, sizeof(row->window));
	row->waited_ms = now > wait->since_ns ? (now - wait->since_ns) / NS_PER_MS : 0;
	row->cause = (enum board_cause)wait->cause;
	row->epochs = wait->epochs;
	row->rank_count = wait->rank_count;
	row->more_ranks = wait->more_ranks;
	for (uint32_t i = 0; i < wait->rank_count; i++)
		row->ranks[i] = wait->ranks[i];
	if (row->cause == CAUSE_LOCK)
		set_holders(scan, row, wait);
}

static void add_rows(struct rows *rows, const struct scan *scan, const struct found *found, uint64_t now)
{
	for (uint32_t i = 0; i < found->board.wait_count; i++)
		set_wait(scan, add_row(rows, scan, found), &found->board.wait[i], now);
	if (found->board.wait_count == 0)
		add_row(rows, scan, found);
}

static void name_host(struct scan *scan)
{
	if (gethostname(scan->host, sizeof(scan->host) - 1))
		snprintf(scan->host, sizeof(scan->host), "?");
	board_make_printable(scan->host, sizeof(scan->host));
}

void scan(struct rows *rows, const pid_t *pids, int pid_count)
{
	struct scan scan = { 0 };

	name_host(&scan);
	look_at_all(&scan);
	for (size_t i = 0; i < scan.count; i++) {
		if (is_wanted(&scan, &scan.list[i], pids, pid_count))
			add_rows(rows, &scan, &scan.list[i], now_ns());
	}
	free(scan.list);
}
