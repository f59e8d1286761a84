// SPDX-License-Identifier: BSD-2-Clause
/*
 * place.h - where a process runs, as far as that decides who it can share memory with
 *
 * Two processes can where the same kernel runs them, and they see each other: softverbs' sockets have
 * names of the network namespace, its processes are found and opened by their number, and both must be
 * the same user's, as one user namespace counts them. A place that could not be read in full is nobody's,
 * not even its own: then memory is not shared.
 */
#ifndef ORIEL_PLACE_H
#define ORIEL_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#define PLACE_BOOT_ID_BYTES 16
#define PLACE_NODE_BYTES 16

struct place {
	uint8_t boot_id[PLACE_BOOT_ID_BYTES]; /* of the kernel, since it started; all zero: could not be read */
	uint64_t net_namespace;               /* inode numbers; 0: could not be read */
	uint64_t pid_namespace;
	uint64_t user_namespace;
	uint32_t user;               /* effective user id */
	char node[PLACE_NODE_BYTES]; /* ORIEL_TEST_NODE: tests make several nodes of one machine with it */
};

/* This process's. */
struct place place_here(void);

/* NULL if processes of both places can share memory, else why not, as what they have not in common. */
const char *place_apart(const struct place *a, const struct place *b);

#endif
