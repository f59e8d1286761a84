// SPDX-License-Identifier: BSD-2-Clause
/*
 * A directory of the user's, for sockets whose names no other user can take.
 *
 * DESIGN NOTES
 *
 * It lies in /run/user/UID, else in /dev/shm or /tmp, where its name ends in random letters, so
 * that no other user can take it beforehand. It must belong to the user, and no other user may
 * enter it. The path does not depend on the environment, so all processes of a user find it.
 *
 * A process that binds a file removes those that killed processes have left: a socket of another
 * type is refused (ECONNREFUSED) only if no process has the file. One process at a time removes and
 * binds.
 */
#include "soft/meet/meet.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	PATH_BYTES = 64,
	FILES_MAX = 256, /* that a process removes at its end */
	TURN_MS = 10,
	TURNS = 100,
	TRIES = 3,
};

static const char *const shared_places[] = { "/dev/shm", "/tmp" };

/* The files that this process has bound, and removes when it ends. */
static struct {
	pthread_mutex_t lock;
	pid_t process;
	int count;
	char path[FILES_MAX][sizeof(((struct sockaddr_un *)0)->sun_path)];
} bound = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_own(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
	       (status.st_mode & 0777) == 0700;
}

static bool find_own_place(bool make, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "/run/user/%u", geteuid());
	if (!is_own(path))
		return false;
	snprintf(path, PATH_BYTES, "/run/user/%u/softverbs", geteuid());
	if (make && mkdir(path, 0700) == 0)
		chmod(path, 0700);
	return is_own(path);
}

/* Returns the first in the order of names: all processes take that one. */
static bool find_in(const char *place, char path[PATH_BYTES])
{
	char start[32], found[PATH_BYTES];
	DIR *dir = opendir(place);
	struct dirent *entry;

	path[0] = '\0';
	if (!dir)
		return false;
	snprintf(start, sizeof(start), "softverbs-%u.", geteuid());
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, start, strlen(start)) != 0)
			continue;
		snprintf(found, sizeof(found), "%s/%.40s", place, entry->d_name);
		if (is_own(found) && (!path[0] || strcmp(found, path) < 0))
			memcpy(path, found, sizeof(found));
	}
	closedir(dir);
	return path[0];
}

/* Takes turns with other processes, for a second at most. */
static bool get_turn(int directory_fd)
{
	for (int turn = 0; turn < TURNS; turn++) {
		if (flock(directory_fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		poll(NULL, 0, TURN_MS);
	}
	return false;
}

/* Makes a directory, and sets the path to the one to use. */
static bool make_another(const char *place, char path[PATH_BYTES])
{
	char made[PATH_BYTES];

	snprintf(made, PATH_BYTES, "%s/softverbs-%u.XXXXXX", place, geteuid());
	if (!mkdtemp(made) || chmod(made, 0700) != 0 || !find_in(place, path))
		return false;
	if (strcmp(made, path) != 0)
		rmdir(made);
	return true;
}

/*
 * Processes that find no directory take turns, since two directories would be two sets of names. A
 * stranger may keep the turn, so after a time a process makes one without it.
 */
static bool make_in(const char *place, char path[PATH_BYTES])
{
	int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool there;

	if (fd < 0)
		return false;
	get_turn(fd);
	there = find_in(place, path) || make_another(place, path);
	close(fd);
	return there;
}

static bool find_directory(bool make, char path[PATH_BYTES])
{
	bool found = find_own_place(make, path);

	for (int i = 0; i < 2 && !found; i++)
		found = find_in(shared_places[i], path);
	for (int i = 0; i < 2 && !found && make; i++)
		found = make_in(shared_places[i], path);
	return found;
}

/* Returns the length of *addr, or 0 if the path is too long. */
static socklen_t address(struct sockaddr_un *addr, const char *directory, const char *file)
{
	int length = snprintf(addr->sun_path, sizeof(addr->sun_path), "%s/%s", directory, file);

	addr->sun_family = AF_UNIX;
	return length < (int)sizeof(addr->sun_path) ? (socklen_t)sizeof(*addr) : 0;
}

/* Returns whether no process has the file's socket. */
static bool is_left_behind(int probe, const char *directory, const char *file)
{
	struct sockaddr_un addr;

	return connect(probe, (struct sockaddr *)&addr, address(&addr, directory, file)) != 0 && errno == ECONNREFUSED;
}

static void remove_left_behind(int directory_fd, const char *directory)
{
	int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (probe >= 0 && dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && is_left_behind(probe, directory, entry->d_name))
			unlinkat(directory_fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (probe >= 0)
		close(probe);
}

/* For remove_own: a child of fork has bound nothing. */
static void remember(const char *path)
{
	pthread_mutex_lock(&bound.lock);
	if (bound.process != getpid())
		bound.count = 0;
	bound.process = getpid();
	if (bound.count < FILES_MAX)
		snprintf(bound.path[bound.count++], sizeof(bound.path[0]), "%s", path);
	pthread_mutex_unlock(&bound.lock);
}

__attribute__((destructor)) static void remove_own(void)
{
	if (bound.process != getpid())
		return;
	for (int i = 0; i < bound.count; i++) {
		unlink(bound.path[i]);
		*strrchr(bound.path[i], '/') = '\0';
		rmdir(bound.path[i]); /* succeeds once it is empty */
	}
}

static int bind_in(int sock, int directory_fd, const char *directory, const char *file)
{
	struct sockaddr_un addr;

	if (!get_turn(directory_fd))
		return EAGAIN;
	remove_left_behind(directory_fd, directory);
	if (bind(sock, (struct sockaddr *)&addr, address(&addr, directory, file)) != 0)
		return errno;
	remember(addr.sun_path);
	return 0;
}

static int bind_once(int sock, const char *file)
{
	char directory[PATH_BYTES];
	int fd, err;

	if (!find_directory(true, directory))
		return ENOENT;
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	err = bind_in(sock, fd, directory, file);
	close(fd);
	return err;
}

/* Retries if another process removes the directory meanwhile. */
int soft_directory_bind(int sock, const char *file)
{
	int err = ENOENT;

	for (int i = 0; err == ENOENT && i < TRIES; i++)
		err = bind_once(sock, file);
	return err;
}

int soft_directory_connect(int sock, const char *file)
{
	struct sockaddr_un addr;
	char directory[PATH_BYTES];

	if (!find_directory(false, directory))
		return ENOENT;
	return connect(sock, (struct sockaddr *)&addr, address(&addr, directory, file)) == 0 ? 0 : errno;
}
