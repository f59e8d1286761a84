// SPDX-License-Identifier: BSD-2-Clause
/* process.h - whether another process lives, by its number and since when it is known */
#ifndef ORIEL_PROCESS_H
#define ORIEL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the time by which processes are known; the clock runs on while the machine sleeps. */
uint64_t process_clock_ns(void);

/*
 * Returns whether a process has ended that lived at known_ns (process_clock_ns; 0: unknown). Its
 * number may belong to another one since, which was started later.
 */
bool process_ended(pid_t pid, uint64_t known_ns);

/* Returns the state letter that /proc has for the number, as ps prints it; '?': it has none. */
char process_state(pid_t pid);

/*
 * place.c: where a process runs, as far as that decides with which others it can share memory
 *
 * Two processes can share memory if the same kernel runs them and they see each other: names of
 * softverbs' sockets belong to the network namespace, its processes are found and opened by their
 * number, and both must be the same user's, as one user namespace counts them. A place that could
 * not be read in full matches none, not even itself.
 */

#define PLACE_BOOT_ID_BYTES 16
#define PLACE_NODE_BYTES 16

struct place {
	uint8_t boot_id[PLACE_BOOT_ID_BYTES]; /* of the running kernel, or what stands for it (place.c) */
	uint64_t net_namespace;               /* inode numbers; 0: could not be read */
	uint64_t pid_namespace;
	uint64_t user_namespace;
	uint32_t user;               /* effective user id */
	char node[PLACE_NODE_BYTES]; /* ORIEL_TEST_NODE: with it tests make several nodes of one machine */
};

struct place place_here(void);

/*
 * Returns NULL if processes of both places can share memory, else why not, as a sentence about b's:
 * "it is on another machine".
 */
const char *place_apart(const struct place *a, const struct place *b);

#endif
