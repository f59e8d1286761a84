// SPDX-License-Identifier: BSD-2-Clause
/* process.h - whether another process lives, by its number and when it was known */
#ifndef ORIEL_PROCESS_H
#define ORIEL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns a time that runs on while the machine sleeps. */
uint64_t process_clock_ns(void);

/*
 * Returns whether a process that lived at known_ns (process_clock_ns; 0: unknown) has ended. Its
 * number may belong to a later one since.
 */
bool process_ended(pid_t pid, uint64_t known_ns);

/* Returns the state letter in /proc, as ps prints it; '?': none. */
char process_state(pid_t pid);

/*
 * Where a process runs, which decides with which others it can share memory
 *
 * Two processes can share memory if one kernel runs them and they see each other: names of
 * softverbs' sockets belong to the network namespace, processes are opened by their number, and
 * both must be of one user, as one user namespace counts. A place not read in full matches none,
 * not even itself.
 */

#define PLACE_BOOT_ID_BYTES 16
#define PLACE_NODE_BYTES 16

struct place {
	uint8_t boot_id[PLACE_BOOT_ID_BYTES]; /* of the running kernel, or a substitute (process.c) */
	uint64_t net_namespace;               /* inode numbers; 0: could not be read */
	uint64_t pid_namespace;
	uint64_t user_namespace;
	uint32_t user;               /* effective user id */
	char node[PLACE_NODE_BYTES]; /* ORIEL_TEST_NODE: tests make several nodes of one machine */
};

struct place place_here(void);

/*
 * Returns NULL if processes of both places can share memory, else why not, as a sentence about b's:
 * "it is on another machine".
 */
const char *place_apart(const struct place *a, const struct place *b);

#endif
