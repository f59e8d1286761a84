// SPDX-License-Identifier: BSD-2-Clause
/*
 * server.h - oriel-run's socket and its connections
 *
 * The server listens, checks the ranks' proofs, and carries messages between ranks and the
 * rendezvous, which it owns.
 */
#ifndef ORIEL_LAUNCHER_SERVER_H
#define ORIEL_LAUNCHER_SERVER_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "boot.h"

#define SERVER_STRANGERS_MOST 256  /* connections without a proof, beside one for each rank */
#define SERVER_STRANGERS_LEAST 16  /* where there are too few descriptors for these */
#define SERVER_PROVE_TIMEOUT_S 5.0 /* for a connection to prove itself */
#define SERVER_VERDICT_DELAY_S 0.2 /* from a sudden end to its report, if the process lives */

struct server;

struct server_config {
	int size;
	const uint8_t *secret; /* BOOT_SECRET_BYTES, must outlive the server */
	int strangers;         /* see SERVER_STRANGERS_MOST */
	void (*abort)(void *arg, int rank, int status, const char *reason);
	void (*late)(void *arg, int rank); /* a process asks to join after that of its rank has ended */
	void *arg;
};

/* Returns the most descriptors that a server uses. */
int server_descriptors(int size, int strangers);

/* Returns NULL with a message if there is no memory or socket. */
struct server *server_open(struct ev_loop *loop, const struct server_config *config);
void server_close(struct server *server);

/* Returns the address, in the form of address.h. */
const char *server_address(const struct server *server);

/* Reads everything that the rank has sent; then returns rdv_may_end. */
bool server_rank_may_end(struct server *server, int rank);

/*
 * Handles the end of a rank's process, or one that will never start. failed: its status is not 0,
 * or it never started. text goes to the others and completes the sentence "rank R ...".
 */
void server_rank_ended(struct server *server, int rank, bool failed, const char *text);

#endif
