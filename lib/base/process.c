// SPDX-License-Identifier: BSD-2-Clause
/* See process.h. */
#include "base/process.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/order.h"
#include "base/util.h"

#ifndef SYS_pidfd_open /* headers before Linux 5.3 */
#define SYS_pidfd_open 434
#endif

#define STAT_BYTES 1024

/* Fields of proc(5)'s stat, counted from the state. */
#define THREADS_FIELD 17
#define START_FIELD 19

uint64_t process_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
}

struct status {
	char state;
	uint64_t threads;
	uint64_t started_ns; /* rounded down */
};

/* Returns whether /proc is not that of another process namespace. */
static bool proc_is_own(void)
{
	char number[24];
	ssize_t length = readlink("/proc/self", number, sizeof(number) - 1);

	if (length < 0)
		return false;
	number[length] = '\0';
	return atoi(number) == getpid();
}

/*
 * Returns the text behind the process's name, which may hold anything: the state, one letter, and
 * further fields. NULL: it cannot be read.
 */
static const char *read_stat(pid_t pid, char text[STAT_BYTES])
{
	char path[32];
	const char *end = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	if (fgets(text, STAT_BYTES, file))
		end = strrchr(text, ')');
	fclose(file);
	return end && end[1] == ' ' && end[2] ? end + 2 : NULL;
}

char process_state(pid_t pid)
{
	char text[STAT_BYTES];
	const char *state = read_stat(pid, text);

	return state && *state >= 'A' && *state <= 'z' ? *state : '?';
}

/* `at` is the state, field 0. */
static uint64_t field_of(const char *at, int field)
{
	uint64_t value = 0;

	for (int i = 0; at && i < field; i++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%" SCNu64, &value) != 1)
		return 0;
	return value;
}

static bool read_status(pid_t pid, struct status *status)
{
	char text[STAT_BYTES];
	const char *state = proc_is_own() ? read_stat(pid, text) : NULL;

	if (!state)
		return false;
	*status = (struct status){ *state, field_of(state, THREADS_FIELD),
		                       field_of(state, START_FIELD) * (NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK)) };
	return true;
}

/* Returns 1: it has ended, 0: not, -1: the system lacks (before Linux 5.3) or forbids the call. */
static int ended_by_pidfd(pid_t pid)
{
	static uint32_t missing; /* state_store: the call is not tried again */
	struct pollfd poll_fd = { .events = POLLIN };
	int ended;

	if (state_load(&missing))
		return -1;
	poll_fd.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (poll_fd.fd < 0 && errno == ENOSYS)
		state_store(&missing, 1); /* pairs with the load above */
	if (poll_fd.fd < 0)
		return errno == ESRCH ? 1 : -1;
	ended = poll(&poll_fd, 1, 0) == 1; /* a process that was not waited for has ended too */
	close(poll_fd.fd);
	return ended;
}

bool process_ended(pid_t pid, uint64_t known_ns)
{
	struct status status = { 0 };
	int ended = ended_by_pidfd(pid);
	bool found = ended != 1 && read_status(pid, &status);

	if (ended < 0 && !found)
		return kill(pid, 0) != 0 && errno == ESRCH;
	if (ended < 0) /* an ended first thread is a zombie too while others live */
		ended = status.state == 'Z' && status.threads <= 1;
	return ended || (known_ns && status.started_ns > known_ns);
}

#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"
#define BOOT_TIME_UNIT_S 64               /* the clock is corrected while the machine runs */
#define UUID_VERSION_BYTE 6               /* of a boot id; in its high half is 4 */
#define NUMBER_BASE 14695981039346656037u /* FNV-1a, 64 bits */
#define NUMBER_FACTOR 1099511628211u

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads 32 hexadecimal digits, with dashes between them. */
static bool read_boot_id(uint8_t boot_id[PLACE_BOOT_ID_BYTES])
{
	FILE *file = fopen(BOOT_ID_FILE, "re");
	char text[64] = "";
	int digits = 0;

	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	for (const char *c = text; *c && digits < 2 * PLACE_BOOT_ID_BYTES; c++) {
		if (digit(*c) < 0)
			continue;
		boot_id[digits / 2] = (uint8_t)(boot_id[digits / 2] << 4 | digit(*c));
		digits++;
	}
	return digits == 2 * PLACE_BOOT_ID_BYTES;
}

static int64_t boot_time(void)
{
	struct timespec now, up;

	clock_gettime(CLOCK_BOOTTIME, &up);
	clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_sec - up.tv_sec - (now.tv_nsec < up.tv_nsec)) / BOOT_TIME_UNIT_S;
}

/*
 * Makes a substitute where /proc has no boot id (mounted with subset=pid, or without /proc/sys):
 * the machine's name and start. No boot id is like it.
 */
static void guess_boot_id(uint8_t boot_id[PLACE_BOOT_ID_BYTES])
{
	struct utsname names = { .nodename = "" };
	uint64_t number = NUMBER_BASE;
	int64_t time = boot_time();

	uname(&names);
	for (const char *c = names.nodename; *c; c++)
		number = (number ^ (uint8_t)*c) * NUMBER_FACTOR;
	memcpy(boot_id, &number, sizeof(number));
	memcpy(boot_id + sizeof(number), &time, sizeof(time));
	boot_id[UUID_VERSION_BYTE] = 0;
}

static bool is_guess(const uint8_t boot_id[PLACE_BOOT_ID_BYTES])
{
	return boot_id[UUID_VERSION_BYTE] >> 4 == 0;
}

static uint64_t namespace_number(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? status.st_ino : 0;
}

struct place place_here(void)
{
	const char *node = getenv("ORIEL_TEST_NODE");
	struct place here = {
		.net_namespace = namespace_number("/proc/self/ns/net"),
		.pid_namespace = namespace_number("/proc/self/ns/pid"),
		.user_namespace = namespace_number("/proc/self/ns/user"),
		.user = geteuid(),
	};

	if (!read_boot_id(here.boot_id))
		guess_boot_id(here.boot_id);
	snprintf(here.node, sizeof(here.node), "%s", node ? node : "");
	return here;
}

static bool same_boot(const struct place *a, const struct place *b)
{
	static const uint8_t none[PLACE_BOOT_ID_BYTES];

	return memcmp(a->boot_id, b->boot_id, sizeof(none)) == 0 && memcmp(a->boot_id, none, sizeof(none)) != 0;
}

/* Without /proc no namespace has a number. */
static bool is_unknown(const struct place *place)
{
	return !place->net_namespace || !place->pid_namespace || !place->user_namespace;
}

static const char *machines_apart(const struct place *a, const struct place *b)
{
	if (strcmp(a->node, b->node) != 0)
		return "it is on another machine";
	if (same_boot(a, b))
		return NULL;
	if (is_guess(a->boot_id) != is_guess(b->boot_id))
		return "one of the two cannot read " BOOT_ID_FILE ", which would tell whether they are on one machine";
	return "it is on another machine";
}

const char *place_apart(const struct place *a, const struct place *b)
{
	const char *apart = machines_apart(a, b);

	if (apart)
		return apart;
	if (is_unknown(a) || is_unknown(b))
		return "one of the two cannot read /proc/self/ns, which would tell whether they are in one container";
	if (a->user_namespace != b->user_namespace)
		return "it is in another user namespace";
	if (a->user != b->user)
		return "it is another user's";
	if (a->net_namespace != b->net_namespace)
		return "it is in another network namespace";
	return a->pid_namespace != b->pid_namespace ? "it is in another process namespace" : NULL;
}
